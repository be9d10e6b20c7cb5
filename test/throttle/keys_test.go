package limits_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

func TestNoKeyHasMoreClaimedThanItsLimit(t *testing.T) {
	each(t, "key_concurrency_max => 2, max_attempts => 3", func(b bench) {
		b.sendTo("a", 30)
		b.sendTo("b", 1)
		got := slices.DeleteFunc(b.byKey("a2 b1", 10), func(m surface.Message) bool { return *m.Key == "b" })
		b.byKey("", 10)
		b.wantCount(28, "select count(*) from weir_log.in_key_queues")
		b.sendTo("b", 2)
		b.byKey("b1", 10)
		for _, call := range []struct{ verb, delay string }{
			{"ack", "0"}, {"nack", "1 hour"}, {"reject", "0"}, {"release", "0"}, {"nack", "0"},
		} {
			b.byKey("", 10)
			b.end(call.verb, got[0], surface.Text(call.delay))
			got = b.byKey("a1", 10)
		}
		b.ok("select weir_log.extend('jobs', $1, '10 minutes')", got[0].ClaimID)
		b.clock.Advance(b, time.Minute) // the lease of all but that one
		again := b.byKey("a1 b2", 10)
		b.byKey("", 10)
		b.end("ack", again[0], nil)
		b.clock.Advance(b, 2*time.Hour)
		b.byKey("a2 b2", 10)
	})
}

// TestWhoHasReadALimitSinceLiftedFindsTheClaims asks what a receive asks while the group's lock is not its own.
func TestWhoHasReadALimitSinceLiftedFindsTheClaims(t *testing.T) {
	each(t, "key_concurrency_max => 1", func(b bench) {
		b.sendTo("a", 3)
		b.byKey("a1", 10)
		b.ok("create table public.was as select g from weir_internal.groups g where g.name = 'limited'")
		b.configure(`{"key_concurrency_max": null}`)
		b.ok("select weir_log.key_flight(g, null), weir_log.has_key_turn(g) from public.was")
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
		if n := b.drain("limited", 100); n != 67-24 {
			b.Errorf("drained %d", n)
		}
	})
}

// A group's key queues are its own: those of another group or queue with the same keys stand as they stood.
func TestKeyQueuesOfGroupsAndQueuesAreApart(t *testing.T) {
	each(t, "key_concurrency_max => 1", func(b bench) {
		b.ok("select weir.create_group('jobs', 'other', fair => true), weir.create_queue('more')")
		b.ok("select weir.create_group('more', 'limited2', key_concurrency_max => 2)")
		b.sendTo("a", 4)
		b.ok("select weir.send('more', '1', 'a') from generate_series(1, 4)")
		b.byKey("a1", 10)
		if n := b.drain("other", 3); n != 4 {
			b.Errorf("another group drained %d, want 4", n)
		}
		b.byKey("", 10)
		if n := pgtest.QueryVal[int](b, b.db, "select count(*) from weir.receive('more', 'limited2', 10)"); n != 2 {
			b.Errorf("another queue gave %d, want 2", n)
		}
		b.configure(`{"key_concurrency_max": null}`)
		b.get(3, 10)
		if n := pgtest.QueryVal[int](b, b.db, "select count(*) from weir.receive('more', 'limited2', 10)"); n != 0 {
			b.Errorf("another queue gave %d, want none", n)
		}
	})
}

