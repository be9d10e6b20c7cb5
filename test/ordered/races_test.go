package ordered_test

import (
	"testing"
	"time"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

// What parks behind a claim that is being settled does not know how that ends.
func TestWhatMeetsItsKeyWhileThatIsBeingSettledWaitsForTheEnd(t *testing.T) {
	t.Parallel()
	for _, verb := range []string{"ack", "nack", "reject", "release"} {
		for _, commits := range []bool{true, false} {
			t.Run(verb+map[bool]string{true: " here", false: " rolled back"}[commits], func(t *testing.T) {
				each(t, "", func(l lines) {
					l.send("a", 0)
					first := l.receive(1, "1 hour", "a0")[0]
					l.send("a", 1)
					l.send("b", 0)
					l.send("a", 2)
					tx := l.begin()
					zero := "0"
					if n, err := settle(l.Context(), tx, verb, first.ClaimID, []int64{first.ID}, &zero); err != nil || n != 1 {
						l.Fatal(n, err)
					}
					l.ack(l.receive(10, "1 hour", "b0")[0]) // no other key waits for the end of the transaction
					l.receive(10, "1 hour")
					if !commits {
						l.rollback(tx)
						l.receive(10, "1 hour")
						l.ack(first)
					} else {
						l.commit(tx)
						if verb == "nack" || verb == "release" {
							l.ack(l.receive(10, "1 hour", "a0")[0])
						}
					}
					l.ack(l.receive(10, "1 hour", "a1")[0])
					l.ack(l.receive(10, "1 hour", "a2")[0])
					l.receive(10, "1 hour")
					l.wantParked(0)
				})
			})
		}
	}
}

// A receive that parks, in a transaction that is open: who finishes what it parked behind sees nothing of it, or waits.
func TestAReceiveThatIsOpenLosesNothingOfTheKeysItParked(t *testing.T) {
	t.Parallel()
	for _, commits := range []bool{true, false} {
		t.Run(map[bool]string{true: "committed", false: "rolled back"}[commits], func(t *testing.T) {
			each(t, "", func(l lines) {
				l.send("a", 0)
				first := l.receive(1, "1 hour", "a0")[0]
				l.send("a", 1)
				tx := l.begin()
				l.receiveOn(tx, 10, "1 hour") // a0 stands in its line now, and a1 behind it
				conn := l.db.Conn(l)
				acked := make(chan error, 1)
				go func() {
					_, err := settle(l.Context(), conn, "ack", first.ClaimID, []int64{first.ID}, nil)
					acked <- err
				}()
				pgtest.WaitForLock(l, l.db, conn.PgConn().PID())
				if commits {
					l.commit(tx)
				} else {
					l.rollback(tx)
				}
				if err := <-acked; err != nil {
					l.Fatal(err)
				}
				l.ack(l.receive(10, "1 hour", "a1")[0])
				l.receive(10, "1 hour")
				l.wantParked(0)
			})
		})
	}
}

// The note of an ack that saw nothing behind what it finished, while a receive was parking there.
func TestWhatIsParkedBehindAMessageThatEndsMeanwhileStepsUp(t *testing.T) {
	each(t, "", func(l lines) {
		l.send("a", 0)
		l.nack(l.receive(1, "1 hour", "a0")[0], "0")
		head := l.receive(1, "1 hour", "a0")[0]
		l.send("a", 1)
		tx := l.begin()
		l.receiveOn(tx, 10, "1 hour") // parks a1 behind a0
		l.ack(head)
		l.receive(10, "1 hour") // cannot see yet what is at the head
		l.commit(tx)
		l.ack(l.receive(10, "1 hour", "a1")[0])
		l.receive(10, "1 hour")
		l.wantParked(0)
	})
}

func TestTwoWhoFinishMessagesOfOneKeyAtOnceLeaveTheNextAtTheHead(t *testing.T) {
	t.Parallel()
	for _, commits := range []bool{true, false} {
		t.Run(map[bool]string{true: "both", false: "one rolls back"}[commits], func(t *testing.T) {
			each(t, "", func(l lines) {
				l.letters("aa")
				got := l.receive(10, "1 hour", "a1", "a2")
				l.send("a", 3)
				l.receive(10, "1 hour") // all three stand in the line
				one, two := l.begin(), l.begin()
				for i, tx := range []surface.Conn{one, two} {
					if n, err := settle(l.Context(), tx, "ack", got[i].ClaimID, []int64{got[i].ID}, nil); err != nil || n != 1 {
						l.Fatal(n, err)
					}
				}
				l.commit(one)
				l.receive(10, "1 hour")
				if commits {
					l.commit(two)
				} else {
					l.rollback(two)
					l.receive(10, "1 hour")
					l.ack(got[1])
				}
				l.ack(l.receive(10, "1 hour", "a3")[0])
				l.receive(10, "1 hour")
				l.wantParked(0)
			})
		})
	}
}

func TestAReceiveThatIsRolledBackNeverHappened(t *testing.T) {
	each(t, "", func(l lines) {
		l.letters("aba")
		l.nack(l.receive(1, "1 hour", "a1")[0], "0")
		tx := l.begin()
		l.receiveOn(tx, 10, "1 hour", "a1", "b2")
		l.receiveOn(tx, 10, "1 hour")
		l.rollback(tx)
		got := l.receive(10, "1 hour", "a1", "b2")
		if got[0].Attempt != 2 {
			l.Errorf("attempt %d, want 2", got[0].Attempt)
		}
		l.ack(got[0])
		l.ack(l.receive(10, "1 hour", "a3")[0])
	})
}

// Two receives in one transaction: the second meets what the first holds.
func TestOneTransactionMeetsWhatItHoldsItself(t *testing.T) {
	each(t, "", func(l lines) {
		l.letters("aba")
		tx := l.begin()
		first := l.receiveOn(tx, 1, "1 hour", "a1")
		l.receiveOn(tx, 10, "1 hour", "b2")
		l.commit(tx)
		l.receive(10, "1 hour")
		l.ack(first[0])
		l.ack(l.receive(10, "1 hour", "a3")[0])
	})
}

func TestADelayedMessageWaitsForAClaimThatIsBeingMade(t *testing.T) {
	each(t, "", func(l lines) {
		l.sendLater("a", 9, surface.Text("5 seconds"))
		l.send("a", 0)
		l.clock.Advance(l, 6*time.Second)
		tx := l.begin()
		l.db.Exec(l, "update weir_internal.groups set paused = paused") // nothing to see; the lane is what counts
		claim := l.claimInLane(tx, 10)
		l.receive(10, "1 hour") // a9 is due, and may not overtake a0
		l.commit(tx)
		l.receive(10, "1 hour")
		if _, err := settle(l.Context(), l.db.Pool(l), "ack", claim, nil, nil); err != nil {
			l.Fatal(err)
		}
		l.ack(l.receive(10, "1 hour", "a9")[0])
	})
}

// One receive in 32 begins with the lanes, so that what is due again does not keep new messages waiting for ever.
func TestOneReceiveIn32BeginsWithTheLanes(t *testing.T) {
	each(t, "", func(l lines) {
		l.send("a", 0)
		l.nack(l.receive(1, "1 hour", "a0")[0], "0")
		l.send("b", 1)
		tx := l.begin()
		lanesFirst := 0.0
		for drawn := 1.0; drawn >= 1.0/32; {
			lanesFirst += 0.001
			l.setSeed(tx, lanesFirst)
			if err := tx.QueryRow(l.Context(), "select random()").Scan(&drawn); err != nil {
				l.Fatal(err)
			}
		}
		l.setSeed(tx, lanesFirst)
		l.receiveAsSeeded(tx, 1, "1 hour", "b1")
		l.rollback(tx)
		tx = l.begin()
		l.setSeed(tx, lanesFirst)
		got := l.receiveAsSeeded(tx, 10, "1 hour", "b1", "a0")
		if got[0].ClaimID != got[1].ClaimID {
			l.Errorf("one receive, but claims %d and %d", got[0].ClaimID, got[1].ClaimID)
		}
		l.rollback(tx)
		l.receive(10, "1 hour", "a0", "b1")
	})
}

// claimInLane claims in the lane of keys alone, as one receive in 32 does first.
func (l lines) claimInLane(c surface.Conn, most int) (claim int64) {
	l.Helper()
	err := c.QueryRow(l.Context(), `select o.claim_id
		from weir_internal.queues q join weir_internal.groups g on g.queue_no = q.no and g.name = $2
		cross join lateral unnest(weir_log.claim_lane(q, g, 16, null, $3, '1 hour', weir_internal.clock())) o
		where q.name = $1`, queue, group, most).Scan(&claim)
	if err != nil {
		l.Fatal(err)
	}
	return claim
}

func TestAnExtendedClaimInAKeyQueueIsGivenToNobody(t *testing.T) {
	each(t, "", func(l lines) {
		l.send("a", 0)
		slow := l.receive(1, "1 hour", "a0")[0]
		l.send("a", 1)
		l.receive(10, "1 hour")
		tx := l.begin()
		var deadline time.Time
		if err := tx.QueryRow(l.Context(), "select weir_log.extend($1, $2, '10 hours')", queue, slow.ClaimID).
			Scan(&deadline); err != nil {
			l.Fatal(err)
		}
		l.clock.Advance(l, 2*hour)
		l.receive(10, "1 hour")
		l.commit(tx)
		l.receive(10, "1 hour")
		l.ack(slow)
		l.ack(l.receive(10, "1 hour", "a1")[0])
	})
}
