package restore_test

import (
	"slices"
	"testing"

	"github.com/weirmq/weir/internal/engine"
	"github.com/weirmq/weir/internal/migrate"
	"github.com/weirmq/weir/internal/pgtest"
)

// The face of PGMQ finds messages by their ids, also those that came in a dump: read, set, deleted before they were
// read.
func TestQueuesOfTheFaceOfPGMQComeWithADump(t *testing.T) {
	each(t, func(t *testing.T, major int) {
		from := pgtest.New(t, pgtest.Options{Major: major})
		if err := migrate.InstallFace(t.Context(), from.Conn(t), "pgmq"); err != nil {
			t.Fatal(err)
		}
		from.Exec(t, "select pgmq.create('q')")
		from.Exec(t, "select pgmq.send_batch('q', array['1', '2', '3', '4', '5', '6']::jsonb[])")
		from.Exec(t, "select count(*) from pgmq.read('q', 1000, 1)")
		from.Exec(t, "select pgmq.set_vt('q', 2, 1000), pgmq.delete('q', 3), pgmq.archive('q', 6)")
		db := restore(t, dump(t, from), cluster(t, major))
		for _, call := range []string{
			"select pgmq.send('q', '1')", "select pgmq.read('q', 1, 1)", "select pgmq.delete('q', 1)",
			"select pgmq.delete('q', array[1])", "select pgmq.set_vt('q', 1, 1)", "select pgmq.metrics('q')",
		} {
			_, err := db.Conn(t).Exec(t.Context(), call)
			if code := engine.Code(engine.Wrap("call", err)); code != "WR019" {
				t.Errorf("%s before adopt: %v", call, err)
			}
		}
		adopt(t, db, 1)
		ids := func(sql string) []int64 { return pgtest.QueryAll[int64](t, db, sql) }
		if got := ids("select pgmq.send('q', '7')"); !slices.Equal(got, []int64{7}) {
			t.Errorf("sent %v", got)
		}
		if got := ids("select msg_id from pgmq.q_q"); !slices.Equal(got, []int64{1, 2, 4, 5, 7}) {
			t.Errorf("the queue has %v", got)
		}
		if got := ids("select msg_id from pgmq.delete('q', array[1, 3, 6]) msg_id"); !slices.Equal(got, []int64{1}) {
			t.Errorf("deleted %v", got)
		}
		for _, want := range [][]int64{{4, 5}, {7}} { // a read stays in one segment
			if got := ids("select msg_id from pgmq.read('q', 1000, 10)"); !slices.Equal(got, want) {
				t.Errorf("read %v, want %v", got, want)
			}
		}
		if got := ids("select msg_id from pgmq.set_vt('q', 2, 0)"); !slices.Equal(got, []int64{2}) {
			t.Errorf("set %v", got)
		}
		if got := ids("select msg_id from pgmq.pop('q', 10)"); !slices.Equal(got, []int64{2}) {
			t.Errorf("popped %v", got)
		}
	})
}
