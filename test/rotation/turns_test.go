package rotation_test

import (
	"fmt"
	"testing"

	"github.com/weirmq/weir/internal/pgtest"
)

// turnClaims makes the claim log turn once.
func (b bench) turnClaims() {
	b.Helper()
	for before := b.ring("claims"); b.ring("claims") < before+2; {
		b.db.Exec(b, "select weir_log.send_batch('ring', array_fill('1'::json, array[50]), null, null, null, null)")
		for range 50 {
			for _, m := range b.receive("ring", "default", 1, "1 hour") {
				b.db.Exec(b, "select weir_log.ack('ring', $1, $2)", m.claim, m.id)
			}
		}
		b.settle()
	}
}

func TestAClaimLogThatCarriesAsMuchAsItMayHoldDoesNotTurnForEver(t *testing.T) {
	each(t, func(b bench) {
		b.db.Exec(b, "update weir_internal.logs set claims_bytes = 16384")
		b.fill("ring", 20)
		for range 20 {
			b.receive("ring", "default", 1, "1 hour")
		}
		before := b.ring("claims")
		b.settle()
		if after := b.ring("claims"); after > before+2 {
			b.Errorf("the ring has gone from %d to %d, want one turn", before, after)
		}
	})
}

func TestIdleLanesHaveNoRowAfterATurnAndMissNothing(t *testing.T) {
	each(t, func(b bench) {
		queue := func(i int) string { return fmt.Sprintf("q%d", i) }
		for i := range 12 {
			b.db.Exec(b, "select weir.create_queue($1)", queue(i))
		}
		want := make([]int, 12)
		for turn := range 3 {
			for i := range 12 {
				b.fill(queue(i), 2)
				want[i] += 2
				switch i % 4 {
				case 0: // idle: all is finished
					want[i] -= len(b.drain(queue(i)))
				case 1: // half of it is
					got := b.receive(queue(i), "default", 1, "1 hour")
					b.db.Exec(b, "select weir_log.ack_all($1, $2)", queue(i), got[0].claim)
					want[i]--
				case 2: // claimed and given up
					if turn == 0 {
						b.receive(queue(i), "default", 1, "1 millisecond")
					}
				}
			}
			b.turnClaims()
		}
		b.settle()
		idle := pgtest.QueryVal[int](b, b.db, `select count(*) from weir_log.claims_2 c
			join weir_internal.groups g on g.no = c.group_no join weir_internal.queues q on q.no = g.queue_no
			where q.name in ('q0', 'q4', 'q8')`)
		if idle != 0 {
			b.Errorf("idle queues have %d rows in the claim log", idle)
		}
		for i := range 12 {
			if got := b.drain(queue(i)); len(got) != want[i] {
				b.Errorf("queue %d delivered %d, want %d", i, len(got), want[i])
			}
		}
		b.turnClaims()
		for i := range 12 {
			if got := b.drain(queue(i)); len(got) != 0 {
				b.Errorf("queue %d delivered %v again", i, got)
			}
			b.fill(queue(i), 1)
			if got := b.drain(queue(i)); len(got) != 1 {
				b.Errorf("queue %d delivered %v, want the one that was just sent", i, got)
			}
		}
	})
}

// A transaction that sent before the turn and commits after it is not in the base.
func TestWhatCommitsAfterATurnIsDeliveredToALaneWithoutARow(t *testing.T) {
	each(t, func(b bench) {
		b.db.Exec(b, "select weir.create_queue('quiet')")
		writer := b.open("select weir.send('quiet', '1')")
		b.fill("quiet", 1)
		b.drain("quiet")
		b.turnClaims()
		b.turnClaims()
		b.end(writer, "commit")
		if got := b.drain("quiet"); len(got) != 1 {
			b.Errorf("received %v, want the late one", got)
		}
		b.turnClaims()
		if got := b.drain("quiet"); len(got) != 0 {
			b.Errorf("received %v again", got)
		}
	})
}

func TestAClaimOverSeveralLanesTakesNoCursorBack(t *testing.T) {
	each(t, func(b bench) {
		b.db.Exec(b, "select weir.create_queue('keyed')")
		send := func() {
			b.db.Exec(b, `select weir_log.send_batch('keyed', array_fill('1'::json, array[40]),
				array(select 'k' || i from generate_series(1, 40) i), null, null, null)`)
		}
		send()
		held := b.receive("keyed", "default", 40, "1 hour")
		b.db.Exec(b, "select weir_log.settle('keyed', $1, array[$2::bigint], 'ack', null, null)", held[0].claim, held[0].id)
		b.db.Exec(b, `select weir_log.settle('keyed', $1, array(select i from unnest($2::bigint[]) i), 'ack', null, null)`,
			held[0].claim, []int64{held[1].id, held[2].id, held[3].id, held[4].id, held[5].id, held[6].id})
		send()
		if n := len(b.drain("keyed")); n != 40 {
			b.Fatalf("%d came of 40", n)
		}
		b.turnClaims()
		if n := len(b.drain("keyed")); n != 0 {
			b.Errorf("%d came again", n)
		}
		if n := pgtest.QueryVal[int](b, b.db, "select weir_log.ack_all('keyed', $1)", held[0].claim); n != 33 {
			b.Errorf("%d were left of the claim, want 33", n)
		}
	})
}

