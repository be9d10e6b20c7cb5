package dispatch_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/weirmq/weir/internal/engine"
	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/internal/server/dispatch"
)

// gate counts the calls of a function for the queue q or for none, and lets none through until it is opened.
type gate struct {
	engine.Querier

	function string
	open     chan struct{}
	mu       sync.Mutex
	calls    int
}

func (g *gate) pass(sql string, args []any) {
	if !strings.Contains(sql, g.function+"(") || len(args) > 0 && args[0] != "q" {
		return
	}
	g.mu.Lock()
	g.calls++
	g.mu.Unlock()
	<-g.open
}

func (g *gate) count() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.calls
}

// Query implements engine.Querier.
func (g *gate) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	g.pass(sql, args)
	return g.Querier.Query(ctx, sql, args...)
}

// Exec implements engine.Querier.
func (g *gate) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	g.pass(sql, args)
	return g.Querier.Exec(ctx, sql, args...)
}

// SendBatch implements engine.Querier.
func (g *gate) SendBatch(ctx context.Context, batch *pgx.Batch) pgx.BatchResults {
	for _, q := range batch.QueuedQueries {
		g.pass(q.SQL, q.Arguments)
	}
	return g.Querier.SendBatch(ctx, batch)
}

// behind returns a gate for a function and a dispatcher behind it.
func (s *site) behind(function string) (*gate, *dispatch.Dispatcher) {
	s.Helper()
	g := &gate{Querier: s.db.Pool(s), function: function, open: make(chan struct{})}
	d := dispatch.New(context.Background(), engine.New(g), nil, nil)
	s.Cleanup(d.Close)
	return g, d
}

// together runs n requests while the first one's call is held up, so that the others wait for the next.
func (s *site) together(g *gate, d *dispatch.Dispatcher, n int, do func(i int)) {
	s.Helper()
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { do(i) })
		if i == 0 {
			pgtest.WaitFor(s, "the first call", func() bool { return g.count() == 1 })
		}
	}
	pgtest.WaitFor(s, "the requests to wait", func() bool { return d.Stats().Waiting == int64(n) })
	close(g.open)
	all.Wait()
}

// claims sends messages and returns claims of one each.
func (s *site) claims(n int) []engine.Message {
	s.Helper()
	var batch []engine.Outgoing
	for i := range n {
		batch = append(batch, message(i)...)
	}
	if _, err := s.Send("q", batch); err != nil {
		s.Fatal(err)
	}
	wants := slices.Repeat([]engine.Want{{Max: 1, Lease: time.Hour}}, n)
	shares, err := s.client.ReceiveMany(s.Context(), "q", "default", wants)
	if err != nil {
		s.Fatal(err)
	}
	return slices.Concat(shares...)
}

func TestSettlingsOfManyTakeFewCallsAndAreAnsweredEachForItself(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	const requests = 80
	list := s.claims(requests)
	verbs := []engine.Verb{engine.VerbNack, engine.VerbRelease, engine.VerbSnooze, engine.VerbReject}
	hour := time.Hour
	g, d := s.behind("weir.settle_many")
	s.together(g, d, requests, func(i int) {
		p := engine.ClaimPart{Verb: verbs[i%4], Claim: list[i].ClaimID, IDs: []int64{list[i].ID}, Delay: &hour}
		bad := i%10 == 5
		if bad {
			p.Claim += 1 << 40
		}
		counts, err := d.Settle("q", []engine.ClaimPart{p})
		if bad && !errors.Is(err, dispatch.ErrAlone) {
			t.Errorf("%s of a claim that is none: %v, %v", p.Verb, counts, err)
		} else if !bad && (err != nil || !slices.Equal(counts, []int{1})) {
			t.Errorf("%s: %v, %v", p.Verb, counts, err)
		}
	})
	if n := g.count(); n > requests/10 {
		t.Errorf("%d requests took %d calls", requests, n)
	}
	if st := d.Stats().Settles; st.Requests != requests {
		t.Errorf("counted %+v", st)
	}
	// Of each verb 20, of which 4 of the releases and 4 of the rejects were for claims that are none.
	stats, err := s.client.Stats(t.Context(), "q")
	if err != nil || stats[0].Claimed != 8 || stats[0].Dead != 16 || stats[0].Delayed != 40 || stats[0].Waiting != 16 {
		t.Errorf("left: %+v, %v", stats, err)
	}
}

