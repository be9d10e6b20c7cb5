package ordered_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

// A receive asks the index of what is due, which has neither what waits behind others nor what is claimed.
func TestAReceiveReadsLittleHoweverManyKeysAreInTrouble(t *testing.T) {
	const (
		keys       = 20000
		bufferMost = 400 // 50 to 280 are read; a walk over what is parked takes thousands
	)
	alone(t, "max_attempts => 100", func(l lines) {
		batch := func(n int, delay string) {
			l.db.Exec(l, `select cardinality(weir_log.send_batch($1, array_fill('1'::json, array[1000]),
				array(select 'key' || (i + 1000 * k) from generate_series(1, 1000) i), null, $3::text::interval, null))
				from generate_series(0, $2::int / 1000 - 1) k`, queue, n, delay)
		}
		receive := func(most, want int) int64 {
			l.Helper()
			got, err := surface.Receive(l.Context(), l.db.Pool(l), queue, group, most, "2 hours")
			if err != nil || len(got) != want {
				l.Fatalf("received %d, %v, want %d", len(got), err, want)
			}
			if want == 0 {
				return 0
			}
			return got[0].ClaimID
		}
		wantFew := func(what string) {
			l.Helper()
			conn := l.db.Conn(l)
			var buffers []int
			for range 9 { // the first makes plans
				buffers = append(buffers, surface.Buffers(l, conn, "select * from weir.receive($1, $2)", queue, group))
			}
			slices.Sort(buffers)
			l.Logf("%s: %v buffers", what, buffers)
			if buffers[4] > bufferMost {
				l.Errorf("a receive while %s touches %d buffers, at most %d", what, buffers[4], bufferMost)
			}
		}
		batch(keys, "0")
		delay := "1 hour"
		for range keys / 10000 {
			if _, err := settle(l.Context(), l.db.Pool(l), "nack", receive(10000, 10000), nil, &delay); err != nil {
				l.Fatal(err)
			}
		}
		wantFew("all failed")
		batch(1000, "0")
		receive(1000, 0)
		wantFew("others wait behind them")
		batch(1000, "1 second")
		l.clock.Advance(l, 2*time.Second)
		receive(1000, 0)
		wantFew("what was delayed waits behind them")
		l.clock.Advance(l, 67*time.Minute)
		for range 2 {
			receive(10000, 10000)
		}
		wantFew("the heads are claimed")
	})
}

// rowsRead is how many parked rows the backend has read that it has not yet told the others about.
func rowsRead(l lines, tx pgx.Tx) (seq, all int64) {
	l.Helper()
	err := tx.QueryRow(l.Context(), `select seq_tup_read, seq_tup_read + idx_tup_fetch from pg_stat_xact_user_tables
		where schemaname = 'weir_log' and relname = 'parked'`).Scan(&seq, &all)
	if err != nil {
		l.Fatal(err)
	}
	return seq, all
}

// Key queues are found by the index, one after the other, and read only as far as they are claimed, whatever is known
// of the table.
func TestKeyQueuesAreReadNoFurtherThanTheyAreClaimed(t *testing.T) {
	t.Parallel()
	const (
		waiting  = 300 // messages of each of three keys
		readMost = 60  // rows of 900
	)
	for _, analyzed := range []bool{false, true} {
		t.Run(fmt.Sprintf("analyzed %t", analyzed), func(t *testing.T) {
			each(t, "", func(l lines) {
				l.letters("abc")
				got := l.receive(3, "1 hour", "a1", "b2", "c3")
				for range waiting {
					l.letters("abc")
				}
				l.receive(1000, "1 hour") // they wait behind what is in flight
				if analyzed {
					l.db.Exec(l, "analyze")
				}
				reads := func(what string, do func(tx pgx.Tx)) {
					l.Helper()
					tx := l.begin()
					defer tx.Rollback(l.Context()) //nolint:errcheck // so that the next begins where this did
					_, before := rowsRead(l, tx)
					do(tx)
					seq, read := rowsRead(l, tx)
					if read-before > readMost || seq > 0 {
						l.Errorf("%s read %d parked rows, %d of them by a scan of the table, at most %d", what, read-before, seq,
							readMost)
					}
				}
				receive := func(tx pgx.Tx, most, want int) {
					l.Helper()
					got, err := surface.Receive(l.Context(), tx, queue, group, most, "1 hour")
					if err != nil || len(got) != want {
						l.Fatalf("received %d, %v, want %d", len(got), err, want)
					}
				}
				reads("a receive while all waits", func(tx pgx.Tx) { receive(tx, 1000, 0) })
				reads("an ack", func(tx pgx.Tx) {
					if n, err := settle(l.Context(), tx, "ack", got[0].ClaimID, []int64{got[0].ID}, nil); err != nil || n != 1 {
						l.Fatal(n, err)
					}
				})
				l.send("a", 0)
				reads("a claim in the lane", func(tx pgx.Tx) { receive(tx, 1000, 0) })
				l.clock.Advance(l, 2*hour)
				reads("a claim of heads that failed", func(tx pgx.Tx) { receive(tx, 1000, 3) })
				for _, m := range l.receive(3, "1 hour", "a1", "b2", "c3") {
					l.ack(m)
				}
				reads("a claim of ten of what waits", func(tx pgx.Tx) { receive(tx, 10, 9) })
			})
		})
	}
}

// 64 consumers each hold a claim, in 16 lanes: no lane has to be waited for.
func TestAllClaimsAreBusyAtOnceWithAsManyKeys(t *testing.T) {
	t.Parallel()
	const (
		keys      = 10000
		consumers = 64
	)
	pgtest.Each(t, func(t *testing.T, db *pgtest.DB) {
		create(t, db, 16, "")
		for k := range keys / 1000 {
			var payloads, names []string
			for i := range 1000 {
				payloads, names = append(payloads, "1"), append(names, fmt.Sprint("key", k*1000+i))
			}
			if err := sendBatch(t.Context(), db.Pool(t), payloads, names, nil); err != nil {
				t.Fatal(err)
			}
		}
		held := map[string]bool{}
		total := 0
		for n := range consumers {
			got, err := surface.Receive(t.Context(), db.Pool(t), queue, group, 100, "1 hour")
			if err != nil || len(got) != 100 {
				t.Fatalf("claim %d has %d messages: %v", n, len(got), err)
			}
			for _, m := range got {
				if held[*m.Key] {
					t.Fatalf("key %s is in two claims", *m.Key)
				}
				held[*m.Key] = true
			}
			total += len(got)
		}
		if n := pgtest.QueryVal[int](t, db, "select count(*)::int from weir_log.parked"); n != 0 {
			t.Errorf("%d messages were copied, although no key met", n)
		}
		conn := db.Conn(t)
		surface.Buffers(t, conn, "select * from weir.receive($1, $2, 1)", queue, group)
		t.Logf("%d messages claimed; a receive of one touches %d buffers", total,
			surface.Buffers(t, conn, "select * from weir.receive($1, $2, 1)", queue, group))
	})
}
