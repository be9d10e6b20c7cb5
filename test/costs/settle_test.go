package costs_test

import (
	"testing"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

// What is given back is read again, and only that: not all that its claim has.
func TestANackOfOneMessageCostsTheSameInALargeClaimAsInASmallOne(t *testing.T) {
	db := pgtest.New(t, pgtest.Options{})
	conn := db.Super(t)
	const records = 50
	var cost [2]int
	for i, queue := range []string{"small", "large"} {
		exec(t, conn, "select weir.create_queue($1)", queue)
		claimed := 1 + i*(records-1)
		for range claimed { // 100 kB that do not compress, so that they are toasted
			exec(t, conn, `select weir.send_batch($1, array(
				select to_jsonb((select string_agg(md5(random()::text), '') from generate_series(1, 32 + 0 * n)))
				from generate_series(1, 100) n))`, queue)
		}
		var claim, id int64
		err := conn.QueryRow(t.Context(), `select claim_id, min(id) from weir.receive($1, max => $2::int * 100)
			group by claim_id having count(*) = $2::int * 100`, queue, claimed).Scan(&claim, &id)
		if err != nil {
			t.Fatal(err)
		}
		for n := range int64(5) {
			cost[i] = surface.Buffers(t, conn, "select weir.nack($1, $2, array[$3::bigint])", queue, claim, id+n)
		}
	}
	if cost[1] > 2*cost[0] {
		t.Errorf("a nack of one message takes %d buffers in a claim of 100, and %d in one of %d",
			cost[0], cost[1], 100*records)
	}
}
