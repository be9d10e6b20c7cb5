package surface

import (
	"context"
	"fmt"
	"strings"
)

// End is a call that ends messages of a claim.
type End struct {
	Verb  string // ack, nack, release or reject
	Claim int64
	IDs   []int64 // nil: all that are left of the claim
	Delay *string // of a nack; nil: the group's backoff
}

// Alone makes the call by itself, and returns how many messages it ended.
func (e End) Alone(ctx context.Context, c Conn, queue string) (int, error) {
	switch e.Verb {
	case "ack":
		return Ack(ctx, c, queue, e.Claim, e.IDs)
	case "nack":
		return Nack(ctx, c, queue, e.Claim, e.IDs, e.Delay)
	case "release":
		return count(ctx, c, "select weir.release($1, $2, $3)", queue, e.Claim, e.IDs)
	default:
		return Reject(ctx, c, queue, e.Claim, e.IDs)
	}
}

// ByMany makes the call through ack_many or settle_many, and alone what those leave undone.
func (e End) ByMany(ctx context.Context, c Conn, queue string) (int, error) {
	ids := Text(allLeft)
	if e.IDs != nil {
		ids = Ranges(e.IDs)
	}
	sql := "select (weir.ack_many($1, array[$2::bigint], array[$3::text::int8multirange]))[1]"
	args := []any{queue, e.Claim, ids}
	if e.Verb != "ack" {
		sql = `select (weir.settle_many($1, array[$4], array[$2::bigint], array[$3::text::int8multirange],
			array[$5::text::interval], array[$4 || 'ed']))[1]`
		args = append(args, e.Verb, e.Delay)
	}
	var n *int
	if err := c.QueryRow(ctx, sql, args...).Scan(&n); err != nil {
		return 0, err
	}
	if n == nil {
		return e.Alone(ctx, c, queue)
	}
	return *n, nil
}

// allLeft asks for all that is left of a claim.
const allLeft = "{(,)}"

// AckMany acknowledges whole claims in one call; -1 stands for one that is left to a call of its own.
func AckMany(ctx context.Context, c Conn, queue string, claims []int64) ([]int, error) {
	var counts []int
	err := c.QueryRow(ctx, `select array(select coalesce(n, -1)
		from unnest(weir.ack_many($1, $2::bigint[], array_fill($3::text::int8multirange, array[cardinality($2::bigint[])])))
			with ordinality u (n, i) order by i)`, queue, claims, allLeft).Scan(&counts)
	if err != nil { // a call that is cancelled when its row is sent already: nothing was done
		return nil, err
	}
	return counts, nil
}

// Ranges writes ids as a multirange.
func Ranges(ids []int64) *string {
	ranges := make([]string, 0, len(ids))
	for _, id := range ids {
		ranges = append(ranges, fmt.Sprintf("[%d,%d)", id, id+1))
	}
	return Text("{" + strings.Join(ranges, ",") + "}")
}
