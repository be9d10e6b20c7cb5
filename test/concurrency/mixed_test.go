package concurrency_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

// TestTransactionsThatMixEverythingCorruptNothing has sessions do all at once in one transaction: send, receive, settle
// and maintain, with savepoints that are rolled back, timeouts of some milliseconds and short leases, while sessions
// are terminated. Whatever they do, no call says that the engine is corrupt, nothing is lost and nothing comes after
// its ack.
func TestTransactionsThatMixEverythingCorruptNothing(t *testing.T) {
	pgtest.EachMajor(t, func(t *testing.T, major int) {
		db := pgtest.New(t, pgtest.Options{Major: major})
		db.Exec(t, "select weir.configure_log('main', segment_bytes => 65536, claims_bytes => 65536)")
		db.Exec(t, "select weir.create_queue('mix')")
		db.Exec(t, "select weir.create_group('mix', 'ordered', ordered => true)")
		db.Exec(t, `update weir_internal.groups set max_attempts = 1000, backoff_min = '5 ms', backoff_max = '50 ms'`)
		m := &mix{tb: t, db: db, sent: map[string]outcome{}, ackedAt: map[delivery]time.Time{}}
		ctx, stop := context.WithTimeout(t.Context(), time.Duration(pgtest.Longer())*4*time.Second)
		defer stop()
		var sessions, upkeep sync.WaitGroup
		for range 6 {
			sessions.Go(func() { m.session(ctx) })
		}
		sessions.Go(func() { m.terminate(ctx) })
		over := make(chan struct{})
		upkeep.Go(func() { m.upkeep(over) })
		sessions.Wait()
		m.drain()
		close(over)
		upkeep.Wait()
		m.judge()
	})
}

type outcome int

const (
	open outcome = iota
	committed
	rolledBack
	unknown // the session ended in its commit
)

type delivery struct{ group, payload string }

// mix is one run. Payloads are numbers that each stand for one send.
type mix struct {
	tb     testing.TB
	db     *pgtest.DB
	number atomic.Int64

	mu       sync.Mutex
	sent     map[string]outcome
	ackedAt  map[delivery]time.Time // when the commit of its ack had returned; zero: unknown
	failures []string
}

func (m *mix) fail(format string, args ...any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.failures = append(m.failures, fmt.Sprintf(format, args...))
}

// act is what becomes true when its transaction commits.
type act struct {
	sent  []string
	acked []delivery
}

func (m *mix) session(ctx context.Context) {
	var conn *pgx.Conn
	for ctx.Err() == nil {
		if conn == nil || conn.IsClosed() {
			conn = m.connect()
		}
		m.transaction(conn)
		if !conn.IsClosed() && conn.PgConn().TxStatus() != 'I' {
			conn.Exec(context.Background(), "rollback") //nolint:errcheck // it may have been terminated
		}
	}
}

func (m *mix) connect() *pgx.Conn {
	config, err := pgx.ParseConfig(m.db.DSN)
	if err != nil {
		m.tb.Fatal(err)
	}
	config.RuntimeParams["application_name"] = "mix"
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		if n.Severity == "WARNING" {
			m.fail("%s", n.Message)
		}
	}
	conn, err := pgx.ConnectConfig(context.Background(), config)
	if err != nil {
		m.tb.Error(err)
		return nil
	}
	return conn
}