// TestAKeysBacklogDelaysNoOtherBeyondTheBound holds what the docs promise: each receive takes at least 1,000 messages
// out of the log, and what is out of it is delivered when every key that waits has had a turn.
func TestAKeysBacklogDelaysNoOtherBeyondTheBound(t *testing.T) {
	for _, settings := range []string{"fair => true", "key_concurrency_max => 10"} {
		t.Run(settings, func(t *testing.T) {
			each(t, settings, func(b bench) {
				for range 5 {
					b.sendTo("a", 1000)
				}
				b.sendTo("b", 1)
				received := 0
				for range 6 {
					for _, m := range b.receive(b.conn, "limited", 10) {
						if *m.Key == "b" {
							received++
						}
						b.end("ack", m, nil)
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
		b.sendTo("c", 4) // some of it is left, whichever keys come first
		got := b.receive(b.conn, "limited", 10)
		if counts := keyCounts(got); len(got) != 5 || counts[:2] == "a3" {
			b.Fatalf("received of each key %q", counts)
		}
		b.byKey("", 10)
		for _, m := range got {
			b.end("ack", m, nil)
		}
		b.get(3, 10)
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
		for range 40 {
			b.clock.Advance(b, time.Minute)
			if got := b.receive(b.conn, "limited", 10); len(got) > 1 {
				b.Fatalf("received %v", got)
			}
		}
		b.wantCount(6, "select count(*) from weir_internal.dead_letters where attempts = 4")
	})
}

func TestMessagesInKeyQueuesExpireByTheQueuesTTL(t *testing.T) {
	each(t, "key_concurrency_max => 1", func(b bench) {
		b.sendTo("a", 5)
		got := b.byKey("a1", 10)
		b.ok("update weir_internal.groups set ttl = '1 hour'")
		b.end("ack", got[0], nil)
		b.clock.Advance(b, 2*time.Hour)
		b.sendTo("b", 1)
		b.byKey("b1", 10)
		b.byKey("", 10)
		b.sendTo("a", 2)
		b.byKey("a1", 10)
	})
}

func TestAGroupInUseIsGivenKeyQueuesAndLosesThem(t *testing.T) {
	each(t, "backoff_min => '0'", func(b bench) {
		b.sendTo("a", 20)
		b.sendTo("b", 20)
		b.get(12, 12)
		b.configure(`{"key_concurrency_max": 15}`)
		claimed := pgtest.QueryAll[int64](b, b.db, `select count(*)
			from weir.receive('jobs', 'limited', 100) group by key order by key`)
		if len(claimed) != 2 || claimed[0]+claimed[1] != 18 { // what was claimed before counts
			b.Errorf("received of each key %v, want 18 in all", claimed)
		}
		b.byKey("", 10)
		b.configure(`{"key_concurrency_max": 16}`)
		b.byKey("a1 b1", 10)
		b.configure(`{"key_concurrency_max": null, "fair": true}`)
		b.byKey("a1 b1", 2)
		b.configure(`{"key_concurrency_max": 1}`)
		b.byKey("", 10)
		b.configure(`{"key_concurrency_max": null, "fair": false}`)
		b.wantCount(0, "select (select count(*) from weir_log.key_queues) + (select count(*) from weir_log.key_turns)")
		b.byKey("a3 b3", 10)
		b.sendTo("c", 5)
		b.byKey("c5", 10)
		b.clock.Advance(b, time.Minute)
		b.configure(`{"key_concurrency_max": 1}`)
		b.byKey("a1 b1 c1", 10)
	})
}

func TestTheSpaceOfKeyQueuesIsGivenBack(t *testing.T) {
	each(t, "key_concurrency_max => 1000", func(b bench) {
		size := func() int64 {
			return pgtest.QueryVal[int64](b, b.db, `select pg_relation_size('weir_log.key_queues')
				+ pg_relation_size('weir_log.key_turns')`)
		}
		rows := func() int64 {
			return pgtest.QueryVal[int64](b, b.db, `select (select count(*) from weir_log.key_queues)
				+ (select count(*) from weir_log.key_turns)`)
		}
		work := func() {
			for n := 1; n > 0; {
				n = pgtest.QueryVal[int](b, b.db, `select count(weir_log.ack_all('jobs', claim_id))
					from (select distinct claim_id from weir.receive('jobs', 'limited', 1000)) c`)
			}
		}
		trim := func() {
			for range 100 {
				if pgtest.QueryVal[int](b, b.db, "select weir_log.trim_key_queues()") == 0 {
					return
				}
			}
			b.Error("trimming does not end")
		}
		b.ok(`select weir_log.send_batch('jobs', array_fill(to_json(repeat('x', 1000)), array[12000]),
			array(select 'k' || i % 100 from generate_series(1, 12000) i), null, null, null)`)
		held := b.get(10, 10)
		b.ok("select weir_log.extend('jobs', $1, '1 day')", held[0].ClaimID)
		work()
		before := rows()
		trim()
		if after := rows(); after > before/10 || after == 0 {
			b.Errorf("of %d rows %d are left with nothing in the key queues and one claim", before, after)
		}
		b.ok("select weir_log.ack_all('jobs', $1)", held[0].ClaimID)
		b.sendTo("a", 1)
		tx := b.begin()
		if got := b.receive(tx, "limited", 1); len(got) != 1 { // while it is open nothing is truncated
			b.Fatal(got)
		}
		trim()
		b.commit(tx)
		b.wantCount(1, "select count(*) from weir_log.key_queues where key = 'a'")
		work()
		b.clock.Advance(b, time.Hour)
		work()
		trim()
		if n := size(); n != 0 {
			b.Errorf("%d bytes are left of empty key queues", n)
		}
		b.sendTo("a", 1)
		b.byKey("a1", 10)
	})
}

// TestAShareOfAKeyedRecordIsDeliveredToEachKey holds that a batch of many keys goes into as many key queues.
func TestABatchOfManyKeysIsSharedOut(t *testing.T) {
	each(t, "fair => true", func(b bench) {
		b.ok(`select weir_log.send_batch('jobs', array(select to_json(i) from generate_series(1, 2000) i),
			array(select 'k' || i % 7 from generate_series(1, 2000) i),
			array(select jsonb_build_object('h', i) from generate_series(1, 2000) i), null, null)`)
		seen := map[int64]bool{}
		for range 30 {
			for _, m := range b.receive(b.conn, "limited", 97) {
				var n int
				if _, err := fmt.Sscanf(m.Payload, "%d", &n); err != nil {
					b.Fatal(err)
				}
				if seen[m.ID] || *m.Key != fmt.Sprint("k", n%7) || *m.Headers != fmt.Sprintf(`{"h": %d}`, n) {
					b.Fatalf("delivered %v with key %s and headers %s", m, *m.Key, *m.Headers)
				}
				seen[m.ID] = true
			}
		}
		if len(seen) != 2000 {
			b.Errorf("%d of 2,000 were delivered", len(seen))
		}
	})
}

func TestAnEmptyReceiveOfStoppedKeysWritesNothing(t *testing.T) {
	each(t, "key_concurrency_max => 1", func(b bench) {
		b.sendTo("a", 10)
		got := b.byKey("a1", 10)
		b.byKey("", 10)
		tx := b.begin()
		if got := b.receive(tx, "limited", 10); len(got) != 0 {
			b.Fatalf("received %v", got)
		}
		b.assignsNoID(tx)
		b.end("ack", got[0], nil)
		b.byKey("a1", 10) // while that transaction is open
	})
}

func TestWhatRollsBackLeavesItsKeyAsItWas(t *testing.T) {
	each(t, "key_concurrency_max => 2", func(b bench) {
		b.sendTo("a", 10)
		tx := b.begin()
		if got := keyCounts(b.receive(tx, "limited", 10)); got != "a2" {
			b.Fatalf("received %q", got)
		}
		b.rollback(tx)
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
		b.commit(tx)
		b.byKey("a2", 10)
	})
}
