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
	each(t, func(b bench) {
		late := b.run("begin", "select weir.send('jobs', '0')") // its transaction is older than what is read first
		b.run("select weir.send_batch('jobs', array_fill('1'::jsonb, array[20]))",
			"select weir.receive('jobs', max => 5, lease => '1 hour')", // of one record
			"select weir.reject('jobs', claim_id, array[id]) from weir.receive('jobs', max => 1)",
			"select weir.nack('jobs', claim_id, array[id], '1 hour') from weir.receive('jobs', max => 1)",
			"select weir.ack('jobs', claim_id, array[id]) from weir.receive('jobs', max => 1)",
			"select weir.send('jobs', '1', delay => '1 hour'), weir.send('jobs', '1', delay => '1 minute')")
		b.want("default", "exact and (waiting, claimed, delayed, parked, dead) = (12, 5, 3, 0, 1)")
		b.on(late, "commit")
		b.want("default", "exact and (waiting, claimed, delayed, parked, dead) = (13, 5, 3, 0, 1)")
		b.want("default", "oldest_age > '0' and delivered_at > now() - interval '1 hour' and log = 'main'")
		b.clock.Advance(b, 2*time.Minute)
		b.want("default", "exact and (waiting, delayed) = (14, 2)")
		b.run("select weir.create_group('jobs', 'ordered', ordered => true, start => 'end')", parkOne)
		b.want("ordered", "exact and (waiting, claimed, delayed, parked, dead) = (0, 0, 1, 3, 0) and oldest_age is null")
		b.want("default", "exact and waiting = 17")
		b.clock.Advance(b, 2*time.Hour)
		b.want("ordered", "exact and (waiting, parked) = (2, 2) and oldest_age between '59 min' and '63 min'")
	})
}

// TestWhatNobodyWorksOnWaits has all workers die: what they held is not claimed any more, and its age is that since
// when it could have been delivered.
func TestWhatNobodyWorksOnWaits(t *testing.T) {
	each(t, func(b bench) {
		b.clock.Stop(b)
		b.run("select weir.send_batch('jobs', array_fill('1'::jsonb, array[10]))",
			"select weir.receive('jobs', max => 10, lease => '30 s')")
		b.want("default", "(waiting, expired, claimed) = (0, 0, 10) and oldest_age is null")
		b.clock.Advance(b, 40*time.Second)
		b.want("default", "(waiting, expired, claimed) = (10, 10, 0) and oldest_age = '10 s'")
		b.run("select weir.receive('jobs', max => 4, lease => '1 hour')")
		b.want("default", "(waiting, expired, claimed) = (6, 6, 4)")
		b.run("select weir.receive('jobs', max => 6, lease => '1 hour')",
			"select weir.send('jobs', '1', delay => '1 minute')")
		b.clock.Advance(b, 80*time.Second)
		b.want("default", "(waiting, expired, claimed, delayed) = (1, 0, 10, 0) and oldest_age = '20 s'")
	})
}

func TestWhatWaitsInKeyQueuesIsCounted(t *testing.T) {
	each(t, func(b bench) {
		b.run("select weir.configure_group('jobs', 'default', key_concurrency_max => 1)",
			"select weir.send_batch('jobs', array_fill('1'::jsonb, array[20]), array_fill('k'::text, array[20]))",
			"select weir.receive('jobs', max => 10, lease => '1 hour')")
		b.want("default", "exact and (waiting, claimed, parked, held_by) = (19, 1, 0, 'key_concurrency')")
	})
}

// TestManyMessagesAreEstimatedAtTheCostOfFew has a backlog of 200,000, of skewed keys and then half consumed, and as
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
		// 128 pages are looked at; of skewed keys their messages differ by as much as they are: 9 % of standard error
		if float64(got) < 0.7*float64(want) || float64(got) > 1.3*float64(want) {
			t.Errorf("%s is %d, want about %d", column, got, want)
		}
	}
	cost("nothing")
	b.on(conn, "select weir.create_queue('other')",
		"select weir.send('other', '1') from generate_series(1, 10000)", // lies before, in the same log
		`select count(*) from generate_series(1, 400) i,
		weir.send_batch('jobs', array_fill('{"a": 1}'::jsonb, array[500]),
			array(select 'key ' || floor(30 * random() ^ 3 + i * 0) from generate_series(1, 500)))`)
	cost("a backlog")
	b.want("default", "not exact")
	near("waiting", 200_000)
	got := pgtest.QueryVal[int64](t, db, "select count(*) from generate_series(1, 100) i, "+
		"weir.receive('jobs', max => 1000 + i * 0, lease => '1 hour')")
	near("waiting", 200_000-got)
	near("claimed", got)
	cost("half of it claimed")
	b.on(conn, `insert into weir_log.delayed (txid, queue_no, due_at, id, attempts, payload, enqueued_at)
		select pg_current_xact_id(), q.no, now() + i * interval '1 minute', i, 0, '1', now()
		from generate_series(1, 100000) i, weir_internal.queues q where q.name = 'jobs'`,
		`insert into weir_internal.dead_letters (queue_no, group_no, id, payload, enqueued_at, attempts, died_at)
		select q.no, g.no, i, '1', now(), 1, now() from generate_series(1, 100000) i, weir_internal.queues q
		join weir_internal.groups g on g.queue_no = q.no where q.name = 'jobs'`)
	cost("delayed and dead ones")
	near("delayed", 100_000)
	near("dead", 100_000)
}

