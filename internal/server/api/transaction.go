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
	Acks     []queueAckItem     `json:"acks,omitempty" doc:"Messages to finish, of any queues."`
	Finishes []queueFinishItem  `json:"finishes,omitempty" doc:"Jobs to finish with their results, of any queues."`
	Nacks    []queueNackItem    `json:"nacks,omitempty" doc:"Messages to give back."`
	Releases []queueReleaseItem `json:"releases,omitempty" doc:"Messages to give back unused."`
	Rejects  []queueRejectItem  `json:"rejects,omitempty" doc:"Messages to make dead letters of."`
	Sends    []queueSendItem    `json:"sends,omitempty" doc:"Messages to send, to any queues."`
}

type queueAckItem struct {
	Queue string `json:"queue"`
	ClaimItem
}

type queueNackItem struct {
	Queue string `json:"queue"`
	NackItem
}

type queueReleaseItem struct {
	Queue string `json:"queue"`
	ReleaseItem
}

type queueRejectItem struct {
	Queue string `json:"queue"`
	RejectItem
}

type queueFinishItem struct {
	Queue   string          `json:"queue"`
	ClaimID int64           `json:"claim_id"`
	ID      int64           `json:"id" doc:"The job: a message of the claim."`
	Result  json.RawMessage `json:"result,omitempty" doc:"Any JSON value; kept of a tracked job."`
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
			`Send {"acks":[{"queue":...,"claim_id":...,"ids":[...]}],"sends":[{"queue":...,"messages":[...]}]}.`)
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
	one := func(list, queue string, to *[]finished, item settleItem, call func(
		context.Context, *engine.Client, engine.ClaimPart) (int, error),
	) {
		p, err := item.part(list, len(*to))
		settle(list, queue, p.Claim, to, func(ctx context.Context, tx *engine.Client) (int, error) {
			if err != nil {
				return 0, err
			}
			return call(ctx, tx, p)
		})
	}
	for _, m := range b.Acks {
		one("acks", m.Queue, &done.Acks, m, func(ctx context.Context, tx *engine.Client, p engine.ClaimPart) (int, error) {
			return tx.AckUnfinished(ctx, m.Queue, p)
		})
	}
	for _, m := range b.Finishes {
		settle("finishes", m.Queue, m.ClaimID, &done.Finishes, func(ctx context.Context, tx *engine.Client) (int, error) {
			return tx.FinishUnfinished(ctx, m.Queue, m.ClaimID, m.ID, m.Result)
		})
	}
	other := func(list, queue string, to *[]finished, item settleItem) {
		one(list, queue, to, item, func(ctx context.Context, tx *engine.Client, p engine.ClaimPart) (int, error) {
			return tx.Settle(ctx, queue, p)
		})
	}
	for _, m := range b.Nacks {
		other("nacks", m.Queue, &done.Nacks, m)
	}
	for _, m := range b.Releases {
		other("releases", m.Queue, &done.Releases, m)
	}
	for _, m := range b.Rejects {
		other("rejects", m.Queue, &done.Rejects, m)
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
