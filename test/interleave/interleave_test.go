// Package interleave_test runs small programs of two and three sessions in every order that their steps can have, not
// in a sample of orders, and has an oracle judge each answer and what is left in the end: nothing lost, nothing
// delivered twice, nothing that was rolled back, and each key in order. The gate runs a selection, `make nightly` all
// on the newest PostgreSQL; what fails prints its steps.
package interleave_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/oracle"
	"github.com/weirmq/weir/test/surface"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// program is what some sessions do, each one step after the other, when the queues A and B have what before sends.
type program struct {
	name     string
	ordered  bool
	before   string
	sessions []string // steps, with commas between them: see steps
}

// TestEveryOrderOfStepsKeepsThePromises runs the programs. WEIR_TEST_LONGER has it run each in all orders on the newest
// PostgreSQL.
func TestEveryOrderOfStepsKeepsThePromises(t *testing.T) {
	pgtest.EachMajor(t, func(t *testing.T, major int) {
		most := 12 // orders of a program that has more
		switch {
		case testing.Short():
			most = 2
		case pgtest.Longer() > 1 && major == pgtest.Newest:
			most = 0
		}
		for _, p := range programs {
			t.Run(strings.ReplaceAll(p.name, " ", "_"), func(t *testing.T) {
				t.Parallel()
				var steps [][]step
				for _, session := range p.sessions {
					steps = append(steps, parse(t, session))
				}
				seed := uint64(time.Now().UnixNano())
				random := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // it need not be a secret
				w := newWorld(t, major)
				orders := orders(steps, most, random)
				for _, order := range orders {
					w.run(t, p, steps, order)
					if t.Failed() {
						return
					}
				}
				t.Logf("%d orders, %d steps that waited for another session", len(orders), w.waits)
			})
		}
	})
}

// orders returns all orders in which the steps of sessions can follow each other, as numbers of sessions; when they are
// more than most, and most is not 0, so many of them at random.
func orders(steps [][]step, most int, random *rand.Rand) [][]int {
	var left []int
	total, all := 0, 1.0
	for _, s := range steps {
		left = append(left, len(s))
		for i := range s {
			total++
			all = all * float64(total) / float64(i+1)
		}
	}
	if most == 0 || all <= float64(most) {
		return merges(left)
	}
	var some [][]int
	for range most {
		var order []int
		for i, n := range left {
			order = append(order, slices.Repeat([]int{i}, n)...)
		}
		random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		some = append(some, order)
	}
	return some
}

func merges(left []int) [][]int {
	var all [][]int
	for i, n := range left {
		if n == 0 {
			continue
		}
		left[i]--
		for _, rest := range merges(left) {
			all = append(all, append([]int{i}, rest...))
		}
		left[i]++
	}
	if all == nil {
		return [][]int{{}}
	}
	return all
}

func TestOrdersAreAllThatThereAreAndEachOnce(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, order := range merges([]int{2, 3, 2}) {
		seen[fmt.Sprint(order)] = true
	}
	if len(seen) != 210 { // 7! / (2! 3! 2!)
		t.Errorf("%d orders, want 210", len(seen))
	}
}

// world is the database that a program runs in, with a connection a session.
type world struct {
	db     *pgtest.DB
	clock  *surface.Clock
	conns  []*pgx.Conn
	admin  *pgx.Conn // asks who waits
	number int       // of runs
	waits  int       // steps that had to wait for another session
}

func newWorld(t *testing.T, major int) *world {
	t.Helper()
	db := pgtest.New(t, pgtest.Options{Major: major})
	w := &world{db: db, clock: surface.StoppedClock(t, db), admin: db.Conn(t)}
	for range 3 {
		w.conns = append(w.conns, db.Conn(t))
	}
	// smaller than create_log allows, so that the rings turn
	db.Exec(t, "update weir_internal.logs set segment_bytes = 8192, claims_bytes = 8192")
	return w
}

// run is one order of the steps of one program.
type run struct {
	*testing.T
	*world
	sides    map[string]*side
	sessions []*session
	now      time.Duration // by which the clock was moved
	trace    []string
}

// side is one of the queues.
type side struct {
	queue  string
	oracle *oracle.Oracle
	last   int64 // the message sent last
}

// session is who runs steps. What it was told to do while it waits it does afterwards.
type session struct {
	no      int
	conn    *pgx.Conn
	open    bool // in a transaction
	aborted bool // which a call has failed in
	got     map[string][]surface.Message
	todo    []step
	done    chan func() error // of the step it is at: it says what the answer means
	until   time.Time         // so long it is not asked whether that waits
}

