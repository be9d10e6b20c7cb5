package throttle_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

func TestWhatEndsMakesRoomForAsMany(t *testing.T) {
	each(t, "concurrency_max => 3", func(b bench) {
		b.send(20)
		got := b.get(3, 10)
		b.get(0, 10)
		if held := heldBy(b); held != "concurrency" {
			b.Errorf("held by %q", held)
		}
		for i, end := range []string{
			"select weir.ack('jobs', %d, array[%d])", "select weir.nack('jobs', %d, array[%d], '1 hour')",
			"select weir.reject('jobs', %d, array[%d])",
		} {
			b.ok(fmt.Sprintf(end, got[i].ClaimID, got[i].ID))
			b.get(1, 10)
			b.get(0, 10)
		}
		b.clock.Advance(b, time.Minute) // all three expire, and come again in their own places
		again := b.get(3, 10)
		b.get(0, 10)
		if again[0].Attempt != 2 {
			b.Errorf("delivered %v, want those that expired", again)
		}
		b.ok(fmt.Sprintf("select weir.release('jobs', %d, array[%d])", again[0].ClaimID, again[0].ID))
		b.get(1, 10)
		b.clock.Advance(b, 2*time.Hour)
		if n := b.drain(b.conn, 10); n != 18 { // 20 less one acknowledged and one rejected
			b.Errorf("drained %d, want 18", n)
		}
		if held := heldBy(b); held != "" {
			b.Errorf("held by %q with nothing claimed", held)
		}
	})
}

func TestEveryWayToReceiveKeepsToTheLimit(t *testing.T) {
	each(t, "concurrency_max => 3", func(b bench) {
		b.send(40)
		n := pgtest.QueryVal[int64](b, b.db, "select count(*) from weir.pop('jobs', 'limited', 10)")
		if n != 3 {
			b.Errorf("popped %d, want 3", n)
		}
		records, err := surface.ReceiveRecords(b.Context(), b.conn, queue, "limited", 10, "30 seconds")
		if err != nil {
			b.Fatal(err)
		}
		sum := 0
		for _, r := range records {
			sum += r.N
			b.ok(fmt.Sprintf("select weir.ack('jobs', %d)", r.ClaimID))
		}
		if sum != 3 {
			b.Errorf("received records of %d messages, want 3", sum)
		}
		claims := pgtest.QueryAll[int64](b, b.db, `select distinct unnest(claim_ids) from weir.receive_many('jobs', 'limited',
			array[2, 2, 2], array['30 seconds', '40 seconds', '50 seconds']::interval[]) order by 1`)
		if len(claims) != 2 {
			b.Errorf("received for %v, want two of the requests", claims)
		}
		b.get(0, 10)
		b.ok(fmt.Sprintf("select weir.ack_many('jobs', array[%d])", claims[1]))
		b.get(1, 10)
		b.get(0, 10) // the other part of what was shared out counts still
	})
}

func TestWhatRollsBackHeldNoRoom(t *testing.T) {
	each(t, "concurrency_max => 2", func(b bench) {
		b.send(10)
		tx := b.begin()
		if got := receive(b.T, tx, "limited", 10); len(got) != 2 {
			b.Fatalf("received %v", got)
		}
		if err := tx.Rollback(b.Context()); err != nil {
			b.Fatal(err)
		}
		got := b.get(2, 10)
		tx = b.begin()
		for _, m := range got { // an ack that is not committed makes no room for others
			if _, err := surface.Ack(b.Context(), tx, queue, m.ClaimID, []int64{m.ID}); err != nil {
				b.Fatal(err)
			}
		}
		b.get(0, 10)
		b.clock.Advance(b, time.Minute)
		b.get(0, 10) // nor does the end of its lease
		if err := tx.Commit(b.Context()); err != nil {
			b.Fatal(err)
		}
		b.get(2, 10)
	})
}

func TestATransactionThatReceivesKeepsItsGroupAndNoOther(t *testing.T) {
	each(t, "concurrency_max => 5", func(b bench) {
		b.send(10)
		tx := b.begin()
		got := receive(b.T, tx, "limited", 2)
		if len(got) != 2 {
			b.Fatalf("received %v", got)
		}
		b.get(0, 10) // a little later, without an error
		if n := len(receive(b.T, b.conn, "default", 10)); n == 0 {
			b.Error("another group waits for the limited one")
		}
		if err := tx.Commit(b.Context()); err != nil {
			b.Fatal(err)
		}
		b.get(3, 10)
	})
}

