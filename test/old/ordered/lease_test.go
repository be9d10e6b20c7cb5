package ordered_test

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

// outOfLane claims a message of a key and has the claim leave its lane, as one that is slow.
func (l lines) outOfLane(key string) surface.Message {
	l.Helper()
	l.send(key, 0)
	got := l.receive(1, "1 hour", key+"0")[0]
	l.send("behind "+key, 0)
	l.clock.Advance(l, 2*time.Minute)
	l.ack(l.receive(10, "1 hour", "behind "+key+"0")[0])
	return got
}

// extending begins a transaction that has extended a claim.
func (l lines) extending(m surface.Message) pgx.Tx {
	l.Helper()
	tx, err := l.db.Conn(l).Begin(l.Context())
	if err != nil {
		l.Fatal(err)
	}
	if _, err := surface.Extend(l.Context(), tx, queue, m.ClaimID, "10 hours"); err != nil {
		l.Fatal(err)
	}
	return tx
}

func TestAClaimOutOfItsLaneThatIsBeingExtendedIsGivenToNobody(t *testing.T) {
	each(t, "patience => '1 minute'", func(l lines) {
		slow := l.outOfLane("a")
		tx := l.extending(slow)
		l.clock.Advance(l, 2*time.Hour)
		l.receive(10, "1 hour")
		if err := tx.Commit(l.Context()); err != nil {
			l.Fatal(err)
		}
		l.receive(10, "1 hour")
		l.ack(slow)
	})
}

// A receive that finds claims expired gives the first to others; the second is extended before its turn comes.
func TestAClaimOutOfItsLaneThatWasExtendedJustNowIsGivenToNobody(t *testing.T) {
	each(t, "patience => '1 minute'", func(l lines) {
		first, second := l.outOfLane("a"), l.outOfLane("b")
		extend := l.extending(second)
		l.clock.Advance(l, 2*time.Hour)
		hold, err := l.db.Conn(l).Begin(l.Context())
		if err != nil {
			l.Fatal(err)
		}
		_, err = hold.Exec(l.Context(), "select from weir_internal.q1_parked where id = $1 for update", first.ID)
		if err != nil {
			l.Fatal(err)
		}
		conn := l.db.Conn(l)
		got := make(chan []surface.Message, 1)
		go func() {
			all, err := surface.Receive(l.Context(), conn, queue, group, 10, "1 hour")
			if err != nil {
				l.Error(err)
			}
			got <- all
		}()
		pgtest.WaitForLock(l, l.db, conn.PgConn().PID())
		for _, tx := range []pgx.Tx{extend, hold} {
			if err := tx.Commit(l.Context()); err != nil {
				l.Fatal(err)
			}
		}
		if all := <-got; len(all) != 1 || all[0].ID != first.ID {
			l.Errorf("received %v, want %v again", all, first)
		}
		l.ack(second)
	})
}

func TestANackOutOfALineWaitsForADropOfItsGroup(t *testing.T) {
	each(t, "patience => '1 minute'", func(l lines) {
		m := l.outOfLane("a")
		drop, err := l.db.Conn(l).Begin(l.Context())
		if err != nil {
			l.Fatal(err)
		}
		if _, err := drop.Exec(l.Context(), "select weir.drop_group($1, $2)", queue, group); err != nil {
			l.Fatal(err)
		}
		conn := l.db.Conn(l)
		ended := make(chan error, 1)
		go func() {
			_, err := surface.Nack(l.Context(), conn, queue, m.ClaimID, nil, nil)
			ended <- err
		}()
		pgtest.WaitForLock(l, l.db, conn.PgConn().PID())
		if err := drop.Commit(l.Context()); err != nil {
			l.Fatal(err)
		}
		surface.WantState(l, <-ended, "WR010")
	})
}
