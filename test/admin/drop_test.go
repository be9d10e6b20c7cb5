package admin_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

// end is a call that ends the message $3 of the claim $2 of the queue $1.
var end = map[string]string{
	"ack": "select weir.ack($1, $2, $3::bigint)", "nack": "select weir.nack($1, $2, array[$3::bigint], '0')",
	"release": "select weir.release($1, $2, array[$3::bigint])", "reject": "select weir.reject($1, $2, array[$3::bigint])",
}

func TestAQueueInUseIsDroppedAndMadeAnewWithoutADeadlock(t *testing.T) {
	each(t, func(b bench) {
		for range 5 {
			b.send(10)
			var users sync.WaitGroup
			begun := make(chan struct{}, 8)
			for i := range cap(begun) {
				conn := b.db.Conn(b)
				users.Go(func() { b.useUntilGone(conn, i%2 == 0, begun) })
			}
			for range cap(begun) {
				<-begun
			}
			b.exec("select weir.drop_queue($1)", queue)
			users.Wait()
			b.wantCount(0, "select count(*) from weir.list_queues()")
			b.wantCount(0, "select count(*) from weir_internal.groups")
			b.exec("select weir.create_queue($1)", queue)
			b.wantIDs("default")
		}
	})
}

// useUntilGone sends or consumes until the queue is gone, and tells when it has begun.
func (b bench) useUntilGone(conn *pgx.Conn, sends bool, begun chan<- struct{}) {
	for n := 0; ; n++ {
		var err error
		if sends {
			_, err = surface.Send(b.Context(), conn, queue, "1", nil, nil, nil)
		} else {
			_, err = surface.Pop(b.Context(), conn, queue, "default", 3)
		}
		if n == 3 {
			begun <- struct{}{}
		}
		if err == nil {
			continue
		}
		if state := surface.SQLState(err); state != "WR001" && state != "WR010" {
			b.Errorf("use of a queue that is dropped: %v", err)
		}
		return
	}
}

// An old consumer must not finish what was sent to a queue of the same name that was made later.
func TestAnAckOfADroppedQueuesClaimFinishesNothingOfItsSuccessor(t *testing.T) {
	each(t, func(b bench) {
		old := b.receiveAll(b.send(3))
		b.exec("select weir.drop_queue($1)", queue)
		b.fails("WR001", "select weir.ack_all($1, $2)", queue, old[0].ClaimID)
		b.exec("select weir.create_queue($1)", queue)
		ids := b.send(3)
		got := b.receiveAll(ids)
		if got[0].ClaimID <= old[0].ClaimID || got[0].ID <= old[2].ID {
			b.Errorf("the new queue has claim %d and message %d, the old one had %d and %d",
				got[0].ClaimID, got[0].ID, old[0].ClaimID, old[2].ID)
		}
		for verb, sql := range end {
			b.fails("WR009", sql, queue, old[0].ClaimID, old[0].ID)
			b.fails("WR009", sql, queue, old[0].ClaimID, got[0].ID)
			b.fails("WR011", sql, queue, got[0].ClaimID, old[0].ID)
			if b.Failed() {
				b.Fatalf("after %s", verb)
			}
		}
		b.fails("WR009", "select weir.ack_all($1, $2)", queue, old[0].ClaimID)
		b.fails("WR009", "select weir.extend($1, $2, '1 hour')", queue, old[0].ClaimID)
		b.clock.Advance(b, 2*time.Minute)
		b.wantIDs("default", ids...)
	})
}

// receiveAll receives what was just sent.
func (b bench) receiveAll(ids []int64) []surface.Message {
	b.Helper()
	got := b.receive("default", len(ids))
	if len(got) != len(ids) {
		b.Fatalf("received %v of %v", got, ids)
	}
	return got
}

