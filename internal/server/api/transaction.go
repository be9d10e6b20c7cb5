package api

import (
	"context"
	"fmt"

	"github.com/weirmq/weir/internal/engine"
	"github.com/weirmq/weir/internal/server/auth"
)

type transactionInput struct {
	Body transactionBody
}

type transactionBody struct {
	Acks  []queueAckItem  `json:"acks,omitempty" doc:"Claims to finish, of any queues."`
	Nacks []queueNackItem `json:"nacks,omitempty" doc:"Claims to give back."`
	Sends []queueSendItem `json:"sends,omitempty" doc:"Messages to send, to any queues."`
}

type queueAckItem struct {
	Queue   string  `json:"queue"`
	ClaimID int64   `json:"claim_id"`
	IDs     []int64 `json:"ids,omitempty" doc:"Messages of the claim; all of it unless given."`
}

type queueNackItem struct {
	Queue   string  `json:"queue"`
	ClaimID int64   `json:"claim_id"`
	IDs     []int64 `json:"ids,omitempty" doc:"Messages of the claim; all of it unless given."`
	DelayMS *int64  `json:"delay_ms,omitempty" doc:"When to deliver again; by the group's backoff unless given."`
	Reason  *string `json:"reason,omitempty" doc:"Kept with the dead letter if it becomes one."`
}

type queueSendItem struct {
	Queue    string     `json:"queue"`
	Messages []outgoing `json:"messages" minItems:"1"`
}

type transactionOutput struct {
	Acks  []finished   `json:"acks"`
	Nacks []finished   `json:"nacks"`
	Sends []sendOutput `json:"sends"`
}

// transaction finishes claims and sends, across queues, all or nothing: what hands work on exactly once. An ack that
// finishes nothing ends it, so that a client that got no answer may send the same request again.
func (a *api) transaction(ctx context.Context, in *transactionInput) (*output[transactionOutput], error) {
	b := in.Body
	if len(b.Acks)+len(b.Nacks)+len(b.Sends) == 0 {
		return nil, invalid("body", "there is nothing to do",
			`Send {"acks":[{"queue":...,"claim_id":...}],"sends":[{"queue":...,"messages":[...]}]}.`)
	}
	if err := a.allowAll(ctx, b); err != nil {
		return nil, err
	}
	var done transactionOutput
	err := a.engine.InTx(ctx, func(tx *engine.Client) (err error) {
		done.Acks, err = inOrder("acks", b.Acks, func(_ int, item queueAckItem) (finished, error) {
			n, err := tx.AckUnfinished(ctx, item.Queue, item.ClaimID, item.IDs)
			return finished{ClaimID: item.ClaimID, Finished: n}, err
		})
		if err != nil {
			return err
		}
		done.Nacks, err = inOrder("nacks", b.Nacks, func(i int, item queueNackItem) (finished, error) {
			delay, err := optionalSpan(fmt.Sprintf("body.nacks[%d].delay_ms", i), item.DelayMS)
			if err != nil {
				return finished{}, err
			}
			n, err := tx.Nack(ctx, item.Queue, item.ClaimID, item.IDs, delay, item.Reason)
			return finished{ClaimID: item.ClaimID, Finished: n}, err
		})
		if err != nil {
			return err
		}
		done.Sends, err = inOrder("sends", b.Sends, func(i int, item queueSendItem) (sendOutput, error) {
			runs, err := runsOf(ctx, fmt.Sprintf("body.sends[%d].messages", i), item.Messages)
			if err != nil {
				return sendOutput{}, err
			}
			return sendRuns(ctx, tx, item.Queue, runs)
		})
		return err
	})
	return reply(done, err)
}

// allowAll refuses a transaction of which the caller may not do every part.
func (a *api) allowAll(ctx context.Context, b transactionBody) error {
	for i, item := range b.Acks {
		if err := a.allow(ctx, auth.Consume, item.Queue); err != nil {
			return &itemError{list: "acks", index: i, err: err}
		}
	}
	for i, item := range b.Nacks {
		if err := a.allow(ctx, auth.Consume, item.Queue); err != nil {
			return &itemError{list: "nacks", index: i, err: err}
		}
	}
	for i, item := range b.Sends {
		if err := a.allow(ctx, auth.Produce, item.Queue); err != nil {
			return &itemError{list: "sends", index: i, err: err}
		}
	}
	return nil
}
