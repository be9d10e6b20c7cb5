// Package walk_test walks the engine at random through everything its callers can do, several sessions at a time, and
// compares each answer with an oracle in memory: nothing lost, nothing delivered twice while a claim lives, no phantom.
package walk_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"pgregory.net/rapid"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/oracle"
	"github.com/weirmq/weir/test/surface"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

const sessions = 3

// TestRandomWalk overrides the flags of rapid given on the command line but for -rapid.seed and -rapid.failfile: how
// far it walks is decided here. Without a seed the walks of the gate are the same each time, and longer ones are not.
func TestRandomWalk(t *testing.T) {
	pgtest.EachMajor(t, func(t *testing.T, major int) {
		far(t, major, 4)
		db := pgtest.New(t, pgtest.Options{Major: major})
		clock := surface.MovableClock(t, db)
		db.Exec(t, "alter database "+db.Name+" set statement_timeout = '3min'")
		var conns []*pgx.Conn
		for range sessions {
			conns = append(conns, db.Conn(t))
		}
		walks := 0
		rapid.Check(t, func(rt *rapid.T) {
			walks++
			w := newWalk(t, rt, db, clock, conns, walks)
			rt.Repeat(w.actions())
			w.finish(rt)
		})
	})
}

// seeded says whether the command line gave a seed.
var seeded = sync.OnceValue(func() bool { return flag.Lookup("rapid.seed").Value.String() != "0" })