func TestTheKeyedQueuesAreFolded(t *testing.T) {
	each(t, func(b bench) {
		b.db.Exec(b, "select weir.send('ring', '1', 'key')")
		locker := b.open("select from weir_internal.queues for update")
		b.settle()
		if pgtest.QueryVal[int](b, b.db, "select count(*) from weir_internal.keyed_queues") != 1 {
			b.Error("it was folded although the queue is locked")
		}
		b.end(locker, "rollback")
		b.settle()
		if !pgtest.QueryVal[bool](b, b.db, `select keyed and not exists (select from weir_internal.keyed_queues)
			from weir_internal.queues`) {
			b.Error("it was not folded")
		}
		if n := len(b.drain("ring")); n != 1 {
			b.Errorf("%d messages came", n)
		}
	})
}

func TestWhatWasDelayedAndClaimedIsGivenBack(t *testing.T) {
	each(t, func(b bench) {
		b.db.Exec(b, "select weir.create_group('ring', 'second')")
		b.db.Exec(b, "select weir.send('ring', '1', delay => '1 millisecond')")
		b.db.Exec(b, "select weir.send('ring', '2', delay => '1 hour')")
		pgtest.WaitForRow(b, b.db, "select clock_timestamp() > min(due_at) from weir_log.delayed")
		delayed := func() int {
			b.settle()
			return pgtest.QueryVal[int](b, b.db, "select count(*) from weir_log.delayed")
		}
		if n := len(b.drain("ring")); n != 1 {
			b.Fatalf("%d came", n)
		}
		if n := delayed(); n != 2 {
			b.Errorf("%d are delayed; the second group needs 2", n)
		}
		if n := len(b.receive("ring", "second", 1, "1 hour")); n != 1 {
			b.Fatalf("%d came", n)
		}
		if n := delayed(); n != 1 {
			b.Errorf("%d are delayed, want 1", n)
		}
		b.turnClaims()
		if n := len(b.drain("ring")) + len(b.receive("ring", "second", 1000, "1 hour")); n == 0 {
			b.Error("the second group lost what was sent meanwhile")
		}
		b.db.Exec(b, "delete from weir_log.delayed")
		b.settle()
		if b.size("^delayed$") != 0 {
			b.Error("the table was not truncated")
		}
	})
}

func TestTenThousandIdleQueuesCostMaintenanceNothing(t *testing.T) {
	each(t, func(b bench) {
		b.db.Exec(b, "select count(weir.create_queue('idle' || i)) from generate_series(1, 10000) i")
		b.fill("idle1", 1)
		b.drain("idle1")
		b.settle()
		b.settle()
		b.db.Exec(b, `create function buffers() returns int language plpgsql as $$
			declare s record; p jsonb; n int := 0;
			begin
				for s in select * from weir.maintenance() loop
					execute format('explain (analyze, buffers, format json) select weir_internal.maintain_step(%L, %L)',
						s.step_name, s.log_name) into p;
					n := n + (p #>> '{0,Plan,Shared Hit Blocks}')::int + (p #>> '{0,Plan,Shared Read Blocks}')::int;
				end loop;
				return n;
			end $$`)
		b.db.Exec(b, "select buffers()") // fills the caches of the catalogue
		total := pgtest.QueryVal[int](b, b.db, "select buffers()")
		b.Log(total)
		if total > 2000 {
			b.Errorf("the steps read %d buffers", total)
		}
	})
}

// The cursor is carried over, what settled its claim is not: the claim must not seem unfinished.
func TestAFinishedClaimIsNotUnfinishedAfterATurn(t *testing.T) {
	each(t, func(b bench) {
		b.db.Exec(b, "select weir.create_queue('slow')")
		b.fill("slow", 3)
		for _, m := range b.receive("slow", "default", 1, "1 hour") {
			b.db.Exec(b, "select weir_log.ack('slow', $1, $2)", m.claim, m.id)
		}
		b.turnClaims()
		if n := pgtest.QueryVal[int](b, b.db, `select count(*) from weir_internal.groups g
			cross join lateral weir_log.unfinished(g.no, 0, 1, 0, 'infinity', null)`); n != 0 {
			b.Errorf("%d claims are unfinished after the turn", n)
		}
		if n := len(b.drain("slow")); n != 2 {
			b.Errorf("%d messages came, want 2", n)
		}
	})
}

