package limits_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

func TestWhatEndsMakesRoomForAsMany(t *testing.T) {
	each(t, "concurrency_max => 3", func(b bench) {
		b.send(20)
		got := b.get(3, 10)
		b.get(0, 10)
		for i, verb := range []string{"ack", "nack", "reject"} {
			b.end(verb, got[i], surface.Text("1 hour"))
			b.get(1, 10)
			b.get(0, 10)
		}
		b.clock.Advance(b, time.Minute) // all three expire
		again := b.get(3, 10)
		b.get(0, 10)
		b.end("release", again[0], surface.Text("0"))
		b.get(1, 10)
		b.clock.Advance(b, 2*time.Hour)
		if n := b.drain("limited", 10); n != 18 { // 20 less one acknowledged and one rejected
			b.Errorf("drained %d, want 18", n)
		}
	})
}

func TestReceivesForManyKeepToTheLimit(t *testing.T) {
	for _, settings := range []string{"concurrency_max => 3", "key_concurrency_max => 3"} {
		t.Run(settings, func(t *testing.T) {
			each(t, settings, func(b bench) {
				b.sendTo("a", 40)
				claims := pgtest.QueryAll[int64](b, b.db, `select distinct unnest(claim_ids)
					from weir_log.receive_many('jobs', 'limited', array[2, 2, 2],
						array['30 seconds', '40 seconds', '50 seconds']::interval[]) order by 1`)
				if len(claims) != 2 {
					b.Errorf("received for %v, want two of the requests", claims)
				}
				b.get(0, 10)
				b.ok("select weir_log.ack_all('jobs', $1)", claims[1])
				b.get(1, 10)
				b.get(0, 10) // the other part of what was shared out counts still
				b.clock.Advance(b, 35*time.Second)
				again := b.get(3, 10)
				if again[0].Attempt != 2 && settings[0] == 'c' { // else it is behind the others of its key
					b.Errorf("received %v, want what expired", again)
				}
				b.get(0, 10)
			})
		})
	}
}

func TestWhatRollsBackHeldNoRoom(t *testing.T) {
	for _, settings := range []string{"concurrency_max => 2", "key_concurrency_max => 2"} {
		t.Run(settings, func(t *testing.T) {
			each(t, settings, func(b bench) {
				b.sendTo("a", 10)
				tx := b.begin()
				if got := b.receive(tx, "limited", 10); len(got) != 2 {
					b.Fatalf("received %v", got)
				}
				b.rollback(tx)
				got := b.get(2, 10)
				tx = b.begin()
				for _, m := range got { // an ack that is not committed makes no room for others
					if _, err := settle(b.Context(), tx, "ack", m.ClaimID, []int64{m.ID}, nil); err != nil {
						b.Fatal(err)
					}
				}
				b.get(0, 10)
				b.clock.Advance(b, time.Minute)
				b.get(0, 10) // nor does the end of its lease
				b.commit(tx)
				b.get(2, 10)
			})
		})
	}
}

func TestATransactionThatReceivesKeepsItsGroupAndNoOther(t *testing.T) {
	each(t, "concurrency_max => 5", func(b bench) {
		b.send(10)
		tx := b.begin()
		if got := b.receive(tx, "limited", 2); len(got) != 2 {
			b.Fatalf("received %v", got)
		}
		b.get(0, 10) // a little later, without an error
		if n := len(b.receive(b.conn, "default", 10)); n == 0 {
			b.Error("another group waits for the limited one")
		}
		b.commit(tx)
		b.get(3, 10)
	})
}

func TestAnEmptyReceiveWritesNothingAndKeepsNothing(t *testing.T) {
	for _, settings := range []string{"concurrency_max => 2, rate_max => 1000", "key_concurrency_max => 2"} {
		t.Run(settings, func(t *testing.T) {
			each(t, settings, func(b bench) {
				b.sendTo("a", 10)
				got := b.get(2, 10)
				b.get(0, 10)
				tx := b.begin()
				if got := b.receive(tx, "limited", 10); len(got) != 0 {
					b.Fatalf("received %v", got)
				}
				b.assignsNoID(tx)
				b.ok("select weir_log.ack_all('jobs', $1)", got[0].ClaimID)
				b.get(2, 10) // while that transaction is open
			})
		})
	}
}

