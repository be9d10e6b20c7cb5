// Package limits_test holds what limits promise on the engine: that no more of a group's messages are
// claimed and unfinished at once, and no more are delivered in a time, than it was told, whatever races, fails or
// expires; that keys take turns; that a queue refuses what exceeds its backlog; and that many receives in one call are
// as many claims.
package limits_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

func TestMain(m *testing.M) {
	pgtest.Main(m)
}

const queue = "jobs"

// bench is one test's database with a queue, its group "limited", and a clock to move.
type bench struct {
	*testing.T
	db    *pgtest.DB
	clock *surface.Clock
	conn  surface.Conn
}

// each runs a test on every PostgreSQL, with a queue and a group of the given settings.
func each(t *testing.T, settings string, test func(b bench)) {
	t.Helper()
	eachQueue(t, "", func(b bench) {
		b.ok("select weir.create_group('jobs', 'limited', " + settings + ")")
		test(b)
	})
}

// eachQueue runs a test on every PostgreSQL, with a queue of the given settings.
func eachQueue(t *testing.T, options string, test func(b bench)) {
	t.Helper()
	t.Parallel()
	surface.Each(t, queue, options, func(t *testing.T, db *pgtest.DB) {
		test(bench{t, db, surface.StoppedClock(t, db), db.Pool(t)})
	})
}

func (b bench) ok(sql string, args ...any) {
	b.Helper()
	if _, err := b.conn.Exec(b.Context(), sql, args...); err != nil {
		b.Fatalf("%s: %v", sql, err)
	}
}

// fails runs a statement that must fail with an SQLSTATE.
func (b bench) fails(state, sql string) {
	b.Helper()
	_, err := b.conn.Exec(b.Context(), sql)
	surface.WantState(b, err, state)
}

func (b bench) wantCount(want int64, sql string) {
	b.Helper()
	if got := pgtest.QueryVal[int64](b, b.db, sql); got != want {
		b.Errorf("%s: %d, want %d", sql, got, want)
	}
}

// send sends messages with a key each.
func (b bench) send(n int) {
	b.Helper()
	b.ok("select weir.send('jobs', to_jsonb(i), 'k' || i) from generate_series(1, $1) i", n)
}

// sendTo sends n messages of one key in one batch.
func (b bench) sendTo(key string, n int) {
	b.Helper()
	b.ok(`select weir_log.send_batch('jobs', array_fill('1'::json, array[$2::int]), array_fill($1::text, array[$2::int]),
		null, null, null)`, key, n)
}

// configure gives the group other limits, written as JSON; null is none.
func (b bench) configure(settings string) {
	b.Helper()
	b.ok(configure, settings)
}

const configure = `select weir_log.configure_limits(q, g, jsonb_populate_record(g, $1::text::jsonb))
	from weir_internal.groups g join weir_internal.queues q on q.no = g.queue_no
	cross join lateral pg_advisory_xact_lock(weir_internal.admin_lock(q.no)) where g.name = 'limited'`

// receive returns what a connection is given in one call.
func (b bench) receive(c surface.Conn, group string, n int) []surface.Message {
	b.Helper()
	got, err := surface.Receive(b.Context(), c, queue, group, n, "30 seconds")
	if err != nil {
		b.Fatalf("receive: %v", err)
	}
	return got
}

// get receives and says how many it wants to be given.
func (b bench) get(want, n int) []surface.Message {
	b.Helper()
	got := b.receive(b.conn, "limited", n)
	if len(got) != want {
		b.Fatalf("received %d, want %d: %v", len(got), want, got)
	}
	return got
}

// settle ends messages of a claim, all that are left when ids is nil.
func settle(ctx context.Context, c surface.Conn, verb string, claim int64, ids []int64, delay *string) (int, error) {
	var n int
	err := c.QueryRow(
		ctx, "select weir_log.settle('jobs', $1, $2, $3, $4::text::interval, null)", claim, ids, verb, delay).Scan(&n)
	return n, err
}

