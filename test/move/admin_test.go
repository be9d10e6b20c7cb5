package move_test

import (
	"strings"
	"testing"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

func TestDeadLettersAreThereDuringAndAfterTheMove(t *testing.T) {
	each(t, "", func(b bench) {
		b.exec("select weir.send_batch('q', array_fill('1'::jsonb, array[3]))")
		claim := b.receive(3, "1 hour")
		ids := surface.IDs(claim)
		b.want(1, "select weir.reject('q', $1, $2, 'before')", claim[0].ClaimID, ids[:1])
		b.move()
		b.want(2, "select weir.reject('q', $1, $2, 'during')", claim[0].ClaimID, ids[1:])
		b.want(3, "select count(*) from weir.dead_letters('q')")
		b.want(3, "select dead from weir.stats('q')")
		b.want(1, "select count(*) from weir.get('q', $1) where states ->> 'default' = 'dead'", ids[0])
		b.want(1, "select weir.redrive('q', 'default', $1)", ids[:1])
		b.want(1, "select weir.discard('q', 'default', $1)", ids[1:2])
		if got := b.receive(1, "1 hour"); got[0].ID != ids[0] {
			b.Errorf("received %v", got)
		}
		b.ends()
		b.want(1, "select count(*) from weir.dead_letters('q')")
	})
}

func TestDedupKeysAndUniqueJobsAreRememberedOverTheMove(t *testing.T) {
	each(t, "", func(b bench) {
		send := "select weir.send('q', '1', dedup_key => $1)"
		first := pgtest.QueryVal[int64](b, b.db, send, "a")
		job := pgtest.QueryVal[int64](b, b.db, "select weir.enqueue('q', 'mail', unique_key => 'm', tracked => true)")
		held := b.session()
		held.run("begin", "select weir.send('q', '1', dedup_key => 'held')", "savepoint s",
			"select weir.send('q', '1', dedup_key => 'gone')", "rollback to s")
		b.move()
		b.want(int(first), send, "a")
		second := pgtest.QueryVal[int64](b, b.db, send, "b")
		b.want(int(second), send, "b")
		b.want(int(job), "select weir.enqueue('q', 'mail', unique_key => 'm')")
		b.want(1, "select count(*) from weir.job('q', $1) where state = 'waiting'", job)
		b.want(1, "select ($1 < weir.send('q', '1', dedup_key => 'gone'))::int", second)
		waiting := b.session()
		pid := pgtest.PID(b, waiting.Conn)
		done := make(chan error)
		go func() {
			_, err := waiting.Exec(b.Context(), send, "held")
			done <- err
		}()
		pgtest.WaitForLock(b, b.db, pid)
		held.run("commit")
		if err := <-done; err != nil {
			b.Fatal(err)
		}
		b.maintain()
		b.want(0, "select count(*) from weir_log.dedup_0")
		b.want(int(first), send, "a")
		b.want(int(second), send, "b")
		b.want(int(job), "select weir.enqueue('q', 'mail', unique_key => 'm')")
		b.want(5, "select waiting from weir.stats('q')")
		for _, n := range []int{3, 2, 0} { // of each log
			b.want(n, `select count(weir.finish('q', claim_id, id, '"done"')) from weir.receive('q', max => 10)`)
		}
		b.ends()
		b.want(int(first), send, "a")
		b.want(1, "select count(*) from weir.job('q', $1) where state = 'done' and result = '\"done\"'", job)
		b.want(1, "select (weir.enqueue('q', 'mail', unique_key => 'm') > $1)::int", job)
	})
}

// A key that a finished job had stands in the older table of the ring until it is carried over, or taken along.
func TestTheUniqueKeyOfTheLastJobThatHadItIsTakenAlong(t *testing.T) {
	each(t, "", func(b bench) {
		const enqueue = "select weir.enqueue('q', 'mail', unique_key => 'm')"
		b.exec(enqueue)
		for pgtest.QueryVal[int](b, b.db, "select weir_internal.open_ring_table(last_value) from weir_log.dedup_ring") == 0 {
			b.exec("select weir_log.rotate_dedup(1)")
		}
		b.pop("default")
		job := pgtest.QueryVal[int64](b, b.db, enqueue)
		b.want(2, "select (select count(*) from weir_log.dedup_0) + (select count(*) from weir_log.dedup_1)")
		b.move()
		b.maintain()
		b.want(0, "select (select count(*) from weir_log.dedup_0) + (select count(*) from weir_log.dedup_1)")
		b.want(int(job), enqueue)
	})
}

// Who enqueues has read where the queue is before it begins to move, and looks for a job that was sent since.
func TestAUniqueJobThatWasSentToTheOtherLogMeanwhileIsFound(t *testing.T) {
	each(t, "", func(b bench) {
		const enqueue = "select weir.enqueue('q', 'mail', unique_key => 'm')"
		keys, second := b.db.As(b, pgtest.Owner), b.db.As(b, pgtest.Owner)
		if _, err := keys.Exec(b.Context(), "begin; lock table weir_log.dedup_0, weir_log.dedup_1"); err != nil {
			b.Fatal(err)
		}
		pid := pgtest.PID(b, second)
		done := make(chan int64, 1)
		go func() {
			var id int64
			if err := second.QueryRow(b.Context(), enqueue).Scan(&id); err != nil {
				b.Error(err)
			}
			done <- id
		}()
		pgtest.WaitForLock(b, b.db, pid)
		b.move()
		var first int64
		if err := keys.QueryRow(b.Context(), enqueue).Scan(&first); err != nil {
			b.Fatal(err)
		}
		if _, err := keys.Exec(b.Context(), "commit"); err != nil {
			b.Fatal(err)
		}
		if id := <-done; id != first {
			b.Errorf("job %d was enqueued beside %d, which waits", id, first)
		}
	})
}

// Of many claims stats looks at the oldest and the newest. One between them, that is not finished, keeps the move from
// its end, and a group with an order or limits from going on.
func TestAClaimBetweenManyThatAreFinishedKeepsTheMove(t *testing.T) {
	t.Parallel()
	for _, options := range []string{"lanes => 1", "lanes => 1, ordered => true"} {
		t.Run(options, func(t *testing.T) {
			each(t, options, func(b bench) {
				b.exec("select weir.send('q', '1', key => 'k' || i) from generate_series(1, 300) i")
				b.exec("create table claims (claim_id bigint, no int)")
				b.exec(`do $$ begin
					for i in 1 .. 300 loop
						insert into claims select r.claim_id, i from weir.receive('q', lease => '1 hour') r;
					end loop;
				end $$`)
				b.exec("select weir.ack_all('q', claim_id) from claims where no not in (1, 150)")
				b.exec("select weir.ack_all('q', claim_id) from claims where no = 1")
				b.move()
				b.exec("select weir.send('q', '2', key => 'k')")
				for range 5 {
					b.maintain()
				}
				b.wantLog("new from main")
				if options != "lanes => 1" {
					b.receive(0, "1 hour")
				}
				b.want(1, "select weir.ack_all('q', claim_id) from claims where no = 150")
			})
		})
	}
}

func TestAWorkflowGoesOnInTheOtherLog(t *testing.T) {
	each(t, "", func(b bench) {
		flow := pgtest.QueryVal[int64](b, b.db,
			`select weir.start_chain('q', array['{"kind": "one"}', '{"kind": "two"}', '{"kind": "three"}']::jsonb[])`)
		claim := b.receive(1, "1 hour")
		b.move()
		b.want(1, "select weir.finish('q', $1, $2)", claim[0].ClaimID, claim[0].ID)
		b.ends()
		b.want(1, "select weir.ack_all('q', claim_id) from weir.receive('q')")
		surface.Settle(b, b.db.Pool(b))
		b.want(1, "select weir.ack_all('q', claim_id) from weir.receive('q')")
		surface.Settle(b, b.db.Pool(b))
		b.want(3, "select count(*) from weir.workflow('q', $1) where state = 'done'", flow)
	})
}

func TestSecondMoveIsRefusedUntilTheFirstHasEnded(t *testing.T) {
	each(t, "", func(b bench) {
		b.exec("select weir.send('q', '1')")
		b.move()
		b.move() // to where it is: nothing to do
		b.fails("WR023", "select weir.move_queue('q', 'main')")
		b.fails("WR006", "select weir.move_queue('q', 'none')")
		b.fails("WR006", "select weir.move_queue('q', null)")
		b.fails("WR001", "select weir.move_queue('none', 'new')")
		b.fails("WR006", "select weir.drop_log('new')")
		b.fails("WR023", "select weir.configure_group('q', 'default', concurrency_max => 3)")
		b.wantPop("default", "1")
		b.ends()
		b.exec("select weir.move_queue('q', 'main')")
	})
}

func TestAMoveThatIsRolledBackOrKilledIsNone(t *testing.T) {
	each(t, "", func(b bench) {
		b.exec("select weir.send('q', '\"1\"')")
		mover := b.session()
		mover.run("begin", "select weir.move_queue('q', 'new')", "select weir.send('q', '\"not\"')", "rollback")
		killed := b.session()
		killed.run("begin", "select weir.move_queue('q', 'new')")
		b.exec("select set_config('lock_timeout', '1min', true), weir.send('q', '\"2\"')")
		b.wantPop("default", "1", "2")
		pid := pgtest.PID(b, killed.Conn)
		b.exec("select pg_terminate_backend($1)", pid)
		pgtest.WaitForGone(b, b.db, pid)
		b.wantLog("main")
		b.exec("select weir.send('q', '\"3\"')")
		b.wantPop("default", "3")
		b.want(0, "select count(*) from weir_log_new.claims_2 where group_no > 0")
	})
}

func TestAQueueIsDroppedRenamedPurgedAndSoughtDuringTheMove(t *testing.T) {
	each(t, "", func(b bench) {
		b.exec("select weir.create_group('q', 'other')")
		id := pgtest.QueryVal[int64](b, b.db, "select weir.send('q', '\"1\"')")
		b.exec("select weir.send('q', '\"2\"')")
		b.move()
		b.exec("select weir.rename_queue('q', 'p'), weir.send('p', '\"3\"'), weir.rename_queue('p', 'q')")
		b.exec("select weir.create_group('q', 'third')")
		b.wantPop("default", "1", "2", "3")
		b.exec("select weir.seek('q', 'default', $1::bigint::text)", id+1000)
		b.wantPop("default", "2", "3")
		b.exec("select weir.seek('q', 'default', 'start')")
		b.wantPop("default", "1", "2", "3")
		b.exec("select weir.seek('q', 'default', $1::bigint::text)", id+2000)
		b.wantPop("default", "3")
		b.exec("select weir.seek('q', 'other', 'end')")
		b.wantPop("other")
		b.wantPop("third", "1", "2", "3")
		b.exec("select weir.create_group('q', 'fourth')")
		b.want(3, "select weir.purge('q', 'fourth')")
		b.want(0, "select sum(waiting) from weir.stats('q')")
		b.exec("select weir.drop_group('q', 'third')")
		b.ends()
		b.exec("select weir.send('q', '\"4\"'), weir.move_queue('q', 'main'), weir.drop_queue('q')")
		surface.Settle(b, b.db.Pool(b))
		b.exec("select weir.drop_log('new')")
	})
}

func TestALogIsNotDroppedWhileAQueueLeavesIt(t *testing.T) {
	each(t, "log => 'first'", func(b bench) {
		b.exec("select weir.send('q', '\"1\"')")
		b.move()
		b.fails("WR006", "select weir.drop_log('first')")
		b.wantPop("default", "1")
		b.ends()
		b.exec("select weir.drop_log('first')")
		b.exec("select weir.send('q', '\"2\"')")
		b.wantPop("default", "2")
	})
}

func TestWhoGoesThroughGatesMovesAndIsMoved(t *testing.T) {
	each(t, "", func(b bench) {
		role := b.db.Role(b)
		b.exec("select weir.grant_produce('q', $1), weir.grant_consume('q', $1)", role)
		user := session{b, b.db.As(b, role)}
		user.run("select weir.send('q', '1')")
		_, err := user.Exec(b.Context(), "select weir.move_queue('q', 'new')")
		surface.WantState(b, err, "42501")
		b.exec("select weir.grant_admin('q', $1)", role)
		user.run("select weir.move_queue('q', 'new')", "select weir.send('q', '2')")
		b.want(1, "select count(*) from weir_log_new.log_1")
		for _, n := range []int{1, 1, 0} {
			got, err := surface.Pop(b.Context(), user.Conn, "q", "default", 10)
			if err != nil || len(got) != n {
				b.Errorf("received %v, %v, want %d", got, err, n)
			}
		}
		b.ends()
		user.run("select weir.send('q', '3')", "select * from weir.stats('q')", "select * from weir.list_queues()")
		got, err := surface.Pop(b.Context(), user.Conn, "q", "default", 10)
		if err != nil || len(got) != 1 {
			b.Errorf("received %v, %v", got, err)
		}
		if gates := pgtest.QueryAll[string](b, b.db, `select prosrc from pg_proc
			where pronamespace = 'weir_gates'::regnamespace and prosrc ~ 'moving_|weir_log\.'`); len(gates) > 0 {
			b.Errorf("gates lead elsewhere: %s", strings.Join(gates, "\n"))
		}
	})
}

// Whoever waits for messages when the move begins looks again, and is woken by what is sent to the new log.
func TestAWaiterIsWokenByTheMoveAndByWhatIsSentAfter(t *testing.T) {
	each(t, "", func(b bench) {
		waiter := b.session()
		waiter.run(`listen "weir:1"`, "select weir.mark_waiting('q')")
		b.move()
		if _, err := waiter.WaitForNotification(b.Context()); err != nil {
			b.Fatal(err)
		}
		for range 2 {
			waiter.run("select weir.mark_waiting('q')")
			b.exec("select weir.send('q', '1')")
			if _, err := waiter.WaitForNotification(b.Context()); err != nil {
				b.Fatal(err)
			}
			b.wantPop("default", "1")
			b.ends()
		}
	})
}
