package ordered_test

import (
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

// sendOn sends a message of a key on a connection, as l.send does.
func (l lines) sendOn(c surface.Conn, key string, n int) {
	l.Helper()
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

// pauseBeforeLanes has each call of claim_lane wait, before it looks at its lane, while another session holds a lock. What a
// receive has found out until then may not be so any more. It returns the connection that holds the lock.
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
		l.sendOn(old, "a", 1)
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
				l.sendOn(old, "a", 1)
				l.setLanes(3)
				l.send("a", 2)
				l.send("b", 1)
				got := l.receive(10, "1 hour", "a2", "b1")
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
			l.sendOn(tx, "a", n)
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
		for _, sql := range []string{"set transaction isolation level repeatable read", "select 1 from weir_internal.queues"} {
			if _, err := tx.Exec(l.Context(), sql); err != nil {
				l.Fatal(err)
			}
		}
		l.setLanes(2)
		l.send("a", 1)
		l.ack(l.receive(1, "1 hour", "a1")[0])
		for range 3 {
			l.maintain()
		}
		l.setLanes(5)
		l.sendOn(tx, "a", 2)
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
		l.sendOn(held, "a", 9)
		l.setLanes(2)
		l.db.Exec(l, "select setval('weir_log.log_ring', pg_sequence_last_value('weir_log.log_ring'))")
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
