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
	pgtest.Each(t, func(t *testing.T, db *pgtest.DB) {
		for _, lanes := range []int64{1, 3, 6, 16, 256, 1000} {
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
	pgtest.Each(t, func(t *testing.T, db *pgtest.DB) {
		create(t, db, 3, "max_attempts => 5")
		for _, rest := range []string{"", ", keys => '{}'", ", headers => '{}'"} {
			sql := fmt.Sprintf("select count(*) from weir.send_batch('%s', '{}'%s)", queue, rest)
			if n := pgtest.QueryVal[int](t, db, sql); n != 0 {
				t.Errorf("%s returned %d ids", sql, n)
			}
		}
	})
}

// The records of a batch with keys, by what the log holds.
func TestABatchWithKeysIsCutByLaneAndSize(t *testing.T) {
	t.Parallel()
	pgtest.Each(t, func(t *testing.T, db *pgtest.DB) {
		db.Exec(t, "select weir.create_queue('q', lanes => 3)")
		db.Exec(t, `select count(*) from weir.send_batch('q',
			(select array_agg(jsonb_build_object('n', i, 'of', repeat('x', 60))) from generate_series(1, 5000) i),
			(select array_agg(case i % 4 when 0 then 'hot' when 1 then 'key-' || i % 7 when 2 then 'key-' || i % 100 end)
			 from generate_series(1, 5000) i))`)
		for _, check := range []struct{ what, sql string }{
			{"messages in no record", `select 5000 - count(distinct id) from r`},
			{"messages in two records", `select count(*) - count(distinct id) from r`},
			{"messages beside the key of another", `select count(*) from r where r.key is distinct from case r.n % 4
				when 0 then 'hot' when 1 then 'key-' || r.n % 7 when 2 then 'key-' || r.n % 100 end`},
			{"messages out of order within a lane", `select count(*) from (
				select id - lag(id) over (partition by lane order by txid, record, i) as step from r) s where step <= 0`},
			{"messages in the lane of another key", `select count(*) from r
				where lane <> coalesce(16 + weir_internal.lane_of(key, 3), 0)`},
			{"records of more than 1,000 messages", `select count(*) from log where n > 1000`},
		} {
			if n := pgtest.QueryVal[int](t, db, `with log as (
				select * from weir_log.log_0 union all select * from weir_log.log_1), r as (
				select l.txid, l.id as record, l.lane, u.i, u.key, (u.payload::jsonb ->> 'n')::int as n,
					coalesce(l.ids[u.i], l.id - l.n + u.i) as id
				from log l
				cross join lateral unnest(l.payloads, l.keys) with ordinality u (payload, key, i)) `+check.sql); n != 0 {
				t.Errorf("%d %s", n, check.what)
			}
		}
	})
}