func (w *world) run(t *testing.T, p program, steps [][]step, order []int) {
	t.Helper()
	w.number++
	if w.number%20 == 0 { // the log gives back what dropped queues had in it
		if _, err := surface.Maintain(t.Context(), w.admin); err != nil {
			t.Fatal(err)
		}
	}
	r := &run{T: t, world: w, sides: map[string]*side{}}
	for _, name := range []string{"A", "B"} {
		s := &side{queue: fmt.Sprintf("%s-%d", strings.ToLower(name), w.number), oracle: oracle.New(len(steps))}
		surface.CreateQueue(t, w.admin, s.queue, fmt.Sprintf("lanes => 1, ordered => %t", p.ordered))
		s.oracle.World.AddGroup(group, 5, p.ordered)
		r.sides[name] = s
	}
	for i := range steps {
		if w.conns[i].PgConn().TxStatus() != 'I' { // a run before this one has failed
			w.conns[i] = w.db.Conn(t)
		}
		r.sessions = append(r.sessions, &session{no: i, conn: w.conns[i], got: map[string][]surface.Message{}})
	}
	if p.before != "" {
		for _, s := range parse(t, p.before) {
			r.do(r.sessions[0], s)
		}
	}
	next := make([]int, len(steps))
	for _, i := range order {
		r.do(r.sessions[i], steps[i][next[i]])
		next[i]++
		if t.Failed() {
			break
		}
	}
	r.finish()
	if t.Failed() {
		t.Logf("the steps were: %s", strings.Join(r.trace, "; "))
	}
	for _, s := range r.sides {
		w.db.Exec(t, "select weir.drop_queue($1)", s.queue)
	}
}

const group = "default"

// do has a session do a step: at once, or, when it waits for another session, afterwards.
func (r *run) do(s *session, st step) {
	s.todo = append(s.todo, st)
	r.goOn()
}

// goOn lets sessions do what they have to, until each is through or waits for another.
func (r *run) goOn() {
	for moved := true; moved && !r.Failed(); {
		moved = false
		for _, s := range r.sessions {
			if s.done == nil && len(s.todo) > 0 {
				r.start(s, s.todo[0])
				s.todo = s.todo[1:]
				moved = true
			}
			if s.done != nil && r.ended(s) {
				moved = true
			}
		}
	}
}

func (r *run) start(s *session, st step) {
	r.trace = append(r.trace, fmt.Sprintf("%d %s", s.no+1, st.text))
	s.done = make(chan func() error, 1)
	s.until = time.Now()
	if strings.HasPrefix(st.text, "receive") { // it waits for a lane for 100 ms; time shall not be moved meanwhile
		s.until = s.until.Add(500 * time.Millisecond)
	}
	call, done := st.make(r, s, st.args), s.done
	go func() { done <- call() }()
}

// ended waits until a session's step has ended, or waits for another session, and says whether it has ended.
func (r *run) ended(s *session) bool {
	waiting := false
	for {
		select {
		case judge := <-s.done:
			s.done = nil
			if err := judge(); err != nil {
				r.Errorf("session %d: %v", s.no+1, err)
			}
			return true
		case <-time.After(3 * time.Millisecond):
			if time.Now().Before(s.until) || !r.waits(s) {
				continue
			} else if waiting {
				return false
			}
			waiting = true
			r.world.waits++
		}
	}
}

// waits says whether a session waits for another one's lock.
func (r *run) waits(s *session) (is bool) {
	err := r.admin.QueryRow(r.Context(), "select cardinality(pg_blocking_pids($1)) > 0", int64(s.conn.PgConn().PID())).
		Scan(&is)
	if err != nil {
		r.Fatal(err)
	}
	return is
}

// finish ends all transactions, and drains the queues: exactly what is owed must come.
func (r *run) finish() {
	for _, s := range r.sessions {
		pgtest.WaitFor(r, "a session whose others are through", func() bool {
			r.goOn()
			return s.done == nil && len(s.todo) == 0 || r.Failed()
		})
		if s.open {
			r.do(s, step{text: "commit", make: commit})
		}
	}
	if r.Failed() {
		return
	}
	for _, s := range r.sides {
		r.drain(s)
	}
}

func (r *run) drain(d *side) {
	s := d.oracle.Sessions[0]
	for idle := 0; idle < 2; idle++ {
		r.advance(time.Hour)
		got, err := surface.Pop(r.Context(), r.conns[0], d.queue, group, 1000)
		if err == nil {
			err = s.Received(group, got, r.now, r.now+time.Minute)
		}
		if err != nil {
			r.Errorf("drain %s: %v", d.queue, err)
			return
		}
		for _, m := range got {
			s.Do(oracle.Op{Settled: &oracle.Settled{Claim: m.ClaimID, Group: group, IDs: []int64{m.ID}, Verb: "ack"}})
			idle = -1
		}
	}
	if open, _ := d.oracle.World.Unfinished(group); len(open) > 0 {
		r.Errorf("lost: %v of %s were never delivered", open, d.queue)
	}
}

// advance moves the clock.
func (r *run) advance(d time.Duration) {
	r.now += d
	r.clock.Advance(r, d)
}
