package ordered_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

// leaseTime is short, so that leases end.
const leaseTime = 700 * time.Millisecond

// delivery is one message as its consumer sees it: the seq-th of its key.
type delivery struct {
	Key   string
	Seq   int
	id    int64
	claim int64
}

// progress is how far a message is. While somebody's attempt to finish it has not been answered, it may be finished: an
// attempt that comes too late is refused in the same moment in which another's succeeds.
type progress struct {
	attempts int
	done     bool
}

// checker sees every delivery and every end of a message, and notes each breach of the order.
type checker struct {
	mu       sync.Mutex
	sent     map[string]int                  // key -> messages committed
	state    map[string]map[int]progress     // key -> seq -> how far it is
	held     map[string]map[string]time.Time // key -> consumer -> until when it may work at it
	breaches []string
	finished int
	received int
}

func newChecker() *checker {
	return &checker{
		sent: map[string]int{}, state: map[string]map[int]progress{}, held: map[string]map[string]time.Time{},
	}
}

func (c *checker) breach(format string, args ...any) {
	if len(c.breaches) < 10 {
		c.breaches = append(c.breaches, fmt.Sprintf(format, args...))
	}
}

// delivered checks what one receive returned: of each key the first that is not done, and what follows it without a
// gap; and no key that another consumer holds. Until is when its lease ends at the earliest. After that, as when the
// machine held up the answer, it says nothing about who has the messages now: delivered returns false. Seqs below 0
// were delayed: no order is promised of them, only that no other consumer has the rest of their key.
func (c *checker) delivered(consumer string, got []delivery, until time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !time.Now().Before(until) {
		return false
	}
	c.received += len(got)
	for i, d := range got {
		if !slices.ContainsFunc(got[:i], func(e delivery) bool { return e.Key == d.Key }) {
			for other, end := range c.held[d.Key] {
				if other != consumer && end.After(time.Now()) {
					c.breach("%s got %v, which %s holds", consumer, d, other)
				}
			}
			if c.held[d.Key] == nil {
				c.held[d.Key] = map[string]time.Time{}
			}
			c.held[d.Key][consumer] = until
		}
		for seq := 1; seq < d.Seq; seq++ {
			before := func(e delivery) bool { return e.Key == d.Key && e.Seq == seq }
			if s := c.state[d.Key][seq]; !s.done && s.attempts == 0 && !slices.ContainsFunc(got[:i], before) {
				c.breach("%s got %v before %d", consumer, d, seq)
			}
		}
		if c.state[d.Key][d.Seq].done {
			c.breach("%s got %v, which is done", consumer, d)
		}
	}
	return true
}

// ending notes that a consumer is about to finish a message; ended what the engine said.
func (c *checker) ending(messages []delivery) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, d := range messages {
		if c.state[d.Key] == nil {
			c.state[d.Key] = map[int]progress{}
		}
		s := c.state[d.Key][d.Seq]
		s.attempts++
		c.state[d.Key][d.Seq] = s
	}
}

func (c *checker) ended(messages []delivery, agreed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, d := range messages {
		s := c.state[d.Key][d.Seq]
		s.attempts--
		if agreed && s.done {
			c.breach("%v was finished twice", d)
		}
		if agreed && !s.done {
			s.done = true
			c.finished++
		}
		c.state[d.Key][d.Seq] = s
	}
}

// release notes that a consumer is about to give keys back.
func (c *checker) release(consumer string, messages []delivery) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, d := range messages {
		delete(c.held[d.Key], consumer)
	}
}

// owed returns how many committed messages are not finished.
func (c *checker) owed() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	total := 0
	for _, n := range c.sent {
		total += n
	}
	return total - c.finished
}

// storm is a run of producers and consumers, in transactions that are held open, rolled back and cancelled.
type storm struct {
	*testing.T
	*checker
	db     *pgtest.DB
	raging context.Context //nolint:containedctx // while it lasts
	keys   func(r *rand.Rand) int
}

