package limits_test

import (
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/weirmq/weir/internal/pgtest"
)

// turn turns the rings of the log under a group that has claims.
func (b bench) turn() {
	b.Helper()
	b.ok("select weir.configure_log('main', claims_bytes => 65536, segment_bytes => 65536)")
	state := "select pg_sequence_last_value('weir_log.claims_ring')"
	before := pgtest.QueryVal[int64](b, b.db, state)
	for range 300 {
		b.ok("select weir.ack_all('jobs', claim_id) from weir.receive('jobs', 'default', 10)")
		b.ok("select weir.send('jobs', to_jsonb(repeat('x', 1000)), 'b')")
		b.ok("call weir.maintain()")
		if pgtest.QueryVal[int64](b, b.db, state) >= before+4 {
			return
		}
	}
	b.Fatal("the claim log has not turned")
}

// nothingLeft drops the queue and wants that the log keeps none of its rows that others would have to read.
func (b bench) nothingLeft() {
	b.Helper()
	b.ok("select weir.drop_queue('jobs')")
	for range 3 {
		b.ok("call weir.maintain()")
	}
	b.wantCount(0, "select (select count(*) from weir_internal.groups) + (select count(*) from weir_log.parked)")
}

func TestALimitOutlastsWhatIsDoneToTheGroup(t *testing.T) {
	each(t, "concurrency_max => 2", func(b bench) {
		b.send(30)
		b.get(2, 10)
		for _, sql := range []string{
			"select weir.pause('jobs', 'limited')",
			"select weir.resume('jobs', 'limited')",
			"select weir.rename_queue('jobs', 'works'), weir.rename_queue('works', 'jobs')",
		} {
			b.ok(sql)
			b.get(0, 10)
		}
		b.ok("select weir.seek('jobs', 'limited', 'start')") // ends the claims
		b.get(2, 10)
		b.get(0, 10)
		b.ok("select weir.purge('jobs', 'limited')")
		b.send(30)
		b.get(2, 10)
		b.turn()
		b.get(0, 10)
		b.ok("select weir.drop_group('jobs', 'limited')")
		b.ok("select weir.create_group('jobs', 'limited', concurrency_max => 3)")
		b.get(3, 10)
		b.get(0, 10)
		b.nothingLeft()
	})
}

func TestKeyQueuesOutlastWhatIsDoneToTheGroup(t *testing.T) {
	each(t, "key_concurrency_max => 2, max_attempts => 100", func(b bench) {
		b.sendTo("a", 10)
		b.sendTo("b", 10)
		b.byKey("a2 b2", 10)
		for _, sql := range []string{
			"select weir.pause('jobs', 'limited')",
			"select weir.resume('jobs', 'limited')",
			"select weir.rename_queue('jobs', 'works'), weir.rename_queue('works', 'jobs')",
		} {
			b.ok(sql)
			b.byKey("", 10)
		}
		b.ok("select weir.seek('jobs', 'limited', 'start')") // ends the claims
		b.byKey("a2 b2", 10)
		b.byKey("", 10)
		if n := pgtest.QueryVal[int64](b, b.db, "select weir.purge('jobs', 'limited')"); n != 20 {
			b.Errorf("purged %d, want 20", n)
		}
		b.byKey("", 10)
		b.sendTo("a", 3)
		b.byKey("a2", 10)
		b.turn()
		b.byKey("b2", 10)
		b.byKey("", 10)
		b.ok("select weir.drop_group('jobs', 'limited')")
		b.ok("select weir.create_group('jobs', 'limited', key_concurrency_max => 3, start => 'end')")
		b.sendTo("a", 5)
		b.byKey("a3", 10)
		b.byKey("", 10)
		b.nothingLeft()
	})
}

