package ordered_test

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

// sendOn sends a message of the key a on a connection, as l.send does.
func (l lines) sendOn(c surface.Conn, n int) {
	l.Helper()
	key := "a"
	payload := `"` + key + surface.Number(n) + `"`
	if _, err := surface.Send(l.Context(), c, queue, payload, &key, nil, nil); err != nil {
		l.Fatal(err)
	}
}

// setLanes changes the number of lanes.
func (l lines) setLanes(n int) {
	l.Helper()
	l.db.Exec(l, "select weir.configure_queue($1, lanes => $2)", queue, n)
}

// pauseBeforeLanes has each call of claim_lane wait, before it looks at its lane, while another session holds a lock:
// what a receive has found out until then may not be so any more. It returns the transaction that holds the lock.
func (l lines) pauseBeforeLanes() pgx.Tx {
	l.Helper()
	l.db.Exec(l, `alter function weir_log.claim_lane rename to claim_lane_then;
		create function weir_log.claim_lane(q weir_internal.queues, g weir_internal.groups, p_lane int, p_claim bigint,
			p_want int, p_lease interval, p_now timestamptz)
		returns weir.message_record[] language plpgsql as $$
		begin
			perform pg_advisory_xact_lock_shared(1);
			return weir_log.claim_lane_then(q, g, p_lane, p_claim, p_want, p_lease, p_now);
		end $$`)
	holder := l.begin()
	if _, err := holder.Exec(l.Context(), "select pg_advisory_xact_lock(1)"); err != nil {
		l.Fatal(err)
	}
	return holder
}

// A sender that knew the old number of lanes commits when a receive has found these empty and not yet looked into the
// new ones; then its key's next message is sent into these.
func TestAKeysMessagesInOldLanesComeFirstWhenTheyCommitWhileAReceiveGoesOver(t *testing.T) {
	each(t, "", func(l lines) {
		old := l.begin()
		l.sendOn(old, 1)
		l.setLanes(2)
		l.send("a", 0) // of no order with a1, whose transaction is still open
		holder := l.pauseBeforeLanes()
		conn := l.db.Conn(l)
		type answer struct {
			got []surface.Message
			err error
		}
		received := make(chan answer, 1)
		go func() {
			got, err := surface.Receive(l.Context(), conn, queue, group, 10, "1 hour")
			received <- answer{got, err}
		}()
		pgtest.WaitForLock(l, l.db, conn.PgConn().PID())
		l.commit(old)
		l.send("a", 2) // after a1
		l.rollback(holder)
		a := <-received
		if a.err != nil {
			l.Fatal(a.err)
		}
		for _, m := range a.got { // a2 must not be among them
			if m.Payload == `"a2"` {
				l.Fatalf("received %v, and a1 was not delivered before", a.got)
			}
			l.ack(m)
		}
		l.ack(l.receive(1, "1 hour", "a1")[0])
		rest := []string{"a0", "a2"}[len(a.got):]
		for _, m := range l.receive(10, "1 hour", rest...) {
			l.ack(m)
		}
		l.receive(10, "1 hour")
	})
}

// Who sent to the old lanes and is still open holds nobody up; what is sent meanwhile is of no order with that.
func TestASenderThatIsOpenWhenTheLanesChangeHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	for _, end := range []string{"commits", "rolls back", "is killed"} {
		t.Run(end, func(t *testing.T) {
			each(t, "", func(l lines) {
				conn := l.db.Conn(l)
				old, err := conn.Begin(l.Context())
				if err != nil {
					l.Fatal(err)
				}
				l.sendOn(old, 1)
				l.setLanes(3)
				l.send("a", 2)
				got := l.receive(1, "1 hour", "a2")
				l.send("b", 1)
				got = append(got, l.receive(1, "1 hour", "b1")...)
				switch end {
				case "commits":
					l.commit(old)
				case "rolls back":
					l.rollback(old)
				default:
					pid := pgtest.PID(l, conn)
					l.db.Exec(l, "select pg_terminate_backend($1)", pid)
					pgtest.WaitForGone(l, l.db, pid)
				}
				l.send("a", 3)
				for _, m := range got {
					l.ack(m)
				}
				if end == "commits" {
					l.ack(l.receive(1, "1 hour", "a1")[0])
				}
				l.ack(l.receive(10, "1 hour", "a3")[0])
				l.receive(10, "1 hour")
			})
		})
	}
}

