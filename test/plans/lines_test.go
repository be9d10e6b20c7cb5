package plans_test

import (
	"regexp"
	"testing"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

var (
	ofLines      = regexp.MustCompile(`Index (Only )?Scan.* on (\w+\.)?q\d+_(lines|turns)`)
	onAllOfLines = regexp.MustCompile(`(Seq Scan|Bitmap Heap Scan|Bitmap Index Scan) on (\w+\.)?q\d+_\w+`)
)

// TestAReceiveCostsTheSameHoweverMuchWaitsInLines looks at the plans, never analysed and analysed, and counts buffers.
func TestAReceiveCostsTheSameHoweverMuchWaitsInLines(t *testing.T) {
	pgtest.EachMajor(t, func(t *testing.T, major int) {
		db := pgtest.New(t, pgtest.Options{Major: major})
		surface.CreateQueue(t, db.Pool(t), queue, "lanes => 4")
		db.Exec(t, "select weir.configure_group($1, 'default', key_concurrency_max => 5)", queue)
		const cycle = `select weir.ack($1, c) from (
			select distinct claim_id as c from weir.receive($1, max => 4, lease => '1 day')) r`
		line := func(n int) { // n messages of 1,000 keys
			for range n / 1000 {
				db.Exec(t, `select count(*) from weir.send_batch($1, array_fill('1'::jsonb, array[1000]),
					array(select 'k' || i from generate_series(1, 1000) i))`, queue)
				db.Exec(t, "select weir.ack($1, claim_id) from weir.receive($1) limit 1", queue)
			}
			for range 8 {
				db.Exec(t, "select weir.ack($1, claim_id) from weir.receive($1) limit 1", queue)
			}
		}
		cost := func() float64 {
			conn := db.Conn(t)
			sum := 0
			for i := range 30 {
				n := surface.Buffers(t, conn, cycle, queue)
				if i >= 10 { // the first ones read the catalogue
					sum += n
				}
			}
			return float64(sum) / 20
		}
		indexed := func(state string) {
			e := explain(t, db)
			found := 0
			for range 8 {
				db.Exec(t, "select weir.send($1, '1', 'k7')", queue)
				if _, err := e.Exec(t.Context(), cycle, queue); err != nil {
					t.Fatal(err)
				}
			}
			for _, plan := range e.plans {
				if bad := onAllOfLines.FindString(plan); bad != "" {
					t.Fatalf("%s: %s:\n%s", state, bad, plan)
				}
				if ofLines.MatchString(plan) {
					found++
				}
			}
			if found == 0 {
				t.Fatalf("%s: no plan of the lines among %d: the test sees nothing", state, len(e.plans))
			}
		}
		line(5000)
		indexed("few")
		few := cost()
		line(50_000)
		indexed("never analysed")
		many := cost()
		t.Logf("buffers of a receive of 4: %.1f with 5,000 in the lines, %.1f with 55,000", few, many)
		if many > few*1.5 {
			t.Errorf("a receive of 4 touches %.1f buffers with 55,000 in the lines, %.1f with 5,000", many, few)
		}
		db.Exec(t, "vacuum (analyze)")
		indexed("analysed")
	})
}