func TestEachKeyIsSeenInOrderThroughAStorm(t *testing.T) { //nolint:tparallel // one storm after the other
	t.Parallel()
	few := func(r *rand.Rand) int { return int(r.ExpFloat64() * 5) }
	zipf := func(r *rand.Rand) int { return int(rand.NewZipf(r, 1.1, 1, 400).Uint64()) }
	for _, test := range []struct {
		name  string
		keys  func(r *rand.Rand) int
		lanes bool
	}{{"a few keys", few, false}, {"Zipf", zipf, false}, {"lanes that change", few, true}} {
		t.Run(test.name, func(t *testing.T) {
			pgtest.EachMajor(t, func(t *testing.T, major int) {
				t.Parallel()
				db := pgtest.New(t, pgtest.Options{Major: major})
				create(t, db, 3, "max_attempts => 1000, backoff_min => '10 ms', backoff_max => '60 ms'")
				raging, stop := context.WithTimeout(t.Context(), time.Duration(pgtest.Longer())*3*time.Second)
				defer stop()
				s := &storm{T: t, checker: newChecker(), db: db, raging: raging, keys: test.keys}
				var change sync.WaitGroup
				calm, end := context.WithCancel(t.Context())
				defer end()
				if test.lanes {
					change.Go(func() { s.changeLanes(rand.New(rand.NewPCG(uint64(major), 50))) })
					change.Go(func() { s.maintain(calm) })
				}
				s.rage(uint64(major))
				end()
				change.Wait()
			})
		})
	}
}

// changeLanes changes the number of lanes again and again.
func (s *storm) changeLanes(r *rand.Rand) {
	conn := s.db.Conn(s)
	s.db.Exec(s, "select weir.drop_group($1, 'default')", queue) // nobody consumes it, so it would keep all lanes
	s.db.Exec(s, "update weir_internal.logs set segment_bytes = 100000, claims_bytes = 100000")
	changes, refused := 0, 0
	for !s.Failed() && (s.raging.Err() == nil || changes < 5) { // a slow machine needs longer to prove something
		_, err := conn.Exec(s.Context(), "select weir.configure_queue($1, lanes => $2)", queue, 1+r.IntN(9))
		switch {
		case err == nil:
			changes++
		case surface.SQLState(err) == "WR061":
			refused++
		default:
			s.Error(err)
		}
		pause(s.raging, time.Duration(r.IntN(60))*time.Millisecond)
	}
	s.Logf("%d changes of the number of lanes, %d were refused", changes, refused)
}

// maintain turns the log and its claim log, and gives up the lanes that are not needed any more, until ctx ends.
func (s *storm) maintain(ctx context.Context) {
	conn := s.db.Conn(s)
	for ctx.Err() == nil {
		if _, err := surface.Maintain(s.Context(), conn); err != nil {
			s.Error(err)
		}
		pause(ctx, 200*time.Millisecond)
	}
}

func (s *storm) rage(seed uint64) {
	working, stopWorking := context.WithTimeout(s.Context(), 170*time.Second)
	defer stopWorking()
	cfg := s.db.Pool(s).Config()
	cfg.MaxConns = 16
	pool, err := pgxpool.NewWithConfig(s.Context(), cfg)
	if err != nil {
		s.Fatal(err)
	}
	defer pool.Close()
	var producers, consumers sync.WaitGroup
	for p := range 3 {
		producers.Go(func() { s.produce(pool, rand.New(rand.NewPCG(seed, uint64(p))), p) })
	}
	for w := range 8 {
		consumers.Go(func() {
			s.consume(working, pool, rand.New(rand.NewPCG(seed, uint64(100+w))), fmt.Sprint("consumer ", w))
		})
	}
	producers.Wait()
	pgtest.WaitFor(s, "all to be finished", func() bool { return s.owed() == 0 || working.Err() != nil || s.Failed() })
	stopWorking()
	consumers.Wait()
	for _, b := range s.breaches {
		s.Error(b)
	}
	if n := s.owed(); n != 0 {
		s.Errorf("%d messages were never finished", n)
	}
	if _, err := surface.Receive(s.Context(), pool, queue, group, 10000, "1 hour"); err != nil {
		s.Error(err)
	}
	left := pgtest.QueryAll[string](s, s.db, `select format('%s %s %s %s %s', group_no, key_queue, id, due_at, holder)
		from weir_log.parked`)
	if len(left) > 0 {
		s.Errorf("parked in the end: %d, such as %v", len(left), left[:min(3, len(left))])
	}
	s.Logf("%d messages of %d keys, %d deliveries", s.finished, len(s.sent), s.received)
}