// A transaction that sends into lanes of both epochs, since the number changes while it is open.
func TestATransactionThatSeesTheLanesChangeKeepsItsOrder(t *testing.T) {
	each(t, "", func(l lines) {
		tx := l.begin()
		for n := range 5 {
			l.sendOn(tx, n)
			l.setLanes(n + 2)
		}
		l.commit(tx)
		for n := range 5 {
			l.ack(l.receive(1, "1 hour", "a"+surface.Number(n))[0])
		}
		l.receive(1, "1 hour")
	})
}

// A snapshot that is older than the change sends to the old lanes at any time.
func TestASenderWithAnOldSnapshotLosesNothing(t *testing.T) {
	each(t, "", func(l lines) {
		tx := l.begin()
		_, err := tx.Exec(l.Context(), "set transaction isolation level repeatable read; select 1 from weir.list_queues()")
		if err != nil {
			l.Fatal(err)
		}
		l.setLanes(2)
		l.send("a", 1)
		l.ack(l.receive(1, "1 hour", "a1")[0])
		for range 3 {
			l.maintain()
		}
		l.setLanes(5)
		l.sendOn(tx, 2)
		l.commit(tx)
		l.send("a", 3)
		l.ack(l.receive(1, "1 hour", "a2")[0])
		l.ack(l.receive(1, "1 hour", "a3")[0])
		l.receive(1, "1 hour")
	})
}

// A message that failed stands in its key's queue, and holds up no other key's new lane; its own key waits for it.
func TestAKeyInTroubleInTheOldLanesHoldsUpNoOther(t *testing.T) {
	each(t, "", func(l lines) {
		l.send("a", 1)
		l.nack(l.receive(1, "1 hour", "a1")[0], "30 minutes")
		l.setLanes(2)
		l.send("a", 2)
		l.send("b", 1)
		l.ack(l.receive(10, "1 hour", "b1")[0])
		l.receive(10, "1 hour")
		l.clock.Advance(l, hour)
		l.ack(l.receive(10, "1 hour", "a1")[0])
		l.ack(l.receive(10, "1 hour", "a2")[0])
		l.receive(10, "1 hour")
		l.wantParked(0)
	})
}

// While a claim of old lanes is unfinished, new ones wait; also when its messages came out of them long ago and the log
// has gone on to other segments since.
func TestOldLanesAreFinishedBeforeNewOnesBegin(t *testing.T) {
	each(t, "", func(l lines) {
		l.send("a", 1)
		claimed := l.receive(1, "1 hour", "a1")[0]
		l.setLanes(2)
		l.send("a", 2)
		l.receive(10, "1 hour")
		l.ack(claimed)
		l.ack(l.receive(10, "1 hour", "a2")[0])
		l.receive(10, "1 hour")
	})
}

// Old lanes in which nothing is left must not seem to have something because the log has moved on.
func TestOldLanesThatAreEmptyHoldNobodyUpWhenTheLogHasMovedOn(t *testing.T) {
	each(t, "", func(l lines) {
		l.send("a", 1)
		l.ack(l.receive(1, "1 hour", "a1")[0])
		held := l.begin() // so that the epoch is kept
		l.sendOn(held, 9)
		l.setLanes(2)
		l.db.Exec(l, "update weir_internal.logs set segment_bytes = 1")
		for range 2 {
			l.maintain()
		}
		l.send("a", 2)
		l.ack(l.receive(10, "1 hour", "a2")[0])
		l.rollback(held)
		l.receive(10, "1 hour")
	})
}

// Each change begins an epoch; those that nobody can use any more are given up at the next changes, maintain or not.
func TestAThousandChangesLeaveFewEpochs(t *testing.T) {
	each(t, "", func(l lines) {
		l.dropDefault()
		for n := range 1000 {
			if n%20 == 0 {
				l.send("a", n)
				l.ack(l.receive(1, "1 hour", "a"+surface.Number(n))[0])
			}
			l.change(2 - n%2)
		}
		pgtest.WaitFor(l, "one epoch", func() bool { l.maintain(); return l.epochs() == 1 })
		if n := pgtest.QueryVal[int](l, l.db, "select count(*)::int from weir_internal.ended_epochs"); n != 0 {
			l.Errorf("%d epochs have ended and are not forgotten", n)
		}
	})
}

