// Package claims_test holds what a claim promises: it is exclusive until its deadline, an ack of what was given away is
// refused, every delivery counts, and what happens in a transaction happens once or not at all.
package claims_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

const (
	queue = "jobs"
	group = "default"
)

// bench is one test's database with a queue and a clock to move.
type bench struct {
	*testing.T
	db    *pgtest.DB
	clock *surface.Clock
}

func each(t *testing.T, test func(b bench)) {
	t.Parallel()
	surface.Each(t, queue, "", func(t *testing.T, db *pgtest.DB) {
		test(bench{t, db, surface.StoppedClock(t, db)})
	})
}

// send sends n messages with the payloads 1..n, each in a transaction of its own, and returns their ids.
func (b bench) send(n int) []int64 {
	b.Helper()
	var ids []int64
	for i := range n {
		ids = append(ids, must(b)(surface.Send(b.Context(), b.db.Pool(b), queue, surface.Number(i+1), nil, nil, nil)))
	}
	return ids
}

func (b bench) receive(c surface.Conn, batchMax int, lease string) []surface.Message {
	b.Helper()
	return must2(b)(surface.Receive(b.Context(), c, queue, group, batchMax, lease))
}

// claim receives exactly n messages under one claim.
func (b bench) claim(n int, lease string) (int64, []surface.Message) {
	b.Helper()
	got := b.receive(b.db.Pool(b), n, lease)
	if len(got) != n {
		b.Fatalf("received %d messages, want %d", len(got), n)
	}
	for _, m := range got {
		if m.ClaimID != got[0].ClaimID {
			b.Fatalf("received under several claims: %v", got)
		}
	}
	return got[0].ClaimID, got
}

func (b bench) wantNothing() {
	b.Helper()
	for range 3 { // a probe is part of some calls only
		if got := b.receive(b.db.Pool(b), 100, "1 minute"); len(got) != 0 {
			b.Fatalf("received %v, want nothing", got)
		}
	}
}

func (b bench) wantIDs(got []surface.Message, attempt int, ids ...int64) {
	b.Helper()
	all := surface.IDs(got)
	slices.Sort(all)
	slices.Sort(ids)
	if !slices.Equal(all, ids) {
		b.Fatalf("received %v, want %v", got, ids)
	}
	for _, m := range got {
		if m.Attempt != attempt {
			b.Fatalf("received %v, want attempt %d", m, attempt)
		}
	}
}

func (b bench) begin(options ...pgx.TxOptions) pgx.Tx {
	b.Helper()
	tx, err := b.db.Conn(b).BeginTx(b.Context(), append(options, pgx.TxOptions{})[0])
	if err != nil {
		b.Fatal(err)
	}
	return tx
}

func (b bench) commit(tx pgx.Tx) {
	b.Helper()
	if err := tx.Commit(b.Context()); err != nil {
		b.Fatal(err)
	}
}

func (b bench) rollback(tx pgx.Tx) {
	b.Helper()
	if err := tx.Rollback(context.WithoutCancel(b.Context())); err != nil {
		b.Fatal(err)
	}
}

func must(b bench) func(v int64, err error) int64 {
	return func(v int64, err error) int64 {
		b.Helper()
		if err != nil {
			b.Fatal(err)
		}
		return v
	}
}

func must2(b bench) func(v []surface.Message, err error) []surface.Message {
	return func(v []surface.Message, err error) []surface.Message {
		b.Helper()
		if err != nil {
			b.Fatal(err)
		}
		return v
	}
}

func (b bench) wantCount(n int) func(got int, err error) {
	return func(got int, err error) {
		b.Helper()
		if err != nil || got != n {
			b.Fatalf("got %d, %v; want %d", got, err, n)
		}
	}
}

func TestAQueueThatIsThereIsLeftAsItIs(t *testing.T) {
	pgtest.EachMajor(t, func(t *testing.T, major int) {
		db := pgtest.New(t, pgtest.Options{Major: major})
		if !pgtest.QueryVal[bool](t, db, "select weir.create_queue('orders')") {
			t.Error("the first create_queue did not make the queue")
		}
		if pgtest.QueryVal[bool](t, db, "select weir.create_queue('orders')") {
			t.Error("the second create_queue made it again")
		}
	})
}

