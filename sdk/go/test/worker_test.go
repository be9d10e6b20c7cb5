package test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirmq/weir/internal/pgtest"
	weir "github.com/weirmq/weir/sdk/go"
)

type job struct {
	N int `json:"n"`
}

// start runs a worker until the test ends or stop is called, which returns when the worker has.
func start(t *testing.T, w *weir.Worker) (stop func()) {
	t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- w.Run(t.Context()) }()
	stop = sync.OnceFunc(func() {
		must(t, w.Stop(context.Background()))
		must(t, <-ended)
	})
	t.Cleanup(stop)
	pgtest.WaitFor(t, "the worker to run", func() bool { return w.Health().Running })
	return stop
}

// idle waits until a group has nothing before it.
func idle(t *testing.T, c *weir.Client, group string) {
	t.Helper()
	pgtest.WaitFor(t, group+" to be idle", func() bool {
		for _, s := range get(c.Stats(t.Context(), "q"))(t) {
			if s.Group == group {
				return s.Waiting+s.Claimed+s.Delayed+s.Parked == 0
			}
		}
		return false
	})
}

// dead returns the reasons of the dead letters by payload.
func dead(t *testing.T, c *weir.Client) map[string]string {
	t.Helper()
	reasons := map[string]string{}
	for _, d := range get(c.DeadLetters(t.Context(), "q"))(t) {
		reasons[string(d.Payload)] = *d.Reason
	}
	return reasons
}

// each runs a test with a client over PostgreSQL and one over HTTP.
func each(t *testing.T, run func(t *testing.T, db *pgtest.DB, c *weir.Client)) {
	t.Run("sql", func(t *testing.T) {
		t.Parallel()
		db, client := newClient(t)
		run(t, db, client)
	})
	t.Run("http", func(t *testing.T) {
		t.Parallel()
		db, _ := newClient(t)
		run(t, db, connect(t, serve(t, db)))
	})
}

func TestEveryMessageIsHandledOnceAndFinished(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, _ *pgtest.DB, c *weir.Client) {
		const n = 500
		jobs := make([]job, n)
		for i := range jobs {
			jobs[i].N = i
		}
		get(weir.NewProducer[job](c, "q").SendBatch(t.Context(), jobs))(t)
		var seen [n]atomic.Int32
		stop := start(t, weir.NewWorker(c, "q", func(_ context.Context, m *weir.Message[job]) error {
			seen[m.Payload.N].Add(1)
			return nil
		}))
		idle(t, c, "default")
		stop()
		for i := range seen {
			if got := seen[i].Load(); got != 1 {
				t.Errorf("job %d ran %d times", i, got)
			}
		}
		if got := get(c.Pop(t.Context(), "q"))(t); len(got) != 0 {
			t.Errorf("message %d is left", got[0].ID)
		}
	})
}

func TestTheResultOfAHandlerDecides(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, _ *pgtest.DB, c *weir.Client) {
		for _, payload := range []any{"done", "reject", "retry", "panic", "bad type", 7} {
			get(c.Send(t.Context(), "q", payload))(t)
		}
		var retried atomic.Int32
		boom := errors.New("boom")
		w := weir.NewWorker(c, "q", func(_ context.Context, m *weir.Message[string]) error {
			switch m.Payload {
			case "reject":
				return weir.Reject(boom)
			case "retry":
				retried.Add(1)
				if m.Attempt == 1 {
					return weir.RetryAfter(0, boom)
				}
			case "panic":
				if m.Attempt == 1 {
					panic("at the disco")
				}
				return weir.Reject(fmt.Errorf("attempt %d", m.Attempt))
			}
			return nil
		}, weir.WorkerOptions{OnError: func(*weir.RawMessage, error) {}})
		start(t, w)
		idle(t, c, "default")
		got := dead(t, c)
		if got[`"reject"`] != "boom" || got[`"panic"`] != "attempt 2" || got["7"] == "" || len(got) != 3 {
			t.Errorf("dead letters: %v", got)
		}
		if retried.Load() != 2 {
			t.Errorf("what shall be retried ran %d times", retried.Load())
		}
	})
}

