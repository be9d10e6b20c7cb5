package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirmq/weir/internal/engine"
	"github.com/weirmq/weir/internal/pgtest"
)

// receipt is a message as a waiting consumer got it.
type receipt struct {
	id    int64
	at    time.Time
	cause engine.Cause // why it looked
}

// logged keeps what a listener logs.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) count(what string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), what)
}

// waiting is a consumer of queue q that waits when there is nothing, and what it leaves behind.
type waiting struct {
	*testing.T
	db       *pgtest.DB
	client   *engine.Client // of the consumer; senders have their own connections
	listener *engine.Listener
	log      *logged
	got      chan receipt
	vain     atomic.Int64              // receives that found nothing
	waited   func(ctx context.Context) // called after each wait, unless nil
}

// wait makes the queue and starts the consumer. The consumer's pool has one connection.
func wait(t *testing.T, major int, before func(w *waiting)) *waiting {
	t.Helper()
	w := &waiting{T: t, log: &logged{}, got: make(chan receipt, 10_000)}
	w.db, _ = newQueue(t, major)
	w.client = get[*engine.Client](t)(engine.Open(t.Context(), w.db.DSN, engine.Options{AppName: "test", MaxConns: 1}))
	t.Cleanup(w.client.Close)
	w.listener = engine.NewListener(w.client, slog.New(slog.NewTextHandler(w.log, nil)))
	t.Cleanup(w.listener.Close)
	if before != nil {
		before(w)
	}
	ctx, stop := context.WithCancel(t.Context())
	var consumer sync.WaitGroup
	consumer.Go(func() { w.consume(ctx) })
	t.Cleanup(func() { stop(); consumer.Wait() })
	return w
}

func (w *waiting) consume(ctx context.Context) {
	waiter := w.listener.Waiter("q")
	cause := engine.Polled
	for ctx.Err() == nil {
		list, err := w.client.Receive(context.WithoutCancel(ctx), "q", "default", 10, time.Hour)
		if err != nil {
			w.Errorf("receive: %v", err)
			return
		}
		for _, m := range list {
			w.got <- receipt{m.ID, time.Now(), cause}
		}
		if len(list) > 0 {
			waiter.Found()
			continue
		}
		w.vain.Add(1)
		cause = waiter.Wait(ctx, time.Hour)
		if w.waited != nil {
			w.waited(ctx)
		}
	}
}

// sender returns a client with a connection of its own.
func (w *waiting) sender() *engine.Client { return engine.New(w.db.Conn(w)) }

// send sends a message and returns when that was done.
func (w *waiting) send(c *engine.Client) (int64, time.Time) {
	w.Helper()
	id := get[int64](w.T)(c.Send(w.Context(), "q", engine.Outgoing{Payload: json.RawMessage("1")}, engine.SendOptions{}))
	return id, time.Now()
}

// receipt returns the next message the consumer got.
func (w *waiting) receipt(id int64) receipt {
	w.Helper()
	select {
	case r := <-w.got:
		if r.id != id {
			w.Fatalf("received %d, want %d", r.id, id)
		}
		return r
	case <-time.After(time.Minute):
		w.Fatalf("message %d was not received", id)
		return receipt{}
	}
}

// settled returns once the consumer has set a mark and looked in vain some times after it, so that it waits in a longer
// step.
func (w *waiting) settled(looks int64) {
	w.Helper()
	marks, vain := w.listener.Counts().Marks, w.vain.Load()
	pgtest.WaitFor(w, "the mark and looks after it", func() bool {
		marked, now := w.listener.Counts().Marks > marks, w.vain.Load()
		if !marked {
			vain = now
		}
		return marked && now > vain+looks
	})
}

// notifications counts what the queue's channel gets from now on; the function returned says how many came so far.
func (w *waiting) notifications() func() int {
	w.Helper()
	conn := w.db.Conn(w)
	channel := pgtest.QueryVal[string](w, w.db, `select format('%I', 'weir:' || no % 64)
		from weir_internal.queues where name = 'q'`)
	if _, err := conn.Exec(w.Context(), "listen "+channel+`; listen "end"`); err != nil {
		w.Fatal(err)
	}
	n := 0
	return func() int {
		w.Helper()
		w.db.Exec(w, `notify "end"`)
		for {
			got, err := conn.WaitForNotification(w.Context())
			if err != nil {
				w.Fatal(err)
			}
			if got.Channel == "end" {
				return n
			}
			n++
		}
	}
}