// produce sends some calls a transaction, of keys of its own; now and then for later.
func (s *storm) produce(pool *pgxpool.Pool, r *rand.Rand, me int) {
	next := map[string]int{}
	late := 0
	for s.raging.Err() == nil {
		tx, err := pool.Begin(s.Context())
		if err != nil {
			s.Error(err)
			return
		}
		got := map[string]int{}
		lateKeys := []string{}
		for range 1 + r.IntN(4) {
			var delay *string
			if r.IntN(12) == 0 {
				delay = surface.Text(fmt.Sprint(r.IntN(200), " ms"))
			}
			var payloads, keys []string
			for range 1 + r.IntN(1+r.IntN(20)) {
				key := fmt.Sprintf("p%d-%d", me, s.keys(r))
				var seq int
				if delay != nil {
					late--
					seq = late
					lateKeys = append(lateKeys, key)
				} else {
					seq = next[key] + got[key] + 1
					got[key]++
				}
				payloads, keys = append(payloads, fmt.Sprintf(`{"key":%q,"seq":%d}`, key, seq)), append(keys, key)
			}
			if err := sendBatch(s.Context(), tx, payloads, keys, delay); err != nil {
				s.Error(err)
			}
		}
		if r.IntN(10) == 0 {
			pause(s.raging, time.Duration(r.IntN(300))*time.Millisecond)
		}
		if r.IntN(100) < 15 {
			tx.Rollback(s.Context()) //nolint:errcheck // as said
			continue
		}
		s.mu.Lock()
		for key, n := range got {
			s.sent[key] += n
			next[key] += n
		}
		for _, key := range lateKeys {
			s.sent[key]++
		}
		s.mu.Unlock()
		if err := tx.Commit(s.Context()); err != nil {
			s.Error(err)
		}
		pause(s.raging, time.Duration(r.IntN(40))*time.Millisecond)
	}
}

// consume receives and ends what it got in one way or another, until ctx ends.
func (s *storm) consume(ctx context.Context, pool *pgxpool.Pool, r *rand.Rand, me string) {
	for ctx.Err() == nil {
		wild := s.raging.Err() == nil
		got, until, err := s.receive(pool, r, wild)
		if err != nil {
			s.unexpected(err)
			continue
		}
		if len(got) == 0 {
			pause(ctx, time.Duration(5+r.IntN(20))*time.Millisecond)
			continue
		}
		if !s.delivered(me, got, until) {
			continue
		}
		if wild && r.IntN(60) == 0 { // slow: its lease ends
			pause(ctx, leaseTime+100*time.Millisecond)
		}
		s.end(pool, r, me, got, wild)
		s.release(me, got)
	}
}

