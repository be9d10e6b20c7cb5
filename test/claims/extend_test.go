package claims_test

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

func TestExtendMovesTheDeadline(t *testing.T) {
	each(t, func(b bench) {
		ids := b.send(2)
		claim, _ := b.claim(2, "1 minute")
		for range 5 {
			b.clock.Advance(b, 40*time.Second)
			if _, err := surface.Extend(b.Context(), b.db.Pool(b), queue, claim, "1 minute"); err != nil {
				b.Fatal(err)
			}
			b.wantNothing()
		}
		b.wantCount(1)(surface.Ack(b.Context(), b.db.Pool(b), queue, claim, ids[:1]))
		b.clock.Advance(b, 61*time.Second)
		_, got := b.claim(1, "1 minute")
		b.wantIDs(got, 2, ids[1])
	})
}

func TestExtendNeverShortens(t *testing.T) {
	each(t, func(b bench) {
		b.send(1)
		claim, _ := b.claim(1, "30 minutes")
		until := map[string]time.Time{}
		for _, lease := range []string{"1 hour", "1 second"} {
			var err error
			if until[lease], err = surface.Extend(b.Context(), b.db.Pool(b), queue, claim, lease); err != nil {
				b.Fatal(err)
			}
		}
		if long, short := until["1 hour"], until["1 second"]; !short.Equal(long) {
			b.Errorf("extended to %v, then to %v", long, short)
		}
		b.clock.Advance(b, 45*time.Minute)
		b.wantNothing()
		b.wantCount(1)(surface.Ack(b.Context(), b.db.Pool(b), queue, claim, nil))
	})
}

func TestRolledBackNackNeverWas(t *testing.T) {
	each(t, func(b bench) {
		ids := b.send(2)
		claim, _ := b.claim(2, "1 minute")
		for _, delay := range []*string{surface.Text("0"), surface.Text("1 second"), nil} {
			tx := b.begin()
			b.wantCount(2)(surface.Nack(b.Context(), tx, queue, claim, nil, delay))
			b.rollback(tx)
		}
		tx := b.begin()
		b.wantCount(2)(surface.Reject(b.Context(), tx, queue, claim, ids))
		b.rollback(tx)
		b.clock.Advance(b, 30*time.Second)
		b.wantNothing()
		b.wantCount(2)(surface.Ack(b.Context(), b.db.Pool(b), queue, claim, nil))
		b.clock.Advance(b, time.Hour)
		b.wantNothing()
		if dead, err := surface.DeadLetters(b.Context(), b.db.Pool(b), queue, group); err != nil || len(dead) != 0 {
			b.Fatalf("dead letters %v, %v", dead, err)
		}
	})
}

func TestAckAndSendHappenTogether(t *testing.T) {
	each(t, func(b bench) {
		surface.CreateQueue(b, b.db.Pool(b), "next", "")
		b.send(1)
		claim, _ := b.claim(1, "1 minute")
		hand := func(end func(pgx.Tx)) int {
			tx := b.begin()
			b.wantCount(1)(surface.Ack(b.Context(), tx, queue, claim, nil))
			if _, err := surface.Send(b.Context(), tx, "next", `"done"`, nil, nil, nil); err != nil {
				b.Fatal(err)
			}
			end(tx)
			got, err := surface.Pop(b.Context(), b.db.Pool(b), "next", group, 10)
			if err != nil {
				b.Fatal(err)
			}
			return len(got)
		}
		if n := hand(b.rollback); n != 0 {
			b.Fatalf("%d messages handed on by a transaction that was rolled back", n)
		}
		if n := hand(b.commit); n != 1 {
			b.Fatalf("%d messages handed on, want 1", n)
		}
		b.clock.Advance(b, time.Hour)
		b.wantNothing()
	})
}