func TestASettlingThatWaitsForAnotherTransactionHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	list := s.claims(8)
	busy := s.db.Conn(t)
	for _, sql := range []string{"begin", "lock table weir_internal.dead_letters in share mode"} {
		if _, err := busy.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	g, d := s.behind("weir.settle_many")
	s.together(g, d, len(list), func(i int) {
		p := engine.ClaimPart{Verb: engine.VerbRelease, Claim: list[i].ClaimID, IDs: []int64{list[i].ID}}
		if i == 3 {
			p.Verb = engine.VerbReject
		}
		_, err := d.Settle("q", []engine.ClaimPart{p})
		if i == 3 && !errors.Is(err, dispatch.ErrAlone) {
			t.Errorf("the reject that waits: %v", err)
		} else if i != 3 && err != nil {
			t.Errorf("a release beside it: %v", err)
		}
	})
	if _, err := busy.Exec(t.Context(), "rollback"); err != nil {
		t.Fatal(err)
	}
	for i, m := range list {
		want := 0
		if i == 3 {
			want = 1
		}
		if n, err := s.client.Ack(t.Context(), "q", m.ClaimID, []int64{m.ID}); err != nil || n != want {
			t.Errorf("ack of claim %d: %d, %v", i, n, err)
		}
	}
}

func TestPopsOfManyTakeFewCallsAndEachMessageGoesToOne(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	const requests = 60
	for i := range 2*requests - 10 {
		if _, err := s.Send("q", message(i)); err != nil {
			t.Fatal(err)
		}
	}
	g, d := s.behind("weir.pop_records")
	got := make([][]engine.Message, requests)
	s.together(g, d, requests, func(i int) {
		var err error
		if got[i], err = d.Pop("q", "default", 2); err != nil {
			t.Error(err)
		}
	})
	if n := g.count(); n > requests/10 {
		t.Errorf("%d requests took %d calls", requests, n)
	}
	ids := map[int64]bool{}
	for i, list := range got {
		if len(list) > 2 {
			t.Errorf("request %d for 2 got %d", i, len(list))
		}
		for _, m := range list {
			ids[m.ID] = true
		}
	}
	if all := len(slices.Concat(got...)); all != 2*requests-10 || len(ids) != all {
		t.Errorf("%d messages were popped, %d different ones", all, len(ids))
	}
	if _, err := d.Pop("q", "default", 10_001); engine.Code(err) != engine.CodeInvalidArgument {
		t.Errorf("too many: %v", err)
	}
	if _, err := d.Pop("q", "nobody", 1); engine.Code(err) != engine.CodeGroupNotFound {
		t.Errorf("no such group: %v", err)
	}
}

func TestAQueueWhoseSendsHangLeavesRoomForThoseOfOthers(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.db.Exec(t, "select weir.create_queue('p')")
	g, d := s.behind("weir.send_batch")
	send := func(queue string) error {
		_, err := d.Send(queue, message(1), engine.SendOptions{})
		return err
	}
	var hanging sync.WaitGroup
	hanging.Go(func() { _ = send("q") }) // what becomes of them depends on how long this takes
	pgtest.WaitFor(t, "the first call", func() bool { return g.count() == 1 })
	for range dispatch.LineMax {
		hanging.Go(func() { _ = send("q") })
	}
	pgtest.WaitFor(t, "the others to wait", func() bool { return d.Stats().Waiting == dispatch.LineMax+1 })
	if err := send("q"); !errors.Is(err, dispatch.ErrBusy) {
		t.Errorf("one too many: %v", err)
	}
	if err := send("p"); err != nil {
		t.Errorf("a send to another queue: %v", err)
	}
	close(g.open)
	hanging.Wait()
	if n := d.Stats().Waiting; n != 0 {
		t.Errorf("%d are left", n)
	}
}