func TestAnAckWakesWhoWaitsForRoom(t *testing.T) {
	for _, settings := range []string{"concurrency_max => 1", "key_concurrency_max => 1"} {
		t.Run(settings, func(t *testing.T) {
			each(t, settings, func(b bench) {
				b.sendTo("a", 4)
				got := b.get(1, 10)
				for _, end := range []string{
					"select weir_log.ack_all('jobs', %d)", "select weir_log.settle('jobs', %d, null, 'nack', '1 hour', null)",
				} {
					waiter := b.waiter()
					if got := b.receive(waiter, "limited", 10); len(got) != 0 {
						b.Fatalf("received %v", got)
					}
					b.ok(fmt.Sprintf(end, got[0].ClaimID))
					b.woken(waiter)
					if got = b.receive(waiter, "limited", 10); len(got) != 1 {
						b.Errorf("woken for %v", got)
					}
				}
			})
		})
	}
}

func TestAGroupInUseIsGivenAnotherLimitAndNone(t *testing.T) {
	each(t, "backoff_min => '0'", func(b bench) {
		b.send(40)
		first := b.get(6, 6)
		b.end("nack", b.get(1, 1)[0], surface.Text("0"))
		b.configure(`{"concurrency_max": 8}`)
		b.get(2, 10) // what was claimed before counts
		b.configure(`{"concurrency_max": 4}`)
		b.get(0, 10)
		for _, m := range first {
			b.end("ack", m, nil)
		}
		b.get(2, 10)
		b.configure(`{"concurrency_max": null}`)
		b.get(10, 10)
		b.configure(`{"concurrency_max": 15}`)
		b.get(1, 10)
		b.configure(`{"concurrency_max": null, "rate_max": 3}`)
		b.get(3, 10)
		b.wantCount(1, "select count(*) from pg_class where relname ~ '^rate_'")
		b.configure(`{"concurrency_max": 20, "rate_max": null}`)
		b.wantCount(0, "select count(*) from pg_class where relname ~ '^rate_'")
		b.get(2, 10)
		b.get(0, 10)
	})
}

// A receive that has seen a group without limits claims nothing past one that it is given meanwhile, wherever it was.
func TestAReceiveThatBeganBeforeTheLimitKeepsToIt(t *testing.T) {
	for _, c := range []struct{ tables, limit string }{
		{"weir_log.delayed", `{"concurrency_max": 1}`}, // it looks for what is due
		{"weir_log.log_0, weir_log.log_1, weir_log.log_2", `{"concurrency_max": 1}`},
		{"weir_log.log_0, weir_log.log_1, weir_log.log_2", `{"key_concurrency_max": 1}`},
	} {
		for _, key := range []string{"a", ""} {
			t.Run(c.limit+key+c.tables[:12], func(t *testing.T) {
				each(t, "backoff_min => '0'", func(b bench) {
					if key == "" {
						b.ok("select weir.send('jobs', '1') from generate_series(1, 6)")
					} else {
						b.sendTo("a", 6)
					}
					b.get(1, 1)
					b.ok("select weir.send('jobs', '1', 'a')") // so that no table is empty
					slow := b.db.Conn(b)
					b.before(slow, c.tables, func(tx pgx.Tx) {
						if _, err := tx.Exec(b.Context(), configure, c.limit); err != nil {
							b.Fatal(err)
						}
					}, func() error {
						got, err := surface.Receive(b.Context(), slow, queue, "limited", 10, "30 seconds")
						if len(got) > 0 && c.limit != `{"key_concurrency_max": 1}` {
							b.Errorf("received %v with one message claimed of one allowed", got)
						}
						counts := keyCounts(got)
						if counts != "" && counts != "a1" && counts[0] != '-' {
							b.Errorf("received of each key %q", counts)
						}
						return err
					})
				})
			})
		}
	}
}