// A sender that has chosen a segment, and waits for its table while the ring moves on, must choose again.
func TestSenderThatWaitedWritesToTheOpenSegment(t *testing.T) {
	each(t, func(b bench) {
		b.fill("ring", 80)
		rotator := b.open("lock table weir_log.log_1 in access exclusive mode")
		sender := b.db.Conn(b)
		sent := make(chan error, 1)
		go func() {
			_, err := sender.Exec(b.Context(), `select weir.send('ring', '"waited"')`)
			sent <- err
		}()
		pgtest.WaitForLock(b, b.db, sender.PgConn().PID())
		b.end(rotator, "select weir_internal.maintain_step('open segment', 'main')")
		b.end(rotator, "commit")
		if err := <-sent; err != nil {
			b.Fatal(err)
		}
		if n := pgtest.QueryVal[int](b, b.db, "select count(*) from weir_log.log_2"); b.ring("log") != 2 || n != 1 {
			b.Fatalf("%d messages are in the open segment; the ring is at %d", n, b.ring("log"))
		}
	})
}

// A group that began after delayed messages were sent is not concerned, and keeps none of them.
func TestWhatIsDelayedIsForgottenAlsoWhereAGroupBeganLater(t *testing.T) {
	each(t, func(b bench) {
		b.db.Exec(b, "select weir.create_queue('d')")
		b.db.Exec(b, "select weir.send('d', '1', delay => '1 microsecond')")
		b.db.Exec(b, "select weir.create_group('d', 'late', start => clock_timestamp()::text)")
		if n := pgtest.QueryVal[int](b, b.db, "select count(*) from weir.pop('d')"); n != 1 {
			b.Errorf("%d messages came", n)
		}
		b.settle()
		if n := pgtest.QueryVal[int](b, b.db, "select count(*) from weir_log.delayed"); n != 0 {
			b.Errorf("%d messages are kept", n)
		}
	})
}

// The servers of the tests have no autovacuum; this is the lock that it takes.
func TestUpkeepPassesOverTablesThatAreBeingVacuumed(t *testing.T) {
	each(t, func(b bench) {
		vacuum := b.open(`lock table weir_log.log_0, weir_log.log_1, weir_log.log_2, weir_log.claims_0,
			weir_log.claims_1 in share update exclusive mode`)
		size := func() int64 {
			return pgtest.QueryVal[int64](b, b.db, `select sum(pg_relation_size(c.oid))::bigint from pg_class c
				where c.relnamespace = 'weir_log'::regnamespace and c.relname ~ '^(log|claims)_[0-2]$' and c.relkind = 'r'`)
		}
		for range 6 {
			b.fill("ring", 140)
			if got := b.drain("ring"); len(got) != 140 {
				b.Fatalf("received %d messages, want 140", len(got))
			}
			b.maintain()
		}
		grown := size()
		if grown < 800_000 {
			b.Errorf("the tables hold %d bytes although none can be given back", grown)
		}
		b.end(vacuum, "commit")
		b.settle()
		if left := size(); left > grown/2 {
			b.Errorf("after the vacuum the tables hold %d bytes of %d", left, grown)
		}
		b.fill("ring", 1)
		if got := b.drain("ring"); len(got) != 1 {
			b.Errorf("received %d messages, want 1", len(got))
		}
	})
}

// Who reads a table of the ring keeps it from being emptied. What it still shows was claimed, and is no backlog.
func TestATableThatIsLeftAndNotEmptiedIsNoBacklog(t *testing.T) {
	each(t, func(b bench) {
		sent := 0
		for b.ring("log") < 2 {
			b.fill("ring", 20)
			sent += 20
			b.settle()
		}
		b.fill("ring", 10)
		sent += 10
		for range sent - 5 {
			got := b.receive("ring", "default", 1, "1 hour")
			b.db.Exec(b, "select weir_log.ack('ring', $1, $2)", got[0].claim, got[0].id)
		}
		reader := b.open("select count(*) from weir_log.log_1")
		b.settle()
		if seg := pgtest.QueryVal[int](b, b.db, "select pg_sequence_last_value('weir_log.log_1_segment')"); seg != 4 {
			b.Fatalf("table 1 is for segment %d", seg)
		}
		if n := pgtest.QueryVal[int](b, b.db, "select count(*) from weir_log.log_1"); n == 0 {
			b.Fatal("the table was emptied")
		}
		if n := pgtest.QueryVal[int](b, b.db,
			"select weir_log.backlog(q, 1000) from weir_internal.queues q where q.name = 'ring'"); n != 5 {
			b.Errorf("the backlog is %d, want 5", n)
		}
		for table, want := range map[string]int{"log_1": 0, "log_2": 5} {
			if n := pgtest.QueryVal[int](b, b.db, `select count(*) from weir_log.`+table+` l
				cross join lateral weir.get('ring', l.id) m where m.states ->> 'default' = 'waiting'`); n != want {
				b.Errorf("%s: %d messages are waiting, want %d", table, n, want)
			}
		}
		b.end(reader, "commit")
	})
}
