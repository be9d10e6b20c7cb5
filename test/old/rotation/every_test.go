package rotation_test

import (
	"testing"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

func TestMaintenanceThatSomebodyHasJustBegunIsLeftToThem(t *testing.T) {
	each(t, "1", func(b bench) {
		b.fill(200) // more than a segment
		steps := func(every string) int {
			return pgtest.QueryVal[int](b, b.db, "select weir.maintain(every => $1::text::interval)", every)
		}
		if got := steps("1 hour"); got == 0 {
			b.Error("the first call took no step")
		}
		if got := steps("1 hour"); got != 0 {
			b.Errorf("a second call within the hour took %d steps, want 0", got)
		}
		if got := steps("0"); got == 0 {
			b.Error("a call that wants to go on took no step")
		}
		// a clock that went back does not stop it
		b.db.Exec(b, "select setval('weir_internal.maintained_at', weir_internal.to_micros(now() + interval '1 day'))")
		b.fill(200)
		if got := steps("1 hour"); got == 0 {
			b.Error("after the clock went back a call took no step")
		}
		for _, bad := range []string{"-1 second", "61 minutes"} {
			_, err := b.db.Pool(b).Exec(b.Context(), "select weir.maintain(every => $1::text::interval)", bad)
			surface.WantState(b, err, "WR006")
		}
	})
}

// Who calls it from cron makes one call and does not go on while there is more to do.
func TestNoUpkeepWaitsForOtherUpkeepThatAlwaysHasSomethingToDo(t *testing.T) {
	each(t, "1", func(b bench) {
		b.db.Exec(b, "select weir.send('ring', '1')")
		b.db.Exec(b, "select weir.nack('ring', claim_id, delay => '0') from weir.receive('ring')")
		if n := b.drain(); n != 1 {
			b.Fatalf("%d messages came again, want 1", n)
		}
		const size = "select pg_relation_size('weir_internal.q1_later')"
		if pgtest.QueryVal[int](b, b.db, size) == 0 {
			b.Fatal("nothing is in the table that is to be given back")
		}
		b.db.Exec(b, `create or replace function weir_internal.rotate_log(q weir_internal.queues) returns int
			language sql as 'select 1'`)
		for range 500 { // of which each has a chance of one in eight at least
			b.db.Exec(b, "select weir.maintain()")
			if pgtest.QueryVal[int](b, b.db, size) == 0 {
				return
			}
		}
		b.Error("the table was never given back")
	})
}
