// Package pooler_test runs Weir behind a real PgBouncer: every function in transaction mode, by several clients that
// share a few sessions, and waiting in transaction and in session mode.
package pooler_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirmq/weir/internal/engine"
	"github.com/weirmq/weir/internal/migrate"
	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/internal/server"
	"github.com/weirmq/weir/test/surface"
)

func TestMain(m *testing.M) {
	pgtest.SetInstaller(migrate.Install)
	pgtest.Main(m)
}

const (
	queue = "q"
	group = engine.DefaultGroup
)

// crew are clients that take turns.
type crew struct {
	*bouncer
	clients []*engine.Client
	turns   atomic.Int64
}

func (b *bouncer) crew(n int) *crew {
	b.Helper()
	c := &crew{bouncer: b}
	for range n {
		c.clients = append(c.clients, b.client())
	}
	made, err := c.next().CreateQueue(b.Context(), queue, engine.QueueOptions{})
	must(b.T, err)
	if !made {
		b.Fatal("the queue was there before")
	}
	return c
}

// next is the client whose turn it is.
func (c *crew) next() *engine.Client {
	return c.clients[int(c.turns.Add(1))%len(c.clients)]
}

func number(n int) engine.Outgoing {
	return engine.Outgoing{Payload: json.RawMessage(surface.Number(n))}
}

// claim receives exactly n messages, for the attempt given.
func (c *crew) claim(n, attempt int) (claim int64, ids []int64) {
	c.Helper()
	list := get[[]engine.Message](c.T)(c.next().Receive(c.Context(), queue, group, 100, time.Minute))
	for _, m := range list {
		ids = append(ids, m.ID)
		if m.Attempt != attempt {
			c.Errorf("message %d: attempt %d, want %d", m.ID, m.Attempt, attempt)
		}
	}
	if len(list) != n {
		c.Fatalf("received %d messages, want %d", len(list), n)
	}
	return list[0].ClaimID, ids
}

// wantStats compares what the group has before it.
func (c *crew) wantStats(waiting, claimed, delayed, dead int64) {
	c.Helper()
	s := get[[]engine.GroupStats](c.T)(c.next().Stats(c.Context(), queue))[0]
	got, want := []int64{s.Waiting, s.Claimed, s.Delayed, s.Dead}, []int64{waiting, claimed, delayed, dead}
	if !slices.Equal(got, want) {
		c.Errorf("waiting, claimed, delayed and dead: %v, want %v", got, want)
	}
}

func TestEveryFunctionWorksBehindAPoolerWhateverClientCallsIt(t *testing.T) {
	t.Parallel()
	c := pool(t, "transaction", 3).crew(4)
	clock := surface.MovableClock(t, c.db)
	ctx, now, reason := t.Context(), time.Duration(0), "why not"
	first := get[int64](t)(c.next().Send(ctx, queue, number(0), engine.SendOptions{}))
	batch := []engine.Outgoing{number(1), number(2), number(3)}
	rest := get[[]int64](t)(c.next().SendBatch(ctx, queue, batch, engine.SendOptions{}))
	claim, ids := c.claim(4, 1)
	if !slices.Equal(ids, append([]int64{first}, rest...)) {
		t.Errorf("received %v, sent %d and %v", ids, first, rest)
	}
	finished := func(n int, err error) {
		t.Helper()
		if err != nil || n != 1 {
			t.Errorf("%d messages, want 1: %v", n, err)
		}
	}
	finished(c.next().Ack(ctx, queue, claim, ids[:1]))
	finished(c.next().Nack(ctx, queue, claim, ids[1:2], &now, &reason))
	finished(c.next().Reject(ctx, queue, claim, ids[2:3], &reason))
	if until, err := c.next().Extend(ctx, queue, claim, time.Hour); err != nil || time.Until(until) < 50*time.Minute {
		t.Errorf("extended to %s: %v", until, err)
	}
	c.wantStats(1, 1, 0, 1)
	again, _ := c.claim(1, 2)
	finished(c.next().AckAll(ctx, queue, again))
	if n := get[int64](t)(c.next().RedriveAll(ctx, queue, group)); n != 1 {
		t.Errorf("redrove %d messages", n)
	}
	redriven, _ := c.claim(1, 1)
	finished(c.next().AckAll(ctx, queue, redriven))
	clock.Advance(t, 2*time.Hour)
	expired, _ := c.claim(1, 2)
	if _, err := c.next().Ack(ctx, queue, claim, ids[3:]); engine.Code(err) != engine.CodeClaimExpired {
		t.Errorf("an ack of what was given away: %v", err)
	}
	must(t, c.next().InTx(ctx, func(tx *engine.Client) error {
		if _, err := tx.AckAll(ctx, queue, expired); err != nil {
			return err
		}
		_, err := tx.Send(ctx, queue, number(4), engine.SendOptions{})
		return err
	}))
	c.wantStats(1, 0, 0, 0)
	for n := -1; n != 0; {
		n = get[int](t)(c.next().Maintain(ctx, 0))
	}
	last, _ := c.claim(1, 1)
	finished(c.next().AckAll(ctx, queue, last))
	c.wantClean()
}