func TestAnEmptyReceiveWritesNothingAndKeepsNothing(t *testing.T) {
	each(t, "concurrency_max => 2, rate_max => 1000", func(b bench) {
		b.send(10)
		got := b.get(2, 10)
		b.get(0, 10) // leaves the mark that somebody waits
		tx := b.begin()
		if got := receive(b.T, tx, "limited", 10); len(got) != 0 {
			b.Fatalf("received %v", got)
		}
		var xid *string
		if err := tx.QueryRow(b.Context(), "select pg_current_xact_id_if_assigned()::text").Scan(&xid); err != nil {
			b.Fatal(err)
		}
		if xid != nil {
			b.Errorf("an empty receive took the transaction id %s", *xid)
		}
		b.ok(fmt.Sprintf("select weir.ack('jobs', %d)", got[0].ClaimID))
		if len(receive(b.T, b.conn, "limited", 10)) == 0 { // while that transaction is open
			b.Error("an empty receive keeps others out")
		}
	})
}

func TestAnAckWakesWhoWaitsForRoom(t *testing.T) {
	each(t, "concurrency_max => 1", func(b bench) {
		b.send(3)
		got := b.get(1, 10)
		waiter := b.db.Conn(b)
		for _, sql := range []string{`listen "weir:jobs"`, "select weir.mark_waiting('jobs')"} {
			if _, err := waiter.Exec(b.Context(), sql); err != nil {
				b.Fatal(err)
			}
		}
		for _, ack := range []string{"ack('jobs', %d)", "ack_many('jobs', array[%d::bigint])"} {
			if got := receive(b.T, waiter, "limited", 10); len(got) != 0 {
				b.Fatalf("received %v", got)
			}
			b.ok("select weir." + fmt.Sprintf(ack, got[0].ClaimID))
			woken, stop := context.WithTimeout(b.Context(), 3*time.Minute)
			_, err := waiter.WaitForNotification(woken)
			stop()
			if err != nil {
				b.Fatalf("%s woke nobody: %v", ack, err)
			}
			if got = receive(b.T, waiter, "limited", 10); len(got) != 1 {
				b.Errorf("woken for %v", got)
			}
		}
	})
}

func TestAGroupInUseIsGivenAnotherLimitAndNone(t *testing.T) {
	each(t, "backoff_min => '0'", func(b bench) {
		b.send(40)
		first := b.get(6, 6)
		b.ok("select weir.nack('jobs', claim_id, array[id], '0') from weir.receive('jobs', 'limited')")
		b.ok("select weir.configure_group('jobs', 'limited', concurrency_max => 8)")
		b.get(2, 10) // what was claimed before counts
		b.ok("select weir.configure_group('jobs', 'limited', concurrency_max => 4)")
		b.get(0, 10)
		for _, m := range first {
			b.ok(fmt.Sprintf("select weir.ack('jobs', %d, array[%d])", m.ClaimID, m.ID))
		}
		b.get(2, 10)
		b.ok("select weir.configure_group('jobs', 'limited', concurrency_max => 0)")
		b.get(10, 10)
		b.ok("select weir.configure_group('jobs', 'limited', concurrency_max => 15)")
		b.get(1, 10)
		b.ok("select weir.configure_group('jobs', 'limited', concurrency_max => 0, rate_max => 3)")
		b.get(3, 10)
		b.ok("select weir.configure_group('jobs', 'limited', concurrency_max => 20, rate_max => 0)")
		b.get(2, 10)
		for _, wrong := range []string{
			"concurrency_max => -1", "concurrency_max => 10001", "rate_max => -1",
			"rate_max => 5, rate_period => '0'", "rate_period => '31 days'",
		} {
			_, err := b.conn.Exec(b.Context(), "select weir.configure_group('jobs', 'limited', "+wrong+")")
			surface.WantState(b, err, "WR006")
		}
	})
}

