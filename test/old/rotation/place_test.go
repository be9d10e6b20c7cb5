package rotation_test

import (
	"testing"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

// Maintenance that read the clock, and then waited while a receive went on with a later one, must not take a group's
// place among the delayed messages back.
func TestLateMaintenanceDoesNotDeliverAgain(t *testing.T) {
	each(t, "1", func(b bench) {
		// a clock that waits in skip_due, after it was read, for who holds the lock 42
		b.db.Exec(b, `create or replace function weir_internal.clock() returns timestamptz language plpgsql volatile as $$
			declare
				now timestamptz := clock_timestamp();
				stack text;
			begin
				if current_setting('weir_test.wait', true) = 'on' then
					get diagnostics stack = pg_context;
					if stack like '%skip_due%' then
						perform pg_advisory_xact_lock_shared(42);
					end if;
				end if;
				return now;
			end $$`)
		due := func() {
			b.Helper()
			b.db.Exec(b, "select weir.send('ring', '1', delay => '1 ms')")
			pgtest.WaitForRow(b, b.db, "select clock_timestamp() > max(due_at) from weir_internal.q1_later")
		}
		due()
		holder := b.open("select pg_advisory_xact_lock(42)")
		late := b.db.Conn(b)
		if _, err := late.Exec(b.Context(), "set weir_test.wait = on"); err != nil {
			b.Fatal(err)
		}
		done := make(chan error, 1)
		go func() {
			_, err := surface.Maintain(b.Context(), late)
			done <- err
		}()
		pgtest.WaitForLock(b, b.db, late.PgConn().PID())
		due()
		if n := b.drain(); n != 2 {
			b.Fatalf("%d delayed messages came, want 2", n)
		}
		if _, err := holder.Exec(b.Context(), "commit"); err != nil {
			b.Fatal(err)
		}
		if err := <-done; err != nil {
			b.Fatal(err)
		}
		if n := b.drain(); n != 0 {
			b.Fatalf("%d messages came again after they were acknowledged", n)
		}
	})
}

// While a transaction that has claimed something is open, the claim ring cannot turn; once it is over, the ring is as
// small as before.
func TestClaimRingRecoversFromALongTransaction(t *testing.T) {
	each(t, "2", func(b bench) {
		cycle := func() { // writes some 200 kB of claims and acks
			b.Helper()
			b.db.Exec(b, "select count(*) from weir.send_batch('ring', array_fill('1'::jsonb, array[400]))")
			b.db.Exec(b, "do $$ begin for i in 1 .. 400 loop perform weir.pop('ring'); end loop; end $$")
			for range 5 {
				if _, err := surface.Maintain(b.Context(), b.db.Pool(b)); err != nil {
					b.Fatal(err)
				}
			}
		}
		b.db.Exec(b, "select weir.send('ring', '1')")
		long := b.open("select weir.receive('ring')")
		for range 10 {
			cycle()
		}
		if _, err := long.Exec(b.Context(), "commit"); err != nil {
			b.Fatal(err)
		}
		surface.Settle(b, b.db.Pool(b))
		for range 3 {
			cycle()
		}
		surface.Settle(b, b.db.Pool(b))
		size := pgtest.QueryVal[int64](b, b.db,
			"select sum(pg_relation_size('weir_internal.q1_claims_' || k))::bigint from generate_series(0, 1) k")
		if size > 400_000 {
			b.Errorf("the claim ring, of 64 KiB a table, holds %d bytes after the transaction that kept it is over", size)
		}
	})
}

// The segment was closed, and not yet given back, when the group was created behind it.
func TestAGroupThatBeganAtTheEndReadsNoSegmentTwiceWhenItsTableServesAgain(t *testing.T) {
	each(t, "1", func(b bench) {
		b.fill(100)
		surface.Settle(b, b.db.Pool(b))
		if b.logRing() != 1 {
			b.Fatalf("the ring is at %d, want 1", b.logRing())
		}
		b.db.Exec(b, "select weir.create_group('ring', 'late', start => 'end')")
		for b.logRing() < 3 { // segment 3 is in the table that segment 0 was in
			b.fill(20)
			b.drain()
			surface.Settle(b, b.db.Pool(b))
		}
		b.fill(20)
		last := pgtest.QueryVal[int64](b, b.db, "select max(id) from weir_internal.q1_log_0")
		seen := map[int64]bool{}
		for {
			got, err := surface.Pop(b.Context(), b.db.Pool(b), queue, "late", 15)
			if err != nil {
				b.Fatal(err)
			}
			if len(got) == 0 {
				break
			}
			for _, m := range got {
				if seen[m.ID] {
					b.Fatalf("%v came twice", m)
				}
				seen[m.ID] = true
			}
		}
		if !seen[last] {
			b.Errorf("message %d never came", last)
		}
	})
}
