package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/weirmq/weir/internal/engine"
	"github.com/weirmq/weir/internal/server/auth"
	"github.com/weirmq/weir/internal/server/tracing"
)

type receiveInput struct {
	GroupPath
	Body *receiveBody

	client string // its address
}

func (in *receiveInput) locate(r *http.Request) {
	in.GroupPath.locate(r)
	in.client = r.RemoteAddr
}

// Resolve implements huma.Resolver.
func (in *receiveInput) Resolve(ctx huma.Context) []error {
	in.client = ctx.RemoteAddr()
	return nil
}

func (in *receiveInput) into() any {
	in.Body = &receiveBody{}
	return in.Body
}

type receiveBody struct {
	Max     *int   `json:"max,omitempty" doc:"At most this many messages; 1 unless given."`
	LeaseMS *int64 `json:"lease_ms,omitempty" doc:"How long the claim lasts; 30000 unless given."`
	WaitMS  *int64 `json:"wait_ms,omitempty" doc:"Wait up to this long for a message, at most 60000; 0 unless given."`
}

type messagesOutput struct {
	Messages []engine.Message `json:"messages"`
}

// nullPayload stands where a message's payload goes. Within a string its quotes would be escaped.
var nullPayload = []byte(`"payload":null`)

// encode writes messages, and their payloads as they were sent, which encoding/json would read and write anew.
func (o messagesOutput) encode(text *bytes.Buffer, encoder *json.Encoder) error {
	text.WriteString(`{"messages":[`)
	for i, m := range o.Messages {
		if i > 0 {
			text.WriteByte(',')
		}
		payload, start := m.Payload, text.Len()
		m.Payload = nil
		if err := encoder.Encode(m); err != nil {
			return err //nolint:wrapcheck // it is not told
		}
		text.Truncate(text.Len() - 1) // a line's end
		if payload != nil {
			head, tail, _ := bytes.Cut(text.Bytes()[start:], nullPayload)
			tail = bytes.Clone(tail)
			text.Truncate(start + len(head))
			text.WriteString(`"payload":`)
			text.Write(payload)
			text.Write(tail)
		}
	}
	text.WriteString("]}\n")
	return nil
}

// receive claims messages; with wait_ms it waits until there are some, the time is over, the client goes away or the
// server shuts down.
func (a *api) receive(ctx context.Context, in *receiveInput) (*output[messagesOutput], error) {
	n, lease, wait, err := in.Body.values()
	if err != nil {
		return nil, err
	}
	list, err := a.dispatch.Receive(ctx, in.Queue, in.Group, engine.Want{Max: n, Lease: lease}, wait)
	if wait > 0 && err == nil {
		if refused := a.still(ctx, auth.Consume, in.Queue); refused != nil {
			a.dispatch.Release(in.Queue, list)
			return nil, refused
		}
	}
	if list == nil {
		list = []engine.Message{}
	}
	a.holders.handed(in.Queue, list, in.client, auth.From(ctx).Name)
	tracing.Received(ctx, list)
	return reply(messagesOutput{Messages: list}, err)
}

// values reads the body, which may be left out.
func (b *receiveBody) values() (n int, lease, wait time.Duration, err error) {
	n, lease = engine.DefaultMax, engine.DefaultLease
	if b == nil {
		return n, lease, 0, nil
	}
	if b.Max != nil {
		n = *b.Max
	}
	if b.LeaseMS != nil {
		if lease, err = span("body.lease_ms", *b.LeaseMS); err != nil {
			return 0, 0, 0, err
		}
	}
	if b.WaitMS != nil {
		if *b.WaitMS < 0 || *b.WaitMS > waitMax.Milliseconds() {
			return 0, 0, 0, invalid("body.wait_ms", fmt.Sprintf("%d is not from 0 to %d", *b.WaitMS, waitMax.Milliseconds()),
				"Wait for up to a minute and ask again.")
		}
		wait = time.Duration(*b.WaitMS) * time.Millisecond
	}
	return n, lease, wait, nil
}

type popInput struct {
	GroupPath
	Body *popBody
}

type popBody struct {
	Max *int `json:"max,omitempty" doc:"At most this many messages; 1 unless given."`
}

// pop takes messages and finishes them at once.
func (a *api) pop(ctx context.Context, in *popInput) (*output[messagesOutput], error) {
	n := engine.DefaultMax
	if in.Body != nil && in.Body.Max != nil {
		n = *in.Body.Max
	}
	list, err := a.dispatch.Pop(in.Queue, in.Group, n)
	tracing.Received(ctx, list)
	return reply(messagesOutput{Messages: list}, err)
}

type peekInput struct {
	GroupPath
	Max int `query:"max" default:"10" doc:"At most this many messages."`
}

// MessagePath is the path of a message. It is exported because huma fills in embedded structs only then.
type MessagePath struct {
	Queue string `path:"queue" example:"orders"`
	ID    int64  `path:"id" example:"1"`
}

func (p *MessagePath) queue() string { return p.Queue }

// get shows one message and how each group stands to it.
func (a *api) get(ctx context.Context, in *MessagePath) (*output[engine.Stored], error) {
	return reply(a.engine.Get(ctx, in.Queue, in.ID))
}

type getManyInput struct {
	QueuePath
	IDs []int64 `query:"id,explode" required:"true" minItems:"1" maxItems:"1000" doc:"A message; once for each."`
}

type getManyOutput struct {
	Messages []engine.Stored `json:"messages" doc:"Those that the queue holds, in the order of the request."`
}

// getMany shows messages and how each group stands to them.
func (a *api) getMany(ctx context.Context, in *getManyInput) (*output[getManyOutput], error) {
	list, err := a.engine.GetMany(ctx, in.Queue, in.IDs)
	return reply(getManyOutput{Messages: list}, err)
}

type peekOutput struct {
	Messages []engine.Peeked `json:"messages"`
}

// peek shows messages without claiming them.
func (a *api) peek(ctx context.Context, in *peekInput) (*output[peekOutput], error) {
	list, err := a.engine.Peek(ctx, in.Queue, in.Group, in.Max)
	return reply(peekOutput{Messages: list}, err)
}
