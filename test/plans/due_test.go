package plans_test

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

// functionCalls is how many the backend has done that it has not yet told the others about, but for those that look at
// one row, and take no array.
func functionCalls(t *testing.T, tx pgx.Tx) (n int) {
	t.Helper()
	err := tx.QueryRow(t.Context(), `select coalesce(sum(calls), 0)
		from pg_stat_xact_user_functions where funcname <> 'is_for'`).Scan(&n)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestWhatIsDueIsGatheredByAsManyCallsHoweverMuch counts the functions that run: one for each message copies what was
// gathered so far each time.
func TestWhatIsDueIsGatheredByAsManyCallsHoweverMuch(t *testing.T) {
	pgtest.EachMajor(t, func(t *testing.T, major int) {
		db := pgtest.New(t, pgtest.Options{Major: major})
		surface.CreateQueue(t, db.Pool(t), "plain", "")
		clock := surface.StoppedClock(t, db)
		conn := db.Super(t)
		if _, err := conn.Exec(t.Context(), "set track_functions = 'all'"); err != nil {
			t.Fatal(err)
		}
		calls := func(messages int) int {
			t.Helper()
			db.Exec(t, `select count(*) from weir.send_batch('plain', array_fill('1'::jsonb, array[$1::int]),
				delay => '1 second')`, messages)
			clock.Advance(t, 2*time.Second)
			tx, err := conn.Begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer tx.Rollback(t.Context()) //nolint:errcheck // it may be committed
			called := -functionCalls(t, tx)
			got, err := surface.ReceiveRecords(t.Context(), tx, "plain", "default", 1000, "1 hour")
			if err != nil || len(got) != 1 || got[0].N != messages {
				t.Fatalf("received %v, %v", got, err)
			}
			called += functionCalls(t, tx)
			if err := tx.Commit(t.Context()); err != nil {
				t.Fatal(err)
			}
			return called
		}
		calls(10)
		few, many := calls(10), calls(1000)
		t.Logf("%d calls for 10 messages that are due, %d for 1,000", few, many)
		if few == 0 || many > 2*few {
			t.Errorf("%d calls for 10 messages that are due, %d for 1,000", few, many)
		}
	})
}

// TestWhatMeetsParkedKeysLooksThemUpOnce counts buffers and calls: each message of a record compared with each that is
// parked took 17 seconds for 8,000 of each.
func TestWhatMeetsParkedKeysLooksThemUpOnce(t *testing.T) {
	pgtest.EachMajor(t, func(t *testing.T, major int) {
		cost := func(keys int) (buffers int) {
			db := pgtest.New(t, pgtest.Options{Major: major})
			surface.CreateQueue(t, db.Pool(t), "q", "ordered => true, lanes => 1")
			send := func() {
				db.Exec(t, `select count(*) from weir.send_batch('q', array_fill('1'::jsonb, array[$1::int]),
					array(select 'k' || i from generate_series(1, $1) i))`, keys)
			}
			send()
			db.Exec(t, `select weir.nack('q', c, delay => '1 hour') from (
				select distinct claim_id as c from weir.receive('q', max => $1::int)) r`, keys)
			send()
			conn := db.Conn(t)
			surface.Buffers(t, conn, "select weir.send('q', '1', 'other')") // reads the catalogue
			buffers = surface.Buffers(t, conn, "select * from weir.receive('q', max => $1::int)", keys)
			if n := pgtest.QueryVal[int](t, db, "select count(*)::int from weir_log.parked"); n != 2*keys {
				t.Fatalf("%d are parked, want %d", n, 2*keys)
			}
			return buffers
		}
		few, many := cost(50), cost(1000)
		t.Logf("buffers of a receive: %d with 50 keys parked, %d with 1,000", few, many)
		if many > 30*few {
			t.Errorf("a receive of messages whose keys are parked touches %d buffers, %d with 20 times as many", few, many)
		}
	})
}