func TestRatesAreThoseOfTheLastMessages(t *testing.T) {
	each(t, func(b bench) {
		b.clock.Stop(b)
		b.want("default", "sent_rate = 0 and delivered_rate = 0 and delivered_at is null")
		b.run("select weir.send_batch('jobs', array_fill('1'::jsonb, array[120]))")
		b.clock.Advance(b, 10*time.Second)
		b.run("select weir.receive('jobs', max => 60, lease => '1 hour')")
		b.want("default", "sent_rate = 2 and delivered_rate = 1")
		b.settle()
		b.want("default", "sent_rate = 2 and delivered_rate = 1")
		b.clock.Advance(b, 55*time.Second)
		b.want("default", "sent_rate = 0 and delivered_rate = 1")
		b.clock.Advance(b, time.Hour)
		b.want("default", "sent_rate = 0 and delivered_rate = 0")
		b.run("select weir.send('jobs', '1') from generate_series(1, 300)")
		b.clock.Advance(b, 2*time.Second)
		b.want("default", "sent_rate = 100") // 200 of them in 2 s: more are not looked at
	})
}

// TestLookingWritesNothing holds that stats and doctor leave no trace.
func TestLookingWritesNothing(t *testing.T) {
	each(t, func(b bench) {
		b.run("select weir.send('jobs', '1')")
		b.drain("default")
		b.settle()
		conn := b.db.Conn(b)
		b.on(conn, "begin", "select weir.stats()", "select weir.stats('jobs')", "select weir.doctor()")
		var none bool
		err := conn.QueryRow(b.Context(), "select pg_current_xact_id_if_assigned() is null").Scan(&none)
		if err != nil || !none {
			b.Errorf("looking wrote something: %v", err)
		}
	})
}

func TestWhatKeepsASegmentIsNamed(t *testing.T) {
	each(t, func(b bench) {
		b.want("default", "blocked_by is null and held_segments = 0")
		b.run("select weir.create_group('jobs', 'audit')")
		writer := b.run("begin", "select weir.send('jobs', '1')")
		b.fill()
		b.want("default", fmt.Sprintf("blocker_pid = %d and blocker_age > '0' and blocker_query ~ 'send' "+
			"and blocked_by = 'transaction of process %[1]d'", writer.PgConn().PID()))
		b.on(writer, "commit")
		b.drain("default")
		b.settle()
		b.want("audit", `blocked_by = 'not finished by group "audit" of queue "jobs"' and blocker_pid is null
			and held_segments > 0`)
		b.want("default", "held_segments = 0")
		b.run("select weir.create_queue('another')")
		if got := pgtest.QueryVal[string](b, b.db, "select blocked_by from weir.stats('another')"); got !=
			"not finished by another queue of the log" {
			b.Errorf("another queue is told %q", got)
		}
		b.drain("audit")
		reader := b.run("begin", "select count(*) from weir_log.log_0", "select count(*) from weir_log.log_1",
			"select count(*) from weir_log.log_2")
		b.settle()
		b.want("default", fmt.Sprintf("blocker_pid = %d and blocked_by ~ 'transaction'", reader.PgConn().PID()))
		b.on(reader, "commit")
		b.settle()
		b.want("default", "blocked_by is null and held_segments = 0")
	})
}

func TestAPreparedTransactionThatKeepsASegmentIsNamed(t *testing.T) {
	each(t, func(b bench) {
		b.run("begin", "select weir.send('jobs', '1')", "prepare transaction 'the one'")
		b.fill()
		b.want("default", "blocked_by = 'prepared transaction ''the one''' and blocker_pid is null and blocker_age > '0'")
		b.run("rollback prepared 'the one'")
		b.drain("default")
		b.settle()
		b.want("default", "blocked_by is null")
	})
}

// TestAForeignerOnAGroupsLockIsNamed has a stranger sit on the lock of the lane that receive takes.
func TestAForeignerOnAGroupsLockIsNamed(t *testing.T) {
	each(t, func(b bench) {
		b.run("select weir.send('jobs', '1')")
		stranger := b.db.As(b, b.db.Role(b))
		b.on(stranger, fmt.Sprintf("select pg_advisory_lock(%d)", pgtest.QueryVal[int64](b, b.db,
			"select weir_internal.lane_lock(no, 0, 1) from weir_internal.groups")))
		b.want("default", "blocker_pid = "+pidOf(stranger)+" and blocked_by ~ '^lock of process \\d+ of '")
		b.finds(`^error \| foreign_lock \| jobs \| default \| process ` + pidOf(stranger) + ` of `)
		b.on(stranger, "select pg_advisory_unlock_all()")
		b.want("default", "blocked_by is null")
		b.finds()
	})
}