func TestAPanicIsKeptAsTheReason(t *testing.T) {
	t.Parallel()
	_, c := newClient(t)
	must(t, c.CreateGroup(t.Context(), "q", "once", weir.GroupOptions{MaxAttempts: 1}))
	get(c.Send(t.Context(), "q", 1))(t)
	start(t, weir.NewWorker(c, "q", func(context.Context, *weir.Message[int]) error { panic("at the disco") },
		weir.WorkerOptions{Group: "once", OnError: func(*weir.RawMessage, error) {}}))
	idle(t, c, "once")
	letters := get(c.DeadLetters(t.Context(), "q", weir.InGroup("once")))(t)
	if len(letters) != 1 || letters[0].Reason == nil {
		t.Fatalf("dead letters: %v", letters)
	}
	if reason := *letters[0].Reason; !strings.Contains(reason, "at the disco") {
		t.Errorf("reason: %s", reason)
	}
}

func TestOfAnOrderedGroupOneKeyRunsInOrder(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, _ *pgtest.DB, c *weir.Client) {
		must(t, c.CreateGroup(t.Context(), "q", "g", weir.GroupOptions{Ordered: true, BackoffMin: time.Millisecond}))
		var batch []weir.Outgoing
		for i := range 60 {
			batch = append(batch, weir.Outgoing{Payload: job{i}, Key: fmt.Sprint("key ", i%3)})
		}
		get(c.SendBatch(t.Context(), "q", batch))(t)
		var mu sync.Mutex
		done, running := map[string][]int{}, map[string]int{}
		start(t, weir.NewWorker(c, "q", func(_ context.Context, m *weir.Message[job]) error {
			mu.Lock()
			running[m.Key]++
			if running[m.Key] > 1 {
				t.Errorf("two messages of %s at once", m.Key)
			}
			mu.Unlock()
			defer func() {
				mu.Lock()
				defer mu.Unlock()
				running[m.Key]--
			}()
			if m.Attempt == 1 && m.Payload.N%7 == 0 {
				return errors.New("once more")
			}
			mu.Lock()
			defer mu.Unlock()
			done[m.Key] = append(done[m.Key], m.Payload.N)
			return nil
		}, weir.WorkerOptions{Group: "g", Prefetch: 40, OnError: func(m *weir.RawMessage, err error) {
			if m == nil {
				t.Error(err)
			}
		}}))
		pgtest.WaitFor(t, "all to be done", func() bool {
			mu.Lock()
			defer mu.Unlock()
			return len(done["key 0"])+len(done["key 1"])+len(done["key 2"]) >= 60
		})
		mu.Lock()
		defer mu.Unlock()
		for key, order := range done {
			if len(order) != 20 || !slices.IsSorted(order) {
				t.Errorf("%s: %v", key, order)
			}
		}
	})
}

// renewed tells whether a lease was. A worker renews it after a third of it: those of the tests that wait for that are
// so long that a machine with much else to do is in time, too.
const renewed = `select exists (select from weir_log.claims_0 where kind = 'e'
	union all select from weir_log.claims_1 where kind = 'e')`

func TestALongHandlerKeepsItsClaim(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, db *pgtest.DB, c *weir.Client) {
		get(c.Send(t.Context(), "q", 1))(t)
		begun, finish := make(chan int, 10), make(chan struct{})
		start(t, weir.NewWorker(c, "q", func(ctx context.Context, m *weir.Message[int]) error {
			begun <- m.Attempt
			select {
			case <-finish:
			case <-ctx.Done():
				t.Errorf("cancelled: %v", context.Cause(ctx))
			}
			return nil
		}, weir.WorkerOptions{Lease: 45 * time.Second}))
		<-begun
		pgtest.WaitFor(t, "the lease to be renewed", func() bool {
			if got := get(c.Receive(t.Context(), "q"))(t); len(got) > 0 {
				t.Fatalf("another consumer got it, attempt %d", got[0].Attempt)
			}
			return pgtest.QueryVal[bool](t, db, renewed)
		})
		close(finish)
		idle(t, c, "default")
	})
}

