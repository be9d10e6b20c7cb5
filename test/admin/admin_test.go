// Package admin_test holds what an operator may do to a queue at work: pause and resume it, purge it, move
// its groups, change its settings, rename and drop it.
package admin_test

import (
	"slices"
	"testing"
	"time"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

func TestMain(m *testing.M) {
	pgtest.Main(m)
}

const queue = "jobs"

// bench is one test's database with a queue and a clock to move.
type bench struct {
	*testing.T
	db    *pgtest.DB
	clock *surface.Clock
}

func each(t *testing.T, test func(b bench)) {
	t.Parallel()
	surface.Each(t, queue, "", func(t *testing.T, db *pgtest.DB) {
		test(bench{t, db, surface.MovableClock(t, db)})
	})
}

// exec runs a statement that must succeed.
func (b bench) exec(sql string, args ...any) {
	b.Helper()
	b.db.Exec(b, sql, args...)
}

// fails runs a statement that must fail with an SQLSTATE.
func (b bench) fails(state, sql string, args ...any) {
	b.Helper()
	_, err := b.db.Pool(b).Exec(b.Context(), sql, args...)
	surface.WantState(b, err, state)
}

// send sends n messages in one record and returns their ids.
func (b bench) send(n int) []int64 {
	b.Helper()
	ids, err := surface.SendBatch(b.Context(), b.db.Pool(b), queue, slices.Repeat([]string{"1"}, n), nil, nil, nil)
	if err != nil {
		b.Fatal(err)
	}
	return ids
}

func (b bench) receive(group string, batchMax int) []surface.Message {
	b.Helper()
	got, err := surface.Receive(b.Context(), b.db.Pool(b), queue, group, batchMax, "1 minute")
	if err != nil {
		b.Fatal(err)
	}
	return got
}

// wantIDs receives until nothing comes any more and compares the ids.
func (b bench) wantIDs(group string, want ...int64) {
	b.Helper()
	var ids []int64
	for range 3 {
		for got := b.receive(group, 1000); len(got) > 0; got = b.receive(group, 1000) {
			ids = append(ids, surface.IDs(got)...)
		}
	}
	slices.Sort(ids)
	slices.Sort(want)
	if !slices.Equal(ids, want) {
		b.Errorf("group %s is delivered %v, want %v", group, ids, want)
	}
}

func (b bench) wantCount(want int, sql string, args ...any) {
	b.Helper()
	if got := pgtest.QueryVal[int64](b, b.db, sql, args...); got != int64(want) {
		b.Errorf("%s: %d, want %d", sql, got, want)
	}
}

func TestPausedGroupReceivesNothingAndKeepsItsClaims(t *testing.T) {
	each(t, func(b bench) {
		b.exec("select weir.create_group($1, 'other')", queue)
		ids := b.send(4)
		claimed := b.receive("default", 4)
		more := b.send(2)
		claim := claimed[0].ClaimID
		b.exec("select weir.pause($1, 'default')", queue)
		b.exec("select weir.pause($1, 'default')", queue)
		b.wantIDs("default")
		b.wantIDs("other", append(more, ids...)...)
		b.wantCount(0, "select count(*) from weir.pop($1)", queue)
		b.wantCount(2, "select count(*) from weir.peek($1)", queue)
		b.wantCount(1, "select weir.ack($1, $2, $3::bigint[])", queue, claim, ids[:1])
		b.wantCount(1, "select weir.nack($1, $2, $3, '0')", queue, claim, ids[1:2])
		b.exec("select weir.extend($1, $2, '2 minutes')", queue, claim)
		got := pgtest.QueryAll[string](b, b.db, "select group_name || ' ' || paused from weir.list_groups($1)", queue)
		if !slices.Equal(got, []string{"default true", "other false"}) {
			b.Errorf("groups %v", got)
		}
		b.clock.Advance(b, 3*time.Minute)
		b.wantIDs("default") // the lease is over
		b.fails("WR010", "select weir.ack($1, $2, $3::bigint[])", queue, claim, ids[2:3])
		b.exec("select weir.resume($1, 'default')", queue)
		b.wantIDs("default", append(more, ids[1:]...)...)
	})
}

func TestPausedQueueHoldsLaterGroupsToo(t *testing.T) {
	each(t, func(b bench) {
		b.exec("select weir.create_group($1, 'own')", queue)
		b.exec("select weir.pause($1, 'own')", queue)
		b.exec("select weir.pause($1)", queue)
		b.exec("select weir.create_group($1, 'late')", queue)
		ids := b.send(3)
		if !pgtest.QueryVal[bool](b, b.db, "select paused from weir.list_queues()") {
			b.Error("list_queues does not show the pause")
		}
		b.exec("select weir.resume($1, 'default')", queue) // it was not paused by its name
		for _, group := range []string{"default", "own", "late"} {
			b.wantIDs(group)
		}
		b.exec("select weir.resume($1)", queue)
		b.wantIDs("default", ids...)
		b.wantIDs("late", ids...)
		b.wantIDs("own")
		b.exec("select weir.resume($1, 'own')", queue)
		b.wantIDs("own", ids...)
		if pgtest.QueryVal[bool](b, b.db, "select paused from weir.list_queues()") {
			b.Error("list_queues still shows the pause")
		}
	})
}

func TestPauseChecksItsArguments(t *testing.T) {
	each(t, func(b bench) {
		b.exec("select weir.pause($1)", queue)
		b.fails("WR006", "select weir.receive($1, max => 0)", queue)
		b.fails("WR006", "select weir.receive($1, lease => '0')", queue)
		b.fails("WR003", "select weir.receive($1, 'none')", queue)
		for _, verb := range []string{"pause", "resume", "purge"} {
			b.fails("WR001", "select weir."+verb+"('none')")
			b.fails("WR003", "select weir."+verb+"($1, 'none')", queue)
		}
		b.wantIDs("default")
	})
}
