package operators_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

// parkOne has one message of a key in trouble and two behind it.
const parkOne = `do $$
	declare
		m weir.message;
	begin
		perform weir.send('jobs', '1', 'a'), weir.send('jobs', '2', 'a'), weir.send('jobs', '3', 'a');
		commit;
		select * into m from weir.receive('jobs', 'ordered', 1);
		perform weir.nack('jobs', m.claim_id, delay => '1 hour');
		commit;
		perform weir.receive('jobs', 'ordered', 10);
	end
	$$`

func TestSmallNumbersAreCounted(t *testing.T) {
	each(t, "1", func(b bench) {
		late := b.run("begin", "select weir.send('jobs', '0')") // its transaction is older than what is read first
		b.run("select weir.send_batch('jobs', array_fill('1'::jsonb, array[20]))",
			"select weir.receive('jobs', max => 5)", // of one record
			"select weir.reject('jobs', claim_id, array[id]) from weir.receive('jobs', max => 1)",
			"select weir.nack('jobs', claim_id, array[id], '1 hour') from weir.receive('jobs', max => 1)",
			"select weir.ack('jobs', claim_id, array[id]) from weir.receive('jobs', max => 1)",
			"select weir.send('jobs', '1', delay => '1 hour'), weir.send('jobs', '1', delay => '1 minute')")
		b.on(late, "commit")
		b.want("default", "exact and (waiting, claimed, delayed, parked, dead) = (13, 5, 3, 0, 1)")
		b.want("default", "(sent, delivered) = (23, 8) and oldest_age > '0'")
		b.clock.Advance(b, 2*time.Minute)
		b.want("default", "exact and (waiting, delayed) = (14, 2)")
		b.run("select weir.create_group('jobs', 'ordered', ordered => true, start => 'end')", parkOne)
		b.want("ordered", "exact and (waiting, claimed, parked, dead) = (0, 0, 3, 0)")
		b.want("default", "exact and waiting = 17")
	})
}

// TestManyMessagesAreEstimatedAtTheCostOfFew has a backlog of a million, of skewed keys and then half consumed, and as
// many delayed and dead messages, and counts the buffers that stats reads.
func TestManyMessagesAreEstimatedAtTheCostOfFew(t *testing.T) {
	t.Parallel()
	const most = 20000 // of 8 KiB; a read of what is there would be hundreds of thousands
	db := pgtest.New(t, pgtest.Options{})
	conn := db.Conn(t)
	surface.CreateQueue(t, conn, queue, "")
	b := bench{T: t, db: db}
	cost := func(what string) {
		t.Helper()
		n := surface.Buffers(t, conn, "select * from weir.stats('jobs')")
		t.Logf("%s: %d buffers: %s", what, n, stat[string](b, "default", "stats::text"))
		if n > most {
			t.Errorf("stats reads %d buffers with %s, at most %d will do", n, what, most)
		}
	}
	near := func(column string, want int64) {
		t.Helper()
		got := stat[int64](b, "default", column)
		if float64(got) < 0.9*float64(want) || float64(got) > 1.1*float64(want) {
			t.Errorf("%s is %d, want about %d", column, got, want)
		}
	}
	cost("nothing")
	b.on(conn, `select count(*) from generate_series(1, 2000) i,
		weir.send_batch('jobs', array_fill('{"a": 1}'::jsonb, array[500]),
			array(select 'key ' || floor(30 * random() ^ 3 + i * 0) from generate_series(1, 500)))`)
	cost("a million")
	b.want("default", "not exact")
	near("waiting", 1_000_000)
	got := pgtest.QueryVal[int64](t, db, "select count(*) from generate_series(1, 500) i, "+
		"weir.receive('jobs', max => 1000 + i * 0, lease => '1 hour')")
	near("waiting", 1_000_000-got)
	near("claimed", got)
	cost("half of it claimed")
	b.on(conn, `insert into weir_internal.q1_later (txid, due_at, id, attempts, payload, enqueued_at)
		select pg_current_xact_id(), now() + i * interval '1 minute', i, 0, '1', now() from generate_series(1, 300000) i`,
		`insert into weir_internal.dead_letters (queue_no, group_no, id, payload, enqueued_at, attempts, died_at)
		select 1, 0, i, '1', now(), 1, now() from generate_series(1, 300000) i`)
	cost("delayed and dead ones")
	near("delayed", 300_000)
	near("dead", 300_000)
}