func TestACommitWakesAnIdleConsumerAtOnce(t *testing.T) {
	t.Parallel()
	pgtest.EachMajor(t, func(t *testing.T, major int) {
		t.Parallel()
		const want, most = 50, 1000
		w := wait(t, major, nil)
		sender, notified := w.sender(), w.notifications()
		byNotification, sends := 0, 0
		var took []time.Duration
		for ; byNotification < want && sends < most; sends++ { // a busy machine may be late with some
			w.settled(2)
			id, sent := w.send(sender)
			r := w.receipt(id)
			took = append(took, r.at.Sub(sent))
			if r.cause == engine.Notified {
				byNotification++
			}
		}
		slices.Sort(took)
		t.Logf("p50 %s, p99 %s, by notification %d", took[sends/2], took[sends*99/100], byNotification)
		if byNotification < want {
			t.Errorf("%d of %d messages were received because of their notification", byNotification, sends)
		}
		counts, n := w.listener.Counts(), notified()
		if int64(n) > counts.Marks || n > sends {
			t.Errorf("%d notifications for %d messages and %d marks", n, sends, counts.Marks)
		}
	})
}

// TestNoSendNotifiesWhileMessagesFlow has each message sent when the consumer has looked in vain, and has the consumer
// look again when it is there: so it finds something each time that it has waited, however fast the machine is.
func TestNoSendNotifiesWhileMessagesFlow(t *testing.T) {
	t.Parallel()
	pgtest.EachMajor(t, func(t *testing.T, major int) {
		t.Parallel()
		const sends = 200
		waits, goOn := make(chan struct{}), make(chan struct{})
		w := wait(t, major, func(w *waiting) {
			w.waited = func(ctx context.Context) {
				for _, c := range []chan struct{}{waits, goOn} {
					select {
					case <-c:
					case <-ctx.Done():
					}
				}
			}
		})
		sender, notified := w.sender(), w.notifications()
		for range sends {
			waits <- struct{}{}
			id, _ := w.send(sender)
			goOn <- struct{}{}
			w.receipt(id)
		}
		if n := notified(); n > 0 {
			t.Errorf("%d notifications for %d sends that followed each other", n, sends)
		}
	})
}

func TestAConsumerTakesABreathBeforeItMarksItsQueue(t *testing.T) {
	t.Parallel()
	_, client := newQueue(t, 0)
	listener := engine.NewListener(client, nil)
	t.Cleanup(listener.Close)
	waiter := listener.Waiter("q")
	pgtest.WaitFor(t, "the mark", func() bool { return waiter.Wait(t.Context(), time.Second) == engine.Armed })
	get[int64](t)(client.Send(t.Context(), "q", engine.Outgoing{Payload: json.RawMessage("1")}, engine.SendOptions{}))
	for cause := engine.Polled; cause != engine.Notified; {
		cause = waiter.Wait(t.Context(), time.Second)
	}
	before := listener.Counts()
	for _, want := range []engine.Cause{engine.Polled, engine.Armed} {
		if got := waiter.Wait(t.Context(), time.Second); got != want {
			t.Errorf("cause %d, want %d", got, want)
		}
		if marks := listener.Counts().Marks - before.Marks; want == engine.Polled && marks != 0 {
			t.Errorf("%d marks in the first wait", marks)
		}
	}
}

// One of two waiters is notified, so the notification is there when the other's step ends.
func TestANotificationThatComesAsAStepEndsEndsTheWait(t *testing.T) {
	t.Parallel()
	_, client := newQueue(t, 0)
	listener := engine.NewListener(client, nil)
	t.Cleanup(listener.Close)
	for range 10 {
		one, other := listener.Waiter("q"), listener.Waiter("q")
		for _, waiter := range []*engine.Waiter{one, other} {
			pgtest.WaitFor(t, "the mark", func() bool { return waiter.Wait(t.Context(), time.Second) == engine.Armed })
		}
		get[int64](t)(client.Send(t.Context(), "q", engine.Outgoing{Payload: json.RawMessage("1")}, engine.SendOptions{}))
		pgtest.WaitFor(t, "the notification", func() bool {
			return one.Wait(t.Context(), time.Second) == engine.Notified
		})
		if cause := other.Wait(t.Context(), 0); cause != engine.Notified {
			t.Fatalf("cause %d", cause)
		}
	}
}

