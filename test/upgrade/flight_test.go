package upgrade_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weirmq/weir/internal/engine"
	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

// inFlight leaves messages of every kind in a database.
const inFlight = `
select weir.create_queue('orders', lanes => 3);
select weir.configure_log('main', segment_bytes => 65536, claims_bytes => 65536);
select weir.create_group('orders', 'lines', ordered => true);
select weir.create_group('orders', 'still');
select weir.pause('orders', 'still');
select weir.bind('order.*', 'orders');
select weir.send('orders', to_jsonb(i), 'key ' || i % 5) from generate_series(1, 500) i;
select weir.send('orders', to_jsonb(i), delay => '1 hour') from generate_series(501, 510) i;
select weir.nack('orders', claim_id, array[id], '1 hour') from weir.receive('orders', 'lines', 1);
select count(*) from weir.receive('orders', 'lines', 400);
select weir.reject('orders', claim_id, array[id], 'bad') from weir.receive('orders', max => 2, lease => '1 hour');
select weir.nack('orders', claim_id, array[id], '1 hour') from weir.receive('orders', max => 2, lease => '1 hour');
create table public.finished as
	select id, weir.ack('orders', claim_id, id) from weir.receive('orders', max => 20, lease => '1 hour');
call weir.maintain();`

// depth counts what the tables of the log hold.
const depth = `
	select 'records ' || count(*) from (select n from weir_log.log_0 union all select n from weir_log.log_1
		union all select n from weir_log.log_2 union all select n from weir_log.rest) l
	union all select 'claims ' || count(*) from weir_log.claims_2
	union all select 'delayed ' || count(*) from weir_log.delayed
	union all select 'parked ' || count(*) from weir_log.parked
	union all select 'dead ' || count(*) from weir_internal.dead_letters`

func TestWhatIsInFlightGoesOn(t *testing.T) {
	t.Parallel()
	eachRelease(t, func(t *testing.T, db *pgtest.DB) {
		conn, role := db.Conn(t), db.Role(t)
		for statement := range strings.SplitSeq(strings.TrimSpace(inFlight), ";\n") {
			if _, err := conn.Exec(t.Context(), statement); err != nil {
				t.Fatalf("%s: %v", statement, err)
			}
		}
		db.Exec(t, "select weir.grant_produce('orders', '"+role+"'), weir.grant_consume('orders', '"+role+"')")
		held, err := surface.Receive(t.Context(), conn, "orders", "default", 5, "1 hour")
		if err != nil || len(held) == 0 {
			t.Fatal(held, err)
		}
		before := strings.Join(pgtest.QueryAll[string](t, db, depth), "\n")
		upgrade(t, db)
		if after := strings.Join(pgtest.QueryAll[string](t, db, depth), "\n"); after != before {
			t.Errorf("before the upgrade:\n%s\nand after:\n%s", before, after)
		}
		n, err := surface.Ack(t.Context(), db.As(t, role), "orders", held[0].ClaimID, nil)
		if err != nil || n != len(held) {
			t.Errorf("ack of a claim of %d messages from before the upgrade: %d, %v", len(held), n, err)
		}
		db.Exec(t, "insert into public.finished select unnest($1::bigint[])", surface.IDs(held))
		if n := pgtest.QueryVal[int](t, db, "select count(*) from weir.publish('order.new', '511')"); n != 1 {
			t.Errorf("a topic that was bound before leads to %d queues", n)
		}
		wantEverythingOnce(t, db)
	})
}