// TestClaimsOfALaneThatOthersLeaveToItselfAreEstimated has a lane that is claimed from seldom, and then alone.
func TestClaimsOfALaneThatOthersLeaveToItselfAreEstimated(t *testing.T) {
	each(t, "4", func(b bench) {
		b.run(`select weir.send_batch('jobs', array_fill('1'::jsonb, array[2000]),
			array(select 'key ' || case when i <= 300 then i else 1 end from generate_series(1, 2000) i))`)
		got := pgtest.QueryVal[int64](b, b.db, "select count(*) from generate_series(1, 2100) i, "+
			"weir.receive('jobs', max => 1 + i * 0, lease => '1 hour') m")
		claimed := stat[int64](b, "default", "claimed")
		if got < 2000 || claimed < 1900 || claimed > 2100 {
			b.Errorf("%d are claimed, and %d estimated", got, claimed)
		}
		acked := pgtest.QueryVal[int64](b, b.db,
			"select sum(weir.ack('jobs', claim_id)) from weir.claims('jobs', 'default', 1000) where claim_id >> 14 & 1 = 0")
		claimed = stat[int64](b, "default", "claimed")
		if want := got - acked; claimed < want*8/10 || claimed > want*12/10 {
			b.Errorf("%d are claimed after acks of some, and %d estimated", want, claimed)
		}
	})
}

func TestRatesComeFromWhatMaintainNotes(t *testing.T) {
	each(t, "4", func(b bench) {
		b.clock.Stop(b)
		b.want("default", "sent_rate is null or sent_rate = 0")
		b.run("select weir.send_batch('jobs', array_fill('1'::jsonb, array[30]))")
		b.settle()
		b.clock.Advance(b, 10*time.Second)
		b.run("select weir.send_batch('jobs', array_fill('1'::jsonb, array[50]))")
		b.drain("default")
		b.want("default", "abs(sent_rate - 5) < 1 and abs(delivered_rate - 8) < 1.6")
		for range 4 { // two notes are kept, in turn, and the older one counts
			b.clock.Advance(b, 31*time.Second)
			b.run("select weir.send_batch('jobs', array_fill('1'::jsonb, array[62]))")
			b.settle()
		}
		b.want("default", "abs(sent_rate - 2) < 0.4 and delivered_rate = 0")
		b.clock.Advance(b, time.Hour)
		b.want("default", "sent_rate = 0")
		b.run("select weir.send('jobs', '1')")
		b.want("default", "sent_rate is null")
	})
}

func TestUpkeepOfAnIdleQueueWritesNoSamples(t *testing.T) {
	each(t, "4", func(b bench) {
		b.run("select weir.send('jobs', '1')")
		b.drain("default")
		b.settle()
		b.clock.Advance(b, time.Hour)
		b.settle()
		const written = "select coalesce(string_agg(ctid::text || xmin, ' ' order by no), '') from weir_internal.samples"
		before := pgtest.QueryVal[string](b, b.db, written)
		b.clock.Advance(b, time.Hour)
		b.settle()
		if after := pgtest.QueryVal[string](b, b.db, written); before == "" || after != before {
			b.Errorf("samples were %q and are %q after an idle hour", before, after)
		}
	})
}

func TestWhatKeepsASegmentIsNamed(t *testing.T) {
	each(t, "2", func(b bench) {
		b.want("default", "blocked_by is null and rotated_at is null")
		b.run("select weir.create_group('jobs', 'audit')")
		writer := b.run("begin", "select weir.send('jobs', '1')")
		b.fill()
		b.want("default", fmt.Sprintf("blocker_pid = %d and blocker_age > '0' and blocker_query ~ 'send' "+
			"and blocked_by = 'transaction of process %[1]d'", writer.PgConn().PID()))
		b.on(writer, "commit")
		b.settle()
		b.want("default", "blocked_by = 'not read by audit, default' and blocker_pid is null and rotated_at <= now()")
		claim := pgtest.QueryVal[int64](b, b.db, "select distinct claim_id from weir.receive('jobs', lease => '1 day')")
		b.drain("default")
		b.settle()
		b.want("default", "blocked_by = 'not read by audit'")
		b.drain("audit")
		b.settle()
		b.want("default", "blocked_by = 'claims not finished by default'")
		b.db.Exec(b, "select weir.ack('jobs', $1)", claim)
		reader := b.run("begin", "select count(*) from weir_internal.q1_log_0", "select count(*) from weir_internal.q1_log_1")
		b.settle()
		b.want("default", fmt.Sprintf("blocker_pid = %d and blocked_by ~ 'transaction'", reader.PgConn().PID()))
		b.on(reader, "commit")
		b.settle()
		b.want("default", "blocked_by is null and rotated_at <= now()")
	})
}