func TestAHandlerIsCancelledWhenItsClaimIsLost(t *testing.T) {
	t.Parallel()
	_, c := newClient(t)
	get(c.Send(t.Context(), "q", 1))(t)
	begun, cancelled := make(chan struct{}, 10), make(chan error, 10)
	start(t, weir.NewWorker(c, "q", func(ctx context.Context, m *weir.Message[int]) error {
		if m.Attempt > 1 {
			return nil
		}
		begun <- struct{}{}
		<-ctx.Done()
		cancelled <- context.Cause(ctx)
		return nil // too late: this must not finish what another does
	}, weir.WorkerOptions{Lease: 3 * time.Second, OnError: func(*weir.RawMessage, error) {}}))
	<-begun
	get(c.Purge(t.Context(), "q", ""))(t)
	if err := <-cancelled; !errors.Is(err, weir.ErrClaimLost) {
		t.Errorf("cancelled with %v", err)
	}
}

func TestExactlyOnceCommitsAllOrNothing(t *testing.T) {
	t.Parallel()
	db, c := newClient(t)
	newQueue(t, c, "onward", weir.QueueOptions{})
	db.Exec(t, "create table done (n int primary key)")
	for i := range 20 {
		get(c.Send(t.Context(), "q", job{i}))(t)
	}
	start(t, weir.NewWorker(c, "q", func(ctx context.Context, m *weir.Message[job]) error {
		return m.ExactlyOnce(ctx, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, "insert into done values ($1)", m.Payload.N); err != nil {
				return err
			}
			if _, err := c.In(tx).Send(ctx, "onward", m.Payload); err != nil {
				return err
			}
			if m.Attempt == 1 && m.Payload.N%4 == 0 {
				return weir.RetryAfter(0, errors.New("after the writes"))
			}
			return nil
		})
	}, weir.WorkerOptions{OnError: func(*weir.RawMessage, error) {}}))
	idle(t, c, "default")
	if n := pgtest.QueryVal[int](t, db, "select count(*)::int from done"); n != 20 {
		t.Errorf("%d rows", n)
	}
	if sent := get(c.Pop(t.Context(), "onward", weir.Max(100)))(t); len(sent) != 20 {
		t.Errorf("%d messages sent on", len(sent))
	}
}

func TestAWorkerOfSlowHandlersHoldsNoMoreThanTwiceAsManyMessages(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, _ *pgtest.DB, c *weir.Client) {
		get(c.SendBatch(t.Context(), "q", make([]weir.Outgoing, 100)))(t)
		finish := make(chan struct{})
		w := weir.NewWorker(c, "q", func(context.Context, *weir.RawMessage) error { <-finish; return nil },
			weir.WorkerOptions{Concurrency: 3})
		start(t, w)
		t.Cleanup(func() { close(finish) })
		pgtest.WaitFor(t, "handlers to run", func() bool { return w.Health().Busy == 3 })
		rest := 0
		for rest < 94 {
			rest += len(get(c.Receive(t.Context(), "q", weir.Max(100), weir.Wait(50*time.Second)))(t))
		}
		if held := w.Health().Held; rest != 94 || held != 6 {
			t.Errorf("%d messages held, %d left to others", held, rest)
		}
	})
}

