package rotation_test

import (
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/weirmq/weir/internal/pgtest"
)

// hold opens a transaction of the engine's owner, which is to stay open.
func (b bench) hold(statements ...string) *pgx.Conn {
	b.Helper()
	conn := b.db.As(b, pgtest.Owner)
	for _, sql := range append([]string{"begin"}, statements...) {
		if _, err := conn.Exec(b.Context(), sql); err != nil {
			b.Fatal(err)
		}
	}
	return conn
}

// beside runs a query in a session of its own, and returns when that waits for a lock, or has ended. What it returns
// waits for the end and tells the value.
func (b bench) beside(sql string, args ...any) func() string {
	b.Helper()
	conn := b.db.As(b, pgtest.Owner)
	pid := pgtest.PID(b, conn)
	out, failed := make(chan string, 1), make(chan error, 1)
	go func() {
		var value string
		if err := conn.QueryRow(b.Context(), sql, args...).Scan(&value); err != nil {
			failed <- err
			return
		}
		out <- value
	}()
	pgtest.WaitFor(b, "a lock or the end", func() bool {
		return len(out)+len(failed) > 0 || pgtest.QueryVal[bool](b, b.db,
			"select exists (select from pg_locks where not granted and pid = $1::bigint)", int64(pid))
	})
	return func() string {
		b.Helper()
		select {
		case value := <-out:
			return value
		case err := <-failed:
			b.Fatalf("%s: %v", sql, err)
			return ""
		}
	}
}

const step = "select weir_internal.maintain_step($1, 'main')::text"

// leave has the open segment, in which all is finished, given up, and ends before its table is left.
func (b bench) leave() {
	b.Helper()
	for range 10 {
		for _, name := range []string{"open segment", "seal segments", "move remainders"} {
			pgtest.QueryVal[string](b, b.db, step, name)
			if pgtest.QueryVal[bool](b, b.db, "select exists (select from weir_log.segments where freed_by is not null)") {
				return
			}
		}
	}
	b.Fatal("no segment is given up")
}

// What was given back stands aside and, while the log still has it, in its lane. A seek to before it leaves it in one.
func TestASeekToASegmentThatIsGivenUpLosesNothing(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		b.db.Exec(b, "select weir.send('ring', '0')")
		m := b.receive("ring", "default", 1, "1 hour")[0]
		b.fill("ring", 120)
		b.drain("ring")
		b.db.Exec(b, "select weir.nack('ring', $1, delay => '0')", m.claim)
		b.leave()
		b.db.Exec(b, "select weir.seek('ring', 'default', 'start')")
		b.settle()
		if got := b.drain("ring"); !slices.Contains(got, m.id) {
			b.Errorf("message %d did not come, but %v", m.id, got)
		}
	})
}

func TestASeekBesideMaintenanceThatGivesASegmentUpLosesNothing(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		b.db.Exec(b, "select weir.send('ring', '0')")
		m := b.receive("ring", "default", 1, "1 hour")[0]
		b.fill("ring", 120)
		b.drain("ring")
		b.db.Exec(b, "select weir.nack('ring', $1, delay => '0')", m.claim)
		for _, name := range []string{"open segment", "open segment", "seal segments"} {
			pgtest.QueryVal[string](b, b.db, step, name)
		}
		upkeep := b.hold("select weir_internal.maintain_step('move remainders', 'main')")
		seek := b.beside("select weir.seek('ring', 'default', 'start')::text")
		b.end(upkeep, "commit")
		seek()
		b.settle()
		if got := b.drain("ring"); !slices.Contains(got, m.id) {
			b.Errorf("message %d did not come, but %v", m.id, got)
		}
	})
}

// A group that begins while maintain looks who has still to claim what is delayed.
func TestWhatIsDelayedIsKeptForAGroupThatBeginsMeanwhile(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		b.db.Exec(b, "select weir.send('ring', '0', delay => '1 hour')")
		b.db.Exec(b, "select weir.drop_group('ring', 'default')")
		other := b.hold("select weir.create_group('ring', 'other', start => 'end')",
			"select weir.send('ring', '1', delay => '1 hour')", "lock table weir_log.delayed in share mode")
		trim := b.beside(step, "trim delayed")
		b.end(other, "commit")
		trim()
		if n := pgtest.QueryVal[int](b, b.db,
			"select count(*) from weir.delayed('ring', 'other') where payload = '1'"); n != 1 {
			b.Errorf("the group has %d messages, want 1", n)
		}
	})
}

// A group that begins with what the log has is given nothing of a segment that was given up before.
func TestAGroupThatBeginsHasWhatItClaims(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		b.fill("ring", 120)
		b.drain("ring")
		b.leave()
		b.db.Exec(b, "select weir.create_group('ring', 'late')")
		b.receive("ring", "late", 1, "1 millisecond")
		b.settle()
		b.receive("ring", "late", 1, "1 hour")
	})
}
