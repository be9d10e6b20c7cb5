package jobs_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

// list returns the jobs that list_jobs shows, each as number of the job and state.
func (b bench) list(ids []int64, arguments string) string {
	b.Helper()
	return pgtest.QueryVal[string](b, b.db, `select coalesce(
		string_agg(array_position($1::bigint[], id) || ' ' || state, ', ' order by i), '')
		from weir.list_jobs('jobs'`+arguments+`) with ordinality
		l (id, kind, state, attempt, progress, result, error, enqueued_at, run_at, progress_at, finished_at,
			cancelled_at, i)`,
		ids)
}

func TestTrackedJobsAreListedByStateAndKind(t *testing.T) {
	each(t, "", func(b bench) {
		ids := make([]int64, 6)
		for i := range ids {
			ids[i] = pgtest.QueryVal[int64](b, b.db, "select weir.enqueue('jobs', $1, tracked => true)",
				fmt.Sprintf("kind-%d", i%2))
		}
		b.exec(b.db.Pool(b), "select weir.enqueue('jobs', 'kind-0')") // not tracked
		for _, end := range []string{
			"weir.finish('jobs', claim_id, id, '7')", "weir.reject('jobs', claim_id, array[id], 'no')",
			"weir.nack('jobs', claim_id, array[id], '1 hour', 'busy')", "claim_id",
		} {
			b.exec(b.db.Pool(b), "select "+end+" from weir.receive('jobs', lease => '1 day')")
		}
		b.exec(b.db.Pool(b), "select weir.cancel('jobs', $1)", ids[4])
		check := func() {
			t.Helper()
			for arguments, want := range map[string]string{
				"": "1 done, 2 failed, 3 waiting, 4 running, 5 cancelled, 6 waiting", ", 'waiting'": "3 waiting, 6 waiting",
				", kind => 'kind-1'": "2 failed, 4 running, 6 waiting", ", 'done', 'kind-0'": "1 done", ", 'done', 'kind-1'": "",
				", max => 2": "1 done, 2 failed", fmt.Sprintf(", max => 2, after => %d", ids[1]): "3 waiting, 4 running",
				", 'waiting', max => 1":                         "3 waiting",
				fmt.Sprintf(", 'waiting', after => %d", ids[2]): "6 waiting", fmt.Sprintf(", after => %d", ids[5]): "",
			} {
				if got := b.list(ids, arguments); got != want {
					b.Errorf("list_jobs('jobs'%s): %s, want %s", arguments, got, want)
				}
			}
			if n := pgtest.QueryVal[int](b, b.db, `select count(*) from weir.list_jobs('jobs') l
				join lateral weir.job('jobs', l.id) j on j is not distinct from l`); n != len(ids) {
				b.Errorf("%d of %d are shown as job shows them", n, len(ids))
			}
		}
		check()
		b.settle() // the events are in the other table of the ring, or in both
		check()
		b.clock.Advance(b, 23*time.Hour)
		b.settle()
		b.clock.Advance(b, 2*time.Hour)
		const left = "3 waiting, 4 waiting, 5 cancelled, 6 waiting" // a message that nobody received yet is there
		if got := b.list(ids, ""); got != left {
			b.Errorf("after the retention: %s, want %s", got, left)
		}
		for arguments, code := range map[string]string{
			", max => 0": "WR006", ", max => 1001": "WR006", ", max => null": "WR006", ", 'asleep'": "WR006",
		} {
			_, err := b.db.Pool(b).Exec(b.Context(), "select weir.list_jobs('jobs'"+arguments+")")
			if surface.SQLState(err) != code {
				b.Errorf("list_jobs('jobs'%s): %v, want %s", arguments, err, code)
			}
		}
	})
}

func TestAListOfJobsReadsOnUntilItHasFoundEnough(t *testing.T) {
	each(t, "", func(b bench) {
		const some = `select id from weir.enqueue_batch('jobs',
			(select array_agg(jsonb_build_object('kind', 'k' || i % 250)) from generate_series(1, 500) i), tracked => true)`
		ids := pgtest.QueryAll[int64](b, b.db, some)
		b.exec(b.db.Pool(b), "select weir.cancel('jobs', $1)", ids[498])
		for arguments, want := range map[string]string{
			", 'cancelled'": "499 cancelled", ", 'waiting', 'k249', 1": "249 waiting",
			", null, 'k0'": "250 waiting, 500 waiting",
		} {
			if got := b.list(ids, arguments); got != want {
				b.Errorf("list_jobs('jobs'%s): %s, want %s", arguments, got, want)
			}
		}
	})
}
