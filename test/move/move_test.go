// Package move_test holds that a queue that is in use can be moved to another log: nothing is lost or delivered twice,
// the order of keys stays, and what was claimed, delayed, parked, dead or known before the move is so after it.
package move_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// bench is a database with the queue q in the log main, and the log new.
type bench struct {
	*testing.T
	db *pgtest.DB
}

func each(t *testing.T, options string, test func(b bench)) {
	t.Parallel()
	pgtest.Each(t, func(t *testing.T, db *pgtest.DB) {
		surface.CreateQueue(t, db.Pool(t), "q", options)
		db.Exec(t, "select weir.create_log('new')")
		test(bench{t, db})
	})
}

func (b bench) exec(sql string, args ...any) {
	b.Helper()
	b.db.Exec(b, sql, args...)
}

func (b bench) move() {
	b.Helper()
	b.exec("select weir.move_queue('q', 'new')")
}

// fails runs a statement that must fail with an SQLSTATE.
func (b bench) fails(state, sql string, args ...any) {
	b.Helper()
	_, err := b.db.Pool(b).Exec(b.Context(), sql, args...)
	surface.WantState(b, err, state)
}

func (b bench) want(want int, sql string, args ...any) {
	b.Helper()
	if got := pgtest.QueryVal[int64](b, b.db, sql, args...); got != int64(want) {
		b.Errorf("%s: %d, want %d", sql, got, want)
	}
}

// wantLog says where the queue is, and from where it is moving.
func (b bench) wantLog(want string) {
	b.Helper()
	if got := pgtest.QueryVal[string](b, b.db,
		"select concat_ws(' from ', log, moving_from) from weir.list_queues() where queue_name = 'q'"); got != want {
		b.Errorf("the queue is in %s, want %s", got, want)
	}
}

// ends has maintain end the move, which must have nothing to wait for.
func (b bench) ends() {
	b.Helper()
	surface.Settle(b, b.db.Pool(b))
	b.wantLog("new")
	for _, table := range []string{
		"delayed", "parked", "key_queues", "key_turns", "dedup_0", "dedup_1", "jobs_0", "jobs_1",
	} {
		b.want(0, "select count(*) from weir_log."+table)
	}
}

// pop receives and finishes what a group of the queue has, one after the other, as text.
func (b bench) pop(group string) []string {
	b.Helper()
	var out []string
	for {
		got := pgtest.QueryAll[string](b, b.db, "select payload #>> '{}' from weir.pop('q', $1)", group)
		if len(got) == 0 {
			return out
		}
		out = append(out, got...)
	}
}

func (b bench) wantPop(group string, want ...string) {
	b.Helper()
	if got := b.pop(group); !slices.Equal(got, want) {
		b.Errorf("group %s got %v, want %v", group, got, want)
	}
}

func TestAMovedQueueGoesOnInTheOtherLog(t *testing.T) {
	each(t, "", func(b bench) {
		b.exec("select weir.create_group('q', 'slow')")
		b.exec("select weir.send_batch('q', array['\"1\"', '\"2\"', '\"3\"']::jsonb[])")
		b.wantPopOne("1")
		b.move()
		b.wantLog("new from main")
		b.exec("select weir.send('q', '\"4\"')")
		b.want(1, "select count(*) from weir_log.log_1")
		b.want(1, "select count(*) from weir_log_new.log_1")
		b.want(3, "select waiting from weir.stats('q') where group_name = 'default'")
		b.want(4, "select waiting from weir.stats('q') where group_name = 'slow'")
		b.want(2, "select count(*) from weir.stats()")
		b.wantPop("default", "2", "3", "4")
		surface.Settle(b, b.db.Pool(b))
		b.wantLog("new from main")
		b.wantPop("slow", "1", "2", "3", "4")
		b.ends()
		b.exec("select weir.send('q', '\"5\"')")
		b.wantPop("default", "5")
		b.wantPop("slow", "5")
		b.want(0, "select count(*) from weir.doctor() where severity = 'error'")
		b.exec("select weir.move_queue('q', 'main')")
		b.exec("select weir.send('q', '\"6\"')")
		b.wantPop("default", "6")
		b.wantPop("slow", "6")
		surface.Settle(b, b.db.Pool(b))
		b.wantLog("main")
		b.exec("select weir.drop_log('new')")
	})
}

func (b bench) wantPopOne(want string) {
	b.Helper()
	got := pgtest.QueryAll[string](b, b.db, "select payload #>> '{}' from weir.pop('q')")
	if fmt.Sprint(got) != "["+want+"]" {
		b.Errorf("received %v, want %s", got, want)
	}
}