// A transaction that receives and sends must be delivered what it sent: its own id is not in its own snapshots.
func TestSendAfterReceiveInOneTransactionIsDelivered(t *testing.T) {
	each(t, func(b bench) {
		b.send(1)
		tx := b.begin()
		b.receive(tx, 1, "1 minute")
		b.send(1) // a later transaction ends: from now on a plain snapshot counts the open one as visible
		b.receive(tx, 10, "1 minute")
		id, err := surface.Send(b.Context(), tx, queue, `"mine"`, nil, nil, nil)
		if err != nil {
			b.Fatal(err)
		}
		delayed, err := surface.Send(b.Context(), tx, queue, `"mine, later"`, nil, nil, surface.Text("1 second"))
		if err != nil {
			b.Fatal(err)
		}
		b.commit(tx)
		b.clock.Advance(b, 2*time.Second)
		got := append(b.receive(b.db.Pool(b), 10, "1 minute"), b.receive(b.db.Pool(b), 10, "1 minute")...)
		b.wantIDs(got, 1, id, delayed)
	})
}

func TestReceiveIsRefusedOnAFixedSnapshot(t *testing.T) {
	each(t, func(b bench) {
		ids := b.send(1)
		for _, level := range []pgx.TxIsoLevel{pgx.RepeatableRead, pgx.Serializable} {
			for _, call := range []string{
				"select weir.receive('jobs')", "select weir.receive_records('jobs')", "select weir.pop('jobs')",
				"select weir.peek('jobs')",
			} {
				tx := b.begin(pgx.TxOptions{IsoLevel: level})
				_, err := tx.Exec(b.Context(), call)
				surface.WantState(b, err, "WR012")
				b.rollback(tx)
			}
		}
		_, got := b.claim(1, "1 minute")
		b.wantIDs(got, 1, ids...)
	})
}

// On an old snapshot a nack cannot see what was acked meanwhile; it is refused, or does the right thing.
func TestNackOnAFixedSnapshotDoesNotUndoAnAck(t *testing.T) {
	each(t, func(b bench) {
		ids := b.send(2)
		claim, _ := b.claim(2, "1 minute")
		tx := b.begin(pgx.TxOptions{IsoLevel: pgx.RepeatableRead})
		if _, err := tx.Exec(b.Context(), "select count(*) from weir.list_queues()"); err != nil {
			b.Fatal(err)
		}
		b.wantCount(1)(surface.Ack(b.Context(), b.db.Pool(b), queue, claim, ids[:1]))
		if _, err := surface.Nack(b.Context(), tx, queue, claim, nil, surface.Text("0")); err != nil {
			surface.WantState(b, err, "WR012")
			b.rollback(tx)
			return
		}
		b.commit(tx)
		_, got := b.claim(1, "1 minute")
		b.wantIDs(got, 2, ids[1])
		b.wantNothing()
	})
}

func TestForeignIDsAreRefused(t *testing.T) {
	each(t, func(b bench) {
		ids := b.send(4)
		claim, _ := b.claim(2, "1 minute")
		for _, some := range [][]int64{
			{ids[0], ids[2]}, ids, {ids[3]}, {0}, {-1}, {1 << 62}, {9223372036854775807}, {-9223372036854775808},
		} {
			_, err := surface.Ack(b.Context(), b.db.Pool(b), queue, claim, some)
			surface.WantState(b, err, "WR011")
			_, err = surface.Nack(b.Context(), b.db.Pool(b), queue, claim, some, nil)
			surface.WantState(b, err, "WR011")
			_, err = surface.Reject(b.Context(), b.db.Pool(b), queue, claim, some)
			surface.WantState(b, err, "WR011")
		}
		b.wantCount(0)(surface.Ack(b.Context(), b.db.Pool(b), queue, claim, []int64{}))
		b.wantCount(2)(surface.Ack(b.Context(), b.db.Pool(b), queue, claim, nil))
	})
}