func TestASendThatDidNotSeeTheMarkIsReceivedAStepAfterItsCommit(t *testing.T) {
	t.Parallel()
	pgtest.EachMajor(t, func(t *testing.T, major int) {
		t.Parallel()
		var id int64
		var open pgx.Tx
		w := wait(t, major, func(w *waiting) {
			open = get[pgx.Tx](t)(w.db.Conn(t).Begin(t.Context()))
			id, _ = w.send(engine.New(open))
		})
		w.settled(13) // which is as long as steps get
		committed := time.Now()
		must(t, open.Commit(t.Context()))
		r := w.receipt(id)
		if r.cause != engine.Polled {
			t.Errorf("received after %s, cause %d", r.at.Sub(committed), r.cause)
		}
	})
}

func TestAMarkThatWentWithARolledBackSendIsSetAgain(t *testing.T) {
	t.Parallel()
	w := wait(t, 0, nil)
	sender, notified := w.sender(), w.notifications()
	w.settled(0)
	err := sender.InTx(t.Context(), func(tx *engine.Client) error {
		w.send(tx)
		return context.Canceled
	})
	if err == nil || notified() != 0 {
		t.Fatalf("a send that was rolled back: %v, %d notifications", err, notified())
	}
	w.settled(1)
	id, _ := w.send(sender)
	w.receipt(id)
	if n := notified(); n != 1 {
		t.Errorf("%d notifications, want 1", n)
	}
}

