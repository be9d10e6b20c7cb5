package throttle_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

func TestLinesOutlastWhatIsDoneToTheGroup(t *testing.T) {
	each(t, "key_concurrency_max => 2, max_attempts => 100", func(b bench) {
		b.sendTo("a", 10)
		b.sendTo("b", 10)
		b.byKey("a2 b2", 10)
		b.ok("select weir.pause('jobs', 'limited')")
		b.byKey("", 10)
		b.ok("select weir.resume('jobs', 'limited')")
		b.byKey("", 10)
		b.ok("select weir.rename_queue('jobs', 'works')")
		b.ok("select weir.rename_queue('works', 'jobs')")
		b.byKey("", 10)
		b.ok("select weir.seek('jobs', 'limited', 'start')") // ends the claims
		b.byKey("a2 b2", 10)
		b.byKey("", 10)
		if n := pgtest.QueryVal[int64](b, b.db, "select weir.purge('jobs', 'limited')"); n != 20 {
			b.Errorf("purged %d, want 20", n)
		}
		b.byKey("", 10)
		b.sendTo("a", 3)
		b.byKey("a2", 10)
		b.ok("select weir.configure_queue('jobs', claims_bytes => 65536, segment_bytes => 65536)")
		for range 300 { // turns the claim log and the log
			b.ok("select weir.ack('jobs', claim_id) from weir.receive('jobs', 'default', 10)")
			b.ok("select weir.send('jobs', to_jsonb(repeat('x', 1000)), 'b')")
			b.ok("select weir.maintain()")
		}
		if n := pgtest.QueryVal[int64](b, b.db, "select last_value from weir_internal.q1_claims_ring"); n < 4 {
			b.Errorf("the claim log has not turned: %d", n)
		}
		b.byKey("b2", 10)
		b.byKey("", 10)
		b.ok("select weir.drop_group('jobs', 'limited')")
		b.ok("select weir.create_group('jobs', 'limited', key_concurrency_max => 3, start => 'end')")
		b.sendTo("a", 5)
		b.byKey("a3", 10)
		b.byKey("", 10)
		b.ok("select weir.drop_queue('jobs')")
		left := pgtest.QueryVal[int64](b, b.db,
			"select count(*) from pg_class where relnamespace = 'weir_internal'::regnamespace and relname ~ '^q1_'")
		if left != 0 {
			b.Errorf("%d relations of the queue are left", left)
		}
	})
}

func TestAGroupInUseIsGivenLinesAndLosesThem(t *testing.T) {
	each(t, "backoff_min => '0'", func(b bench) {
		b.sendTo("a", 20)
		b.sendTo("b", 20)
		b.get(12, 12)
		b.ok("select weir.configure_group('jobs', 'limited', key_concurrency_max => 15)")
		claimed := pgtest.QueryAll[int64](b, b.db, `select count(*)
			from weir.receive('jobs', 'limited', 100) group by key order by key`)
		if len(claimed) != 2 || claimed[0]+claimed[1] != 18 { // what was claimed before counts
			b.Errorf("received of each key %v, want 18 in all", claimed)
		}
		b.byKey("", 10)
		b.ok("select weir.configure_group('jobs', 'limited', key_concurrency_max => 16)")
		b.byKey("a1 b1", 10)
		b.ok("select weir.configure_group('jobs', 'limited', key_concurrency_max => 0, fair => true)")
		b.byKey("a1 b1", 2)
		b.ok("select weir.configure_group('jobs', 'limited', key_concurrency_max => 1)")
		b.byKey("", 10)
		b.ok("select weir.configure_group('jobs', 'limited', key_concurrency_max => 0, fair => false)")
		b.byKey("a3 b3", 10)
		b.sendTo("c", 5)
		b.byKey("c5", 10)
		b.clock.Advance(b, time.Minute)
		b.ok("select weir.configure_group('jobs', 'limited', key_concurrency_max => 1)")
		b.byKey("a1 b1 c1", 10)
		for _, wrong := range []string{"key_concurrency_max => -1", "key_concurrency_max => 10001"} {
			_, err := b.conn.Exec(b.Context(), "select weir.configure_group('jobs', 'limited', "+wrong+")")
			surface.WantState(b, err, "WR006")
		}
		b.ok("select weir.create_group('jobs', 'ordered', ordered => true)")
		for _, wrong := range []string{"key_concurrency_max => 1", "fair => true"} {
			_, err := b.conn.Exec(b.Context(), "select weir.configure_group('jobs', 'ordered', "+wrong+")")
			surface.WantState(b, err, "WR060")
		}
	})
}