func TestAClaimNumberNeverGivenOutIsNotFound(t *testing.T) {
	each(t, func(b bench) {
		b.send(1)
		claim := b.receive("default", 1)[0].ClaimID
		for _, wrong := range []int64{0, -1, claim + 1000, 1 << 62, -1 << 63} {
			b.fails("WR009", "select weir.ack($1, $2, 1)", queue, wrong)
			b.fails("WR009", "select weir.ack_all($1, $2)", queue, wrong)
			b.fails("WR009", "select weir.nack($1, $2)", queue, wrong)
		}
		b.exec("select weir.create_queue('other')")
		b.fails("WR009", "select weir.ack_all('other', $1)", claim)
		b.fails("WR009", "select weir.ack('other', $1, 1)", claim)
		b.wantCount(1, "select weir.ack_all($1, $2)", queue, claim)
	})
}

func TestADropDisturbsNoOtherQueue(t *testing.T) {
	each(t, func(b bench) {
		b.exec("select weir.create_queue('other')")
		ids := b.send(5)
		claim := b.receive("default", 2)[0].ClaimID
		b.exec("select weir.send('other', '1'), weir.send('other', '2', delay => '1 minute')")
		sender := b.db.Conn(b) // an open transaction of another queue holds no drop up
		if _, err := sender.Exec(b.Context(),
			"begin; select weir.send('jobs', '1'); select count(*) from weir.receive('jobs')"); err != nil {
			b.Fatal(err)
		}
		b.exec("select set_config('lock_timeout', '1min', true), weir.drop_queue('other')")
		if _, err := sender.Exec(b.Context(), "rollback"); err != nil {
			b.Fatal(err)
		}
		b.wantCount(2, "select weir.ack_all($1, $2)", queue, claim)
		b.wantIDs("default", ids[2:]...)
	})
}

func TestADroppedGroupsClaimsAreTakenFromTheirHolders(t *testing.T) {
	each(t, func(b bench) {
		for _, ordered := range []bool{false, true} {
			b.exec("select weir.create_group($1, 'gone', ordered => $2)", queue, ordered)
			b.send(2)
			got := b.receive("gone", 10)
			b.exec("select weir.drop_group($1, 'gone')", queue)
			for _, sql := range end {
				b.fails("WR010", sql, queue, got[0].ClaimID, got[0].ID)
			}
			b.fails("WR010", "select weir.extend($1, $2, '1 hour')", queue, got[0].ClaimID)
		}
		b.fails("WR003", "select weir.receive($1, 'gone')", queue)
		b.fails("WR003", "select weir.drop_group($1, 'gone')", queue)
	})
}

// A message that is given back while its group, or its queue, is dropped goes nowhere, and nothing is left of it.
func TestADropWaitsForWhatIsGivenBackAndLeavesNothing(t *testing.T) {
	t.Parallel()
	for _, drop := range []string{"select weir.drop_group('jobs', 'gone')", "select weir.drop_queue('jobs')"} {
		t.Run(strings.Fields(drop)[1][5:15], func(t *testing.T) {
			each(t, func(b bench) {
				for verb, sql := range end {
					if verb == "ack" {
						continue
					}
					b.exec("select weir.create_queue($1)", queue)
					b.exec("select weir.create_group($1, 'gone', start => 'end')", queue)
					b.send(1)
					got := b.receive("gone", 1)[0]
					tx, err := b.db.Conn(b).Begin(b.Context())
					if err != nil {
						b.Fatal(err)
					}
					if _, err := tx.Exec(b.Context(), sql, queue, got.ClaimID, got.ID); err != nil {
						b.Fatal(err)
					}
					b.beside(drop, func() {
						if err := tx.Commit(b.Context()); err != nil {
							b.Fatal(err)
						}
					})
					b.wantCount(0, "select count(*) from weir_internal.dead_letters")
					b.wantCount(0, `select count(*) from weir_log.delayed d join weir_internal.groups g on g.no = d.group_no`)
				}
			})
		})
	}
}