func TestAReceiveThatIsUnderWayWhenItsGroupIsGivenALimitKeepsToIt(t *testing.T) {
	each(t, "backoff_min => '0'", func(b bench) {
		b.send(3)
		b.get(1, 1)
		b.ok("select weir.nack('jobs', claim_id, array[id], '0') from weir.receive('jobs', 'limited')")
		tx := b.begin()
		if _, err := tx.Exec(b.Context(), "lock table weir_internal.q1_later"); err != nil {
			b.Fatal(err)
		}
		slow, received := b.db.Conn(b), make(chan []surface.Message)
		if _, err := slow.Exec(b.Context(), "select setseed(0.5)"); err != nil { // not the call in 32 that begins with lanes
			b.Fatal(err)
		}
		go func() {
			got, err := surface.Receive(b.Context(), slow, queue, "limited", 10, "30 seconds")
			if err != nil {
				b.Error(err)
			}
			received <- got
		}()
		pgtest.WaitFor(b, "the receive looks for what is due", func() bool {
			return pgtest.QueryVal[bool](b, b.db, `select exists (select from pg_locks
				where not granted and relation = 'weir_internal.q1_later'::regclass)`)
		})
		b.ok("select weir.configure_group('jobs', 'limited', concurrency_max => 1)")
		if err := tx.Commit(b.Context()); err != nil {
			b.Fatal(err)
		}
		if got := <-received; len(got) != 0 {
			b.Errorf("received %v with one message claimed of one allowed", got)
		}
	})
}

func TestALimitOutlastsWhatIsDoneToTheGroup(t *testing.T) {
	each(t, "concurrency_max => 2", func(b bench) {
		b.send(30)
		b.get(2, 10)
		b.ok("select weir.pause('jobs', 'limited')")
		b.get(0, 10)
		b.ok("select weir.resume('jobs', 'limited')")
		b.get(0, 10)
		b.ok("select weir.rename_queue('jobs', 'works')")
		b.ok("select weir.rename_queue('works', 'jobs')")
		b.get(0, 10)
		b.ok("select weir.seek('jobs', 'limited', 'start')") // ends the claims
		b.get(2, 10)
		b.get(0, 10)
		b.ok("select weir.purge('jobs', 'limited')")
		b.send(30)
		b.get(2, 10)
		b.ok("select weir.configure_queue('jobs', claims_bytes => 65536)")
		for range 300 { // turns the claim log
			b.ok("select weir.ack('jobs', claim_id) from weir.receive('jobs', 'default', 1)")
			b.ok("select weir.send('jobs', '1')")
			b.ok("select weir.maintain()")
		}
		if n := pgtest.QueryVal[int64](b, b.db, "select last_value from weir_internal.q1_claims_ring"); n < 4 {
			b.Errorf("the claim log has not turned: %d", n)
		}
		b.get(0, 10)
		b.ok("select weir.drop_group('jobs', 'limited')")
		b.ok("select weir.create_group('jobs', 'limited', concurrency_max => 3)")
		b.get(3, 10)
		b.get(0, 10)
		b.ok("select weir.drop_queue('jobs')")
		left := pgtest.QueryVal[int64](b, b.db,
			"select count(*) from pg_class where relnamespace = 'weir_internal'::regnamespace and relname ~ '^q1_'")
		if left != 0 {
			b.Errorf("%d relations of the queue are left", left)
		}
	})
}

func TestOrderedAndDelayedMessagesKeepToTheLimit(t *testing.T) {
	each(t, "ordered => true, concurrency_max => 3, backoff_min => '0'", func(b bench) {
		b.ok("select weir.send('jobs', to_jsonb(i), 'k' || i) from generate_series(1, 20) i")
		b.ok("select weir.send('jobs', to_jsonb(i), 'd' || i, delay => '1 minute') from generate_series(1, 20) i")
		got := b.get(3, 10)
		b.clock.Advance(b, 10*time.Second) // past the group's patience
		b.get(0, 10)
		b.ok(fmt.Sprintf("select weir.nack('jobs', %d, array[%d])", got[0].ClaimID, got[0].ID))
		b.get(1, 10)
		b.get(0, 10)
		b.clock.Advance(b, 2*time.Minute)
		if n := b.drain(b.conn, 10); n != 40 {
			b.Errorf("drained %d, want 40", n)
		}
	})
}