// transaction does some steps and ends them. A step that fails is undone up to a savepoint, or all is.
func (m *mix) transaction(conn *pgx.Conn) {
	ctx := context.Background()
	exec := func(sql string) error {
		_, err := conn.Exec(ctx, sql)
		return err
	}
	if m.failed(exec("begin; set local lock_timeout = 1500")) {
		return
	}
	if chance(15) && m.failed(exec("set local statement_timeout = "+strconv.Itoa(1+rand.IntN(30)))) {
		return
	}
	var acts, all []act
	var savepoints []int // how many acts there were
	undo := func() error {
		last := len(savepoints) - 1
		acts, savepoints = acts[:savepoints[last]], savepoints[:last]
		return exec("rollback to s" + strconv.Itoa(last) + "; set local statement_timeout = 0")
	}
	var err error
	for range 1 + rand.IntN(7) {
		var a act
		switch n := rand.IntN(100); {
		case n < 30:
			a, err = m.send(conn)
		case n < 65:
			a, err = m.receive(conn, acts)
		case n < 80:
			_, err = conn.Exec(ctx, `select weir_internal.maintain_step(s.step_name, s.log_name)
				from weir.maintenance() s order by random() limit 1`)
		case n < 92:
			err = exec("savepoint s" + strconv.Itoa(len(savepoints)))
			if err == nil {
				savepoints = append(savepoints, len(acts))
			}
		case len(savepoints) > 0:
			err = undo()
		}
		all = append(all, a)
		if m.failed(err) {
			if conn.IsClosed() || len(savepoints) == 0 || chance(20) || m.failed(undo()) {
				m.ended(all, nil, rolledBack)
				return
			}
			continue
		}
		acts = append(acts, a)
		pause(ctx, time.Millisecond)
	}
	if chance(30) {
		err = exec("rollback")
		m.failed(err)
		m.ended(all, nil, rolledBack)
		return
	}
	err = exec("commit")
	switch {
	case err == nil:
		m.ended(all, acts, committed)
	case m.failed(err) && !conn.IsClosed():
		m.ended(all, nil, rolledBack)
	default:
		m.ended(all, acts, unknown)
	}
}

// ended notes what became of all that was done in a transaction, and of what of it was not undone.
func (m *mix) ended(all, kept []act, how outcome) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, a := range all {
		for _, p := range a.sent {
			m.sent[p] = rolledBack
		}
	}
	for _, a := range kept {
		for _, p := range a.sent {
			m.sent[p] = how
		}
		for _, d := range a.acked {
			m.ackedAt[d] = time.Time{}
			if how == committed {
				m.ackedAt[d] = time.Now()
			}
		}
	}
}

// failed tells whether a step failed, and fails the run unless being cancelled, terminated or late explains it.
func (m *mix) failed(err error) bool {
	var conn *pgconn.PgError
	switch {
	case err == nil:
		return false
	case !errors.As(err, &conn): // the session was terminated
	case slices.Contains([]string{"57014", "57P01", "55P03", "40P01", "25P02", "WR009", "WR010"}, conn.Code):
	case pgtest.Pooled() && conn.Code == "08P01": // PgBouncer was giving the session to this one when it was terminated
	default:
		m.fail("a call failed: %v", err)
	}
	return true
}

func (m *mix) send(conn *pgx.Conn) (a act, err error) {
	var keys []*string
	for range []int{1, 1, 3, 30}[rand.IntN(4)] {
		a.sent = append(a.sent, strconv.FormatInt(m.number.Add(1), 10))
		keys = append(keys, []*string{surface.Text("a"), surface.Text("b"), surface.Text("c"), nil}[rand.IntN(4)])
	}
	var delay *string
	switch rand.IntN(4) {
	case 0:
		keys, delay = nil, surface.Text(strconv.Itoa(rand.IntN(80))+" ms")
	case 1:
		_, err = conn.Exec(context.Background(), "select weir.send_once('mix', $1::text[]::jsonb[], $1::text[])", a.sent)
		return a, err
	}
	_, err = surface.SendBatch(context.Background(), conn, "mix", a.sent, keys, nil, delay)
	return a, err
}

