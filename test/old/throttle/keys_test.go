package throttle_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

// sendTo sends n messages of one key in one batch.
func (b bench) sendTo(key string, n int) {
	b.Helper()
	if _, err := b.conn.Exec(b.Context(), `select count(*) from weir.send_batch('jobs',
		array_fill('1'::jsonb, array[$2::int]), array_fill($1::text, array[$2::int]))`, key, n); err != nil {
		b.Fatal(err)
	}
}

// byKey receives and wants so many messages of each key, as in "a2 b1".
func (b bench) byKey(want string, n int) []surface.Message {
	b.Helper()
	got := receive(b.T, b.conn, "limited", n)
	if counts := keyCounts(got); counts != want {
		b.Fatalf("received of each key %q, want %q", counts, want)
	}
	return got
}

func keyCounts(got []surface.Message) string {
	counts := map[string]int{}
	for _, m := range got {
		if m.Key == nil {
			counts["-"]++
		} else {
			counts[*m.Key]++
		}
	}
	var out []string
	for _, key := range []string{"-", "a", "b", "c", "d"} {
		if counts[key] > 0 {
			out = append(out, fmt.Sprint(key, counts[key]))
		}
	}
	return strings.Join(out, " ")
}

// end calls a function of one message of a claim.
func (b bench) end(function string, m surface.Message, more string) {
	b.Helper()
	b.ok(fmt.Sprintf("select weir.%s('jobs', %d, array[%d]%s)", function, m.ClaimID, m.ID, more))
}

func (b bench) parked() int64 {
	b.Helper()
	return pgtest.QueryVal[int64](b, b.db, "select parked from weir.stats('jobs') where group_name = 'limited'")
}

func TestNoKeyHasMoreClaimedThanItsLimit(t *testing.T) {
	each(t, "key_concurrency_max => 2, max_attempts => 3", func(b bench) {
		b.sendTo("a", 30)
		b.sendTo("b", 1)
		got := b.byKey("a2 b1", 10)
		b.byKey("", 10)
		if held, parked := heldBy(b), b.parked(); held != "key_concurrency" || parked != 28 {
			b.Errorf("held by %q, %d parked", held, parked)
		}
		b.sendTo("b", 2)
		b.byKey("b1", 10)
		for _, call := range []struct{ function, more string }{
			{"ack", ""}, {"nack", ", '1 hour'"}, {"reject", ""}, {"release", ""}, {"nack", ", '0'"},
		} {
			b.byKey("", 10)
			b.end(call.function, got[0], call.more)
			got = b.byKey("a1", 10)
		}
		b.ok(fmt.Sprintf("select weir.extend('jobs', %d, '10 minutes')", got[0].ClaimID))
		b.clock.Advance(b, time.Minute) // the lease of all but that one
		again := b.byKey("a1 b2", 10)
		b.byKey("", 10)
		b.end("ack", again[0], "")
		b.clock.Advance(b, 2*time.Hour)
		b.byKey("a2 b2", 10)
	})
}

// TestWhoHasReadALimitSinceLiftedFindsTheClaims asks what a receive and stats ask while the turn is not theirs.
func TestWhoHasReadALimitSinceLiftedFindsTheClaims(t *testing.T) {
	each(t, "key_concurrency_max => 1", func(b bench) {
		b.ok("select weir.create_group('jobs', 'other', key_concurrency_max => 1)") // so that the functions stay
		b.sendTo("a", 3)
		b.byKey("a1", 10)
		b.ok("create temp table was as select g from weir_internal.groups g where g.name = 'limited'")
		b.ok("select weir.configure_group('jobs', 'limited', key_concurrency_max => 0)")
		b.ok("update weir_internal.queues set claims_bytes = 1")
		for range 4 {
			b.ok("select weir_internal.rotate_claims(q) from weir_internal.queues q")
		}
		if ring := pgtest.QueryVal[int64](b, b.db, "select last_value from weir_internal.q1_claims_ring"); ring < 2 {
			b.Fatalf("the ring of claims is at %d", ring)
		}
		b.ok("select weir_internal.q1_flight(g, null) from was")
	})
}

