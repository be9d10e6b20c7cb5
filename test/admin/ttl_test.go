package admin_test

import (
	"slices"
	"testing"
	"time"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

func TestRetentionKeepsWhatAllGroupsHaveFinished(t *testing.T) {
	each(t, func(b bench) {
		b.exec("select weir.configure_log('main', segment_bytes => 65536, retention => '1 hour')")
		fill := func() []int64 {
			ids := make([]int64, 0, 400)
			for range 4 {
				ids = append(ids, b.send(100)...)
				_, err := b.db.Pool(b).Exec(b.Context(),
					"select weir.send($1, jsonb_agg(md5(random()::text))) from generate_series(1, 1500)", queue)
				if err != nil {
					b.Fatal(err)
				}
			}
			b.finish(404)
			surface.Settle(b, b.db.Pool(b))
			return ids
		}
		first := fill()
		second := fill()
		b.seek("start")
		got := map[int64]bool{}
		for m := b.receive("default", 1000); len(m) > 0; m = b.receive("default", 1000) {
			for _, id := range surface.IDs(m) {
				got[id] = true
			}
		}
		for _, id := range append(first, second...) {
			if !got[id] {
				b.Fatalf("message %d is gone", id)
			}
		}
		b.seek("end")
		used := "select count(*) from weir_log.segments where freed_by is null"
		before := pgtest.QueryVal[int64](b, b.db, used)
		b.clock.Advance(b, 61*time.Minute)
		surface.Settle(b, b.db.Pool(b))
		if after := pgtest.QueryVal[int64](b, b.db, used); after >= before {
			b.Errorf("%d segments in use after the retention, %d before", after, before)
		}
	})
}

// What is too old is read once, and not by every receive until something newer comes.
func TestWhatIsTooOldIsPassedOverOnce(t *testing.T) {
	each(t, func(b bench) {
		b.exec("select weir.configure_queue($1, ttl => '10 minutes')", queue)
		b.exec("select weir.send($1, '1') from generate_series(1, 300)", queue)
		b.clock.Advance(b, 11*time.Minute)
		news := "select weir_log.has_new_1(weir_log.cursor(g, 0, 1), g.queue_no)::int from weir_internal.groups g"
		b.wantCount(1, news)
		b.wantIDs("default")
		b.wantCount(0, news)
		before := pgtest.QueryVal[int64](b, b.db, "select pg_sequence_last_value('weir_internal.claim_numbers')")
		b.wantIDs("default")
		b.wantCount(int(before), "select pg_sequence_last_value('weir_internal.claim_numbers')")
		b.wantIDs("default", b.send(3)...)
	})
}

// There may be more of it than one receive should read.
func TestALongBacklogThatIsTooOldIsPassedOverInSteps(t *testing.T) {
	each(t, func(b bench) {
		b.exec("select weir.configure_queue($1, ttl => '10 minutes')", queue)
		b.exec(`insert into weir_log.log_1 (id, n, queue_no, lane, enqueued_at, payloads)
			select nextval('weir_internal.record_numbers') * 1000, 1, q.no, 0, weir_internal.clock(), array['1']
			from weir_internal.queues q cross join generate_series(1, 25000)`)
		b.clock.Advance(b, 11*time.Minute)
		ids := b.send(3)
		var got []int64
		calls := 0
		for ; len(got) == 0 && calls < 10; calls++ {
			got = surface.IDs(b.receive("default", 10))
		}
		if !slices.Equal(got, ids) || calls < 2 || calls > 3 { // a receive may look into a lane twice
			b.Errorf("%d receives brought %v, want 2 or 3 to bring %v", calls, got, ids)
		}
	})
}