func TestAPreparedTransactionThatKeepsASegmentIsNamed(t *testing.T) {
	each(t, "2", func(b bench) {
		b.run("begin", "select weir.send('jobs', '1')", "prepare transaction 'the one'")
		b.fill()
		b.want("default", "blocked_by = 'prepared transaction ''the one''' and blocker_pid is null and blocker_age > '0'")
		b.run("rollback prepared 'the one'")
		b.drain("default")
		b.settle()
		b.want("default", "blocked_by is null")
	})
}

func TestStatsAndDoctorPassOverAQueueThatIsDroppedMeanwhile(t *testing.T) {
	each(t, "1", func(b bench) {
		for what, sql := range map[string]string{
			"stats":  "select coalesce(string_agg(distinct queue_name, ' '), $1) from weir.stats()",
			"doctor": "select coalesce(string_agg(distinct queue_name, ' '), $1) from weir.doctor() where queue_name <> $1",
		} {
			b.db.Exec(b, "select weir.create_queue('going')")
			dropping := b.run("begin", "select weir.drop_queue('going')")
			looking, seen := b.db.Conn(b), make(chan error, 1)
			pid := pgtest.PID(b, looking)
			var queues string
			go func() { seen <- looking.QueryRow(b.Context(), sql, queue).Scan(&queues) }()
			pgtest.WaitForLock(b, b.db, pid)
			b.on(dropping, "commit")
			if err := <-seen; err != nil || queues != queue {
				b.Errorf("%s: %q, %v", what, queues, err)
			}
		}
	})
}

// TestMessagesOnTheirWayAreCountedOnce has messages go round between waiting, claimed, delayed and parked, and none
// end, while the claim log turns.
func TestMessagesOnTheirWayAreCountedOnce(t *testing.T) {
	t.Parallel()
	const messages = 40
	kinds := map[string]string{
		"plain": "", "ordered": "ordered => true", "limited": "concurrency_max => 1000", "keyed": "key_concurrency_max => 2",
	}
	for kind, settings := range kinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			db := pgtest.New(t, pgtest.Options{})
			surface.CreateQueue(t, db.Conn(t), queue, "2")
			if settings != "" {
				settings = ", " + settings
			}
			db.Exec(t, "select weir.create_group('jobs', 'g', backoff_min => '1 ms', max_attempts => 1000"+settings+")")
			db.Exec(t, "update weir_internal.queues set claims_bytes = 65536")
			db.Exec(t, `select weir.send_batch('jobs', array_fill('1'::jsonb, array[$1::int]),
				array(select 'key ' || i % 7 from generate_series(1, $1::int) i))`, messages)
			var stop atomic.Bool
			var going sync.WaitGroup
			for _, verb := range []string{"weir.nack('jobs', c.claim_id, delay => '1 ms')", "weir.release('jobs', c.claim_id)"} {
				conn := db.Conn(t)
				going.Go(func() {
					for !stop.Load() {
						_, err := conn.Exec(t.Context(), `select `+verb+`, weir.maintain() from (
							select distinct claim_id from weir.receive('jobs', 'g', 5)) c`)
						if err != nil {
							t.Error(err)
							return
						}
					}
				})
			}
			conn := db.Conn(t)
			for range 60 {
				var found int64
				var exact bool // not any more once much of a table is what updates have left
				var row string
				err := conn.QueryRow(t.Context(), `select waiting + claimed + delayed + parked + dead, exact, s::text
					from weir.stats('jobs') s where group_name = 'g'`).Scan(&found, &exact, &row)
				if err != nil || exact && found != messages {
					t.Errorf("%d messages of %d: %s, %v", found, messages, row, err)
					break
				}
			}
			stop.Store(true)
			going.Wait()
		})
	}
}