func TestEveryWayToReceiveKeepsToTheLimitOfAKey(t *testing.T) {
	each(t, "key_concurrency_max => 3", func(b bench) {
		b.sendTo("a", 40)
		if n := pgtest.QueryVal[int64](b, b.db, "select count(*) from weir.pop('jobs', 'limited', 10)"); n != 3 {
			b.Errorf("popped %d, want 3", n)
		}
		records, err := surface.ReceiveRecords(b.Context(), b.conn, queue, "limited", 10, "30 seconds")
		if err != nil || len(records) != 1 || records[0].N != 3 {
			b.Fatalf("received %v, %v", records, err)
		}
		b.ok(fmt.Sprintf("select weir.ack('jobs', %d)", records[0].ClaimID))
		claims := pgtest.QueryAll[int64](b, b.db, `select distinct unnest(claim_ids)
			from weir.receive_many('jobs', 'limited', array[2, 2, 2],
				array['30 seconds', '40 seconds', '50 seconds']::interval[]) order by 1`)
		if len(claims) != 2 {
			b.Errorf("received for %v, want two of the requests", claims)
		}
		b.byKey("", 10)
		b.ok(fmt.Sprintf("select weir.ack_many('jobs', array[%d])", claims[1]))
		b.byKey("a1", 10)
		b.byKey("", 10) // the other part of what was shared out counts still
	})
}

func TestKeysTakeTurns(t *testing.T) {
	each(t, "fair => true", func(b bench) {
		b.sendTo("a", 50)
		b.sendTo("b", 5)
		b.sendTo("c", 5)
		b.ok("select weir.send('jobs', '1') from generate_series(1, 3)")
		b.byKey("-1 a1 b1 c1", 4)
		b.byKey("-2 a2 b2 c2", 8)
		b.byKey("a4 b2 c2", 8)
		b.sendTo("d", 4)
		b.byKey("a2 d2", 4)
		if n := b.drain(b.conn, 100); n != 67-24 {
			b.Errorf("drained %d", n)
		}
		if held := heldBy(b); held != "" {
			b.Errorf("held by %q", held)
		}
	})
}

// TestAKeysBacklogDelaysNoOtherBeyondTheBound holds what the docs promise: each receive takes at least 1,000 messages
// out of the log, and what is out of it is delivered when every key that waits has had a turn.
func TestAKeysBacklogDelaysNoOtherBeyondTheBound(t *testing.T) {
	t.Parallel()
	for _, settings := range []string{"fair => true", "key_concurrency_max => 10"} {
		t.Run(settings, func(t *testing.T) {
			each(t, settings, func(b bench) {
				for range 5 {
					b.sendTo("a", 1000)
				}
				b.sendTo("b", 1)
				received := 0
				for range 6 {
					for _, m := range receive(b.T, b.conn, "limited", 10) {
						if *m.Key == "b" {
							received++
						}
						b.end("ack", m, "")
					}
				}
				if received != 1 {
					b.Errorf("after 6 receives with 5,000 messages before it, the message came %d times", received)
				}
				b.sendTo("c", 1)
				b.sendTo("d", 2)
				b.byKey("a1 c1 d1", 3)
			})
		})
	}
}

// TestALimitedKeyTakesNoRoomFromOthers: the limit of the group is used up by keys that may have more.
func TestALimitedKeyTakesNoRoomFromOthers(t *testing.T) {
	each(t, "key_concurrency_max => 2, concurrency_max => 5, rate_max => 8, rate_period => '1 hour'", func(b bench) {
		b.sendTo("a", 20)
		b.sendTo("b", 2)
		b.sendTo("c", 2)
		got := receive(b.T, b.conn, "limited", 10)
		if counts := keyCounts(got); len(got) != 5 || counts[:2] == "a3" {
			b.Fatalf("received of each key %q", counts)
		}
		b.byKey("", 10)
		if held := heldBy(b); held != "concurrency" {
			b.Errorf("held by %q", held)
		}
		for _, m := range got {
			b.end("ack", m, "")
		}
		b.get(3, 10)
		if held := heldBy(b); held != "rate" {
			b.Errorf("held by %q", held)
		}
	})
}

