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

// A job that is claimed, so that what was delayed is truncated, while somebody looks where it is.
func TestAJobIsFoundWhileWhatWasDelayedIsTruncated(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		const enqueue = "select weir.enqueue('ring', 'job', is_unique => true, delay => '1 second')::text"
		first := pgtest.QueryVal[string](b, b.db, enqueue)
		pgtest.WaitForRow(b, b.db, "select exists (select from weir_log.delayed where due_at <= clock_timestamp())")
		parked := b.hold("lock table weir_log.parked")
		second := b.beside(enqueue)
		if got := b.receive("ring", "default", 1, "1 hour"); len(got) != 1 {
			b.Fatalf("received %v", got)
		}
		pgtest.QueryVal[string](b, b.db, step, "trim delayed")
		if b.size("^delayed$") > 0 {
			b.Fatal("what was delayed is there still")
		}
		b.end(parked, "commit")
		if id := second(); id != first {
			b.Errorf("job %s was enqueued beside %s, which is running", id, first)
		}
	})
}

// The lanes of keys are others by the time that a job is looked for.
func TestAJobIsFoundInALaneThatCameMeanwhile(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		const enqueue = "select weir.enqueue('ring', 'job', key => 'a', unique_key => 'u')::text"
		b.db.Exec(b, "select weir.send('ring', '0', key => 'a')")
		keys := b.hold("lock table weir_log.dedup_0, weir_log.dedup_1")
		second := b.beside(enqueue)
		b.db.Exec(b, "select weir.configure_queue('ring', lanes => 3)")
		var first string
		if err := keys.QueryRow(b.Context(), enqueue).Scan(&first); err != nil {
			b.Fatal(err)
		}
		b.end(keys, "commit")
		if id := second(); id != first {
			b.Errorf("job %s was enqueued beside %s, which waits", id, first)
		}
	})
}

func TestAJobThatIsClaimedWhileItIsLookedForIsCancelled(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		id := pgtest.QueryVal[int64](b, b.db, "select weir.enqueue('ring', 'job', delay => '1 second')")
		pgtest.WaitForRow(b, b.db, "select exists (select from weir_log.delayed where due_at <= clock_timestamp())")
		rest := b.hold("lock table weir_log.rest")
		cancel := b.beside("select weir.cancel('ring', $1)", id)
		if got := b.receive("ring", "default", 1, "1 hour"); len(got) != 1 {
			b.Fatalf("received %v", got)
		}
		pgtest.QueryVal[string](b, b.db, step, "trim delayed")
		b.end(rest, "commit")
		if state := cancel(); state != "running" {
			b.Errorf("the job is %s, want running", state)
		}
	})
}

// A receive that has looked at its queue and its group, and not yet at its cursor, does not go by what was so then.
func TestAReceiveThatIsHeldUpBeforeItsCursorSeesWhatWasChangedMeanwhile(t *testing.T) {
	t.Parallel()
	for _, change := range []string{
		"select weir.cancel('ring', $1)", "select weir.seek('ring', 'default', 'end') where $1 > 0",
		"select weir.purge('ring') where $1 > 0", "select weir.pause('ring', 'default') where $1 > 0",
		"select weir.configure_queue('ring', ttl => '1 microsecond') where $1 > 0",
	} {
		each(t, func(b bench) {
			b.fill("ring", 1)
			b.drain("ring") // so that there is a cursor
			id := pgtest.QueryVal[int64](b, b.db, "select weir.enqueue('ring', 'job')")
			holder := b.hold("lock table weir_log.claims_0")
			received := b.beside("select count(*)::text from weir.receive('ring')")
			if _, err := holder.Exec(b.Context(), change, id); err != nil {
				b.Fatal(err)
			}
			b.end(holder, "commit")
			if n := received(); n != "0" {
				b.Errorf("%s: received %s beside it, want none", change, n)
			}
		})
	}
}

// A queue's row that says nothing of keys, read before that was noted there: the notes are gone by the time that they
// are looked for.
func TestAQueueThatIsFoldedMeanwhileHasKeys(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		b.db.Exec(b, "select weir.configure_group('ring', 'default', concurrency_max => 10)")
		b.db.Exec(b, "select weir.send('ring', '0', key => 'a')")
		claiming := b.hold(`select pg_advisory_xact_lock(weir_internal.limit_lock(g.no)) from weir_internal.groups g`)
		purge := b.beside("select weir.purge('ring')::text")
		pgtest.QueryVal[int](b, b.db, "select weir_internal.maintain_step('fold keyed queues', null)")
		b.end(claiming, "commit")
		if n := purge(); n != "1" {
			b.Errorf("%s messages were purged, want 1", n)
		}
		sent := pgtest.QueryVal[string](b, b.db,
			"select format('array[%s], array[%L::xid8]', weir.send('ring', '1', key => 'a'), pg_current_xact_id())")
		if n := pgtest.QueryVal[int](b, b.db, `select count(*) from weir_internal.queues q
			cross join lateral jsonb_populate_record(q, '{"keyed": false}') o
			cross join lateral weir_log.job_state_of(o, `+sent+`) where q.name = 'ring'`); n != 1 {
			b.Errorf("%d messages are found, want 1", n)
		}
	})
}