func TestForgedClaimsAreRefused(t *testing.T) {
	each(t, func(b bench) {
		ids := b.send(2)
		claim, _ := b.claim(1, "1 minute")
		for _, forged := range []int64{
			0, -1, -16384, claim + 1, claim - 1, claim + 16384, claim - 16384, 1 << 62, 9223372036854775807,
			-9223372036854775808,
		} {
			for name, call := range map[string]func() error{
				"ack": func() error { _, err := surface.Ack(b.Context(), b.db.Pool(b), queue, forged, nil); return err },
				"ack ids": func() error {
					_, err := surface.Ack(b.Context(), b.db.Pool(b), queue, forged, ids[:1])
					return err
				},
				"nack":   func() error { _, err := surface.Nack(b.Context(), b.db.Pool(b), queue, forged, nil, nil); return err },
				"reject": func() error { _, err := surface.Reject(b.Context(), b.db.Pool(b), queue, forged, ids); return err },
				"extend": func() error {
					_, err := surface.Extend(b.Context(), b.db.Pool(b), queue, forged, "1 minute")
					return err
				},
			} {
				if state := surface.SQLState(call()); state != "WR009" && state != "WR010" {
					b.Fatalf("%s of forged claim %d: SQLSTATE %q, want WR009 or WR010", name, forged, state)
				}
			}
		}
		_, err := b.db.Pool(b).Exec(b.Context(), "select weir.ack_all($1, null)", queue)
		surface.WantState(b, err, "WR006")
		b.wantCount(1)(surface.Ack(b.Context(), b.db.Pool(b), queue, claim, nil))
	})
}

func TestRolledBackReceiveNeverWas(t *testing.T) {
	each(t, func(b bench) {
		ids := b.send(3)
		tx := b.begin()
		b.wantIDs(b.receive(tx, 2, "1 minute"), 1, ids[:2]...)
		b.wantNothing() // the lane is its own until it ends
		b.rollback(tx)
		_, got := b.claim(3, "1 minute")
		b.wantIDs(got, 1, ids...)
	})
}

func TestReceiveOfAKilledClientNeverWas(t *testing.T) {
	each(t, func(b bench) {
		ids := b.send(2)
		conn := b.db.Conn(b)
		if _, err := conn.Exec(b.Context(), "begin"); err != nil {
			b.Fatal(err)
		}
		b.wantIDs(b.receive(conn, 2, "1 hour"), 1, ids...)
		pid := pgtest.PID(b, conn)
		if _, err := b.db.Super(b).Exec(b.Context(), "select pg_terminate_backend($1)", int64(pid)); err != nil {
			b.Fatal(err)
		}
		pgtest.WaitForGone(b, b.db, pid)
		_, got := b.claim(2, "1 minute")
		b.wantIDs(got, 1, ids...)
	})
}

func TestReceiveInARolledBackSavepointNeverWas(t *testing.T) {
	each(t, func(b bench) {
		ids := b.send(2)
		tx := b.begin()
		inner, err := tx.Begin(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		b.wantIDs(b.receive(inner, 2, "1 minute"), 1, ids...)
		b.rollback(inner)
		b.wantIDs(b.receive(tx, 1, "1 minute"), 1, ids[0])
		b.commit(tx)
		_, got := b.claim(1, "1 minute")
		b.wantIDs(got, 1, ids[1])
	})
}

func TestANackWaitsTwiceAsLongEachTimeUpToTheLongest(t *testing.T) {
	each(t, func(b bench) {
		b.db.Exec(b, `select weir.configure_group($1, $2,
			max_attempts => 100, backoff_min => '10 s', backoff_max => '1 minute')`, queue, group)
		b.send(1)
		for i, seconds := range []int{10, 20, 40, 60, 60} {
			want := time.Duration(seconds) * time.Second
			claim, _ := b.claim(1, "1 minute")
			b.wantCount(1)(surface.Nack(b.Context(), b.db.Pool(b), queue, claim, nil, nil))
			wait := time.Duration(pgtest.QueryVal[float64](b, b.db,
				"select extract(epoch from due_at - weir_internal.clock())::float8 from weir.delayed($1, $2)",
				queue, group) * float64(time.Second))
			if least, most := want*9/10, min(want*11/10, time.Minute)+time.Millisecond; wait < least || wait > most {
				b.Errorf("after delivery %d the message waits %v, want %v to %v", i+1, wait, least, most)
			}
			b.clock.Advance(b, wait+time.Second)
		}
	})
}
