package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/weirmq/weir/internal/engine"
	"github.com/weirmq/weir/internal/server/dispatch"
	"github.com/weirmq/weir/internal/server/tracing"
)

type sendInput struct {
	QueuePath
	Body sendBody
}

func (in *sendInput) into() any { return &in.Body }

type sendBody struct {
	Messages []outgoing `json:"messages" minItems:"1"`
}

type outgoing struct {
	Payload json.RawMessage `json:"payload,omitempty" doc:"Any JSON value; there is one unless there is a body."`
	Body    []byte          `json:"body,omitzero" doc:"Base64 of bytes in place of a payload."`
	Key     *string         `json:"key,omitempty" doc:"Messages with one key stay in order in an ordered group."`
	Headers json.RawMessage `json:"headers,omitempty" doc:"A JSON value beside the payload."`
	DelayMS *int64          `json:"delay_ms,omitempty" doc:"Deliver no earlier than this many milliseconds from now."`

	DedupKey *string `json:"dedup_key,omitempty" doc:"Of several messages with one, only the first is sent."`
	Priority *int    `json:"priority,omitempty" doc:"From 0, the default; higher goes first. Not with a key."`
}

type sendOutput struct {
	IDs      []int64 `json:"ids" doc:"One for each message, in the order of the request."`
	Repeated []bool  `json:"repeated,omitempty" doc:"Which were sent before; absent when none has a dedup key."`
}

// sendBatch sends the messages of a request in one transaction.
func (a *api) sendBatch(ctx context.Context, in *sendInput) (*output[sendOutput], error) {
	runs, err := runsOf(ctx, "body.messages", in.Body.Messages)
	if err != nil {
		return nil, err
	}
	if len(runs) == 1 {
		sent, err := a.sendRun(ctx, in.Queue, runs[0])
		tracing.Sent(ctx, sent.IDs)
		return reply(sent, err)
	}
	leave, err := a.dispatch.Alone(ctx, in.Queue)
	if err != nil {
		return nil, err
	}
	defer leave()
	var sent sendOutput
	err = a.engine.InTx(ctx, func(tx *engine.Client) (err error) {
		sent, err = sendRuns(ctx, tx, in.Queue, runs)
		return err
	})
	tracing.Sent(ctx, sent.IDs)
	return reply(sent, err)
}

// sendRun sends one run together with those of other clients, or alone when it has to wait for a transaction elsewhere.
func (a *api) sendRun(ctx context.Context, queue string, r run) (sendOutput, error) {
	list, err := a.dispatch.Send(queue, r.batch, r.options)
	if errors.Is(err, dispatch.ErrAlone) {
		leave, busy := a.dispatch.Alone(ctx, queue)
		if busy != nil {
			return sendOutput{}, busy
		}
		defer leave()
		list, err = a.engine.SendOnce(ctx, queue, r.batch, r.options)
	}
	out := sendOutput{IDs: make([]int64, len(list))}
	if r.once() {
		out.Repeated = make([]bool, len(list))
	}
	for i, sent := range list {
		out.IDs[i] = sent.ID
		if out.Repeated != nil {
			out.Repeated[i] = sent.Repeated
		}
	}
	return out, err
}

// sendRuns sends one run after the other.
func sendRuns(ctx context.Context, client *engine.Client, queue string, runs []run) (sendOutput, error) {
	var out sendOutput
	once := slices.ContainsFunc(runs, run.once)
	for _, run := range runs {
		if !once {
			ids, err := client.SendBatch(ctx, queue, run.batch, run.options)
			if err != nil {
				return sendOutput{}, err
			}
			out.IDs = append(out.IDs, ids...)
			continue
		}
		list, err := client.SendOnce(ctx, queue, run.batch, run.options)
		if err != nil {
			return sendOutput{}, err
		}
		for _, sent := range list {
			out.IDs, out.Repeated = append(out.IDs, sent.ID), append(out.Repeated, sent.Repeated)
		}
	}
	return out, nil
}

// run is a stretch of messages with the same options: what one call of send_batch takes.
type run struct {
	batch   []engine.Outgoing
	options engine.SendOptions
}

// once reports whether some message of the run has a dedup key.
func (r run) once() bool {
	return slices.ContainsFunc(r.batch, func(m engine.Outgoing) bool { return m.DedupKey != nil })
}

// runsOf cuts a list of messages into runs.
func runsOf(ctx context.Context, location string, messages []outgoing) ([]run, error) {
	if len(messages) == 0 {
		return nil, invalid(location, "there is no message", `Send "messages":[{"payload":...}].`)
	}
	var runs []run
	for i, m := range messages {
		options, err := m.options(location, i)
		if err != nil {
			return nil, err
		}
		if i == 0 || runs[len(runs)-1].options != options {
			runs = append(runs, run{options: options})
		}
		last := &runs[len(runs)-1]
		last.batch = append(last.batch, m.message(ctx))
	}
	return runs, nil
}

// message is what is sent, without how. It carries the trace of the request.
func (m outgoing) message(ctx context.Context) engine.Outgoing {
	headers := tracing.Carry(ctx, nullable(m.Headers))
	return engine.Outgoing{Payload: m.Payload, Body: m.Body, Key: m.Key, Headers: headers, DedupKey: m.DedupKey}
}

// options is how message i of the list at a location is sent.
func (m outgoing) options(location string, i int) (engine.SendOptions, error) {
	options := engine.SendOptions{Priority: valueOr(m.Priority, 0)}
	if m.DelayMS == nil {
		return options, nil
	}
	var err error
	options.Delay, err = span(fmt.Sprintf("%s[%d].delay_ms", location, i), *m.DelayMS)
	return options, err
}

// valueOr is what a pointer points to, or something else when it is nil.
func valueOr[T any](p *T, instead T) T {
	if p == nil {
		return instead
	}
	return *p
}

// nullable turns a JSON null into an absent value.
func nullable(raw json.RawMessage) json.RawMessage {
	if bytes.Equal(raw, []byte("null")) {
		return nil
	}
	return raw
}
