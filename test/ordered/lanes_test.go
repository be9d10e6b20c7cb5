package ordered_test

import (
	"crypto/sha256"
	"fmt"
	"testing"

	"github.com/weirmq/weir/internal/pgtest"
)

// A key that changed its lane would overtake what is stored of it.
func TestTheLaneOfAKeyNeverChanges(t *testing.T) {
	t.Parallel()
	pgtest.EachMajor(t, func(t *testing.T, major int) {
		t.Parallel()
		db := pgtest.New(t, pgtest.Options{Major: major})
		for _, lanes := range []int64{1, 3, 16, 1000} {
			for i := range 50 {
				key := fmt.Sprintf("Schlüssel %d", i)
				h := sha256.Sum256([]byte(key))
				want := (int64(h[0])<<48 | int64(h[1])<<24 | int64(h[2])<<8 | int64(h[3])) % lanes
				if got := pgtest.QueryVal[int64](t, db, "select weir_internal.lane_of($1, $2)", key, lanes); got != want {
					t.Errorf("key %q is in lane %d of %d, want %d", key, got, lanes, want)
				}
			}
		}
	})
}

func TestABatchOfNoMessagesIsSent(t *testing.T) {
	t.Parallel()
	pgtest.EachMajor(t, func(t *testing.T, major int) {
		t.Parallel()
		db := pgtest.New(t, pgtest.Options{Major: major})
		create(t, db, 3, "max_attempts => 5")
		for _, rest := range []string{"", ", keys => '{}'", ", headers => '{}'"} {
			sql := fmt.Sprintf("select count(*) from weir.send_batch('%s', '{}'%s)", queue, rest)
			if n := pgtest.QueryVal[int](t, db, sql); n != 0 {
				t.Errorf("%s returned %d ids", sql, n)
			}
		}
	})
}
