package admin_test

import (
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

// seek moves the group default.
func (b bench) seek(position string) {
	b.Helper()
	b.exec("select weir.seek($1, 'default', $2)", queue, position)
}

// finish receives and acknowledges n messages.
func (b bench) finish(n int) {
	b.Helper()
	for n > 0 {
		got := b.receive("default", n)
		if len(got) == 0 {
			b.Fatalf("%d messages are missing", n)
		}
		n -= len(got)
		for _, m := range got {
			b.exec("select weir.ack($1, $2, $3::bigint)", queue, m.ClaimID, m.ID)
		}
	}
}

func TestSeekToTheStartDeliversWhatTheLogStillHolds(t *testing.T) {
	each(t, func(b bench) {
		ids := append(b.send(5), b.send(1)...)
		b.finish(6)
		b.seek("start")
		b.wantIDs("default", ids...)
		b.wantIDs("default")
	})
}

func TestSeekToTheEndPassesOverWhatIsCommittedAndNotOverWhatIsNot(t *testing.T) {
	each(t, func(b bench) {
		late := b.db.Conn(b)
		tx, err := late.Begin(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		id, err := surface.Send(b.Context(), tx, queue, "2", nil, nil, nil)
		if err != nil {
			b.Fatal(err)
		}
		b.send(5)
		b.receive("default", 2)
		b.seek("end")
		b.wantIDs("default")
		if err := tx.Commit(b.Context()); err != nil {
			b.Fatal(err)
		}
		b.wantIDs("default", id)
	})
}

func TestSeekToATimeDeliversWhatWasSentFromThenOn(t *testing.T) {
	each(t, func(b bench) {
		b.send(3)
		b.clock.Advance(b, time.Hour)
		at := pgtest.QueryVal[string](b, b.db, "select weir_internal.clock()::text")
		ids := b.send(3)
		b.clock.Advance(b, time.Hour)
		ids = append(ids, b.send(2)...)
		b.finish(8)
		b.seek(at)
		b.wantIDs("default", ids...)
	})
}

func TestSeekToAMessageDeliversItAndWhatFollowsInItsLane(t *testing.T) {
	each(t, func(b bench) {
		first, second := b.send(5), b.send(5)
		b.finish(10)
		b.seek(strconv.FormatInt(first[3], 10))
		b.wantIDs("default", append(first[3:], second...)...)
		b.fails("WR018", "select weir.seek($1, 'default', '4711')", queue)
		b.fails("WR006", "select weir.seek($1, 'default', 'soon')", queue)
	})
}

// What was in work, given back or waiting for its retry comes once, whether or not the log has it besides.
func TestSeekDeliversNothingTwiceThatTheGroupStillHeld(t *testing.T) {
	each(t, func(b bench) {
		ids := b.send(20)
		got := b.receive("default", 20)
		_, err := surface.Nack(b.Context(), b.db.Pool(b), queue, got[0].ClaimID, []int64{got[0].ID}, surface.Text("1 hour"))
		if err != nil {
			b.Fatal(err)
		}
		delayed, err := surface.Send(b.Context(), b.db.Pool(b), queue, "3", nil, nil, surface.Text("1 minute"))
		if err != nil {
			b.Fatal(err)
		}
		b.clock.Advance(b, 2*time.Minute)
		b.receive("default", 1000) // the delayed one, and those whose lease ran out
		b.seek("start")
		b.fails("WR010", "select weir.ack_all($1, $2)", queue, got[1].ClaimID)
		b.wantIDs("default", append(ids, delayed)...)
		b.clock.Advance(b, 2*time.Hour)
		for _, m := range b.receive("default", 1000) {
			if m.Attempt < 2 {
				b.Errorf("%v comes anew", m)
			}
		}
	})
}

func TestSeekOfAnOrderedGroupKeepsEachKeyInOrder(t *testing.T) {
	each(t, func(b bench) {
		b.exec("select weir.create_group($1, 'ordered', ordered => true)", queue)
		var want []int64
		for range 6 {
			id, err := surface.Send(b.Context(), b.db.Pool(b), queue, "1", surface.Text("a"), nil, nil)
			if err != nil {
				b.Fatal(err)
			}
			want = append(want, id)
		}
		got := b.receive("ordered", 4)
		_, err := surface.Nack(b.Context(), b.db.Pool(b), queue, got[1].ClaimID, []int64{got[1].ID}, surface.Text("1 hour"))
		if err != nil {
			b.Fatal(err)
		}
		b.exec("select weir.seek($1, 'ordered', 'start')", queue)
		if ids := surface.IDs(b.receive("ordered", 10)); !slices.Equal(ids, want) {
			b.Errorf("delivered %v, want %v", ids, want)
		}
		b.exec("select weir.seek($1, 'ordered', $2)", queue, strconv.FormatInt(want[4], 10))
		if ids := surface.IDs(b.receive("ordered", 10)); !slices.Equal(ids, want[4:]) {
			b.Errorf("delivered %v, want %v", ids, want[4:])
		}
	})
}

func TestSeekWaitsForWhoSettles(t *testing.T) {
	each(t, func(b bench) {
		ids := b.send(2)
		got := b.receive("default", 2)
		tx, err := b.db.Conn(b).Begin(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		if _, err := surface.Nack(b.Context(), tx, queue, got[0].ClaimID, ids[:1], nil); err != nil {
			b.Fatal(err)
		}
		seeker := b.db.Conn(b)
		done := make(chan error, 1)
		go func() {
			_, err := seeker.Exec(b.Context(), "select weir.seek($1, 'default', 'start')", pgx.QueryExecModeExec, queue)
			done <- err
		}()
		pgtest.WaitForLock(b, b.db, seeker.PgConn().PID())
		if err := tx.Commit(b.Context()); err != nil {
			b.Fatal(err)
		}
		if err := <-done; err != nil {
			b.Fatal(err)
		}
		b.wantIDs("default", ids...)
		b.clock.Advance(b, 30*time.Second)
		b.wantIDs("default")
	})
}

func TestWhatIsOlderThanTheTTLIsNotDelivered(t *testing.T) {
	each(t, func(b bench) {
		b.exec("select weir.configure_queue($1, ttl => '10 minutes')", queue)
		b.send(3)
		old := b.receive("default", 1)
		_, err := surface.Nack(b.Context(), b.db.Pool(b), queue, old[0].ClaimID, nil, surface.Text("9 minutes"))
		if err != nil {
			b.Fatal(err)
		}
		b.clock.Advance(b, 11*time.Minute)
		ids := b.send(2)
		b.wantIDs("default", ids...)
		b.clock.Advance(b, time.Hour)
		b.fails("WR006", "select weir.send($1, '1', delay => '10 minutes')", queue)
		b.fails("WR006", "select weir.configure_queue($1, ttl => '-1 second')", queue)
	})
}

func TestADeadLetterFromBeforeTheTimeSoughtToIsStillSentBack(t *testing.T) {
	each(t, func(b bench) {
		ids := b.send(1)
		got := b.receive("default", 1)
		b.exec("select weir.reject($1, $2, $3)", queue, got[0].ClaimID, surface.IDs(got))
		b.clock.Advance(b, time.Hour)
		b.seek(pgtest.QueryVal[string](b, b.db, "select weir_internal.clock()::text"))
		b.exec("select weir.redrive($1, 'default')", queue)
		b.wantIDs("default", ids...)
	})
}

// A receive that had read where its group begins, and claims only after a seek has moved that, passes over nothing.
func TestAReceiveThatBeganBeforeASeekDeliversFromTheNewPlace(t *testing.T) {
	each(t, func(b bench) {
		b.exec("select weir.configure_queue($1, ttl => '1 day')", queue)
		ids := b.send(3)
		b.finish(3)
		b.seek(pgtest.QueryVal[string](b, b.db, "select weir_internal.clock()::text"))
		ids = append(ids, b.send(1)...)
		b.finish(1)
		// a clock that waits, after the group was read, for who holds the lock 42
		b.exec(`create or replace function weir_internal.clock() returns timestamptz language plpgsql volatile as $$
			declare
				stack text;
			begin
				if current_setting('weir_test.wait', true) = 'on' then
					get diagnostics stack = pg_context;
					if stack like '%apply_ttl%' then
						perform pg_advisory_xact_lock_shared(42);
					end if;
				end if;
				return clock_timestamp();
			end $$`)
		ids = append(ids, b.send(1)...)
		holder, err := b.db.Conn(b).Begin(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		if _, err := holder.Exec(b.Context(), "select pg_advisory_xact_lock(42)"); err != nil {
			b.Fatal(err)
		}
		late := b.db.As(b, pgtest.Owner)
		if _, err := late.Exec(b.Context(), "set weir_test.wait = on"); err != nil {
			b.Fatal(err)
		}
		received := make(chan []surface.Message, 1)
		go func() {
			got, err := surface.Receive(b.Context(), late, queue, "default", 10, "1 hour")
			if err != nil {
				b.Error(err)
			}
			received <- got
		}()
		pgtest.WaitForLock(b, b.db, late.PgConn().PID())
		b.seek("start")
		if _, err := holder.Exec(b.Context(), "commit"); err != nil {
			b.Fatal(err)
		}
		got := surface.IDs(<-received)
		for more := b.receive("default", 10); len(more) > 0; more = b.receive("default", 10) {
			got = append(got, surface.IDs(more)...)
		}
		slices.Sort(got)
		if !slices.Equal(got, ids) {
			b.Errorf("delivered %v, want %v", got, ids)
		}
	})
}

func TestADeadLetterPastTheTTLStaysWhenItIsRedriven(t *testing.T) {
	each(t, func(b bench) {
		b.exec("select weir.configure_queue($1, ttl => '10 minutes')", queue)
		b.send(1)
		old := b.receive("default", 1)
		b.exec("select weir.reject($1, $2, $3)", queue, old[0].ClaimID, surface.IDs(old))
		b.clock.Advance(b, 11*time.Minute)
		young := b.send(1)
		b.exec("select weir.reject($1, claim_id, array[id]) from weir.receive($1)", queue)
		b.wantCount(1, "select weir.redrive($1, 'default')", queue)
		b.wantCount(0, "select weir.redrive($1, 'default', $2)", queue, surface.IDs(old))
		b.wantIDs("default", young...)
		b.wantCount(1, "select count(*) from weir.dead_letters($1)", queue)
		b.wantCount(1, "select weir.discard($1, 'default')", queue)
	})
}

func TestAMessageThatDiesAgainAfterASeekIsOneDeadLetterAndTellsOfItsLastDeath(t *testing.T) {
	each(t, func(b bench) {
		b.send(1)
		for deaths, deliveries := range []int{1, 3} {
			for i := range deliveries {
				got := b.receive("default", 1)
				if len(got) != 1 {
					b.Fatalf("after %d deaths and %d deliveries: received %v", deaths, i, got)
				}
				if i == deliveries-1 {
					b.exec("select weir.reject($1, $2, $4, reason => 'death ' || $3::int)", queue, got[0].ClaimID, deaths+1,
						surface.IDs(got))
				} else {
					b.exec("select weir.nack($1, $2, delay => '0')", queue, got[0].ClaimID)
				}
			}
			letters := pgtest.QueryAll[string](b, b.db,
				"select attempts || ' deliveries, ' || reason from weir.dead_letters($1, 'default')", queue)
			if want := fmt.Sprintf("%d deliveries, death %d", deliveries, deaths+1); len(letters) != 1 || letters[0] != want {
				b.Errorf("dead letters are %q, want %q", letters, want)
			}
			b.seek("start")
		}
	})
}
