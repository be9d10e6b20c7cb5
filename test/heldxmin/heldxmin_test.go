// Package heldxmin_test holds a reading and a writing transaction open for a whole test: the rings go on turning, a
// receive costs what it did at first, and the hot path leaves no dead row.
package heldxmin_test

import (
	"testing"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

func TestOpenTransactionsCostNothing(t *testing.T) {
	pgtest.EachMajor(t, func(t *testing.T, major int) {
		const rounds = 400
		db := pgtest.New(t, pgtest.Options{Major: major})
		surface.CreateQueue(t, db.Pool(t), "held", "")
		db.Exec(t, "update weir_internal.logs set segment_bytes = 65536, claims_bytes = 65536")
		for _, statements := range [][]string{
			{"begin isolation level repeatable read", "select count(*) from pg_class"},
			{"begin", "create temp table mine (a int)", "select weir.send('held', '0')"},
		} {
			conn := db.Conn(t)
			for _, sql := range statements {
				if _, err := conn.Exec(t.Context(), sql); err != nil {
					t.Fatal(err)
				}
			}
		}
		hot := `relname ~ '^(log|claims)_[012]$'`
		conn := db.Conn(t)
		var cost []int
		for i := range rounds {
			_, err := conn.Exec(t.Context(),
				"select weir.send_batch('held', array_fill('\"some text that is a message\"'::jsonb, array[20]))")
			if err != nil {
				t.Fatal(err)
			}
			cost = append(cost, surface.Buffers(t, conn, "select * from weir.pop('held', max => 20)"))
			if i%4 != 0 { // each call tries for 20 ms to lock what the writer holds
				continue
			}
			if _, err := surface.Maintain(t.Context(), conn); err != nil {
				t.Fatal(err)
			}
		}
		tenth := rounds / 10
		first, last := mean(cost[tenth:2*tenth]), mean(cost[rounds-tenth:])
		t.Logf("buffers of a receive and its ack: %.0f at first, %.0f at last", first, last)
		if last > first*1.3+5 {
			t.Errorf("a receive and its ack touch %.0f buffers, at first %.0f", last, first)
		}
		for ring, least := range map[string]int64{"log_ring": int64(rounds / 80), "claims_ring": int64(rounds / 80)} {
			n := pgtest.QueryVal[int64](t, db, "select pg_sequence_last_value(('weir_log.' || $1)::regclass)", ring)
			t.Logf("%s is at %d after %d rounds", ring, n, rounds)
			if n < least {
				t.Errorf("%s is at %d, want at least %d: it does not turn", ring, n, least)
			}
		}
		size := pgtest.QueryVal[int64](t, db, "select max(pg_relation_size(oid))::bigint from pg_class where "+hot)
		if size > 262_144 {
			t.Errorf("a table of a ring has grown to %d bytes", size)
		}
		// the counters of the session that did the work are there once it has ended
		conn.Close(t.Context()) //nolint:errcheck // nothing is left to say
		pgtest.WaitForRow(t, db, "select sum(n_tup_ins) > 0 from pg_stat_all_tables where "+hot)
		for _, column := range []string{"n_tup_upd", "n_tup_del"} {
			n := pgtest.QueryVal[int64](t, db, "select sum("+column+")::bigint from pg_stat_all_tables where "+hot)
			if n != 0 {
				t.Errorf("the hot path has %s = %d", column, n)
			}
		}
		dead := pgtest.QueryVal[int64](t, db, "select sum(n_dead_tup)::bigint from pg_stat_all_tables where "+hot)
		if dead != 0 {
			t.Errorf("the hot path has %d dead rows", dead)
		}
	})
}

func mean(all []int) float64 {
	sum := 0
	for _, n := range all {
		sum += n
	}
	return float64(sum) / float64(len(all))
}