func TestAMessageInALineIsFoundCancelledExpiredAndSoughtLikeAnyOther(t *testing.T) {
	each(t, "key_concurrency_max => 1", func(b bench) {
		b.ok("select weir.drop_group('jobs', 'default')")
		b.ok("select weir.configure_queue('jobs', retention => '1 day')")
		b.ok(`select weir.enqueue('jobs', 'send', '{"n": 1}', 'a', tracked => true) from generate_series(1, 4)`)
		first := b.byKey("a1", 10)
		state := func(id int64) string {
			return pgtest.QueryVal[string](b, b.db, "select states ->> 'limited' from weir.get('jobs', $1)", id)
		}
		if got := state(first[0].ID) + " " + state(2); got != "claimed parked" {
			b.Errorf("the messages are %s", got)
		}
		if got := pgtest.QueryVal[string](b, b.db, "select state from weir.job('jobs', 2)"); got != "waiting" {
			b.Errorf("a job in a line is %s", got)
		}
		b.ok("select weir.cancel('jobs', 2)")
		b.end("ack", first[0], "")
		if got := b.byKey("a1", 10); got[0].ID != 3 {
			b.Errorf("received %v, want 3: 2 is cancelled", got)
		}
		b.ok("select weir.seek('jobs', 'limited', '4')") // 3 is before it
		if got := b.byKey("a1", 10); got[0].ID != 4 {
			b.Errorf("received %v, want 4", got)
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

func TestTheSpaceOfLinesIsGivenBack(t *testing.T) {
	each(t, "key_concurrency_max => 1000", func(b bench) {
		size := func() int64 {
			return pgtest.QueryVal[int64](b, b.db, `select pg_relation_size('weir_internal.q1_lines')
				+ pg_relation_size('weir_internal.q1_turns')`)
		}
		rows := func() int64 {
			return pgtest.QueryVal[int64](b, b.db, `select (select count(*) from weir_internal.q1_lines)
				+ (select count(*) from weir_internal.q1_turns)`)
		}
		b.ok(`select count(*) from weir.send_batch('jobs', array_fill(to_jsonb(repeat('x', 1000)), array[12000]),
			array(select 'k' || i % 100 from generate_series(1, 12000) i))`)
		held := b.get(10, 10)
		b.ok(fmt.Sprintf("select weir.extend('jobs', %d, '1 day')", held[0].ClaimID))
		work := func() {
			for n := int64(1); n > 0; {
				n = pgtest.QueryVal[int64](b, b.db, `select count(weir.ack('jobs', claim_id))
					from (select distinct claim_id from weir.receive('jobs', 'limited', 1000)) c`)
			}
		}
		work()
		before := rows()
		surface.Settle(b, b.conn)
		if after := rows(); after > before/10 {
			b.Errorf("of %d rows %d are left with nothing in the lines", before, after)
		}
		b.ok(fmt.Sprintf("select weir.ack('jobs', %d)", held[0].ClaimID))
		work()
		surface.Settle(b, b.conn)
		if n := size(); n != 0 {
			b.Errorf("%d bytes are left of empty lines", n)
		}
		b.sendTo("a", 1)
		b.byKey("a1", 10)
	})
}

func TestDoctorNamesAKeysLimitThatStarves(t *testing.T) {
	each(t, "key_concurrency_max => 1", func(b bench) {
		b.sendTo("a", 3)
		b.ok("select weir.extend('jobs', claim_id, '1 hour') from weir.receive('jobs', 'limited')")
		b.byKey("", 10)
		b.clock.Advance(b, 20*time.Minute)
		starves := pgtest.QueryAll[string](b, b.db,
			"select value from weir.doctor() where group_name = 'limited' and finding = 'limit_starves'")
		if len(starves) != 1 || starves[0] != "key_concurrency" {
			b.Errorf("doctor says %v", starves)
		}
	})
}
