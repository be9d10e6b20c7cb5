package pause_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

// What uses the queue takes its locks in another order than the drop does.
func TestAQueueInUseIsDroppedWithoutADeadlock(t *testing.T) {
	each(t, "2", func(b bench) {
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
			b.wantCount(0, "select count(*) from pg_class where relname ~ '^q\\d+_'")
			b.exec("select weir.create_queue($1, lanes => 2)", queue)
		}
	})
}

func TestADroppedGroupsClaimsAreTakenFromTheirHolders(t *testing.T) {
	each(t, "2", func(b bench) {
		for _, ordered := range []bool{false, true} {
			b.exec("select weir.create_group($1, 'gone', ordered => $2)", queue, ordered)
			b.send(2)
			claim := b.receive("gone", 10)[0].ClaimID
			b.exec("select weir.drop_group($1, 'gone')", queue)
			for _, verb := range []string{"ack", "nack", "reject", "release"} {
				_, err := surface.End{Verb: verb, Claim: claim}.Alone(b.Context(), b.db.Pool(b), queue)
				surface.WantState(b, err, "WR010")
			}
			_, err := surface.Extend(b.Context(), b.db.Pool(b), queue, claim, "1 hour")
			surface.WantState(b, err, "WR010")
		}
	})
}

// A message that is given back to a group which is dropped at this moment goes to no other group.
func TestWhatIsGivenBackToAGroupThatIsBeingDroppedGoesToNoOther(t *testing.T) {
	each(t, "1", func(b bench) {
		for _, ordered := range []bool{false, true} {
			for _, verb := range []string{"nack", "release", "reject"} {
				conn := b.db.Conn(b)
				end := func(claim int64) error {
					_, err := surface.End{Verb: verb, Claim: claim, Delay: surface.Text("0")}.Alone(b.Context(), conn, queue)
					return err
				}
				for _, name := range []string{"before", "gone"} {
					b.exec("select weir.create_group($1, $2, ordered => $3, start => 'end')", queue, name, ordered)
				}
				ids := b.send(2)
				b.wantIDs("default", ids...)
				b.exec("select weir.ack($1, claim_id) from (select distinct claim_id from weir.claims($1, 'default')) c", queue)
				if err := end(b.receive("before", 10)[0].ClaimID); err != nil { // later calls look nothing up but rows
					b.Fatal(err)
				}
				b.exec("select weir.drop_group($1, 'before')", queue)
				claim := b.receive("gone", 10)[0].ClaimID
				tx, err := b.db.Pool(b).Begin(b.Context())
				if err != nil {
					b.Fatal(err)
				}
				for _, sql := range []string{
					"lock table weir_internal.groups in access exclusive mode",
					"select weir.drop_group('jobs', 'gone')",
				} {
					if _, err := tx.Exec(b.Context(), sql); err != nil {
						b.Fatal(err)
					}
				}
				ended := make(chan error, 1)
				go func() { ended <- end(claim) }()
				pgtest.WaitForLock(b, b.db, conn.PgConn().PID())
				if err := tx.Commit(b.Context()); err != nil {
					b.Fatal(err)
				}
				if err := <-ended; surface.SQLState(err) != "WR010" {
					b.Errorf("%s, ordered %t: %v", verb, ordered, err)
				}
				b.wantIDs("default")
			}
		}
	})
}

// What is given back is committed before the drop, or told that its claim is gone: else rows would stay of no group.
func TestADropOfAGroupWaitsForWhatIsGivenBackToIt(t *testing.T) {
	each(t, "1", func(b bench) {
		for _, ordered := range []bool{false, true} {
			for _, verb := range []string{"nack", "release", "reject"} {
				b.exec("select weir.create_group($1, 'gone', ordered => $2, start => 'end')", queue, ordered)
				b.send(1)
				b.dropBeside(surface.End{Verb: verb, Claim: b.receive("gone", 1)[0].ClaimID})
			}
		}
	})
}

// A message that left its line may leave a note for the next receive.
func TestADropOfAGroupWaitsForWhatLeavesALine(t *testing.T) {
	each(t, "1", func(b bench) {
		for _, verb := range []string{"ack", "nack", "release", "reject"} {
			b.exec("select weir.create_group($1, 'gone', ordered => true, start => 'end')", queue)
			b.send(1)
			b.exec("select weir.nack($1, $2, delay => '0')", queue, b.receive("gone", 1)[0].ClaimID)
			b.dropBeside(surface.End{Verb: verb, Claim: b.receive("gone", 1)[0].ClaimID})
		}
	})
}