// change changes the number of lanes; while old transactions of other tests on this server are open it may be refused.
func (l lines) change(n int) {
	l.Helper()
	pgtest.WaitFor(l, "older transactions to end", func() bool {
		_, err := l.db.Pool(l).Exec(l.Context(), "select weir.configure_queue($1, lanes => $2)", queue, n)
		if err != nil {
			surface.WantState(l, err, "WR061")
		}
		return err == nil
	})
}

// dropDefault drops the group default, which nobody consumes.
func (l lines) dropDefault() {
	l.Helper()
	l.db.Exec(l, "select weir.drop_group($1, 'default')", queue)
}

// wantEpochs checks how many numbers of lanes are looked into after maintain.
func (l lines) wantEpochs(why string, want int) {
	l.Helper()
	for range 3 {
		l.maintain()
	}
	if n := l.epochs(); n != want {
		l.Errorf("%s: %d epochs, want %d", why, n, want)
	}
}

// gone waits until only one epoch is left.
func (l lines) gone() {
	l.Helper()
	pgtest.WaitFor(l, "the end of the epoch", func() bool { l.maintain(); return l.epochs() == 1 })
}

// An epoch is kept as long as somebody may send to its lanes.
func TestAnEpochStaysWhileSomebodyMaySendToItsLanes(t *testing.T) {
	each(t, "", func(l lines) {
		l.dropDefault()
		sender, stranger := l.begin(), l.beginAsOther()
		l.sendOn(sender, 1)
		l.setLanes(2)
		l.wantEpochs("a sender is open", 2)
		l.commit(sender)
		l.wantEpochs("an old snapshot is there", 2)
		l.rollback(stranger)
		l.wantEpochs("a message is there", 2)
		claimed := l.receive(1, "1 hour", "a1")[0]
		l.wantEpochs("a claim is unfinished", 2)
		l.ack(claimed)
		l.gone()
		l.send("a", 2)
		l.ack(l.receive(1, "1 hour", "a2")[0])
	})
}

// beginAsOther begins a transaction of another role that has a snapshot and no number.
func (l lines) beginAsOther() pgx.Tx {
	l.Helper()
	tx, err := l.db.Super(l).BeginTx(l.Context(), pgx.TxOptions{IsoLevel: pgx.RepeatableRead})
	if err != nil {
		l.Fatal(err)
	}
	if _, err := tx.Exec(l.Context(), "select 1 from weir_internal.queues"); err != nil {
		l.Fatal(err)
	}
	return tx
}

// A change that is open or was rolled back ends no epoch, and two in one transaction end two.
func TestChangesOfOneTransactionBeginEpochsTogether(t *testing.T) {
	each(t, "", func(l lines) {
		l.dropDefault()
		for _, commits := range []bool{false, true} {
			tx := l.begin()
			for _, lanes := range []int{5, 2} {
				if _, err := tx.Exec(l.Context(), "select weir.configure_queue($1, lanes => $2)", queue, lanes); err != nil {
					l.Fatal(err)
				}
				l.sendOn(tx, lanes)
			}
			l.send("b", 1)
			if !commits {
				l.rollback(tx)
				l.ack(l.receive(10, "1 hour", "b1")[0])
				l.wantEpochs("rolled back", 1)
				continue
			}
			l.commit(tx)
			if n := l.epochs(); n != 3 {
				l.Errorf("%d epochs, want 3", n)
			}
			for _, want := range []string{"b1", "a5", "a2"} {
				l.ack(l.receive(10, "1 hour", want)[0])
			}
			l.gone()
		}
	})
}

