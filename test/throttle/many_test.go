package limits_test

import (
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirmq/weir/test/surface"
)

// share is what one consumer got of a receive_many.
type share struct {
	claims   []int64
	ids      []int64
	payloads []string
	attempts []int
}

// receiveMany receives for several consumers and returns what each got, by its number from 0.
func (b bench) receiveMany(maxes []int, leases []string) []share {
	b.Helper()
	rows, err := b.conn.Query(b.Context(),
		`select (messages).n, (messages).first_id, (messages).ids, (messages).payloads::text[], (messages).attempt,
		     (messages).attempts, requests, claim_ids, counts
		 from weir_log.receive_many('jobs', 'default', $1, $2::text[]::interval[])`, maxes, leases)
	if err != nil {
		b.Fatal(err)
	}
	shares := make([]share, len(maxes))
	var n, attempt int
	var first int64
	var ids, claims []int64
	var payloads []string
	var attempts, requests, counts []int
	_, err = pgx.ForEachRow(rows, []any{&n, &first, &ids, &payloads, &attempt, &attempts, &requests, &claims, &counts},
		func() error {
			at := 0
			for part, request := range requests {
				s := &shares[request-1]
				if !slices.Contains(s.claims, claims[part]) {
					s.claims = append(s.claims, claims[part])
				}
				for range counts[part] {
					id, try := first+int64(at), attempt
					if ids != nil {
						id = ids[at]
					}
					if attempts != nil {
						try = attempts[at]
					}
					s.ids, s.payloads, s.attempts = append(s.ids, id), append(s.payloads, payloads[at]), append(s.attempts, try)
					at++
				}
			}
			if at != n {
				b.Errorf("%d of a record's %d messages were handed out", at, n)
			}
			return nil
		})
	if err != nil {
		b.Fatal(err)
	}
	return shares
}

func (b bench) wantIDs(got []surface.Message, attempt int, ids ...int64) {
	b.Helper()
	if !slices.Equal(surface.IDs(got), ids) {
		b.Fatalf("received %v, want %v", got, ids)
	}
	for _, m := range got {
		if m.Attempt != attempt {
			b.Errorf("received %v, want attempt %d", m, attempt)
		}
	}
}

func TestEachConsumerOfOneCallHoldsItsShareForItsOwnTime(t *testing.T) {
	t.Parallel()
	for _, keyed := range []bool{false, true} { // of keyed messages one receive takes from several lanes
		t.Run(map[bool]string{false: "one lane", true: "several lanes"}[keyed], func(t *testing.T) {
			eachQueue(t, "", func(b bench) {
				if keyed {
					b.ok("select weir.send('jobs', to_jsonb(i), 'k' || i) from generate_series(1, 8) i")
				} else {
					b.ok("select weir.send('jobs', to_jsonb(i)) from generate_series(1, 4) i")
					b.ok("select weir_log.send_batch('jobs', '{5,6,7,8}', null, null, null, null)")
				}
				got := b.receiveMany([]int{1, 3, 2, 5}, []string{"1 minute", "1 hour", "1 minute", "3 minutes"})
				var ids []int64
				for i, want := range []int{1, 3, 2, 2} {
					if len(got[i].ids) != want || len(got[i].claims) != 1 {
						b.Fatalf("consumer %d got %+v, want %d messages under one claim", i, got[i], want)
					}
					ids = append(ids, got[i].ids...)
				}
				if !keyed && (!slices.IsSorted(ids) || !slices.Equal(got[2].payloads, []string{"5", "6"})) {
					b.Errorf("the consumers got %+v", got)
				}
				b.wantIDs(b.receive(b.conn, "default", 10), 1)
				b.clock.Advance(b, 2*time.Minute)
				again := b.receiveMany([]int{10}, []string{"1 hour"})[0]
				slices.Sort(again.ids)
				if want := slices.Sorted(slices.Values([]int64{ids[0], ids[4], ids[5]})); !slices.Equal(again.ids, want) ||
					slices.Min(again.attempts) != 2 {
					b.Errorf("two minutes later %+v came back, want %v", again, want)
				}
				_, err := settle(b.Context(), b.conn, "ack", got[0].claims[0], nil, nil)
				surface.WantState(b, err, "WR010")
				if n, err := settle(b.Context(), b.conn, "ack", got[1].claims[0], nil, nil); n != 3 || err != nil {
					b.Errorf("acknowledged %d, %v", n, err)
				}
				b.ok("select weir_log.extend('jobs', $1, '1 hour')", got[3].claims[0])
				b.clock.Advance(b, 50*time.Minute)
				b.wantIDs(b.receive(b.conn, "default", 10), 1)
				if n, err := settle(b.Context(), b.conn, "nack", got[3].claims[0], nil, surface.Text("0")); n != 2 || err != nil {
					b.Errorf("gave back %d, %v", n, err)
				}
				b.clock.Advance(b, time.Second)
				slices.Sort(ids[6:])
				b.wantIDs(b.receive(b.conn, "default", 10), 2, ids[6:]...)
			})
		})
	}
}

// What expired and what is due is shared out like the rest, and so is what others left of a claim.
func TestWhatComesAgainIsSharedOut(t *testing.T) {
	eachQueue(t, "", func(b bench) {
		b.ok("select weir_log.send_batch('jobs', '{1,2,3,4,5,6}', null, null, null, null)")
		first := b.receiveMany([]int{2, 2, 2}, []string{"1 minute", "1 minute", "1 hour"})
		if n, err := settle(b.Context(), b.conn, "nack", first[2].claims[0], nil, surface.Text("1 s")); n != 2 || err != nil {
			b.Fatalf("gave back %d, %v", n, err)
		}
		b.clock.Advance(b, 2*time.Minute)
		var ids []int64
		for _, s := range b.receiveMany([]int{1, 1, 3, 3}, []string{"1 hour", "2 hours", "3 hours", "4 hours"}) {
			if len(s.claims) > 1 || len(s.ids) > 0 && slices.Min(s.attempts) != 2 {
				b.Errorf("a consumer got %+v", s)
			}
			for _, claim := range s.claims {
				if n, err := settle(b.Context(), b.conn, "ack", claim, s.ids, nil); n != len(s.ids) || err != nil {
					b.Errorf("acknowledged %d of %v: %v", n, s, err)
				}
			}
			ids = append(ids, s.ids...)
		}
		b.clock.Advance(b, 10*time.Hour)
		if rest := b.drain("default", 10); len(ids)+rest != 6 {
			b.Errorf("received %v and then %d, want six", ids, rest)
		}
	})
}

func TestWrongReceivesForManyAreRefused(t *testing.T) {
	eachQueue(t, "", func(b bench) {
		for _, args := range []string{
			"'{}', '{}'", "'{1,2}', '{1 s}'", "'{0}', '{1 s}'", "'{1}', '{0 s}'", "'{10001}', '{1 s}'",
			"'{1,null}', '{1 s,1 s}'", "'{1,1}', '{1 s,null}'", "null, null", "'{1,1}', '{1 s,8 days}'",
		} {
			b.fails("WR006", "select weir_log.receive_many('jobs', 'default', "+args+")")
		}
		b.fails("WR001", "select weir_log.receive_many('none', 'default', '{1,1}', '{1 s,1 s}')")
		b.fails("WR003", "select weir_log.receive_many('jobs', 'none', '{1,1}', '{1 s,1 s}')")
	})
}
