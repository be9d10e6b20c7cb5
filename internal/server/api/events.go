package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/weirmq/weir/internal/engine"
	"github.com/weirmq/weir/internal/server/auth"
	"github.com/weirmq/weir/internal/server/tracing"
)

// How an event stream works: how long a claim lasts that is being written, how long a write may take, how often an
// idle stream says that it lives, and how long the ack of what was written may take.
const (
	eventsLease   = time.Minute
	eventsWrite   = 30 * time.Second
	eventsBeat    = 15 * time.Second
	eventsAck     = 30 * time.Second
	typeEventFlow = "text/event-stream"
)

type eventsInput struct {
	GroupPath
	Max int `query:"max" default:"100" minimum:"1" maximum:"10000" doc:"Claim at most this many messages at once."`
}

// events follows a group: what it claims it writes as server-sent events, and acknowledges once they are written. A
// slow client slows it down. The group's messages are consumed, so whoever only wants to look makes a group of his own.
func (a *api) events(ctx context.Context, in *eventsInput) (*huma.StreamResponse, error) {
	want := engine.Want{Max: in.Max, Lease: eventsLease}
	list, err := a.dispatch.Receive(ctx, in.Queue, in.Group, want, 0)
	if err != nil {
		return nil, err
	}
	return &huma.StreamResponse{Body: func(response huma.Context) {
		response.SetHeader("Content-Type", typeEventFlow)
		_, w := humago.Unwrap(response)
		s := &eventStream{api: a, at: in.GroupPath, want: want, w: w}
		s.follow(ctx, list)
	}}, nil
}

// eventStream is one client that follows a group.
type eventStream struct {
	api  *api
	at   GroupPath
	want engine.Want
	w    http.ResponseWriter
	last time.Time // when something was written
}

// follow writes what was received first and then what comes, until the client or the server goes.
func (s *eventStream) follow(ctx context.Context, list []engine.Message) {
	waiting, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(s.api.opt.Drain, stop)()
	if s.write([]byte(": following\n\n")) != nil {
		s.api.dispatch.Release(s.at.Queue, list)
		return
	}
	for {
		if err := s.api.still(ctx, auth.Consume, s.at.Queue); err != nil {
			s.api.dispatch.Release(s.at.Queue, list)
			s.fail(ctx, err)
			return
		}
		if len(list) > 0 {
			if !s.deliver(ctx, list) {
				return
			}
		} else if waiting.Err() != nil || s.beat() != nil {
			return
		}
		var err error
		if list, err = s.api.dispatch.Receive(waiting, s.at.Queue, s.at.Group, s.want, eventsBeat); err != nil {
			s.fail(ctx, err)
			return
		}
	}
}

// deliver writes messages and finishes them, or gives them back when they cannot be written.
func (s *eventStream) deliver(ctx context.Context, list []engine.Message) bool {
	var text bytes.Buffer
	for _, m := range list {
		data, err := json.Marshal(m)
		if err != nil {
			s.fail(ctx, err)
			return false
		}
		fmt.Fprintf(&text, "event: message\nid: %d\ndata: %s\n\n", m.ID, data)
	}
	if err := s.write(text.Bytes()); err != nil {
		s.api.dispatch.Release(s.at.Queue, list)
		return false
	}
	tracing.Delivered(ctx, s.at.Queue, s.at.Group, list)
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), eventsAck)
	defer cancel()
	if _, err := s.api.engine.AckAll(call, s.at.Queue, list[0].ClaimID); err != nil {
		s.fail(ctx, err)
		return false
	}
	return true
}

// beat writes a comment when nothing else was written for a while, so that a client that is gone is noticed.
func (s *eventStream) beat() error {
	if time.Since(s.last) < eventsBeat {
		return nil
	}
	return s.write([]byte(": waiting\n\n"))
}

// fail tells the client why the stream ends, as an event that holds a problem.
func (s *eventStream) fail(ctx context.Context, err error) {
	if ctx.Err() != nil || s.api.opt.Drain.Err() != nil {
		return
	}
	p := problemOf(err)
	if p.Status == http.StatusInternalServerError {
		s.api.opt.Log.ErrorContext(ctx, "event stream failed", "queue", s.at.Queue, "group", s.at.Group, "error", err)
	}
	data, err := json.Marshal(p)
	if err == nil {
		_ = s.write(fmt.Appendf(nil, "event: problem\ndata: %s\n\n", data))
	}
}

// write sends a piece of the stream on its way.
func (s *eventStream) write(text []byte) error {
	control := http.NewResponseController(s.w)
	_ = control.SetWriteDeadline(time.Now().Add(eventsWrite)) // not every writer has deadlines
	if _, err := s.w.Write(text); err != nil {
		return err //nolint:wrapcheck // nobody sees it: the client is gone
	}
	s.last = time.Now()
	return control.Flush() //nolint:wrapcheck // likewise
}
