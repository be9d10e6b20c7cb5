// Package operators_test asks stats() and doctor() about databases in every condition that they are to tell of.
package operators_test

import (
	"strconv"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

const queue = "jobs"

type bench struct {
	*testing.T

	db    *pgtest.DB
	clock *surface.Clock
}

// each runs a test on a queue of a log whose segments are as small as can be.
func each(t *testing.T, test func(b bench)) {
	t.Helper()
	t.Parallel()
	surface.Each(t, queue, "", func(t *testing.T, db *pgtest.DB) {
		db.Exec(t, "update weir_internal.logs set segment_bytes = 65536, claims_bytes = 65536")
		test(bench{t, db, surface.MovableClock(t, db)})
	})
}

// run runs statements on a connection of their own, which it leaves as they left it.
func (b bench) run(statements ...string) *pgx.Conn {
	b.Helper()
	conn := b.db.Conn(b)
	b.on(conn, statements...)
	return conn
}

// on runs statements on a connection.
func (b bench) on(conn *pgx.Conn, statements ...string) {
	b.Helper()
	for _, sql := range statements {
		if _, err := conn.Exec(b.Context(), sql); err != nil {
			b.Fatalf("%s: %v", sql, err)
		}
	}
}

// fill sends messages that fill a few segments.
func (b bench) fill() {
	b.Helper()
	for range 40 {
		b.db.Exec(b, `select weir.send_batch('jobs', array_fill(to_jsonb(array_to_string(array(
			select md5(random()::text) from generate_series(1, 32)), '')), array[10]))`)
		b.settle()
	}
}

// drain pops everything that one group has waiting.
func (b bench) drain(group string) {
	b.Helper()
	for pgtest.QueryVal[int](b, b.db, "select count(*) from weir.pop('jobs', $1, 1000)", group) > 0 {
	}
}

// settle does all the upkeep there is.
func (b bench) settle() {
	b.Helper()
	surface.Settle(b, b.db.Pool(b))
}

// stat returns an expression over the row of stats that a group has.
func stat[T any](b bench, group, expression string) T {
	b.Helper()
	return pgtest.QueryVal[T](b, b.db, "select "+expression+" from weir.stats('jobs') where group_name = $1", group)
}

// want fails the test when an expression over a group's row of stats does not hold, or when stats of all says
// otherwise.
func (b bench) want(group, expression string) {
	b.Helper()
	if !stat[bool](b, group, "coalesce("+expression+", false)") {
		b.Errorf("group %s: not %s: %s", group, expression, stat[string](b, group, "stats::text"))
	}
	if !pgtest.QueryVal[bool](b, b.db, "select coalesce("+expression+`, false) from weir.stats()
		where queue_name = 'jobs' and group_name = $1`, group) {
		b.Errorf("group %s: not %s in stats of all: %s", group, expression, pgtest.QueryVal[string](b, b.db,
			"select stats::text from weir.stats() where queue_name = 'jobs' and group_name = $1", group))
	}
}

// pidOf returns the process id of a connection's backend, as SQL has it.
func pidOf(conn *pgx.Conn) string {
	return strconv.FormatUint(uint64(conn.PgConn().PID()), 10)
}
