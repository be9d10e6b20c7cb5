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