func TestClientsThatShareSessionsGetEachMessageOnce(t *testing.T) {
	t.Parallel()
	const clients, each = 6, 50
	c := pool(t, "transaction", 2).crew(clients)
	var mu sync.Mutex
	seen := map[int64]int{}
	var crew sync.WaitGroup
	for _, client := range c.clients {
		crew.Go(func() {
			for i := range each {
				if _, err := client.Send(t.Context(), queue, number(i), engine.SendOptions{}); err != nil {
					t.Errorf("send: %v", err)
				}
				list, err := client.Receive(t.Context(), queue, group, 3, time.Minute)
				if err != nil {
					t.Errorf("receive: %v", err)
				}
				for _, m := range list {
					mu.Lock()
					seen[m.ID]++
					mu.Unlock()
					if n, err := client.Ack(t.Context(), queue, m.ClaimID, []int64{m.ID}); err != nil || n != 1 {
						t.Errorf("ack: %d, %v", n, err)
					}
				}
			}
		})
	}
	crew.Wait()
	pgtest.WaitFor(t, "the rest", func() bool {
		for _, m := range get[[]engine.Message](t)(c.next().Receive(t.Context(), queue, group, 100, time.Minute)) {
			seen[m.ID]++
		}
		return len(seen) >= clients*each
	})
	for id, n := range seen {
		if n != 1 {
			t.Errorf("message %d was received %d times", id, n)
		}
	}
	c.wantClean()
}

// alternating is one of two connections that swap their sessions between transactions.
type alternating struct {
	conn     *pgx.Conn
	sessions map[uint32]bool
	tx       pgx.Tx
	claim    surface.Message
}

func TestSessionsThatAlternateOnServerConnectionsDoNotMix(t *testing.T) {
	t.Parallel()
	const rounds = 10
	c := pool(t, "transaction", 2).crew(1)
	ctx := t.Context()
	pair := []*alternating{
		{conn: c.conn(), sessions: map[uint32]bool{}}, {conn: c.conn(), sessions: map[uint32]bool{}},
	}
	get[bool](t)(c.next().CreateQueue(ctx, "wide", engine.QueueOptions{}))
	for round := range rounds {
		var open []pgx.Tx
		for i, a := range pair {
			get[int64](t)(surface.Send(ctx, a.conn, "wide", surface.Number(round), surface.Text(strconv.Itoa(i)), nil, nil))
		}
		for _, a := range pair {
			a.tx = get[pgx.Tx](t)(a.conn.Begin(ctx))
			open = append(open, a.tx)
			var session uint32
			must(t, a.tx.QueryRow(ctx, "select pg_backend_pid()").Scan(&session))
			a.sessions[session] = true
			list := get[[]surface.Message](t)(surface.Receive(ctx, a.tx, "wide", group, 1, "1 minute"))
			if len(list) != 1 {
				t.Fatalf("received %v", list)
			}
			a.claim = list[0]
		}
		if pair[0].claim.ID == pair[1].claim.ID || pair[0].claim.ClaimID == pair[1].claim.ClaimID {
			t.Fatalf("both have %v", pair[0].claim)
		}
		if round%2 == 1 { // the session given back last is handed out first
			slices.Reverse(open)
		}
		for _, tx := range open {
			must(t, tx.Commit(ctx))
		}
		_, err := surface.Ack(ctx, pair[0].conn, "wide", pair[0].claim.ClaimID, []int64{pair[1].claim.ID})
		surface.WantState(t, err, engine.CodeIDsNotInClaim)
		for _, a := range pair {
			if n := get[int](t)(surface.Ack(ctx, a.conn, "wide", a.claim.ClaimID, nil)); n != 1 {
				t.Errorf("an ack finished %d messages", n)
			}
		}
	}
	for _, a := range pair {
		if len(a.sessions) != 2 {
			t.Errorf("a connection was served by %d sessions, want 2", len(a.sessions))
		}
	}
	c.wantClean()
}

