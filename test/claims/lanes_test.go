package claims_test

import (
	"testing"
	"time"

	"github.com/weirmq/weir/internal/pgtest"
)

// Receives that always began with the same lane would let the messages of the others wait.
func TestReceivesOfOneMessageTakeFromManyLanesOfABacklog(t *testing.T) {
	each(t, func(b bench) {
		for range 2 {
			for len(b.receive(b.db.Pool(b), 640, "1 day")) > 0 {
			}
			b.db.Exec(b, "select weir.send($1, '1', key => i::text) from generate_series(1, 640) i", queue)
		}
		taken := map[int]int{}
		for range 80 {
			claim, _ := b.claim(1, "1 day")
			taken[pgtest.QueryVal[int](b, b.db, "select lane from weir_log.claims_2 where claim = $1 and kind = 'c'", claim)]++
		}
		if len(taken) < 9 { // of 16: by chance once in 10^19 runs
			b.Errorf("80 messages came out of %d lanes: %v", len(taken), taken)
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
						weir.ack('jobs', m.claim_id, m.id)`).Scan(&payload); err != nil {
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