// end settles one message.
func (b bench) end(verb string, m surface.Message, delay *string) {
	b.Helper()
	if n, err := settle(b.Context(), b.conn, verb, m.ClaimID, []int64{m.ID}, delay); err != nil || n != 1 {
		b.Fatalf("%s of %v: %d, %v", verb, m, n, err)
	}
}

// drain receives and acknowledges until nothing comes, and returns how many messages came.
func (b bench) drain(group string, n int) int {
	b.Helper()
	count := 0
	for {
		got := b.receive(b.conn, group, n)
		if len(got) == 0 {
			return count
		}
		count += len(got)
		for _, m := range got {
			b.end("ack", m, nil)
		}
	}
}

func (b bench) begin() pgx.Tx {
	b.Helper()
	tx, err := b.db.Conn(b).Begin(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { tx.Rollback(context.Background()) }) //nolint:errcheck // it may be over
	return tx
}

func (b bench) commit(tx pgx.Tx) {
	b.Helper()
	if err := tx.Commit(b.Context()); err != nil {
		b.Fatal(err)
	}
}

func (b bench) rollback(tx pgx.Tx) {
	b.Helper()
	if err := tx.Rollback(b.Context()); err != nil {
		b.Fatal(err)
	}
}

// before makes a call of a connection begin before, and read some tables after, something is done.
func (b bench) before(c *pgx.Conn, tables string, do func(tx pgx.Tx), call func() error) {
	b.Helper()
	tx := b.begin()
	if _, err := tx.Exec(b.Context(), "lock table "+tables+" in access exclusive mode"); err != nil {
		b.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- call() }()
	pgtest.WaitForLock(b, b.db, c.PgConn().PID())
	do(tx)
	b.commit(tx)
	if err := <-ended; err != nil {
		b.Error(err)
	}
}

// assignsNoID fails when a transaction has written something.
func (b bench) assignsNoID(tx pgx.Tx) {
	b.Helper()
	var xid *string
	if err := tx.QueryRow(b.Context(), "select pg_current_xact_id_if_assigned()::text").Scan(&xid); err != nil {
		b.Fatal(err)
	}
	if xid != nil {
		b.Errorf("an empty receive took the transaction id %s", *xid)
	}
}

// waiter is a connection that waits for messages of the queue.
func (b bench) waiter() *pgx.Conn {
	b.Helper()
	conn := b.db.Conn(b)
	var channel string
	if err := conn.QueryRow(b.Context(), "select weir_log.mark_waiting('jobs')").Scan(&channel); err != nil {
		b.Fatal(err)
	}
	if _, err := conn.Exec(b.Context(), `listen "`+channel+`"`); err != nil {
		b.Fatal(err)
	}
	return conn
}

// woken waits for a notification.
func (b bench) woken(conn *pgx.Conn) {
	b.Helper()
	ctx, stop := context.WithTimeout(b.Context(), 3*time.Minute)
	defer stop()
	if _, err := conn.WaitForNotification(ctx); err != nil {
		b.Fatalf("nobody was woken: %v", err)
	}
}

func keyCounts(got []surface.Message) string {
	counts := map[string]int{}
	for _, m := range got {
		if m.Key == nil {
			counts["-"]++
		} else {
			counts[*m.Key]++
		}
	}
	var out []string
	for _, key := range []string{"-", "a", "b", "c", "d"} {
		if counts[key] > 0 {
			out = append(out, fmt.Sprint(key, counts[key]))
		}
	}
	return strings.Join(out, " ")
}

// byKey receives and wants so many messages of each key, as in "a2 b1".
func (b bench) byKey(want string, n int) []surface.Message {
	b.Helper()
	got := b.receive(b.conn, "limited", n)
	if counts := keyCounts(got); counts != want {
		b.Fatalf("received of each key %q, want %q", counts, want)
	}
	return got
}