func TestLateAckIsRefusedAndChangesNothing(t *testing.T) {
	each(t, func(b bench) {
		ids := b.send(3)
		claim, _ := b.claim(3, "1 minute")
		b.clock.Advance(b, 2*time.Minute)
		for _, some := range [][]int64{nil, ids[:1], {ids[0], ids[2]}, ids} {
			_, err := surface.Ack(b.Context(), b.db.Pool(b), queue, claim, some)
			surface.WantState(b, err, "WR010")
			_, err = surface.Nack(b.Context(), b.db.Pool(b), queue, claim, some, nil)
			surface.WantState(b, err, "WR010")
			if some != nil {
				_, err = surface.Reject(b.Context(), b.db.Pool(b), queue, claim, some)
				surface.WantState(b, err, "WR010")
			}
		}
		_, err := surface.Extend(b.Context(), b.db.Pool(b), queue, claim, "1 minute")
		surface.WantState(b, err, "WR010")
		second, got := b.claim(3, "1 minute")
		b.wantIDs(got, 2, ids...)
		_, err = surface.Ack(b.Context(), b.db.Pool(b), queue, claim, nil) // given away by now
		surface.WantState(b, err, "WR010")
		b.wantCount(3)(surface.Ack(b.Context(), b.db.Pool(b), queue, second, nil))
		b.clock.Advance(b, time.Hour)
		b.wantNothing()
	})
}

func TestLiveClaimIsExclusive(t *testing.T) {
	each(t, func(b bench) {
		b.send(5)
		b.claim(3, "1 minute")
		_, rest := b.claim(2, "1 minute")
		b.wantNothing()
		if rest[0].Attempt != 1 {
			b.Fatalf("first delivery has attempt %d", rest[0].Attempt)
		}
		b.clock.Advance(b, 59*time.Second)
		b.wantNothing()
	})
}

func TestAckedPartIsNotDeliveredAgain(t *testing.T) {
	each(t, func(b bench) {
		ids := b.send(4)
		claim, _ := b.claim(4, "1 minute")
		b.wantCount(2)(surface.Ack(b.Context(), b.db.Pool(b), queue, claim, []int64{ids[0], ids[2]}))
		b.wantCount(0)(surface.Ack(b.Context(), b.db.Pool(b), queue, claim, []int64{ids[0]})) // repeated
		b.clock.Advance(b, 2*time.Minute)
		// what was finished in time stays finished, also to one who says so again after the deadline
		b.wantCount(0)(surface.Ack(b.Context(), b.db.Pool(b), queue, claim, []int64{ids[0], ids[2]}))
		second, got := b.claim(2, "1 minute")
		b.wantIDs(got, 2, ids[1], ids[3])
		b.wantCount(2)(surface.Ack(b.Context(), b.db.Pool(b), queue, second, nil))
		b.wantCount(0)(surface.Ack(b.Context(), b.db.Pool(b), queue, second, nil))
	})
}

func TestConcurrentAcksOfOneClaimDoNotWait(t *testing.T) {
	each(t, func(b bench) {
		ids := b.send(3)
		claim, _ := b.claim(3, "1 minute")
		var open []pgx.Tx
		for i := range ids {
			tx := b.begin()
			if _, err := tx.Exec(b.Context(), "set local lock_timeout = '5s'"); err != nil {
				b.Fatal(err)
			}
			b.wantCount(1)(surface.Ack(b.Context(), tx, queue, claim, ids[i:i+1]))
			open = append(open, tx)
		}
		b.commit(open[0])
		b.rollback(open[1])
		b.commit(open[2])
		b.clock.Advance(b, 2*time.Minute)
		second, got := b.claim(1, "1 minute")
		b.wantIDs(got, 2, ids[1])
		b.wantCount(1)(surface.Ack(b.Context(), b.db.Pool(b), queue, second, ids[1:2]))
		b.clock.Advance(b, 2*time.Minute)
		b.wantNothing()
	})
}