// logged keeps what a server logs.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func TestAReceiveOfTheServerWaitsBehindAPoolerWithoutListening(t *testing.T) {
	t.Parallel()
	c := pool(t, "transaction", 3).crew(2)
	log := &logged{}
	ctx, stop := context.WithCancel(t.Context())
	listener := get[net.Listener](t)(server.Listen(ctx, "127.0.0.1:0"))
	s := server.New(c.client(), server.Options{Log: slog.New(slog.NewTextHandler(log, nil))})
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, listener) }()
	for n := range 2 {
		answer := make(chan string, 1)
		go func() {
			answer <- post(t, "http://"+listener.Addr().String()+"/v1/queues/q/groups/default/receive", `{"wait_ms":60000}`)
		}()
		pgtest.WaitFor(t, "the report", func() bool { return strings.Contains(log.String(), "cannot be told") })
		get[int64](t)(c.next().Send(t.Context(), queue, number(n), engine.SendOptions{}))
		if text := <-answer; !strings.Contains(text, fmt.Sprintf(`"payload":%d`, n)) {
			t.Errorf("received %s", text)
		}
	}
	stop()
	must(t, <-ended)
	if n := strings.Count(log.String(), "a pooler gives the session to others"); n != 1 {
		t.Errorf("reported %d times:\n%s", n, log)
	}
	c.wantClean()
}

func TestAListenerSeesThatSessionsAreSharedHoweverBusyTheyAre(t *testing.T) {
	t.Parallel()
	c := pool(t, "transaction", 3).crew(1)
	ctx, stop := context.WithCancel(t.Context())
	var traffic sync.WaitGroup
	for _, pause := range []time.Duration{0, time.Millisecond, 3 * time.Millisecond} {
		conn := c.conn()
		traffic.Go(func() {
			for ctx.Err() == nil { // sessions are given back in any order
				if _, err := conn.Exec(t.Context(), "select pg_sleep($1)", pause.Seconds()/2); err != nil {
					t.Errorf("traffic: %v", err)
					return
				}
				select {
				case <-ctx.Done():
				case <-time.After(pause):
				}
			}
		})
	}
	for range 20 {
		log := &logged{}
		listener := engine.NewListener(c.client(), slog.New(slog.NewTextHandler(log, nil)))
		waiter := listener.Waiter(queue)
		pgtest.WaitFor(t, "the report", func() bool {
			waiter.Wait(t.Context(), time.Second)
			return strings.Contains(log.String(), "cannot be told")
		})
		listener.Close()
		if !strings.Contains(log.String(), "a pooler gives the session to others") {
			t.Errorf("reported:\n%s", log)
		}
	}
	stop()
	traffic.Wait()
	c.wantClean()
}

// post makes a request and returns what it got.
func post(t *testing.T, url, body string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return err.Error()
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return err.Error()
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func TestAConsumerIsNotifiedThroughAPoolerInSessionMode(t *testing.T) {
	t.Parallel()
	c := pool(t, "session", 10).crew(2)
	listener := engine.NewListener(c.next(), nil)
	t.Cleanup(listener.Close)
	waiter := listener.Waiter(queue)
	pgtest.WaitFor(t, "the mark", func() bool { return waiter.Wait(t.Context(), time.Second) == engine.Armed })
	get[int64](t)(c.next().Send(t.Context(), queue, number(1), engine.SendOptions{}))
	pgtest.WaitFor(t, "the notification", func() bool { return waiter.Wait(t.Context(), time.Second) == engine.Notified })
}