func TestWaitersOfOneQueueShareTheMarkAndAreAllWoken(t *testing.T) {
	t.Parallel()
	const others, steps = 8, 100
	w := wait(t, 0, nil)
	w.settled(1)
	before := w.listener.Counts()
	woken := make(chan engine.Cause, others)
	for range others {
		go func() {
			waiter := w.listener.Waiter("q")
			for {
				if cause := waiter.Wait(t.Context(), time.Hour); cause != engine.Polled && cause != engine.Armed {
					woken <- cause
					return
				}
			}
		}()
	}
	pgtest.WaitFor(t, "many steps", func() bool { return w.listener.Counts().Polled > before.Polled+steps })
	if marks := w.listener.Counts().Marks - before.Marks; marks > steps/4 {
		t.Errorf("%d marks in %d steps", marks, steps)
	}
	sender := w.sender()
	for n := 0; n < others; { // one that is about to arm may miss the first
		w.send(sender)
		select {
		case cause := <-woken:
			if n++; cause != engine.Notified {
				t.Errorf("cause %d", cause)
			}
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func TestAListenerThatCannotConnectSaysSoOnceAndRecovers(t *testing.T) {
	t.Parallel()
	pgtest.EachMajor(t, func(t *testing.T, major int) {
		t.Parallel()
		var sender *engine.Client
		limit := func(w *waiting, n string) {
			if _, err := w.db.Super(t).Exec(t.Context(), "alter database "+w.db.Name+" connection limit "+n); err != nil {
				t.Fatal(err)
			}
		}
		w := wait(t, major, func(w *waiting) {
			sender = w.sender()
			limit(w, "1") // for those that are not there yet
		})
		pgtest.WaitFor(t, "the report", func() bool { return w.log.count("cannot be told") > 0 })
		id, _ := w.send(sender)
		if r := w.receipt(id); r.cause != engine.Polled {
			t.Errorf("cause %d", r.cause)
		}
		limit(w, "-1")
		w.settled(0)
		w.wantNotified(sender)
		if w.log.count("cannot be told") != 1 || w.log.count("told of messages again") != 1 || w.log.count("\n") != 2 {
			t.Errorf("log:\n%s", &w.log.text)
		}
	})
}

// wantNotified proves that the consumer is told of messages.
func (w *waiting) wantNotified(sender *engine.Client) {
	w.Helper()
	before := w.listener.Counts().Notified
	pgtest.WaitFor(w, "a notification", func() bool {
		id, _ := w.send(sender)
		w.receipt(id)
		w.settled(3)
		return w.listener.Counts().Notified > before
	})
}

func TestAListenerThatLostItsConnectionRecovers(t *testing.T) {
	t.Parallel()
	w := wait(t, 0, nil)
	sender := w.sender()
	w.wantNotified(sender)
	recoveries := w.log.count("told of messages again") // a slow machine may have needed some to begin
	w.db.Exec(t, `select pg_terminate_backend(pid) from pg_stat_activity
		where datname = current_database() and application_name = 'test listener'`)
	id, _ := w.send(sender)
	w.receipt(id)
	pgtest.WaitFor(t, "the recovery", func() bool { return w.log.count("told of messages again") > recoveries })
	w.wantNotified(sender)
}

func TestARoleThatMayNotMarkPolls(t *testing.T) {
	t.Parallel()
	w := wait(t, 0, func(w *waiting) {
		w.db.Exec(t, `create or replace function weir.mark_waiting(queue_name text) returns text language plpgsql as
			$$ begin raise exception 'not you' using errcode = '42501'; end $$`)
	})
	sender := w.sender()
	for range 3 {
		id, _ := w.send(sender)
		w.receipt(id)
	}
	pgtest.WaitFor(t, "the report", func() bool { return w.log.count("not you") > 0 })
	if w.log.count("not you") != 1 || w.listener.Counts().Notified != 0 {
		t.Errorf("log:\n%s", &w.log.text)
	}
}

func TestAQueueNobodyWaitsForIsForgotten(t *testing.T) {
	t.Parallel()
	_, client := newQueue(t, 0)
	listener := engine.NewListener(client, nil)
	t.Cleanup(listener.Close)
	waiter := listener.Waiter("q")
	armed := func() bool { return waiter.Wait(t.Context(), time.Second) == engine.Armed }
	pgtest.WaitFor(t, "the mark", armed)
	listener.Age("q", time.Hour)
	pgtest.WaitFor(t, "the topic's end", func() bool { return listener.Age("q", 0) == 0 })
	waiter.Found()
	pgtest.WaitFor(t, "the next mark", armed)
}

func TestAQueueThatIsForgottenLeavesTheChannelToTheOneItSharesItWith(t *testing.T) {
	t.Parallel()
	db, client := newQueue(t, 0)
	db.Exec(t, `select setval('weir_internal.queue_numbers', no + 63) from weir_internal.queues where name = 'q'`)
	db.Exec(t, "select weir.create_queue('other')")
	listener := engine.NewListener(client, nil)
	t.Cleanup(listener.Close)
	for _, queue := range []string{"q", "other"} {
		waiter := listener.Waiter(queue)
		pgtest.WaitFor(t, "the mark", func() bool { return waiter.Wait(t.Context(), time.Second) == engine.Armed })
	}
	listener.Age("q", time.Hour)
	pgtest.WaitFor(t, "the topic's end", func() bool { return listener.Age("q", 0) == 1 })
	waiter := listener.Waiter("other")
	pgtest.WaitFor(t, "a notification", func() bool {
		get[int64](t)(client.Send(t.Context(), "other", engine.Outgoing{Payload: json.RawMessage("1")}, engine.SendOptions{}))
		return waiter.Wait(t.Context(), time.Second) == engine.Notified
	})
}

// It does not run beside other tests, because it looks at all goroutines.
func TestAClosedListenerLeavesNothing(t *testing.T) {
	db, client := newQueue(t, 0)
	listener := engine.NewListener(client, nil)
	waiter := listener.Waiter("q")
	pgtest.WaitFor(t, "the mark", func() bool { return waiter.Wait(t.Context(), time.Second) == engine.Armed })
	listener.Close()
	pgtest.WaitFor(t, "its goroutines to be gone", func() bool { // they may take a moment to end
		stacks := make([]byte, 1<<20)
		return !bytes.Contains(stacks[:runtime.Stack(stacks, true)], []byte("(*Listener)"))
	})
	listener.Close()
	pgtest.WaitForRow(t, db, `select not exists (select from pg_stat_activity
		where datname = current_database() and application_name like '%listener')`)
	waiter.Found()
	for range 3 {
		if cause := waiter.Wait(t.Context(), time.Second); cause != engine.Polled {
			t.Errorf("after the end: cause %d", cause)
		}
	}
	var none *engine.Listener
	none.Close()
	if cause := none.Waiter("q").Wait(t.Context(), time.Second); cause != engine.Polled {
		t.Errorf("without a listener: cause %d", cause)
	}
}