// Of what concurrent transactions finish of a claim no row says that nothing is left.
func TestAClaimThatIsFinishedPieceByPieceIsNotWalkedForEver(t *testing.T) {
	each(t, func(b bench) {
		ids := b.send(2)
		claim, _ := b.claim(2, "1 hour")
		first := b.begin()
		b.wantCount(1)(surface.Ack(b.Context(), first, queue, claim, ids[:1]))
		b.wantCount(1)(surface.Ack(b.Context(), b.db.Pool(b), queue, claim, ids[1:]))
		b.commit(first)
		low := int64(0)
		for n := 0; low <= claim && n < 500; n++ { // the mark moves now and then
			b.send(1)
			next, _ := b.claim(1, "1 hour")
			b.wantCount(1)(surface.Ack(b.Context(), b.db.Pool(b), queue, next, nil))
			low = pgtest.QueryVal[int64](b, b.db, `select (weir_log.cursor(g, 0, 1)).low
				from weir_internal.groups g where g.name = $1`, group)
		}
		if low <= claim {
			b.Errorf("the low-water mark is %d, the claim that is finished %d", low, claim)
		}
	})
}

func TestConcurrentAcksOfTheSameMessageCountItOnce(t *testing.T) {
	each(t, func(b bench) {
		ids := b.send(2)
		claim, _ := b.claim(2, "1 minute")
		tx := b.begin()
		b.wantCount(1)(surface.Ack(b.Context(), tx, queue, claim, ids[:1]))
		other := b.db.Conn(b)
		counts := make(chan int, 1)
		go func() {
			n, err := surface.Ack(b.Context(), other, queue, claim, nil)
			if err != nil {
				n = -1
			}
			counts <- n
		}()
		pgtest.WaitForLock(b, b.db, other.PgConn().PID())
		b.commit(tx)
		if n := <-counts; n != 1 {
			b.Fatalf("the ack of the rest finished %d messages, want 1", n)
		}
	})
}

func TestClaimBeingAckedIsNotGivenAway(t *testing.T) {
	t.Parallel()
	for _, whole := range []bool{true, false} {
		t.Run(map[bool]string{true: "whole", false: "by ids"}[whole], func(t *testing.T) {
			each(t, func(b bench) {
				ids := b.send(2)
				claim, _ := b.claim(2, "1 minute")
				tx := b.begin()
				some, n := ids, 2
				if whole {
					some = nil
				}
				b.wantCount(n)(surface.Ack(b.Context(), tx, queue, claim, some))
				b.clock.Advance(b, time.Hour)
				b.wantNothing()
				b.commit(tx)
				b.wantNothing()
			})
		})
	}
}

func TestRolledBackAckLeavesTheClaimToExpire(t *testing.T) {
	each(t, func(b bench) {
		ids := b.send(2)
		claim, _ := b.claim(2, "1 minute")
		tx := b.begin()
		b.wantCount(2)(surface.Ack(b.Context(), tx, queue, claim, nil))
		b.clock.Advance(b, time.Hour)
		b.wantNothing()
		b.rollback(tx)
		_, got := b.claim(2, "1 minute")
		b.wantIDs(got, 2, ids...)
	})
}

func TestDeadlyMessageReachesDeadLetters(t *testing.T) {
	each(t, func(b bench) {
		ids := b.send(2) // of which the second is fine
		for attempt := 1; attempt <= 5; attempt++ {
			claim, got := b.claim(1, "1 minute")
			if got[0].ID != ids[0] { // the other of the two
				b.wantCount(1)(surface.Ack(b.Context(), b.db.Pool(b), queue, claim, nil))
				_, got = b.claim(1, "1 minute")
			}
			b.wantIDs(got, attempt, ids[0])
			b.clock.Advance(b, 2*time.Minute)
		}
		for {
			got := b.receive(b.db.Pool(b), 1, "1 minute")
			if len(got) == 0 {
				break
			}
			b.wantIDs(got, 1, ids[1])
			b.wantCount(1)(surface.Ack(b.Context(), b.db.Pool(b), queue, got[0].ClaimID, nil))
		}
		b.wantNothing()
		dead, err := surface.DeadLetters(b.Context(), b.db.Pool(b), queue, group)
		if err != nil || len(dead) != 1 || dead[0].ID != ids[0] || dead[0].Attempts != 5 {
			b.Fatalf("dead letters %+v, %v; want message %d with 5 attempts", dead, err, ids[0])
		}
	})
}

