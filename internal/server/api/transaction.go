package api

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/weirmq/weir/internal/engine"
	"github.com/weirmq/weir/internal/server/auth"
)

type transactionInput struct {
	Body transactionBody
}

type transactionBody struct {
	Acks     []queueAckItem    `json:"acks,omitempty" doc:"Claims to finish, of any queues."`
	Finishes []queueFinishItem `json:"finishes,omitempty" doc:"Jobs to finish with their results, of any queues."`
	Nacks    []queueNackItem   `json:"nacks,omitempty" doc:"Claims to give back."`
	Releases []queueAckItem    `json:"releases,omitempty" doc:"Claims to give back unused."`
	Rejects  []queueRejectItem `json:"rejects,omitempty" doc:"Claims to make dead letters of."`
	Sends    []queueSendItem   `json:"sends,omitempty" doc:"Messages to send, to any queues."`
}

type queueAckItem struct {
	Queue   string  `json:"queue"`
	ClaimID int64   `json:"claim_id"`
	IDs     []int64 `json:"ids,omitempty" doc:"Messages of the claim; all of it unless given."`
}

type queueFinishItem struct {
	Queue   string          `json:"queue"`
	ClaimID int64           `json:"claim_id"`
	ID      int64           `json:"id" doc:"The job: a message of the claim."`
	Result  json.RawMessage `json:"result,omitempty" doc:"Any JSON value; kept of a tracked job."`
}

type queueNackItem struct {
	Queue   string  `json:"queue"`
	ClaimID int64   `json:"claim_id"`
	IDs     []int64 `json:"ids,omitempty" doc:"Messages of the claim; all of it unless given."`
	DelayMS *int64  `json:"delay_ms,omitempty" doc:"When to deliver again; by the group's backoff unless given."`
	Reason  *string `json:"reason,omitempty" doc:"Kept with the dead letter if it becomes one."`
}

type queueRejectItem struct {
	Queue   string  `json:"queue"`
	ClaimID int64   `json:"claim_id"`
	IDs     []int64 `json:"ids,omitempty" doc:"Messages of the claim; all of it unless given."`
	Reason  *string `json:"reason,omitempty" doc:"Kept with the dead letter."`
}

type queueSendItem struct {
	Queue    string     `json:"queue"`
	Messages []outgoing `json:"messages" minItems:"1"`
}

type transactionOutput struct {
	Acks     []finished   `json:"acks"`
	Finishes []finished   `json:"finishes"`
	Nacks    []finished   `json:"nacks"`
	Releases []finished   `json:"releases"`
	Rejects  []finished   `json:"rejects"`
	Sends    []sendOutput `json:"sends"`
}

// transaction settles claims and sends, across queues, all or nothing: what hands work on exactly once. An ack or a
// finish that finishes nothing ends it, so that a client that got no answer may send the same request again.
func (a *api) transaction(ctx context.Context, in *transactionInput) (*output[transactionOutput], error) {
	var done transactionOutput
	steps := in.Body.steps(&done)
	if len(steps) == 0 {
		return nil, invalid("body", "there is nothing to do",
			`Send {"acks":[{"queue":...,"claim_id":...}],"sends":[{"queue":...,"messages":[...]}]}.`)
	}
	for _, s := range steps {
		if err := a.allow(ctx, s.needs, s.queue); err != nil {
			return nil, &itemError{list: s.list, index: s.index, err: err}
		}
	}
	leave, err := a.dispatch.Alone(ctx, steps[0].queue)
	if err != nil {
		return nil, err
	}
	defer leave()
	err = a.engine.InTx(ctx, func(tx *engine.Client) error {
		for _, s := range steps {
			if err := s.do(ctx, tx); err != nil {
				return &itemError{list: s.list, index: s.index, err: err}
			}
		}
		return nil
	})
	if err == nil {
		for _, s := range steps {
			if s.settled != nil {
				a.holders.settled(s.queue, (*s.settled)[s.index:s.index+1])
			}
		}
	}
	return reply(done, err)
}

// step is one item of a transaction.
type step struct {
	list  string
	index int
	queue string
	needs auth.Verb
	do    func(ctx context.Context, tx *engine.Client) error

	settled *[]finished // the list that its result goes to; nil for a send
}

// steps are the items of a transaction in the order in which they are done; each leaves its result in done.
func (b transactionBody) steps(done *transactionOutput) []step {
	var steps []step
	settle := func(list string, queue string, claim int64, to *[]finished, call func(context.Context, *engine.Client) (
		int, error),
	) {
		i := len(*to)
		*to = append(*to, finished{ClaimID: claim})
		steps = append(steps, step{list, i, queue, auth.Consume, func(ctx context.Context, tx *engine.Client) (err error) {
			(*to)[i].Finished, err = call(ctx, tx)
			return err
		}, to})
	}
	for _, list := range []*[]finished{&done.Acks, &done.Finishes, &done.Nacks, &done.Releases, &done.Rejects} {
		*list = []finished{}
	}
	done.Sends = make([]sendOutput, len(b.Sends))
	for i, m := range b.Acks {
		settle("acks", m.Queue, m.ClaimID, &done.Acks, func(ctx context.Context, tx *engine.Client) (int, error) {
			if err := someIDs("acks", i, m.IDs); err != nil {
				return 0, err
			}
			return tx.AckUnfinished(ctx, m.Queue, m.ClaimID, m.IDs)
		})
	}
	for _, m := range b.Finishes {
		settle("finishes", m.Queue, m.ClaimID, &done.Finishes, func(ctx context.Context, tx *engine.Client) (int, error) {
			return tx.FinishUnfinished(ctx, m.Queue, m.ClaimID, m.ID, m.Result)
		})
	}
	for i, m := range b.Nacks {
		settle("nacks", m.Queue, m.ClaimID, &done.Nacks, func(ctx context.Context, tx *engine.Client) (int, error) {
			if err := someIDs("nacks", i, m.IDs); err != nil {
				return 0, err
			}
			delay, err := optionalSpan(fmt.Sprintf("body.nacks[%d].delay_ms", i), m.DelayMS)
			if err != nil {
				return 0, err
			}
			return tx.Nack(ctx, m.Queue, m.ClaimID, m.IDs, delay, m.Reason)
		})
	}
	for i, m := range b.Releases {
		settle("releases", m.Queue, m.ClaimID, &done.Releases, func(ctx context.Context, tx *engine.Client) (int, error) {
			if err := someIDs("releases", i, m.IDs); err != nil {
				return 0, err
			}
			return tx.Release(ctx, m.Queue, m.ClaimID, m.IDs)
		})
	}
	for i, m := range b.Rejects {
		settle("rejects", m.Queue, m.ClaimID, &done.Rejects, func(ctx context.Context, tx *engine.Client) (int, error) {
			if err := someIDs("rejects", i, m.IDs); err != nil {
				return 0, err
			}
			return tx.Reject(ctx, m.Queue, m.ClaimID, m.IDs, m.Reason)
		})
	}
	for i, m := range b.Sends {
		steps = append(steps, step{"sends", i, m.Queue, auth.Produce, func(ctx context.Context, tx *engine.Client) error {
			runs, err := runsOf(ctx, fmt.Sprintf("body.sends[%d].messages", i), m.Messages)
			if err == nil {
				done.Sends[i], err = sendRuns(ctx, tx, m.Queue, runs)
			}
			return err
		}, nil})
	}
	return steps
}