// What was given back stands in its key's queue when its lanes are gone, and is not taken for something that a seek
// finds in the log.
func TestASeekLosesNothingOfLanesThatAreGone(t *testing.T) {
	each(t, "", func(l lines) {
		l.dropDefault()
		l.send("a", 1)
		l.nack(l.receive(1, "1 hour", "a1")[0], "30 minutes")
		l.setLanes(2)
		l.gone()
		l.send("a", 2)
		l.db.Exec(l, "select weir.seek($1, $2, 'start')", queue, group)
		l.clock.Advance(l, hour)
		l.ack(l.receive(1, "1 hour", "a1")[0])
		l.ack(l.receive(1, "1 hour", "a2")[0])
		l.receive(1, "1 hour")
	})
}

// With a retention, what groups have finished can be replayed, so its lanes stay as long as it does.
func TestAnEpochStaysWhileItsMessagesAreRetained(t *testing.T) {
	each(t, "", func(l lines) {
		l.dropDefault()
		l.db.Exec(l, "select weir.configure_log('main', retention => '1 hour')")
		l.send("a", 1)
		l.ack(l.receive(1, "1 hour", "a1")[0])
		l.setLanes(2)
		l.wantEpochs("its messages are retained", 2)
		l.send("a", 2)
		l.db.Exec(l, "select weir.seek($1, $2, 'start')", queue, group)
		l.ack(l.receive(1, "1 hour", "a1")[0])
		l.ack(l.receive(1, "1 hour", "a2")[0])
		l.db.Exec(l, "select weir.configure_log('main', retention => '0')")
		l.gone()
	})
}

// A group that does not finish keeps the epochs; at 16 another change is refused.
func TestTooManyEpochsAreRefused(t *testing.T) {
	each(t, "", func(l lines) {
		l.send("a", 1)
		for n := range 15 {
			l.setLanes(2 - n%2)
			l.send("a", n+2)
		}
		_, err := l.db.Pool(l).Exec(l.Context(), "select weir.configure_queue($1, lanes => 7)", queue)
		surface.WantState(l, err, "WR061")
		for n := range 16 {
			l.ack(l.receive(1, "1 hour", "a"+surface.Number(n+1))[0])
		}
		l.dropDefault()
		l.change(7)
	})
}

func (l lines) maintain() {
	l.Helper()
	if _, err := surface.Maintain(l.Context(), l.db.Pool(l)); err != nil {
		l.Fatal(err)
	}
}

// epochs returns how many numbers of lanes are looked into.
func (l lines) epochs() int {
	l.Helper()
	return pgtest.QueryVal[int](l, l.db, "select cardinality(key_epochs) from weir_internal.queues where name = $1", queue)
}

// A message of old lanes that is committed when another of its key is in somebody's hands, out of new lanes, waits
// until that is finished, whether or not it can be seen that somebody has it.
func TestAKeysMessageInOldLanesWaitsForThatOfNewOnes(t *testing.T) {
	each(t, "", func(l lines) {
		for _, isOpen := range []bool{false, true} {
			old := l.begin()
			l.sendOn(old, 1)
			l.sendOn(old, 2)
			l.setLanes(2)
			l.setLanes(3)
			l.send("a", 3) // of no order with a1, whose transaction is still open
			other := l.begin()
			held := l.receiveOn(other, 10, "1 hour", "a3")[0]
			if !isOpen {
				l.commit(other)
			}
			l.commit(old)
			l.receive(10, "1 hour")
			if isOpen {
				l.commit(other)
			}
			l.send("b", 1)
			l.ack(l.receive(10, "1 hour", "b1")[0])
			l.ack(held)
			l.ack(l.receive(10, "1 hour", "a1")[0])
			l.ack(l.receive(10, "1 hour", "a2")[0])
			l.receive(10, "1 hour")
			l.wantParked(0)
		}
	})
}

// What expired in new lanes is delivered again, although old lanes have something that is not finished.
func TestWhatExpiredInNewLanesWaitsForNoOldOne(t *testing.T) {
	each(t, "", func(l lines) {
		old := l.begin()
		l.sendOn(old, 1)
		l.setLanes(2)
		l.send("b", 1)
		l.receive(1, "1 second", "b1")
		l.clock.Advance(l, 2*time.Second)
		l.commit(old)
		l.receive(10, "1 hour", "b1", "a1")
	})
}