// dropBeside drops the group "gone" while a transaction is open that settled a claim of it; nothing of it may be left
// when both are committed.
func (b bench) dropBeside(call surface.End) {
	b.Helper()
	tx, err := b.db.Conn(b).Begin(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	if _, err := call.Alone(b.Context(), tx, queue); err != nil {
		b.Fatalf("%s: %v", call.Verb, err)
	}
	conn := b.db.Conn(b)
	dropped := make(chan error, 1)
	go func() {
		_, err := conn.Exec(b.Context(), "select weir.drop_group($1, 'gone')", queue)
		dropped <- err
	}()
	pgtest.WaitForLock(b, b.db, conn.PgConn().PID())
	if err := tx.Commit(b.Context()); err != nil {
		b.Fatal(err)
	}
	if err := <-dropped; err != nil {
		b.Fatalf("drop beside %s: %v", call.Verb, err)
	}
	surface.Settle(b, b.db.Pool(b)) // what is left in "later" is for maintenance
	for _, table := range []string{"dead_letters", "q1_parked", "q1_later"} {
		if n := pgtest.QueryVal[int](b, b.db, "select count(*) from weir_internal."+table); n != 0 {
			b.Errorf("%s: %d rows of %s are left of a group that is gone", call.Verb, n, table)
		}
	}
}

func TestAGroupIsNotDroppedInASnapshot(t *testing.T) {
	each(t, "1", func(b bench) {
		tx, err := b.db.Conn(b).BeginTx(b.Context(), pgx.TxOptions{IsoLevel: pgx.RepeatableRead})
		if err != nil {
			b.Fatal(err)
		}
		_, err = tx.Exec(b.Context(), "select weir.drop_group($1, 'default')", queue)
		surface.WantState(b, err, "WR012")
		if err := tx.Rollback(b.Context()); err != nil {
			b.Fatal(err)
		}
	})
}

// Who has read a group that is dropped meanwhile, and whose claims are cleared away, meets no broken queue.
func TestTheCursorOfAGroupThatIsGoneIsNoDefect(t *testing.T) {
	each(t, "1", func(b bench) {
		b.exec("select weir.create_group($1, 'gone')", queue)
		b.exec("update weir_internal.queues set claims_bytes = 8192")
		cursor := fmt.Sprintf("select weir_internal.q1_cursor(%d::smallint)", pgtest.QueryVal[int](b, b.db,
			"select no * 2 from weir_internal.groups where name = 'gone'"))
		b.exec(cursor)
		b.exec("select weir.drop_group($1, 'gone')", queue)
		b.exec(cursor)
		for range 3 { // a transaction each
			b.wantCount(1, "select weir_internal.rotate_claims(q) from weir_internal.queues q")
		}
		b.fails("WR003", cursor)
	})
}

func TestAQueueAndAGroupAreMadeAndDroppedWithoutANotice(t *testing.T) {
	each(t, "2", func(b bench) {
		config := b.db.Conn(b).Config()
		config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { b.Errorf("%s: %s", n.Severity, n.Message) }
		conn, err := pgx.ConnectConfig(b.Context(), config)
		if err != nil {
			b.Fatal(err)
		}
		defer conn.Close(b.Context()) //nolint:errcheck // nothing is left to say
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
		if state := surface.SQLState(err); strings.HasPrefix(state, "40") || state == "" {
			b.Errorf("use of a queue that is dropped: %v", err)
		} else if n > 3 && !goneStates[state] {
			b.Errorf("use of a queue that is gone: %v", err)
		}
		return
	}
}

// goneStates are what a call may meet that was under way when the queue went, and one that came after.
var goneStates = map[string]bool{"WR001": true, "42883": true, "42P01": true, "XX000": true}

// A later group may get the number of one that is gone.
func TestADroppedGroupLeavesNothingBehind(t *testing.T) {
	each(t, "1", func(b bench) {
		for _, kind := range []string{
			"ordered => false", "ordered => true", "concurrency_max => 9, rate_max => 9", "key_concurrency_max => 1",
		} {
			b.exec("select weir.create_group($1, 'gone', "+kind+")", queue)
			for _, end := range []string{"reject", "nack", "extend"} {
				b.exec("select weir.send($1, '1', $2) from generate_series(1, 2)", queue, end)
				got := b.receive("gone", 1)
				if len(got) != 1 {
					b.Fatalf("%s: received %v", kind, got)
				}
				more := map[string]string{"nack": ", delay => '1 hour'", "extend": ", '1 hour'"}[end]
				b.exec("select weir."+end+"($1, $2"+more+")", queue, got[0].ClaimID)
			}
			b.receive("gone", 9)
			b.wantCount(1, "select count(*) from weir.dead_letters($1, 'gone')", queue)
			b.exec("select weir.drop_group($1, 'gone')", queue)
			for _, table := range pgtest.QueryAll[string](b, b.db, `select relname::text from pg_class
				where relname in ('dead_letters', 'q1_parked', 'q1_lines', 'q1_turns')`) {
				b.wantCount(0, "select count(*) from weir_internal."+table)
			}
			b.wantCount(0, "select count(*) from pg_class where relname like 'q1_rate_%'")
			b.exec("select weir.create_group($1, 'gone')", queue)
			b.wantCount(0, "select count(*) from weir.dead_letters($1, 'gone')", queue)
			b.wantCount(0, "select count(*) from weir.claims($1, 'gone')", queue)
			b.wantCount(0, "select count(*) from weir.delayed($1, 'gone')", queue)
			b.exec("select weir.drop_group($1, 'gone')", queue)
			ids := "select id from weir.peek($1, max => 1000) order by id"
			b.wantIDs("default", pgtest.QueryAll[int64](b, b.db, ids, queue)...)
		}
	})
}