func TestWhatIsClaimedOfALineStaysWithItsConsumer(t *testing.T) {
	t.Parallel()
	eachRelease(t, func(t *testing.T, db *pgtest.DB) {
		conn := db.Conn(t)
		surface.CreateQueue(t, conn, "orders", "lanes => 1")
		db.Exec(t, "select weir.create_group('orders', 'lines', ordered => true)")
		db.Exec(t, "select weir.send('orders', '1', 'key'), weir.send('orders', '2', 'key')")
		db.Exec(t, "select weir.nack('orders', claim_id, null, '0') from weir.receive('orders', 'lines')")
		receive := func(want int) []surface.Message {
			t.Helper()
			got, err := surface.Receive(t.Context(), conn, "orders", "lines", 10, "1 hour")
			if err != nil || len(got) != want {
				t.Fatalf("received %v, %v, want %d", got, err, want)
			}
			return got
		}
		held := receive(1)
		receive(0)
		upgrade(t, db)
		receive(0)
		if n, err := surface.Ack(t.Context(), conn, "orders", held[0].ClaimID, nil); err != nil || n != 1 {
			t.Errorf("ack: %d, %v", n, err)
		}
		receive(1)
	})
}

// wantEverythingOnce lets time pass and receives all that is left in every group.
func wantEverythingOnce(t *testing.T, db *pgtest.DB) {
	t.Helper()
	clock := surface.MovableClock(t, db)
	clock.Advance(t, 2*time.Hour)
	db.Exec(t, "select weir.resume('orders', 'still')")
	dead := pgtest.QueryAll[int64](t, db, "select id from weir.dead_letters('orders', 'default')")
	for _, group := range []string{"default", "lines", "still"} {
		var ids []int64
		if group == "default" {
			ids = slices.Concat(dead, pgtest.QueryAll[int64](t, db, "select id from public.finished"))
		}
		last := map[string]int64{}
		for {
			got, err := surface.Pop(t.Context(), db.Pool(t), "orders", group, 100)
			if err != nil {
				t.Fatal(err)
			}
			if len(got) == 0 {
				break
			}
			for _, m := range got {
				ids = append(ids, m.ID)
				if group == "lines" && m.Key != nil && m.ID < last[*m.Key] {
					t.Errorf("%s came after %d", m, last[*m.Key])
				} else if m.Key != nil {
					last[*m.Key] = m.ID
				}
			}
			surface.Settle(t, db.Pool(t))
		}
		slices.Sort(ids)
		if distinct := slices.Compact(slices.Clone(ids)); len(distinct) != len(ids) {
			t.Errorf("group %s: %d messages, %d different ones", group, len(ids), len(distinct))
		}
		if len(ids) != 511 {
			t.Errorf("group %s: %d messages, want 511", group, len(ids))
		}
	}
}

func TestAnUpgradeWaitsForALongTransactionOnlyForAWhile(t *testing.T) {
	t.Parallel()
	pgtest.Each(t, func(t *testing.T, db *pgtest.DB) {
		surface.CreateQueue(t, db.Pool(t), "orders", "")
		db.Exec(t, "select weir.send('orders', '1')")
		long := db.Conn(t)
		for _, sql := range []string{"begin", "select weir.receive('orders')"} {
			if _, err := long.Exec(t.Context(), sql); err != nil {
				t.Fatal(err)
			}
		}
		before := surface.Catalogue(t, db)
		conn := db.Conn(t)
		if _, err := conn.Exec(t.Context(), "set lock_timeout = '1s'"); err != nil {
			t.Fatal(err)
		}
		err := upgradeLater(t.Context(), conn, later(t))
		if engine.Code(err) != engine.CodeUpgradeBlocked {
			t.Fatalf("error %v, want WR021", err)
		}
		if after := surface.Catalogue(t, db); after != before {
			t.Errorf("the upgrade that failed changed something:\n%s", surface.Difference(before, after))
		}
		if _, err := long.Exec(t.Context(), "commit"); err != nil {
			t.Fatal(err)
		}
		if err := upgradeLater(t.Context(), conn, later(t)); err != nil {
			t.Fatal(err)
		}
		again := surface.Catalogue(t, db)
		if err := upgradeLater(t.Context(), conn, later(t)); err != nil || surface.Catalogue(t, db) != again {
			t.Errorf("a step ran twice: %v", err)
		}
	})
}