// What leaves a key queue may leave a note for the next receive: of a group that is dropped meanwhile none stays.
func TestADropOfAGroupWaitsForWhatLeavesAKeyQueue(t *testing.T) {
	each(t, func(b bench) {
		for verb, sql := range end {
			b.exec("select weir.create_group($1, 'gone', ordered => true, start => 'end')", queue)
			b.send(1)
			b.exec("select weir.nack($1, claim_id, delay => '0') from weir.receive($1, 'gone')", queue)
			got := b.receive("gone", 1)[0]
			tx, err := b.db.Conn(b).Begin(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			if _, err := tx.Exec(b.Context(), sql, queue, got.ClaimID, got.ID); err != nil {
				b.Fatalf("%s: %v", verb, err)
			}
			b.beside("select weir.drop_group('jobs', 'gone')", func() {
				if err := tx.Commit(b.Context()); err != nil {
					b.Fatal(err)
				}
			})
			b.wantCount(0, "select count(*) from weir_internal.dead_letters")
			b.wantCount(0, "select count(*) from weir_log.parked")
		}
	})
}

// A queue is dropped in a moment, however much its groups have parked; maintain takes that away.
func TestWhatADroppedQueueHasParkedGoes(t *testing.T) {
	each(t, func(b bench) {
		b.exec("select weir.create_group($1, 'gone', ordered => true)", queue)
		b.exec(`select weir.send_batch($1, array_fill('1'::jsonb, array[2500]), array_fill('k'::text, array[2500]))`, queue)
		for range 3 {
			b.exec(`select weir.nack($1, m.claim_id, delay => '0')
				from (select distinct claim_id from weir.receive($1, 'gone', 1000)) m`, queue)
		}
		b.exec("select weir.drop_queue($1)", queue)
		if n := pgtest.QueryVal[int](b, b.db, "select count(*) from weir_log.parked"); n < 1000 {
			b.Fatalf("%d messages were parked: the test proves nothing", n)
		}
		surface.Settle(b, b.db.Pool(b))
		b.wantCount(0, "select pg_relation_size('weir_log.parked')")
	})
}

// beside runs a statement that waits for a lock until release was called.
func (b bench) beside(sql string, release func()) {
	b.Helper()
	conn := b.db.Conn(b)
	done := make(chan error, 1)
	go func() {
		_, err := conn.Exec(b.Context(), sql)
		done <- err
	}()
	pgtest.WaitForLock(b, b.db, conn.PgConn().PID())
	release()
	if err := <-done; err != nil {
		b.Fatalf("%s: %v", sql, err)
	}
}

// Who gives back while the drop is not committed yet waits, and is told.
func TestWhatIsGivenBackToAGroupThatIsBeingDroppedIsRefused(t *testing.T) {
	each(t, func(b bench) {
		for verb, sql := range end {
			if verb == "ack" {
				continue
			}
			b.exec("select weir.create_group($1, 'gone', start => 'end')", queue)
			b.send(1)
			got := b.receive("gone", 1)[0]
			tx, err := b.db.Conn(b).Begin(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			if _, err := tx.Exec(b.Context(), "select weir.drop_group('jobs', 'gone')"); err != nil {
				b.Fatal(err)
			}
			conn := b.db.Conn(b)
			ended := make(chan error, 1)
			go func() {
				_, err := conn.Exec(b.Context(), sql, queue, got.ClaimID, got.ID)
				ended <- err
			}()
			pgtest.WaitForLock(b, b.db, conn.PgConn().PID())
			if err := tx.Commit(b.Context()); err != nil {
				b.Fatal(err)
			}
			if err := <-ended; surface.SQLState(err) != "WR010" {
				b.Errorf("%s: %v", verb, err)
			}
		}
		b.wantCount(0, "select count(*) from weir_internal.dead_letters")
		b.wantCount(0, "select count(*) from weir_log.delayed")
	})
}

// A receive that has looked at a group must not claim for it once it is dropped, or has got a limit.
func TestAReceiveThatBeganBeforeAChangeOfItsGroupClaimsNothingPastIt(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]string{
		"drop":  "select weir.drop_group('jobs', 'default')",
		"limit": "select weir.configure_group('jobs', 'default', concurrency_max => 1)",
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(b bench) {
				b.send(1)
				b.receive("default", 1) // now the cursor has a row, and receives are plain
				b.send(3)
				// a clock that waits, when the group is being read, for who holds the lock 42
				b.exec(`create or replace function weir_internal.clock() returns timestamptz language plpgsql as $$
					begin
						case current_setting('weir_test.wait', true)
							when 'second call' then perform set_config('weir_test.wait', 'this call', false);
							when 'this call' then
								perform set_config('weir_test.wait', 'off', false);
								perform pg_advisory_xact_lock_shared(42);
							else
						end case;
						return clock_timestamp();
					end $$`)
				holder := b.db.As(b, pgtest.Owner)
				if _, err := holder.Exec(b.Context(), "select pg_advisory_lock(42)"); err != nil {
					b.Fatal(err)
				}
				late := b.db.As(b, pgtest.Owner)
				if _, err := late.Exec(b.Context(), "set weir_test.wait = 'second call'"); err != nil {
					b.Fatal(err)
				}
				received := make(chan int, 1)
				go func() {
					got, err := surface.Receive(b.Context(), late, queue, "default", 10, "1 hour")
					if err != nil && surface.SQLState(err) != "WR003" {
						b.Error(err)
					}
					received <- len(got)
				}()
				pgtest.WaitForLock(b, b.db, late.PgConn().PID())
				b.exec(change)
				if _, err := holder.Exec(b.Context(), "select pg_advisory_unlock(42)"); err != nil {
					b.Fatal(err)
				}
				if n := <-received; n > 0 && name == "drop" {
					b.Errorf("%d messages were claimed for a group that was dropped", n)
				}
				b.wantCount(0, `select count(*) from weir_log.claims_2 c where c.kind = 'c' and c.claim is not null
					and c.group_no not in (select no from weir_internal.groups) and c.id > (
						select max(id) from weir_log.claims_2 where kind = 'c' and claim is null)`)
			})
		})
	}
}

