package plans_test

import (
	"testing"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

// TestAReceiveCostsTheSameHoweverMuchWaitsInKeyQueues counts buffers, never analysed and analysed.
func TestAReceiveCostsTheSameHoweverMuchWaitsInKeyQueues(t *testing.T) {
	pgtest.EachMajor(t, func(t *testing.T, major int) {
		db := pgtest.New(t, pgtest.Options{Major: major})
		surface.CreateQueue(t, db.Pool(t), "q", "lanes => 4")
		db.Exec(t, "select weir.configure_group('q', 'default', key_concurrency_max => 5)")
		const cycle = `select weir.ack_all('q', c) from (
			select distinct claim_id as c from weir.receive('q', max => 4, lease => '1 day')) r`
		fill := func(n int) { // n messages of 1,000 keys
			for range n / 1000 {
				db.Exec(t, `select count(*) from weir.send_batch('q', array_fill('1'::jsonb, array[1000]),
					array(select 'k' || i from generate_series(1, 1000) i))`)
			}
			for pgtest.QueryVal[int](t, db, "select count(*)::int from weir_log.key_queues") < n {
				db.Exec(t, cycle)
			}
		}
		cost := func() float64 {
			conn := db.Conn(t)
			sum := 0
			for i := range 30 {
				n := surface.Buffers(t, conn, cycle)
				if i >= 10 { // the first ones read the catalogue
					sum += n
				}
			}
			return float64(sum) / 20
		}
		fill(5000)
		few := cost()
		fill(55_000)
		many := cost()
		db.Exec(t, "vacuum (analyze)")
		analysed := cost()
		t.Logf("buffers of a receive of 4: %.1f with 5,000 in key queues, %.1f with 55,000, %.1f analysed",
			few, many, analysed)
		if max(many, analysed) > few*1.5 {
			t.Errorf("a receive of 4 touches %.1f buffers with 55,000 in key queues, %.1f analysed, %.1f with 5,000",
				many, analysed, few)
		}
	})
}