func TestALimitPerKeyThatComesWhileKeyQueuesAreTrimmedCountsWhatIsClaimed(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		b.db.Exec(b, "select weir.drop_group('ring', 'default')")
		for _, group := range []string{"one", "two"} {
			b.db.Exec(b, "select weir.create_group('ring', $1, fair => true)", group)
		}
		b.db.Exec(b, "select weir.send('ring', '0', key => 'a')")
		b.receive("ring", "one", 1, "1 hour")
		b.receive("ring", "two", 1, "1 hour")
		// maintain waits, before it comes to the second group, for who holds the lock 42
		b.db.Exec(b, `do $$ begin execute replace(pg_get_functiondef('weir_log.has_key_turn'::regproc), 'return exists',
			'perform pg_advisory_xact_lock_shared(42) where g.name = ''one''; return exists'); end $$`)
		held := b.hold("select pg_advisory_xact_lock(42)")
		trim := b.beside(step, "trim key queues")
		b.db.Exec(b, "select weir.configure_group('ring', 'two', key_concurrency_max => 1)")
		b.end(held, "commit")
		trim()
		b.db.Exec(b, "select weir.send('ring', '1', key => 'a')")
		if got := b.receive("ring", "two", 1, "1 hour"); len(got) != 0 {
			b.Errorf("%v was delivered beside another of its key", got)
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
		fixed := b.open("set transaction isolation level repeatable read") // it might not see what was given up
		_, err := fixed.Exec(b.Context(), "select weir.create_group('ring', 'late')")
		wantState(b, err, "WR012")
		b.end(fixed, "rollback")
		b.db.Exec(b, "select weir.create_group('ring', 'late')")
		b.receive("ring", "late", 1, "1 millisecond")
		b.settle()
		b.receive("ring", "late", 1, "1 hour")
	})
}

// A job that is finished while somebody asks for it: he is not told that it is done without what it ended with.
func TestAJobThatIsDoneHasItsResult(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		id := pgtest.QueryVal[int64](b, b.db, "select weir.enqueue('ring', 'job', tracked => true)")
		m := b.receive("ring", "default", 1, "1 hour")[0]
		// who asks waits, before he looks where the job is, for who holds the lock 42
		b.db.Exec(b, `do $$ begin execute replace(pg_get_functiondef('weir_log.ring_states'::regproc), 'return',
			'perform pg_advisory_xact_lock_shared(42); return'); end $$`)
		held := b.hold("select pg_advisory_xact_lock(42)")
		job := b.beside("select concat_ws(' ', state, result) from weir.job('ring', $1)", id)
		b.db.Exec(b, "select weir.finish('ring', $1, $2, '1')", m.claim, m.id)
		b.end(held, "commit")
		if got := job(); got != "done 1" {
			b.Errorf("the job is %q", got)
		}
	})
}

// A message of a key, which is claimed while a ttl comes that makes it due earlier, holds back what follows it.
func TestWhatIsClaimedWhileATTLComesHoldsItsKey(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		b.db.Exec(b, "select weir.create_queue('keys', ordered => true)")
		b.db.Exec(b, "select weir.send('keys', '0', key => 'a')")
		b.db.Exec(b, "select weir.nack('keys', claim_id, delay => '2 seconds') from weir.receive('keys')")
		pgtest.WaitForRow(b, b.db, "select exists (select from weir_log.parked where due_at <= clock_timestamp())")
		ttl := b.hold("select weir.configure_queue('keys', ttl => '1 second')")
		first := b.beside("select payload::text from weir.receive('keys')")
		b.end(ttl, "commit")
		if got := first(); got != "0" {
			b.Fatalf("received %s", got)
		}
		b.db.Exec(b, "select weir.send('keys', '1', key => 'a')")
		if got := b.receive("keys", "default", 1, "1 hour"); len(got) != 0 {
			b.Errorf("%v came before the one ahead of it was finished", got)
		}
	})
}

// What was too old when its segment was given up is not delivered, although the ttl is lifted before its table is left.
func TestWhatWasTooOldStaysSoWhenTheTTLIsLifted(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		b.db.Exec(b, "select weir.configure_queue('ring', ttl => '1 second')")
		b.fill("ring", 120)
		pgtest.WaitForRow(b, b.db, `select max(l.enqueued_at) < clock_timestamp() - interval '1 second'
			from (select * from weir_log.log_0 union all select * from weir_log.log_1
				union all select * from weir_log.log_2) l`)
		b.leave()
		b.db.Exec(b, "select weir.configure_queue('ring', ttl => '0')")
		b.receive("ring", "default", 1, "1 millisecond")
		b.settle()
		b.receive("ring", "default", 1, "1 hour")
	})
}