func TestAGroupIsNotDroppedInASnapshot(t *testing.T) {
	each(t, func(b bench) {
		tx, err := b.db.Conn(b).BeginTx(b.Context(), pgx.TxOptions{IsoLevel: pgx.RepeatableRead})
		if err != nil {
			b.Fatal(err)
		}
		_, err = tx.Exec(b.Context(), "select weir.drop_group($1, 'default')", queue)
		surface.WantState(b, err, "WR012")
		if err := tx.Rollback(context.WithoutCancel(b.Context())); err != nil {
			b.Fatal(err)
		}
	})
}

func TestAQueueAndAGroupAreMadeAndDroppedWithoutANotice(t *testing.T) {
	each(t, func(b bench) {
		config := b.db.Conn(b).Config()
		config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { b.Errorf("%s: %s", n.Severity, n.Message) }
		conn, err := pgx.ConnectConfig(b.Context(), config)
		if err != nil {
			b.Fatal(err)
		}
		defer conn.Close(context.WithoutCancel(b.Context())) //nolint:errcheck // nothing is left to say
		for _, sql := range []string{
			"select weir.create_queue('quiet')", "select weir.create_group('quiet', 'g')",
			"select weir.drop_group('quiet', 'g')", "select weir.drop_queue('quiet')",
		} {
			if _, err := conn.Exec(b.Context(), sql); err != nil {
				b.Error(err)
			}
		}
	})
}

func TestADroppedGroupLeavesNothingBehind(t *testing.T) {
	each(t, func(b bench) {
		b.exec("select weir.create_group($1, 'gone')", queue)
		ids := b.send(6)
		got := b.receive("gone", 3)
		b.exec(end["reject"], queue, got[0].ClaimID, got[0].ID)
		b.exec(end["nack"], queue, got[0].ClaimID, got[1].ID)
		b.exec("select weir.drop_group($1, 'gone')", queue)
		b.wantCount(0, "select count(*) from weir_internal.dead_letters")
		b.wantCount(0, "select count(*) from weir_log.delayed")
		b.exec("select weir.create_group($1, 'gone')", queue)
		b.wantCount(0, "select count(*) from weir.dead_letters($1, 'gone')", queue)
		b.wantIDs("gone", ids...)
		b.wantIDs("default", ids...)
	})
}
