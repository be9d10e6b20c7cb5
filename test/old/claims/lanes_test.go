package claims_test

import (
	"testing"
	"time"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

// The newest claim of each lane says that nothing was left in it, but that was before the backlog: the lanes are to be
// looked into all the same. Receives that take from the lane of the newest message instead would let the older messages
// wait, and each other.
func TestReceivesOfOneMessageTakeFromManyLanesOfABacklog(t *testing.T) {
	t.Parallel()
	pgtest.EachMajor(t, func(t *testing.T, major int) {
		t.Parallel()
		db := pgtest.New(t, pgtest.Options{Major: major})
		b := bench{T: t, db: db}
		surface.CreateQueue(t, db.Pool(t), queue, "lanes => 16")
		for range 2 {
			for len(b.receive(db.Pool(t), 640, "1 day")) > 0 {
			}
			db.Exec(t, "select weir.send($1, '1') from generate_series(1, 640)", queue)
		}
		taken := map[int64]int{} // by lane, whose number is the end of a claim's id
		for range 80 {
			got := b.receive(db.Pool(t), 1, "1 day")
			if len(got) != 1 {
				t.Fatalf("received %v, want one message", got)
			}
			taken[got[0].ClaimID%16384]++
		}
		if len(taken) < 9 { // of 16: by chance once in 10^19 runs
			t.Errorf("80 messages came out of %d lanes: %v", len(taken), taken)
		}
	})
}

// TestNeitherAnExpiredLeaseNorALaneWaitsForAllThatIsDue has a thousand delayed messages become due at once, and one
// whose lease ended and a new one beside them, for a consumer that takes one at a time.
func TestNeitherAnExpiredLeaseNorALaneWaitsForAllThatIsDue(t *testing.T) {
	t.Parallel()
	for _, settings := range []string{"", ", ordered => true"} {
		t.Run("group"+settings, func(t *testing.T) {
			each(t, func(b bench) {
				b.db.Exec(b, "select weir.create_group('jobs', 'g'"+settings+")")
				b.db.Exec(b, `select weir.send('jobs', '"lost"', 'lost')`)
				b.db.Exec(b, "select weir.receive('jobs', 'g', 1, '1 minute')")
				b.db.Exec(b, `select weir.send_batch('jobs', array_fill('"due"'::jsonb, array[1000]),
					array(select 'due ' || i from generate_series(1, 1000) i), delay => '1 hour')`)
				b.clock.Advance(b, 2*time.Hour)
				b.db.Exec(b, `select weir.send('jobs', '"new"', 'new')`)
				left := map[string]bool{"lost": true, "new": true}
				conn := b.db.Conn(b)
				for range 1000 {
					var payload string
					if err := conn.QueryRow(b.Context(), `select m.payload ->> 0 from weir.receive('jobs', 'g', 1) m,
						weir.ack('jobs', m.claim_id)`).Scan(&payload); err != nil {
						b.Fatal(err)
					}
					delete(left, payload)
					if len(left) == 0 {
						return
					}
				}
				b.Errorf("after 1,000 of those that were due %v wait", left)
			})
		})
	}
}