// What receives for many shares a claim out among them, and the shares count for limits that are set while it is open.
func TestAReceiveForManyThatIsOpenWhenTheLimitComesIsCounted(t *testing.T) {
	for _, limit := range []string{`{"concurrency_max": 2}`, `{"key_concurrency_max": 2}`} {
		t.Run(limit, func(t *testing.T) {
			each(t, "ordered => false", func(b bench) {
				b.sendTo("a", 6)
				tx := b.begin()
				if _, err := tx.Exec(b.Context(), `select weir_log.receive_many('jobs', 'limited', array[1, 1],
					array['30 seconds', '30 seconds']::interval[])`); err != nil {
					b.Fatal(err)
				}
				conn, done := b.db.Conn(b), make(chan error, 1)
				go func() {
					_, err := conn.Exec(b.Context(), configure, limit)
					done <- err
				}()
				pgtest.WaitForLock(b, b.db, conn.PgConn().PID())
				b.commit(tx)
				if err := <-done; err != nil {
					b.Fatal(err)
				}
				b.get(0, 10)
			})
		})
	}
}

func TestDelayedMessagesAndRetriesKeepToTheLimit(t *testing.T) {
	each(t, "concurrency_max => 3, backoff_min => '0'", func(b bench) {
		b.send(20)
		b.ok("select weir.send('jobs', to_jsonb(i), 'd' || i, delay => '1 minute') from generate_series(1, 20) i")
		got := b.get(3, 10)
		b.get(0, 10)
		b.end("nack", got[0], surface.Text("0"))
		b.get(1, 10)
		b.get(0, 10)
		b.clock.Advance(b, 2*time.Minute)
		b.get(3, 10)
		b.clock.Advance(b, time.Minute)
		if n := b.drain("limited", 10); n != 40 {
			b.Errorf("drained %d, want 40", n)
		}
	})
}

func TestAnExtendedClaimCountsOn(t *testing.T) {
	each(t, "concurrency_max => 2", func(b bench) {
		b.send(5)
		got := b.get(1, 1)
		b.get(1, 1)
		b.ok("select weir_log.extend('jobs', $1, '10 minutes')", got[0].ClaimID)
		b.clock.Advance(b, time.Minute)
		b.get(1, 10)
		b.get(0, 10)
		b.end("ack", got[0], nil)
		b.get(1, 10)
	})
}

// TestTheListOfClaimsIsAsLongAsWhatIsClaimed holds that a receive's cost is a function of what is claimed, not of
// history.
func TestTheListOfClaimsIsAsLongAsWhatIsClaimed(t *testing.T) {
	for _, settings := range []string{"concurrency_max => 4", "key_concurrency_max => 4", "fair => true"} {
		t.Run(settings, func(t *testing.T) {
			each(t, settings, func(b bench) {
				b.sendTo("a", 300)
				cycle := func(n int) int {
					for range n {
						b.ok("select weir_log.ack_all('jobs', $1)", b.get(1, 1)[0].ClaimID)
					}
					tx := b.begin()
					defer b.rollback(tx)
					return surface.Buffers(b, tx, "select weir.receive('jobs', 'limited')")
				}
				first, last := cycle(50), cycle(200)
				if last > first*3/2+20 {
					b.Errorf("a receive touches %d buffers after 50 claims, %d after 250", first, last)
				}
				n := pgtest.QueryVal[int](b, b.db,
					"select coalesce(cardinality(weir_log.inflight_of(g)), 0) from weir_internal.groups g where g.name = 'limited'")
				if n > 4 {
					b.Errorf("%d claims are on the list", n)
				}
			})
		})
	}
}