func TestOfAnOrderedGroupEveryHandlerHasAKeyHoweverManyMessagesTheKeysHave(t *testing.T) {
	t.Parallel()
	keysOf := func(t *testing.T, c *weir.Client, prefetch int) {
		t.Helper()
		must(t, c.CreateGroup(t.Context(), "q", "g", weir.GroupOptions{Ordered: true}))
		for key := range 8 {
			get(c.SendBatch(t.Context(), "q", make([]weir.Outgoing, 300), weir.Key(strconv.Itoa(key))))(t)
		}
		finish := make(chan struct{})
		w := weir.NewWorker(c, "q", func(context.Context, *weir.RawMessage) error { <-finish; return nil },
			weir.WorkerOptions{Group: "g", Concurrency: 8, Prefetch: prefetch, Lease: 45 * time.Second})
		finished := sync.OnceFunc(func() { close(finish) })
		start(t, w)
		t.Cleanup(finished)
		pgtest.WaitFor(t, "each handler to have a key", func() bool { return w.Health().Busy == 8 })
		if held := w.Health().Held; held > 32 {
			t.Errorf("%d messages are held for 8 slow handlers", held)
		}
		finished()
		idle(t, c, "g")
	}
	each(t, func(t *testing.T, _ *pgtest.DB, c *weir.Client) { keysOf(t, c, 0) })
	t.Run("prefetch", func(t *testing.T) {
		t.Parallel()
		_, c := newClient(t)
		keysOf(t, c, 16)
	})
}

func TestOfAGroupWithALimitNoMoreIsClaimedThanItAllowsUntilItIsLifted(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, _ *pgtest.DB, c *weir.Client) {
		must(t, c.CreateGroup(t.Context(), "q", "g", weir.GroupOptions{ConcurrencyMax: 2}))
		get(c.SendBatch(t.Context(), "q", make([]weir.Outgoing, 20)))(t)
		in := []weir.ReceiveOption{weir.InGroup("g"), weir.Max(20)}
		if got := get(c.Receive(t.Context(), "q", in...))(t); len(got) != 2 {
			t.Errorf("received %d", len(got))
		}
		if got := get(c.Receive(t.Context(), "q", in...))(t); len(got) != 0 {
			t.Errorf("received %d more", len(got))
		}
		must(t, c.ConfigureGroup(t.Context(), "q", "g", weir.GroupSettings{ConcurrencyMax: new(0)}))
		if got := get(c.Receive(t.Context(), "q", append(in, weir.Wait(50*time.Second))...))(t); len(got) != 18 {
			t.Errorf("received %d once it was lifted", len(got))
		}
	})
}

func TestWhatWaitsForHandlersThatBecameSlowGoesToOthersUncounted(t *testing.T) {
	t.Parallel()
	_, c := newClient(t)
	get(c.SendBatch(t.Context(), "q", make([]weir.Outgoing, 2000)))(t)
	var count atomic.Int32
	finish := make(chan struct{})
	w := weir.NewWorker(c, "q", func(context.Context, *weir.RawMessage) error {
		if count.Add(1) > 1000 {
			<-finish
		}
		return nil
	}, weir.WorkerOptions{Concurrency: 2, Lease: 45 * time.Second})
	start(t, w)
	t.Cleanup(func() { close(finish) })
	pgtest.WaitFor(t, "the rest to be given back", func() bool {
		return w.Health().Busy == 2 && count.Load() == 1002 && w.Health().Held == 4
	})
	for rest := 0; rest < 996; {
		got := get(c.Receive(t.Context(), "q", weir.Max(1000), weir.Wait(50*time.Second)))(t)
		if len(got) == 0 {
			t.Fatalf("%d messages are left to others, want 996", rest)
		}
		for _, m := range got {
			if m.Attempt != 1 {
				t.Fatalf("message %d: attempt %d", m.ID, m.Attempt)
			}
		}
		rest += len(got)
	}
}

func TestASoftStopLetsHandlersEndAndGivesBackTheRestUncounted(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, _ *pgtest.DB, c *weir.Client) {
		for i := range 5 {
			get(c.Send(t.Context(), "q", job{i}))(t)
		}
		begun, finish := make(chan struct{}, 5), make(chan struct{})
		w := weir.NewWorker(c, "q", func(ctx context.Context, _ *weir.Message[job]) error {
			begun <- struct{}{}
			<-finish
			return ctx.Err()
		}, weir.WorkerOptions{Concurrency: 1})
		stop := start(t, w)
		<-begun
		pgtest.WaitFor(t, "one more to be held", func() bool { return w.Health().Held == 2 })
		stopped := make(chan struct{})
		go func() { stop(); close(stopped) }()
		pgtest.WaitFor(t, "the rest to be given back", func() bool { return w.Health().Held == 1 })
		for given := 0; given < 4; {
			rest := get(c.Receive(t.Context(), "q", weir.Max(10), weir.Wait(50*time.Second)))(t)
			if len(rest) == 0 {
				t.Errorf("%d messages were given back, want 4", given)
				break
			}
			for _, m := range rest {
				if m.Attempt != 1 {
					t.Errorf("message %d: attempt %d", m.ID, m.Attempt)
				}
			}
			given += len(rest)
		}
		close(finish)
		<-stopped
		for _, s := range get(c.Stats(t.Context(), "q"))(t) {
			if s.Waiting+s.Claimed+s.Delayed != 4 {
				t.Errorf("left: %+v, want 4", s)
			}
		}
	})
}

