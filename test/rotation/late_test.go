package rotation_test

import (
	"testing"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

// due waits until all that is delayed, also by open transactions of the session, is due.
func due(b bench, conn surface.Conn) {
	b.Helper()
	pgtest.WaitFor(b, "what is delayed is due", func() (passed bool) {
		const all = "select bool_and(clock_timestamp() > due_at) from weir_log.delayed"
		if err := conn.QueryRow(b.Context(), all).Scan(&passed); err != nil {
			b.Fatal(err)
		}
		return passed
	})
}

// A delayed message whose transaction commits after others of a later time were claimed is not passed over.
func TestADelayedMessageCommittedLateIsDelivered(t *testing.T) {
	each(t, func(b bench) {
		writer := b.open("select weir.send('ring', '2', delay => '1 ms')")
		b.db.Exec(b, "select weir.send('ring', '1', delay => '20 ms')")
		due(b, writer)
		if n := len(b.drain("ring")); n != 1 {
			b.Fatalf("received %d messages, want the one that was committed", n)
		}
		b.settle()
		b.end(writer, "commit")
		if n := len(b.drain("ring")); n != 1 {
			b.Fatalf("%d messages came after the late commit, want 1", n)
		}
		b.settle()
		if n := len(b.drain("ring")); n != 0 {
			b.Fatalf("%d messages came again", n)
		}
	})
}

// Maintenance that has read the clock, and is held up until more has become due and was claimed, neither delivers it
// again nor deletes what nobody has claimed.
func TestMaintenanceThatIsHeldUpDeliversNothingAgain(t *testing.T) {
	each(t, func(b bench) {
		b.db.Exec(b, `create or replace function weir_internal.clock() returns timestamptz language plpgsql volatile as $$
			declare
				now timestamptz := clock_timestamp();
			begin
				if current_setting('weir_test.wait', true) = 'on' then
					perform pg_advisory_xact_lock_shared(42);
				end if;
				return now;
			end $$`)
		send := func() {
			b.db.Exec(b, "select weir.send('ring', '1', delay => '1 ms')")
			due(b, b.db.Pool(b))
		}
		send()
		if n := len(b.drain("ring")); n != 1 {
			b.Fatalf("%d delayed messages came, want 1", n)
		}
		send()
		holder := b.open("select pg_advisory_xact_lock(42)")
		late := b.db.Conn(b)
		if _, err := late.Exec(b.Context(), "set weir_test.wait = on"); err != nil {
			b.Fatal(err)
		}
		done := make(chan error, 1)
		go func() {
			_, err := late.Exec(b.Context(), "select weir_internal.maintain_step('trim delayed', 'main')")
			done <- err
		}()
		pgtest.WaitForLock(b, b.db, late.PgConn().PID())
		send()
		if n := len(b.drain("ring")); n != 2 {
			b.Fatalf("%d delayed messages came, want 2", n)
		}
		send()
		b.end(holder, "commit")
		if err := <-done; err != nil {
			b.Fatal(err)
		}
		if n := len(b.drain("ring")); n != 1 {
			b.Fatalf("%d messages came, want the one that nobody had claimed", n)
		}
	})
}

// While a transaction keeps what it has claimed, the claim log grows, and is small again when it has ended.
func TestTheClaimLogRecoversFromALongTransaction(t *testing.T) {
	each(t, func(b bench) {
		cycle := func() { // writes some 200 kB of claims and acks
			b.db.Exec(b, "select count(*) from weir.send_batch('ring', array_fill('1'::jsonb, array[400]))")
			b.db.Exec(b, "do $$ begin for i in 1 .. 400 loop perform weir.pop('ring'); end loop; end $$")
			for range 5 {
				b.maintain()
			}
		}
		b.db.Exec(b, "select weir.create_queue('other')")
		b.db.Exec(b, "select weir.send('other', '1')")
		long := b.open("select weir.receive('other')")
		for range 10 {
			cycle()
		}
		b.end(long, "commit")
		b.settle()
		for range 3 {
			cycle()
		}
		b.settle()
		size := pgtest.QueryVal[int64](b, b.db,
			"select sum(pg_relation_size('weir_log.claims_' || k))::bigint from generate_series(0, 1) k")
		if size > 400_000 {
			b.Errorf("the claim log, of 64 KiB a table, holds %d bytes after the transaction that kept it is over", size)
		}
	})
}

// A group of the same name that is made anew has a number of its own, so that a late ack finishes nothing of it.
func TestADroppedGroupsClaimIsRefused(t *testing.T) {
	each(t, func(b bench) {
		b.db.Exec(b, "select weir.create_group('ring', 'g')")
		b.fill("ring", 2)
		got := b.receive("ring", "g", 2, "1 hour")
		b.db.Exec(b, "select weir.drop_group('ring', 'g')")
		ack := func() error {
			_, err := b.db.Pool(b).Exec(b.Context(), "select weir.ack('ring', $1::bigint, $2::bigint)", got[0].claim, got[0].id)
			return err
		}
		wantState(b, ack(), "WR010")
		b.db.Exec(b, "select weir.create_group('ring', 'g')")
		wantState(b, ack(), "WR010")
		again := b.receive("ring", "g", 10, "1 hour")
		if len(again) != 2 {
			b.Fatalf("the new group received %v", again)
		}
		wantState(b, ack(), "WR010")
	})
}

// A transaction that has received and given back what others sent, beside much that it sent itself, keeps nothing from
// being delivered.
func TestWhatATransactionGaveBackBesideItsOwnMessagesIsDelivered(t *testing.T) {
	each(t, func(b bench) {
		writer := b.open()
		exec := func(sql string) {
			if _, err := writer.Exec(b.Context(), sql); err != nil {
				b.Fatal(err)
			}
		}
		for range 5 {
			exec("select weir.send_batch('ring', array_fill('2'::jsonb, array[3000]))")
			b.db.Exec(b, "select weir.send_batch('ring', array_fill('1'::jsonb, array[20]))")
		}
		for range 3 {
			exec("select weir.nack('ring', claim_id, delay => '0') from (" +
				"select distinct claim_id from weir.receive('ring', max => 60)) t")
		}
		exec("commit")
		seen := map[int64]bool{}
		for {
			got := b.receive("ring", "default", 997, "1 hour") // ends within records
			if len(got) == 0 {
				break
			}
			for _, m := range got {
				if seen[m.id] {
					b.Fatalf("%v came twice", m)
				}
				seen[m.id] = true
			}
		}
		if len(seen) != 15_100 {
			b.Errorf("%d of 15100 messages came", len(seen))
		}
	})
}