func TestStatsOfAnyTimeZone(t *testing.T) {
	each(t, func(b bench) {
		b.run("select weir.send('jobs', '1', delay => '1 ms')", "select weir.configure_queue('jobs', ttl => '1 day')",
			"select weir.send('jobs', '1')", "select weir.receive('jobs', max => 2)")
		for _, zone := range []string{"<+26>-26", "<-11>+11:30", "<x.1>0"} {
			conn := b.db.Conn(b)
			b.on(conn, "set timezone = '"+zone+"'", "select s::text from weir.stats() s",
				"select s::text from weir.stats('jobs') s", "select f::text from weir.doctor() f", "call weir.maintain()")
		}
	})
}

// TestMessagesOnTheirWayAreCountedOnce has messages go round between waiting, claimed, delayed and parked, and none
// end, while segments and the claim log turn.
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
			surface.CreateQueue(t, db.Conn(t), queue, "lanes => 2")
			surface.CreateQueue(t, db.Conn(t), "noise", "")
			if settings != "" {
				settings = ", " + settings
			}
			db.Exec(t, "select weir.create_group('jobs', 'g', backoff_min => '1 ms', max_attempts => 1000"+settings+")")
			db.Exec(t, "update weir_internal.logs set claims_bytes = 65536, segment_bytes = 65536")
			db.Exec(t, `select weir.send_batch('jobs', array_fill('1'::jsonb, array[$1::int]),
				array(select 'key ' || i % 7 from generate_series(1, $1::int) i))`, messages)
			var stop atomic.Bool
			var going sync.WaitGroup
			for _, verb := range []string{
				"weir.nack('jobs', c.claim_id, delay => '1 ms')", "weir.release('jobs', c.claim_id)",
				"weir.send_batch('noise', array_fill('1'::jsonb, array[50])), weir.pop('noise', max => 100)",
			} {
				conn := db.Conn(t)
				going.Go(func() {
					for !stop.Load() {
						_, err := conn.Exec(t.Context(), `select `+verb+` from (
							select distinct claim_id from weir.receive('jobs', 'g', 5)) c`)
						if err == nil {
							_, err = conn.Exec(t.Context(), "call weir.maintain()")
						}
						if err != nil {
							t.Error(err)
							return
						}
					}
				})
			}
			conn := db.Conn(t)
			for range 60 {
				var found, all int64
				var exact bool // not any more once much of a table is what updates have left
				var row string
				err := conn.QueryRow(t.Context(), `select waiting + claimed + delayed + parked + dead, exact, s::text
					from weir.stats('jobs') s where group_name = 'g'`).Scan(&found, &exact, &row)
				if err != nil || exact && found != messages {
					t.Errorf("%d messages of %d: %s, %v", found, messages, row, err)
					break
				}
				err = conn.QueryRow(t.Context(), `select waiting + claimed + delayed + parked + dead, exact, s::text
					from weir.stats() s where group_name = 'g'`).Scan(&all, &exact, &row)
				if err != nil || exact && all != messages {
					t.Errorf("%d messages of %d in stats of all: %s, %v", all, messages, row, err)
					break
				}
			}
			stop.Store(true)
			going.Wait()
		})
	}
}

// TestTenThousandIdleQueuesCostLittle counts the buffers that stats of all reads with queues that were used and are
// idle. The tables were analysed while they were empty: what is believed of them is wrong.
func TestTenThousandIdleQueuesCostLittle(t *testing.T) {
	t.Parallel()
	const most = 100 // a queue
	queues := 10_000
	if testing.Short() {
		queues = 1000
	}
	db := pgtest.New(t, pgtest.Options{})
	db.Exec(t, "select count(weir.create_queue('q' || i)) from generate_series(1, $1::int) i", queues)
	db.Exec(t, "analyze")
	conn := db.Conn(t)
	for _, sql := range []string{
		"do $$ begin for i in 1 .. %d loop perform weir.send('q' || i, '1'); commit; end loop; end $$",
		"do $$ begin for i in 1 .. %d loop perform weir.pop('q' || i); commit; end loop; end $$",
	} {
		if _, err := conn.Exec(t.Context(), fmt.Sprintf(sql, queues)); err != nil {
			t.Fatal(err)
		}
	}
	began := time.Now()
	var n int
	err := conn.QueryRow(t.Context(), "select count(*) from weir.stats() where waiting + claimed = 0").Scan(&n)
	if err != nil || n != queues {
		t.Fatalf("%d idle queues of %d, %v", n, queues, err)
	}
	took := time.Since(began)
	buffers := surface.Buffers(t, conn, "select count(*) from weir.stats()")
	t.Logf("%d queues: %v, %d buffers", queues, took, buffers)
	if buffers > most*queues {
		t.Errorf("stats of %d idle queues reads %d buffers, at most %d a queue will do", queues, buffers, most)
	}
}