func TestDoctorNamesALimitThatStarves(t *testing.T) {
	each(t, "concurrency_max => 1", func(b bench) {
		b.send(3)
		tx := b.begin()
		if got := receive(b.T, tx, "limited", 1); len(got) != 1 {
			b.Fatal(got)
		}
		b.clock.Advance(b, 20*time.Minute)
		holds := pgtest.QueryAll[string](b, b.db, "select finding from weir.doctor() where queue_name = 'jobs'")
		if err := tx.Commit(b.Context()); err != nil {
			b.Fatal(err)
		}
		b.ok("select weir.extend('jobs', claim_id, '1 hour') from weir.receive('jobs', 'limited')")
		starves := pgtest.QueryAll[string](b, b.db,
			"select value from weir.doctor() where group_name = 'limited' and finding = 'limit_starves'")
		if fmt.Sprint(starves) != "[concurrency]" || !contains(holds, "transaction_holds_lanes") {
			b.Errorf("doctor says %v, and before %v", starves, holds)
		}
	})
}

func contains(list []string, want string) bool {
	for _, s := range list {
		if s == want {
			return true
		}
	}
	return false
}

// A call that began before the limit was set runs the function as it was without, and finds the limit in the group.
func TestAReceiveThatBeganBeforeTheLimitClaimsNothing(t *testing.T) {
	t.Parallel()
	for _, settings := range []string{"ordered => true", "ordered => false"} {
		t.Run(settings, func(t *testing.T) {
			each(t, settings, func(b bench) {
				b.send(3)
				for _, m := range b.get(3, 3)[1:] { // so that there is something in each place to claim from
					b.ok(fmt.Sprintf("select weir.nack('jobs', %d, array[%d], '0')", m.ClaimID, m.ID))
				}
				b.send(3)
				old := b.db.Conn(b)
				receive(b.T, old, "limited", 1) // it has the function as it is
				var got []surface.Message
				const limit = "select weir.configure_group('jobs', 'limited', concurrency_max => 1)"
				b.before(old, "weir_internal.groups", limit, func() (err error) {
					got, err = surface.Receive(b.Context(), old, queue, "limited", 10, "30 seconds")
					return err
				})
				if len(got) > 0 {
					b.Errorf("received %v past the limit", got)
				}
			})
		})
	}
}

// A call that waits for its group's turn reads the group again when it has it, and may find a limit that its function
// does not know.
func TestAReceiveThatReadTheGroupBeforeItsKeyLimitClaimsNothing(t *testing.T) {
	each(t, "concurrency_max => 9", func(b bench) {
		b.sendKeys(6, 1)
		old := b.db.Conn(b)
		receive(b.T, old, "limited", 1) // it has the function as it is, and one message of the key
		const configure = "select weir.configure_group('jobs', 'limited', key_concurrency_max => 1)"
		b.before(old, "weir_internal.q1_claims_0, weir_internal.q1_claims_1", configure, func() error {
			got, err := surface.Receive(b.Context(), old, queue, "limited", 10, "30 seconds")
			if len(got) > 0 {
				b.Errorf("received %v past the limit", got)
			}
			return err
		})
		b.get(0, 10)
	})
}

// What receives for many shares a claim out among them, and the shares count for limits that are newer than itself.
func TestAReceiveForManyThatBeganBeforeTheLimitIsCounted(t *testing.T) {
	t.Parallel()
	for _, limit := range []string{"concurrency_max => 2", "key_concurrency_max => 2"} {
		t.Run(limit, func(t *testing.T) {
			each(t, "ordered => false", func(b bench) {
				b.sendKeys(6, 1)
				old := b.db.Conn(b)
				configure := fmt.Sprintf("select weir.configure_group('jobs', 'limited', %s)", limit)
				b.before(old, "weir_internal.groups", configure, func() error {
					_, err := old.Exec(b.Context(), `select weir.receive_many('jobs', 'limited', array[1, 1],
						array['30 seconds', '30 seconds']::interval[])`)
					return err
				})
				b.get(0, 10)
			})
		})
	}
}