// receive claims messages of a group and settles them, each claim in one way.
func (m *mix) receive(conn *pgx.Conn, acts []act) (a act, err error) {
	ctx := context.Background()
	group := []string{"default", "ordered"}[rand.IntN(2)]
	began := time.Now()
	lease := strconv.Itoa([]int{30, 200, 2000}[rand.IntN(3)]) + " ms"
	got, err := surface.Receive(ctx, conn, "mix", group, []int{1, 5, 40}[rand.IntN(3)], lease)
	if err != nil || len(got) == 0 {
		return a, err
	}
	m.delivered(group, got, began, acts)
	ids := surface.IDs(got)
	claim := got[0].ClaimID
	switch n := rand.IntN(100); {
	case n < 60:
		_, err = conn.Exec(ctx, "select weir.ack_all('mix', $1)", claim)
	case n < 75:
		_, err = surface.Nack(ctx, conn, "mix", claim, nil, surface.Text("1 ms"))
		return a, err
	case n < 80:
		_, err = conn.Exec(ctx, "select weir.release('mix', $1)", claim)
		return a, err
	case n < 85:
		got = got[:1]
		_, err = surface.Ack(ctx, conn, "mix", claim, ids[:1])
	default:
		return a, nil // as a consumer that crashed
	}
	for _, g := range got {
		a.acked = append(a.acked, delivery{group, g.Payload})
	}
	return a, err
}

// delivered checks that what was delivered was sent, and not acked before the receive began.
func (m *mix) delivered(group string, got []surface.Message, began time.Time, acts []act) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, g := range got {
		if m.sent[g.Payload] == rolledBack {
			m.failures = append(m.failures, fmt.Sprintf("%s: %v is a phantom", group, g))
		}
		if at := m.ackedAt[delivery{group, g.Payload}]; !at.IsZero() && at.Before(began) {
			m.failures = append(m.failures, fmt.Sprintf("%s: %v came after its ack", group, g))
		}
		for _, a := range acts {
			if slices.Contains(a.sent, g.Payload) {
				m.failures = append(m.failures, fmt.Sprintf("%s: %v came to the transaction that sent it", group, g))
			}
		}
	}
}

// terminate ends a session now and then.
func (m *mix) terminate(ctx context.Context) {
	conn := m.db.Super(m.tb)
	for ctx.Err() == nil {
		pause(ctx, 500*time.Millisecond)
		_, err := conn.Exec(context.Background(), `select pg_terminate_backend(pid) from (
			select pid from pg_stat_activity where datname = current_database() and application_name = 'mix'
			order by random() limit 1) t`)
		if err != nil {
			m.tb.Error(err)
			return
		}
	}
}

func (m *mix) upkeep(over <-chan struct{}) {
	conn := m.connect()
	for !closed(over) {
		if conn == nil || conn.IsClosed() {
			conn = m.connect()
		}
		_, err := surface.Maintain(context.Background(), conn)
		m.failed(err)
	}
}

// drain receives and acks until no group has anything left.
func (m *mix) drain() {
	conn := m.db.Conn(m.tb)
	pgtest.WaitFor(m.tb, "all is finished", func() bool {
		for _, group := range []string{"default", "ordered"} {
			began := time.Now()
			got, err := surface.Receive(context.Background(), conn, "mix", group, 500, "1 hour")
			if err != nil {
				m.tb.Fatal(err)
			}
			m.delivered(group, got, began, nil)
			if len(got) == 0 {
				continue
			}
			if _, err := conn.Exec(context.Background(), "select weir.ack_all('mix', $1)", got[0].ClaimID); err != nil {
				m.tb.Fatal(err)
			}
			m.mu.Lock()
			for _, g := range got {
				m.ackedAt[delivery{group, g.Payload}] = time.Now()
			}
			m.mu.Unlock()
		}
		return pgtest.QueryVal[bool](m.tb, m.db,
			"select bool_and(waiting + claimed + delayed + parked = 0) from weir.stats('mix')")
	})
}

// judge tells what went wrong, and what was sent and not finished.
func (m *mix) judge() {
	m.tb.Helper()
	done := 0
	for payload, how := range m.sent {
		for _, group := range []string{"default", "ordered"} {
			_, acked := m.ackedAt[delivery{group, payload}]
			if how == committed && !acked {
				m.failures = append(m.failures, fmt.Sprintf("%s is lost to %s", payload, group))
			}
			if acked {
				done++
			}
		}
	}
	m.tb.Logf("%d sent, %d finished", len(m.sent), done)
	if done == 0 {
		m.failures = append(m.failures, "nothing was finished")
	}
	for _, f := range m.failures[:min(len(m.failures), 20)] {
		m.tb.Error(f)
	}
}