func TestAMessageInAKeyQueueIsFoundCancelledExpiredAndSoughtLikeAnyOther(t *testing.T) {
	each(t, "key_concurrency_max => 1", func(b bench) {
		b.ok("select weir.drop_group('jobs', 'default')")
		b.ok("select weir.configure_log('main', retention => '1 day')")
		ids := pgtest.QueryAll[int64](b, b.db,
			`select weir.enqueue('jobs', 'send', '{"n": 1}', 'a', tracked => true) from generate_series(1, 4)`)
		first := b.byKey("a1", 10)
		state := func(id int64) string {
			return pgtest.QueryVal[string](b, b.db, "select states ->> 'limited' from weir.get('jobs', $1)", id)
		}
		if got := state(ids[0]) + " " + state(ids[1]); first[0].ID != ids[0] || got != "claimed parked" {
			b.Errorf("received %v, the messages are %s", first, got)
		}
		if got := pgtest.QueryVal[string](b, b.db, "select state from weir.job('jobs', $1)", ids[1]); got != "waiting" {
			b.Errorf("a job in a key queue is %s", got)
		}
		b.ok("select weir.cancel('jobs', $1)", ids[1])
		b.end("ack", first[0], nil)
		if got := b.byKey("a1", 10); got[0].ID != ids[2] {
			b.Errorf("received %v, want %d: the one before is cancelled", got, ids[2])
		}
		b.ok("select weir.seek('jobs', 'limited', $1)", strconv.FormatInt(ids[3], 10)) // ids[2] is before it
		if got := b.byKey("a1", 10); got[0].ID != ids[3] {
			b.Errorf("received %v, want %d", got, ids[3])
		}
		b.sendTo("a", 2)
		b.byKey("", 10)
		b.ok("select weir.configure_queue('jobs', ttl => '1 hour')")
		b.clock.Advance(b, 2*time.Hour)
		b.sendTo("b", 1)
		b.byKey("b1", 10)
		b.byKey("", 10)
	})
}

// found returns the values of a finding about the group.
func (b bench) found(finding string) []string {
	b.Helper()
	return pgtest.QueryAll[string](b, b.db,
		"select coalesce(value, '') from weir.doctor() where queue_name = 'jobs' and finding = $1", finding)
}

func TestDoctorNamesALimitThatStarves(t *testing.T) {
	each(t, "concurrency_max => 1", func(b bench) {
		b.send(3)
		tx := b.begin()
		if got := b.receive(tx.Conn(), "limited", 1); len(got) != 1 {
			b.Fatal(got)
		}
		b.clock.Advance(b, 20*time.Minute)
		if got := b.found("transaction_holds_lanes"); len(got) != 1 {
			b.Errorf("of the open transaction doctor says %v", got)
		}
		b.commit(tx)
		b.ok("select weir.extend('jobs', claim_id, '1 hour') from weir.receive('jobs', 'limited')")
		if got := b.found("limit_starves"); !slices.Equal(got, []string{"concurrency"}) {
			b.Errorf("of the limit doctor says %v", got)
		}
	})
}

func TestDoctorNamesAKeysLimitThatStarves(t *testing.T) {
	each(t, "key_concurrency_max => 1", func(b bench) {
		b.sendTo("a", 3)
		b.ok("select weir.extend('jobs', claim_id, '1 hour') from weir.receive('jobs', 'limited')")
		b.byKey("", 10)
		b.clock.Advance(b, 20*time.Minute)
		if got := b.found("limit_starves"); !slices.Equal(got, []string{"key_concurrency"}) {
			b.Errorf("of the limit doctor says %v", got)
		}
	})
}

// everyWay receives in every way there is, of which each may have three messages.
func (b bench) everyWay() {
	b.Helper()
	b.wantCount(3, "select count(*) from weir.pop('jobs', 'limited', 10)")
	b.wantCount(3, "select sum(n) from weir.receive_records('jobs', 'limited', 10)")
	b.ok("select weir.ack_all('jobs', c) from (select distinct claim_id as c from weir.claims('jobs', 'limited')) t")
	b.wantCount(3, "select sum((messages).n) from weir.receive_many('jobs', 'limited', '{2,2,2}', '{30 s,40 s,50 s}')")
	claims := pgtest.QueryAll[int64](b, b.db, "select claim_id from weir.claims('jobs', 'limited') order by messages")
	if len(claims) != 2 {
		b.Fatalf("received for %v, want two of the requests", claims)
	}
	b.get(0, 10)
	b.ok(fmt.Sprintf("select weir.ack_all('jobs', %d)", claims[0]))
	b.get(1, 10)
	b.get(0, 10) // the other part of what was shared out counts still
}

func TestEveryWayToReceiveKeepsToTheLimit(t *testing.T) {
	each(t, "concurrency_max => 3", func(b bench) {
		b.send(40)
		b.everyWay()
	})
}

func TestEveryWayToReceiveKeepsToTheLimitOfAKey(t *testing.T) {
	each(t, "key_concurrency_max => 3", func(b bench) {
		b.sendTo("a", 40)
		b.everyWay()
	})
}

func TestAnAckWakesWhoWaitsForAKey(t *testing.T) {
	each(t, "key_concurrency_max => 1", func(b bench) {
		b.sendTo("a", 3)
		got := b.byKey("a1", 10)
		waiter := b.waiter()
		if got := b.receive(waiter, "limited", 10); len(got) != 0 {
			b.Fatalf("received %v", got)
		}
		b.end("ack", got[0], nil)
		b.woken(waiter)
		if got := b.receive(waiter, "limited", 10); len(got) != 1 {
			b.Errorf("woken for %v", got)
		}
	})
}