func TestADelayedAndAnExpiredMessageKeepToTheLimitOfTheirKey(t *testing.T) {
	each(t, "key_concurrency_max => 1, backoff_min => '0', max_attempts => 4", func(b bench) {
		b.ok("select weir.send('jobs', '1', 'a', delay => '1 minute') from generate_series(1, 5)")
		b.sendTo("a", 1)
		first := b.byKey("a1", 10)
		b.clock.Advance(b, 2*time.Minute)
		second := b.byKey("a1", 10)
		if second[0].ID == first[0].ID && second[0].Attempt != 2 {
			b.Errorf("received %v after %v", second, first)
		}
		b.byKey("", 10)
		deaths := 0
		for range 40 {
			b.clock.Advance(b, time.Minute)
			if got := receive(b.T, b.conn, "limited", 10); len(got) > 1 {
				b.Fatalf("received %v", got)
			} else if len(got) == 0 {
				deaths++
			}
		}
		if n := pgtest.QueryVal[int64](b, b.db, "select count(*) from weir.dead_letters('jobs', 'limited')"); n != 6 {
			b.Errorf("%d dead letters, want 6; %d receives were empty", n, deaths)
		}
		b.ok("select weir.redrive('jobs', 'limited')")
		b.byKey("a1", 10)
	})
}

func TestAnAckWakesWhoWaitsForAKey(t *testing.T) {
	each(t, "key_concurrency_max => 1", func(b bench) {
		b.sendTo("a", 3)
		got := b.byKey("a1", 10)
		waiter := b.db.Conn(b)
		for _, sql := range []string{`listen "weir:jobs"`, "select weir.mark_waiting('jobs')"} {
			if _, err := waiter.Exec(b.Context(), sql); err != nil {
				b.Fatal(err)
			}
		}
		if got := receive(b.T, waiter, "limited", 10); len(got) != 0 {
			b.Fatalf("received %v", got)
		}
		b.ok(fmt.Sprintf("select weir.ack('jobs', %d)", got[0].ClaimID))
		if _, err := waiter.WaitForNotification(b.Context()); err != nil {
			b.Fatal(err)
		}
		if got := receive(b.T, waiter, "limited", 10); len(got) != 1 {
			b.Errorf("woken for %v", got)
		}
	})
}

func TestAnEmptyReceiveOfStoppedKeysWritesNothing(t *testing.T) {
	each(t, "key_concurrency_max => 1", func(b bench) {
		b.sendTo("a", 10)
		got := b.byKey("a1", 10)
		b.byKey("", 10)
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
		b.end("ack", got[0], "")
		b.byKey("a1", 10) // while that transaction is open
	})
}

func TestWhatRollsBackLeavesItsKeyAsItWas(t *testing.T) {
	each(t, "key_concurrency_max => 2", func(b bench) {
		b.sendTo("a", 10)
		tx := b.begin()
		if got := keyCounts(receive(b.T, tx, "limited", 10)); got != "a2" {
			b.Fatalf("received %q", got)
		}
		if err := tx.Rollback(b.Context()); err != nil {
			b.Fatal(err)
		}
		got := b.byKey("a2", 10)
		tx = b.begin()
		for _, m := range got { // an ack that is not committed makes no room for others
			if _, err := surface.Ack(b.Context(), tx, queue, m.ClaimID, []int64{m.ID}); err != nil {
				b.Fatal(err)
			}
		}
		b.byKey("", 10)
		b.clock.Advance(b, time.Minute)
		b.byKey("", 10) // nor does the end of its lease
		if err := tx.Commit(b.Context()); err != nil {
			b.Fatal(err)
		}
		b.byKey("a2", 10)
	})
}