// far tells rapid how many walks to make.
func far(t *testing.T, major, checks int) {
	t.Helper()
	flags := map[string]string{
		"rapid.checks": strconv.Itoa(checks * pgtest.Longer()), "rapid.steps": "150",
		"rapid.shrinktime": "5s", "rapid.nofailfile": "true",
	}
	if !seeded() && pgtest.Longer() == 1 {
		flags["rapid.seed"] = strconv.Itoa(major)
	}
	for name, value := range flags {
		if err := flag.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
}

// walk is one walk on two queues of one log. Each step but those of transactions, time and upkeep is on one of them.
type walk struct {
	tb    testing.TB
	db    *pgtest.DB
	clock *surface.Clock
	conns []*pgx.Conn
	admin *pgx.Conn
	now   time.Duration // by which the engine's clock was moved in this walk
	sides []*side
	*side // that the step is on
}

// side is one of the queues, with an oracle of its own.
type side struct {
	queue   string
	oracle  *oracle.Oracle
	claims  []int64 // all that were ever given, also those rolled back
	groups  []string
	dropped int
	ordered bool // groups are
}

func newWalk(
	tb testing.TB, rt *rapid.T, db *pgtest.DB, clock *surface.Clock, conns []*pgx.Conn, number int,
) *walk {
	tb.Helper()
	w := &walk{tb: tb, db: db, clock: clock, conns: conns, admin: db.Conn(tb)}
	for i, c := range conns {
		if c.IsClosed() {
			conns[i] = db.Conn(tb)
		} else if _, err := c.Exec(tb.Context(), "rollback"); err != nil {
			rt.Fatal(err)
		}
	}
	db.Exec(tb, "select weir.drop_queue(queue_name) from weir.list_queues()")
	// smaller than create_log allows, so that the rings turn often
	w.exec(rt, w.admin, "update weir_internal.logs set segment_bytes = 24576, claims_bytes = 16384")
	for i := range 2 {
		w.side = &side{
			queue: fmt.Sprintf("walk-%d-%d", number, i), oracle: oracle.New(len(conns)),
			ordered: rapid.Bool().Draw(rt, "ordered"), groups: []string{"default"},
		}
		lanes := rapid.SampledFrom([]int{1, 2, 16}).Draw(rt, "lanes")
		surface.CreateQueue(tb, db.Pool(tb), w.queue, fmt.Sprintf("lanes => %d", lanes))
		w.oracle.World.AddGroup("default", 5, false)
		w.sides = append(w.sides, w.side)
	}
	return w
}

func (w *walk) actions() map[string]func(*rapid.T) {
	return w.onASide(map[string]func(*rapid.T){
		"send": w.send, "send again": w.send, "batch": w.batch, "begin": w.begin, "end": w.end, "savepoint": w.savepoint,
		"rollback to": w.rollbackTo, "receive": w.receive, "receive more": w.receive, "pop": w.pop, "settle": w.settle,
		"settle more": w.settle, "ack all": w.ackAll, "extend": w.extend, "kill": w.kill, "advance": w.advance,
		"maintain": w.maintain, "maintain more": w.maintain, "create group": w.createGroup, "drop group": w.dropGroup,
		"redrive": w.redrive, "wrong queue": w.wrongQueue,
	})
}

// onASide lets each action draw on which queue it is.
func (w *walk) onASide(actions map[string]func(*rapid.T)) map[string]func(*rapid.T) {
	for name, action := range actions {
		actions[name] = func(rt *rapid.T) {
			w.side = w.sides[rapid.IntRange(0, len(w.sides)-1).Draw(rt, "queue")]
			action(rt)
		}
	}
	return actions
}

// each calls a function with every queue in turn, for what concerns all of them.
func (w *walk) each(do func()) {
	was := w.side
	for _, w.side = range w.sides {
		do()
	}
	w.side = was
}

// session draws who acts.
func (w *walk) session(rt *rapid.T) (*oracle.Session, *pgx.Conn) {
	i := rapid.IntRange(0, len(w.conns)-1).Draw(rt, "session")
	return w.oracle.Sessions[i], w.conns[i]
}

// impatient has a session wait for locks but briefly from now on, or as long as it takes. A call that has to wait for
// another session's open transaction, which does not end meanwhile, shall give up soon; nobody else holds on to a lock.
func (w *walk) impatient(rt *rapid.T, c *pgx.Conn, is bool) {
	timeout := "0"
	if is {
		timeout = "100ms"
	}
	w.exec(rt, c, "select set_config('lock_timeout', $1, false)", timeout)
}

// guarded makes a call that may fail: inside a transaction under a savepoint, so that the transaction goes on.
func (w *walk) guarded(rt *rapid.T, s *oracle.Session, c *pgx.Conn, call func() error) error {
	others := s.Others()
	w.impatient(rt, c, others)
	defer w.impatient(rt, c, false)
	if s.Open {
		w.exec(rt, c, "savepoint guard")
	}
	err := call()
	if s.Open && err != nil {
		w.exec(rt, c, "rollback to guard")
	}
	if s.Open {
		w.exec(rt, c, "release guard")
	}
	if surface.SQLState(err) == lockNotAvailable && others {
		rt.Skip("another open transaction has looked at the claim")
	}
	return err
}

const lockNotAvailable = "55P03"

func (w *walk) exec(rt *rapid.T, c surface.Conn, sql string, args ...any) {
	if _, err := c.Exec(w.tb.Context(), sql, args...); err != nil {
		rt.Fatalf("%s: %v", sql, err)
	}
}

func (w *walk) note(rt *rapid.T, err error) {
	if err != nil {
		rt.Fatal(err)
	}
}

// payload is wide enough that a few of them fill a segment, and does not compress.
func payload(rt *rapid.T) string {
	n := rapid.IntRange(0, 40).Draw(rt, "payload")
	random := rand.New(rand.NewPCG(uint64(n), 7)) //nolint:gosec // it need not be a secret
	var text strings.Builder
	for range n {
		fmt.Fprintf(&text, "%016x", random.Uint64())
	}
	return fmt.Sprintf("%q", text.String())
}

func (w *walk) key(rt *rapid.T) *string {
	keys := []*string{surface.Text("a"), surface.Text("b"), surface.Text("c, d"), nil}
	return rapid.SampledFrom(keys).Draw(rt, "key")
}

// line is what a message with a key is in order with: those of its key, or all without one.
func line(key *string) string {
	if key == nil {
		return "none"
	}
	return "key " + *key
}

func headers(rt *rapid.T) *string {
	return rapid.SampledFrom([]*string{nil, surface.Text(`{"h": 1}`)}).Draw(rt, "headers")
}

// delay draws a delay and when what is sent with it is due.
func (w *walk) delay(rt *rapid.T) (*string, time.Duration) {
	if rapid.IntRange(0, 5).Draw(rt, "delay") == 0 {
		return surface.Text("30 minutes"), w.now + 30*time.Minute
	}
	return rapid.SampledFrom([]*string{nil, surface.Text("0")}).Draw(rt, "no delay"), w.now
}

func (w *walk) send(rt *rapid.T) {
	s, c := w.session(rt)
	delay, due := w.delay(rt)
	m := oracle.Sent{Payload: payload(rt), Key: w.key(rt), Headers: headers(rt), At: w.now, Due: due}
	m.Line = line(m.Key)
	var err error
	m.ID, err = surface.Send(w.tb.Context(), c, w.queue, m.Payload, m.Key, m.Headers, delay)
	w.note(rt, err)
	w.note(rt, s.Sent(m))
}

func (w *walk) batch(rt *rapid.T) {
	s, c := w.session(rt)
	delay, due := w.delay(rt)
	var all []oracle.Sent
	var payloads []string
	var keys, heads []*string
	keyed, headed := rapid.Bool().Draw(rt, "keyed"), rapid.Bool().Draw(rt, "headed")
	for range rapid.IntRange(0, 25).Draw(rt, "n") {
		m := oracle.Sent{Payload: payload(rt), At: w.now, Due: due}
		payloads = append(payloads, m.Payload)
		if keyed {
			m.Key = w.key(rt)
			keys = append(keys, m.Key)
		}
		m.Line = line(m.Key)
		if headed {
			m.Headers = headers(rt)
			heads = append(heads, m.Headers)
		}
		all = append(all, m)
	}
	if payloads == nil {
		payloads = []string{}
	}
	ids, err := surface.SendBatch(w.tb.Context(), c, w.queue, payloads, keys, heads, delay)
	w.note(rt, err)
	if len(ids) != len(all) {
		rt.Fatalf("%d ids for %d messages", len(ids), len(all))
	}
	for i, m := range all {
		m.ID = ids[i]
		w.note(rt, s.Sent(m))
	}
}

func (w *walk) begin(rt *rapid.T) {
	s, c := w.session(rt)
	if s.Open {
		rt.Skip("open already")
	}
	w.exec(rt, c, "begin")
	w.eachSession(s, (*oracle.Session).Begin)
}

func (w *walk) end(rt *rapid.T) {
	s, c := w.session(rt)
	switch {
	case !s.Open:
		rt.Skip("no transaction")
	case rapid.IntRange(0, 2).Draw(rt, "how") == 0:
		w.exec(rt, c, "rollback")
		w.eachSession(s, (*oracle.Session).Rollback)
	default:
		w.exec(rt, c, "commit")
		w.eachSession(s, (*oracle.Session).Commit)
	}
}

// eachSession calls a function with a session as every queue's oracle knows it.
func (w *walk) eachSession(s *oracle.Session, do func(*oracle.Session)) {
	i := slices.Index(w.oracle.Sessions, s)
	w.each(func() { do(w.oracle.Sessions[i]) })
}

func (w *walk) savepoint(rt *rapid.T) {
	s, c := w.session(rt)
	if !s.Open {
		rt.Skip("no transaction")
	}
	w.exec(rt, c, fmt.Sprintf("savepoint s%d", s.Savepoints()+1))
	w.eachSession(s, func(s *oracle.Session) { s.Savepoint() })
}

func (w *walk) rollbackTo(rt *rapid.T) {
	s, c := w.session(rt)
	if s.Savepoints() == 0 {
		rt.Skip("no savepoint")
	}
	n := rapid.IntRange(1, s.Savepoints()).Draw(rt, "savepoint")
	w.exec(rt, c, fmt.Sprintf("rollback to s%d", n))
	w.eachSession(s, func(s *oracle.Session) { s.RollbackTo(n) })
}

// kill ends a session's backend with whatever it had open.
func (w *walk) kill(rt *rapid.T) {
	i := rapid.IntRange(0, sessions-1).Draw(rt, "session")
	if !w.oracle.Sessions[i].Open {
		rt.Skip("nothing to lose")
	}
	pid := pgtest.PID(w.tb, w.conns[i])
	w.exec(rt, w.db.Pool(w.tb), "select pg_terminate_backend($1)", int64(pid))
	pgtest.WaitForGone(w.tb, w.db, pid)
	w.conns[i].Close(w.tb.Context()) //nolint:errcheck // it is dead already
	w.conns[i] = w.db.Conn(w.tb)
	w.each(func() { w.oracle.Sessions[i].Rollback() })
}

// advance moves the clock. Leases of whole hours and delays of 30 minutes are never within five minutes of a multiple
// of 25.
func (w *walk) advance(rt *rapid.T) {
	d := rapid.SampledFrom([]time.Duration{25 * time.Minute, 125 * time.Minute}).Draw(rt, "time")
	w.now += d
	w.clock.Advance(w.tb, d)
	w.each(func() { w.oracle.World.PassedOver(w.now) })
}

// maintain maintains; within a transaction one step, which is rolled back as one that was cancelled is.
func (w *walk) maintain(rt *rapid.T) {
	s, c := w.session(rt)
	if !s.Open {
		_, err := surface.Maintain(w.tb.Context(), c)
		w.note(rt, err)
		return
	}
	step := rapid.SampledFrom(pgtest.QueryAll[string](w.tb, w.db,
		"select step_name from weir.maintenance() where log_name = 'main'")).Draw(rt, "step")
	w.exec(rt, c, "savepoint guard")
	w.exec(rt, c, "select weir_internal.maintain_step($1, 'main')", step)
	w.exec(rt, c, "rollback to guard")
	w.exec(rt, c, "release guard")
}

func (w *walk) group(rt *rapid.T) string {
	if len(w.groups) == 0 {
		rt.Skip("no group")
	}
	return rapid.SampledFrom(w.groups).Draw(rt, "group")
}

func (w *walk) createGroup(rt *rapid.T) {
	if len(w.groups) >= 3 {
		rt.Skip("enough groups")
	}
	w.dropped++
	name := fmt.Sprintf("g%d", w.dropped)
	start := rapid.SampledFrom([]string{"start", "end"}).Draw(rt, "start")
	w.exec(rt, w.db.Pool(w.tb), "select weir.create_group($1, $2, start => $3, max_attempts => 3, ordered => $4)",
		w.queue, name, start, w.ordered)
	w.oracle.World.AddGroup(name, 3, w.ordered)
	w.groups = append(w.groups, name)
}

func (w *walk) dropGroup(rt *rapid.T) {
	name := w.group(rt)
	if w.oracle.Uses(name) || w.oracle.Sessions[0].Open || rapid.IntRange(0, 2).Draw(rt, "drop") > 0 {
		rt.Skip("in use, or not this time")
	}
	others := w.oracle.Sessions[0].Others()
	w.impatient(rt, w.admin, others)
	_, err := w.admin.Exec(w.tb.Context(), "select weir.drop_group($1, $2)", w.queue, name)
	if surface.SQLState(err) == lockNotAvailable && others {
		rt.Skip("an open transaction has found nothing there")
	}
	w.note(rt, err)
	w.oracle.World.DropGroup(name)
	w.groups = slices.DeleteFunc(w.groups, func(g string) bool { return g == name })
}
