package rotation_test

import (
	"testing"

	"github.com/weirmq/weir/internal/pgtest"
)

// Who looks whether a table is empty and then locks it must look again: a message that was sent in between is
// committed, and the first look did not see it.
func TestAMessageDelayedWhileMaintenanceTruncatesIsKept(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		b.db.Exec(b, "select weir.send('ring', '1', delay => '1 hour')")
		b.db.Exec(b, "delete from weir_log.delayed") // the table has a page, and no rows
		// maintenance waits, between its look and its lock, for who holds the lock 42
		b.db.Exec(b, `create or replace function weir_internal.dumping() returns table (pid int) language plpgsql as $$
			begin
				perform pg_advisory_xact_lock_shared(42);
			end $$`)
		holder, upkeep := b.db.As(b, pgtest.Owner), b.db.As(b, pgtest.Owner)
		if _, err := holder.Exec(b.Context(), "select pg_advisory_lock(42)"); err != nil {
			b.Fatal(err)
		}
		done := make(chan error, 1)
		go func() {
			_, err := upkeep.Exec(b.Context(), "select weir_internal.maintain_step('trim delayed', 'main')")
			done <- err
		}()
		pgtest.WaitForLock(b, b.db, upkeep.PgConn().PID())
		b.db.Exec(b, "select weir.send('ring', '2', delay => '1 hour')")
		if _, err := holder.Exec(b.Context(), "select pg_advisory_unlock(42)"); err != nil {
			b.Fatal(err)
		}
		if err := <-done; err != nil {
			b.Fatal(err)
		}
		if n := pgtest.QueryVal[int](b, b.db, "select count(*) from weir.delayed('ring')"); n != 1 {
			b.Errorf("%d messages are delayed, want 1", n)
		}
	})
}
