package test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirmq/weir/internal/pgtest"
	weir "github.com/weirmq/weir/sdk/go"
)

// flow sends messages one by one, counting them, until end is called, which returns when it has ended.
func flow(t *testing.T, c *weir.Client) (sent *atomic.Int64, end func()) {
	t.Helper()
	sent, ended := new(atomic.Int64), make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer close(ended)
		for ctx.Err() == nil {
			if _, err := c.Send(context.WithoutCancel(ctx), "q", 1); err != nil {
				t.Error(err)
				return
			}
			sent.Add(1)
		}
	}()
	end = sync.OnceFunc(func() { cancel(); <-ended })
	t.Cleanup(end)
	return sent, end
}

// receives is how many receives a worker began.
func (r *requests) receives() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for _, call := range r.list {
		if call != "mark" {
			n++
		}
	}
	return n
}

// cooled waits until a worker lets many messages come before it looks for them.
func cooled(t *testing.T, seen *requests, sent, handled *atomic.Int64) {
	t.Helper()
	pgtest.WaitFor(t, "messages that nobody looks for", func() bool {
		receives, before := seen.receives(), sent.Load()
		pgtest.WaitFor(t, "300 messages to be sent", func() bool { return sent.Load() >= before+300 })
		return handled.Load() > 0 && seen.receives() == receives
	})
}

// The cooldowns of these tests are so long that the slowest machine sends many messages in one; a lease is at least 200
// times as long.

func TestAWorkerOfManySingleMessagesNeedsFarFewerReceivesAndHandlesEachOnce(t *testing.T) {
	t.Parallel()
	for _, group := range []string{"default", "in-order"} {
		t.Run(group, func(t *testing.T) {
			t.Parallel()
			db, c := newClient(t)
			if group != "default" {
				must(t, c.CreateGroup(t.Context(), "q", group, weir.GroupOptions{Ordered: true}))
			}
			seen, handled, _ := seenWorker(t, db, weir.WorkerOptions{
				Group: group, Concurrency: 4, Prefetch: 1000, Cooldown: 5 * time.Second, Lease: time.Hour,
			})
			sent, end := flow(t, c)
			pgtest.WaitFor(t, "receives of 50 messages and more each", func() bool {
				receives, before := seen.receives(), handled.Load()
				pgtest.WaitFor(t, "1,000 messages to be handled", func() bool { return handled.Load() >= before+1000 })
				return seen.receives() <= receives+20
			})
			end()
			idle(t, c, group)
			if n := handled.Load(); n != sent.Load() {
				t.Errorf("%d messages were handled %d times", sent.Load(), n)
			}
		})
	}
}

func TestAWorkerThatStopsWaitsForNoCooldown(t *testing.T) {
	t.Parallel()
	db, c := newClient(t)
	seen, handled, stop := seenWorker(t, db, weir.WorkerOptions{
		Prefetch: 1000, Cooldown: 10 * time.Minute, Lease: 100 * time.Hour,
	})
	sent, end := flow(t, c)
	cooled(t, seen, sent, handled)
	stop()
	end()
	for _, s := range get(c.Stats(t.Context(), "q"))(t) {
		if s.Claimed != 0 || s.Waiting != sent.Load()-handled.Load() {
			t.Errorf("%d were sent, %d handled; left: %+v", sent.Load(), handled.Load(), s)
		}
	}
}

func TestAWorkerWithoutRoomWaitsForNoCooldown(t *testing.T) {
	t.Parallel()
	db, c := newClient(t)
	seen, handled, _ := seenWorker(t, db, weir.WorkerOptions{
		Prefetch: 100, Cooldown: 20 * time.Second, Lease: 2 * time.Hour,
	})
	sent, end := flow(t, c)
	cooled(t, seen, sent, handled)
	end()
	get(c.SendBatch(t.Context(), "q", make([]weir.Outgoing, 5000)))(t) // room for all of them is made fifty times
	idle(t, c, "default")
	if n := handled.Load(); n != sent.Load()+5000 {
		t.Errorf("%d messages were handled %d times", sent.Load()+5000, n)
	}
}