// receive receives in a transaction, which may be held open, rolled back or cancelled.
func (s *storm) receive(pool *pgxpool.Pool, r *rand.Rand, wild bool) ([]delivery, time.Time, error) {
	tx, err := pool.Begin(s.Context())
	if err != nil {
		return nil, time.Time{}, err
	}
	defer tx.Rollback(s.Context()) //nolint:errcheck // nothing to do once it is committed
	if wild && r.IntN(30) == 0 {
		if _, err := tx.Exec(s.Context(), fmt.Sprintf("set local statement_timeout = %d", 1+r.IntN(5))); err != nil {
			return nil, time.Time{}, err
		}
	}
	until := time.Now().Add(leaseTime)
	messages, err := surface.Receive(s.Context(), tx, queue, group, []int{1, 1, 5, 40}[r.IntN(4)], leaseTime.String())
	if err != nil {
		return nil, time.Time{}, err
	}
	if wild && r.IntN(15) == 0 {
		pause(s.Context(), time.Duration(r.IntN(150))*time.Millisecond)
		if r.IntN(2) == 0 {
			return nil, time.Time{}, nil
		}
	}
	if err := tx.Commit(s.Context()); err != nil {
		return nil, time.Time{}, err
	}
	var got []delivery
	for _, m := range messages {
		d := delivery{id: m.ID, claim: m.ClaimID}
		if err := json.Unmarshal([]byte(m.Payload), &d); err != nil {
			s.Error(err)
		}
		if m.Key == nil || *m.Key != d.Key {
			s.Errorf("message %v came with another key than %s", m, d.Key)
		}
		got = append(got, d)
	}
	return got, until, nil
}

// end ends a claim as a whole, or message by message; once one of a key is given back, the rest of that key is left.
func (s *storm) end(pool *pgxpool.Pool, r *rand.Rand, me string, got []delivery, wild bool) {
	back := map[string]bool{}
	if r.IntN(3) == 0 {
		verb := s.verb(r, wild)
		s.settle(pool, r, me, verb, got, nil, wild)
		return
	}
	left := map[string]int{}
	for _, d := range got {
		left[d.Key]++
	}
	for _, d := range got {
		if back[d.Key] {
			continue
		}
		verb := s.verb(r, wild)
		back[d.Key] = verb == "nack" || verb == "release"
		if left[d.Key]--; left[d.Key] == 0 || back[d.Key] {
			s.release(me, []delivery{d})
		}
		s.settle(pool, r, me, verb, []delivery{d}, []int64{d.id}, wild)
	}
}

func (s *storm) verb(r *rand.Rand, wild bool) string {
	switch x := r.IntN(100); {
	case wild && x < 12:
		return "nack"
	case wild && x < 15:
		return "release"
	case wild && x < 18:
		return "reject"
	default:
		return "ack"
	}
}

// settle makes a call, in a transaction that may be held open or rolled back.
func (s *storm) settle(
	pool *pgxpool.Pool, r *rand.Rand, me, verb string, messages []delivery, ids []int64, wild bool,
) {
	finishes := verb == "ack" || verb == "reject"
	if finishes {
		s.ending(messages)
	}
	if !finishes || len(ids) == 0 {
		s.release(me, messages)
	}
	agreed := false
	if finishes {
		defer func() { s.ended(messages, agreed) }()
	}
	tx, err := pool.Begin(s.Context())
	if err != nil {
		s.Error(err)
		return
	}
	defer tx.Rollback(s.Context()) //nolint:errcheck // nothing to do once it is committed
	delay := surface.Text(fmt.Sprint(r.IntN(60), " ms"))
	n, err := settle(s.Context(), tx, verb, messages[0].claim, ids, delay)
	if err != nil {
		s.unexpected(err, "WR010")
		return
	}
	if finishes && n != len(messages) {
		s.Errorf("%s finished %d of %v", verb, n, messages)
	}
	if wild && r.IntN(25) == 0 {
		pause(s.Context(), time.Duration(r.IntN(200))*time.Millisecond)
		if r.IntN(2) == 0 {
			return
		}
	}
	if err := tx.Commit(s.Context()); err != nil {
		s.Error(err)
		return
	}
	agreed = true
}

func (s *storm) unexpected(err error, also ...string) {
	var pg *pgconn.PgError
	if errors.As(err, &pg) && (pg.Code == "57014" || slices.Contains(also, pg.Code)) || errors.Is(err, pgx.ErrTxClosed) {
		return
	}
	s.Error(err)
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