func TestAHardStopCancelsHandlersAndGivesTheirMessagesBack(t *testing.T) {
	t.Parallel()
	_, c := newClient(t)
	get(c.Send(t.Context(), "q", job{1}))(t)
	begun := make(chan struct{})
	w := weir.NewWorker(c, "q", func(ctx context.Context, _ *weir.Message[job]) error {
		close(begun)
		<-ctx.Done()
		return ctx.Err()
	}, weir.WorkerOptions{OnError: func(*weir.RawMessage, error) {}})
	ended := make(chan error, 1)
	go func() { ended <- w.Run(t.Context()) }()
	<-begun
	now, cancel := context.WithCancel(t.Context())
	cancel()
	must(t, w.Stop(now))
	must(t, <-ended)
	if got := get(c.Receive(t.Context(), "q", weir.Wait(50*time.Second)))(t); len(got) != 1 || got[0].Attempt != 2 {
		t.Errorf("received %v", got)
	}
}

func TestATimeoutCancelsTheHandler(t *testing.T) {
	t.Parallel()
	_, c := newClient(t)
	must(t, c.CreateGroup(t.Context(), "q", "once", weir.GroupOptions{MaxAttempts: 1}))
	get(c.Send(t.Context(), "q", 1))(t)
	failed := make(chan error, 1)
	start(t, weir.NewWorker(c, "q", func(ctx context.Context, _ *weir.Message[int]) error {
		<-ctx.Done()
		return ctx.Err()
	}, weir.WorkerOptions{
		Group: "once", Timeout: 20 * time.Millisecond, OnError: func(_ *weir.RawMessage, err error) { failed <- err },
	}))
	if err := <-failed; !errors.Is(err, weir.ErrTimeout) {
		t.Errorf("failed with %v", err)
	}
}

func TestAWorkerWithoutItsQueueEndsWithTheError(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, _ *pgtest.DB, c *weir.Client) {
		handle := func(context.Context, *weir.RawMessage) error { return nil }
		if err := weir.NewWorker(c, "none", handle).Run(t.Context()); !errors.Is(err, weir.ErrQueueNotFound) {
			t.Errorf("no queue: %v", err)
		}
		err := weir.NewWorker(c, "q", handle, weir.WorkerOptions{Group: "none"}).Run(t.Context())
		if !errors.Is(err, weir.ErrGroupNotFound) {
			t.Errorf("no group: %v", err)
		}
	})
}

func TestAWorkerGoesOnWhenItsConnectionsAreCut(t *testing.T) {
	t.Parallel()
	db, c := newClient(t)
	var count atomic.Int32
	start(t, weir.NewWorker(c, "q", func(context.Context, *weir.Message[int]) error {
		count.Add(1)
		return nil
	}, weir.WorkerOptions{Lease: 2 * time.Second, OnError: func(*weir.RawMessage, error) {}}))
	super := db.Super(t)
	for i := range int32(5) {
		_, err := super.Exec(t.Context(), `select pg_terminate_backend(pid) from pg_stat_activity
			where datname = current_database() and application_name = 'weir sdk go'`)
		must(t, err)
		get(c.Send(t.Context(), "q", 1))(t)
		pgtest.WaitFor(t, "the message to be handled", func() bool { return count.Load() > i })
	}
}