func TestNackedMessageReachesDeadLetters(t *testing.T) {
	each(t, func(b bench) {
		b.clock.Run(b) // what is due has been so for a moment
		ids := b.send(1)
		zero := surface.Text("0")
		for attempt := 1; attempt <= 5; attempt++ {
			claim, got := b.claim(1, "1 minute")
			b.wantIDs(got, attempt, ids...)
			switch attempt {
			case 2:
				b.clock.Advance(b, time.Hour) // this one just expires
			case 3:
				b.wantCount(1)(surface.Nack(b.Context(), b.db.Pool(b), queue, claim, nil, nil))
				b.clock.Advance(b, time.Hour)
			default:
				b.wantCount(1)(surface.Nack(b.Context(), b.db.Pool(b), queue, claim, ids, zero))
			}
		}
		b.wantNothing()
		dead, err := surface.DeadLetters(b.Context(), b.db.Pool(b), queue, group)
		if err != nil || len(dead) != 1 || dead[0].Attempts != 5 || *dead[0].Reason != "nacked" {
			b.Fatalf("dead letters %+v, %v", dead, err)
		}
	})
}

func TestRedeliveryHonoursMax(t *testing.T) {
	each(t, func(b bench) {
		ids := b.send(10)
		b.claim(10, "1 minute")
		b.clock.Advance(b, 2*time.Minute)
		var again []surface.Message
		for range 4 {
			again = append(again, b.receive(b.db.Pool(b), 3, "1 minute")...)
		}
		b.wantIDs(again, 2, ids...)
		b.wantNothing()
		for _, m := range again {
			b.wantCount(1)(surface.Ack(b.Context(), b.db.Pool(b), queue, m.ClaimID, []int64{m.ID}))
		}
		b.clock.Advance(b, time.Hour)
		b.wantNothing()
	})
}

// A receive that read the lane's cursor, and then has to wait, must see that another has claimed in the lane meanwhile.
func TestAReceiveThatWasHeldUpDoesNotClaimWhatAnotherHas(t *testing.T) {
	each(t, func(b bench) {
		for i := range 4 { // one message goes another way than several
			id := b.send(1)[0]
			got := b.meanwhile(1+i%2, func(other *pgx.Conn) { b.wantIDs(b.receive(other, 1, "1 day"), 1, id) })
			if len(got) != 0 {
				b.Errorf("received %v: want nothing, since %d is with another", got, id)
			}
		}
	})
}

// meanwhile starts a receive, has something committed while that waits for its first look at the log, and returns what
// it received.
func (b bench) meanwhile(batchMax int, do func(other *pgx.Conn)) []surface.Message {
	b.Helper()
	slow, other := b.db.Conn(b), b.db.Conn(b)
	for _, sql := range []string{
		"begin", "lock table weir_log.log_0, weir_log.log_1, weir_log.log_2",
	} {
		if _, err := other.Exec(b.Context(), sql); err != nil {
			b.Fatal(err)
		}
	}
	type answer struct {
		messages []surface.Message
		err      error
	}
	answers := make(chan answer, 1)
	go func() {
		got, err := surface.Receive(context.Background(), slow, queue, group, batchMax, "1 day")
		answers <- answer{got, err}
	}()
	pgtest.WaitForLock(b, b.db, slow.PgConn().PID())
	do(other)
	if _, err := other.Exec(b.Context(), "commit"); err != nil {
		b.Fatal(err)
	}
	a := <-answers
	if a.err != nil {
		b.Error(a.err)
	}
	return a.messages
}
