package ordered_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirmq/weir/test/surface"
)

// A receive asks the index of what is due, which has neither what waits behind others nor what is claimed.
func TestAReceiveReadsLittleHoweverManyKeysAreInTrouble(t *testing.T) {
	const (
		keys       = 1000
		bufferMost = 150 // 30 to 80 are read; a walk over the lines takes more than 2,000
	)
	each(t, "patience => '1 hour', max_attempts => 100", func(l lines) {
		batch := func() {
			l.db.Exec(l, `select count(*) from weir.send_batch($1, array_fill('1'::jsonb, array[$2::int]),
				array(select 'key' || i from generate_series(1, $2::int) i))`, queue, keys)
		}
		receive := func(batchMax, want int) int64 {
			l.Helper()
			got, err := surface.Receive(l.Context(), l.db.Pool(l), queue, group, batchMax, "2 hours")
			if err != nil || len(got) != want {
				l.Fatalf("received %d, %v, want %d", len(got), err, want)
			}
			if want == 0 {
				return 0
			}
			return got[0].ClaimID
		}
		wantFew := func(what string) {
			l.Helper()
			conn := l.db.Conn(l)
			var buffers []int
			for range 9 { // the first makes plans, and now and then one probes
				buffers = append(buffers, surface.Buffers(l, conn, "select * from weir.receive($1, $2)", queue, group))
			}
			slices.Sort(buffers)
			l.Logf("%s: %v buffers", what, buffers)
			if buffers[4] > bufferMost {
				l.Errorf("a receive while %s touches %d buffers, at most %d", what, buffers[4], bufferMost)
			}
		}
		batch()
		delay := "1 hour"
		if _, err := surface.Nack(l.Context(), l.db.Pool(l), queue, receive(keys, keys), nil, &delay); err != nil {
			l.Fatal(err)
		}
		wantFew("all failed")
		batch()
		receive(keys, 0)
		wantFew("others wait behind them")
		l.db.Exec(l, `select count(*) from weir.send_batch($1, array_fill('1'::jsonb, array[$2::int]),
			array(select 'key' || i from generate_series(1, $2::int) i), delay => '1 second')`, queue, keys)
		l.clock.Advance(l, 2*time.Second)
		receive(keys, 0)
		wantFew("what was delayed waits behind them")
		l.clock.Advance(l, 61*time.Minute)
		for range 10 {
			receive(keys/10, keys/10)
		}
		wantFew("the heads are claimed")
	})
}

// What becomes due carries the cursor of the group's last lane on, whose bounds must not be computed anew each time.
func TestWhatBecomesDueReadsNoMoreWithManyClaimsBesideIt(t *testing.T) {
	const (
		claims     = 300
		bufferMost = 500 // 230 are read; a walk over all claims takes 2,000
	)
	each(t, "patience => '1 hour'", func(l lines) {
		due := func(n int, key string) {
			l.db.Exec(l, `select count(*) from weir.send_batch($1, array_fill('1'::jsonb, array[$2::int]),
				array(select $3 || i from generate_series(1, $2::int) i), delay => '1 second')`, queue, n, key)
			l.clock.Advance(l, 2*time.Second)
		}
		due(claims, "a")
		for range claims {
			l.db.Exec(l, "select count(*) from weir.receive($1, $2, lease => '2 hours')", queue, group)
		}
		conn := l.db.Conn(l)
		const call = "select * from weir.receive($1, $2)"
		due(1, "b")
		surface.Buffers(l, conn, call, queue, group) // makes plans
		due(1, "c")
		buffers := surface.Buffers(l, conn, call, queue, group)
		l.Logf("%d buffers", buffers)
		if buffers > bufferMost {
			l.Errorf("a receive of what is due touches %d buffers with %d claims unfinished, at most %d",
				buffers, claims, bufferMost)
		}
	})
}

func TestAClaimReadsNoMoreOfTheLinesWhenManyKeysAreInTrouble(t *testing.T) {
	const keys = 1000
	each(t, "patience => '1 hour'", func(l lines) {
		l.db.Exec(l, `select count(*) from weir.send_batch($1, array_fill('1'::jsonb, array[$2::int]),
			array(select 'key' || i from generate_series(1, $2::int) i))`, queue, keys)
		all, err := surface.Receive(l.Context(), l.db.Pool(l), queue, group, keys, "1 hour")
		if err != nil {
			l.Fatal(err)
		}
		delay := "1 hour"
		if _, err := surface.Nack(l.Context(), l.db.Pool(l), queue, all[0].ClaimID, nil, &delay); err != nil {
			l.Fatal(err)
		}
		l.sendBatch("ab")
		tx, err := l.db.Pool(l).Begin(l.Context())
		if err != nil {
			l.Fatal(err)
		}
		defer tx.Rollback(l.Context()) //nolint:errcheck // it ends with the test
		read := -rowsRead(l, tx)
		got, err := surface.Receive(l.Context(), tx, queue, group, 10, "1 hour")
		if err != nil || len(got) != 2 {
			l.Fatalf("received %v, %v", got, err)
		}
		if read += rowsRead(l, tx); read > 250 {
			l.Errorf("a claim of two messages of other keys read %d rows of %d that are parked", read, keys)
		}
	})
}

func TestTheLineThatHasBeenDueForLongestComesFirst(t *testing.T) {
	each(t, "patience => '1 hour', max_attempts => 100", func(l lines) {
		l.sendBatch("abcd")
		got := l.receive(4, "1 hour", "a1", "b2", "c3", "d4")
		for _, i := range []int{3, 1, 0, 2} {
			l.nack(got[i], "0")
			l.clock.Advance(l, time.Second)
		}
		for round := range 3 { // of those that fail again and again each has its turn
			for _, want := range []string{"d4", "b2", "a1", "c3"} {
				m := l.receive(1, "1 hour", want)[0]
				if m.Attempt != round+2 {
					l.Errorf("attempt %d of %s, want %d", m.Attempt, want, round+2)
				}
				l.nack(m, "0")
				l.clock.Advance(l, time.Second)
			}
		}
	})
}

// meeting is a key whose first message failed and is with a consumer, and two transactions that meet there: one
// acknowledges it, one receives, and so parks what came behind it.
type meeting struct {
	lines
	head     surface.Message
	ack, get pgx.Tx
}

func (m *meeting) finish() {
	if n, err := surface.Ack(m.Context(), m.ack, queue, m.head.ClaimID, []int64{m.head.ID}); err != nil || n != 1 {
		m.Fatalf("ack: %d, %v", n, err)
	}
}

func (m *meeting) park() {
	if got, err := surface.Receive(m.Context(), m.get, queue, group, 10, "1 hour"); err != nil || len(got) != 0 {
		m.Fatalf("received %v, %v", got, err)
	}
}

func (m *meeting) commit(tx pgx.Tx) {
	if err := tx.Commit(m.Context()); err != nil {
		m.Fatal(err)
	}
}

func TestWhatJoinsALineWhileItsHeadIsFinishedIsDeliveredWhenBothAreOver(t *testing.T) {
	each(t, "patience => '1 hour'", func(l lines) {
		ends := map[string]func(m *meeting){
			"finished": func(m *meeting) { m.commit(m.ack) },
			"parked":   func(m *meeting) { m.commit(m.get) },
			"looked at": func(m *meeting) {
				m.receive(10, "1 hour")
			},
		}
		for i, order := range [][]string{
			{"finished", "parked"},
			{"parked", "finished"},
			{"finished", "looked at", "parked"},
			{"parked", "looked at", "finished"},
			{"looked at", "finished", "looked at", "parked"},
			{"looked at", "parked", "looked at", "finished"},
		} {
			for _, first := range []string{"ack", "receive"} {
				key := fmt.Sprintf("key %d of %s ", i, first)
				l.send(key, 1)
				l.nack(l.receive(1, "1 hour", key+"1")[0], "0")
				m := meeting{lines: l, head: l.receive(1, "1 hour", key+"1")[0]}
				l.send(key, 2)
				for _, tx := range []*pgx.Tx{&m.ack, &m.get} {
					var err error
					if *tx, err = l.db.Conn(l).Begin(l.Context()); err != nil {
						l.Fatal(err)
					}
				}
				if first == "ack" {
					m.finish()
					m.park()
				} else {
					m.park()
					m.finish()
				}
				for _, end := range order {
					ends[end](&m)
				}
				l.ack(l.receive(10, "1 hour", key+"2")[0])
				l.receive(10, "1 hour")
			}
		}
	})
}

func TestTwoWhoFinishPartsOfAClaimLetTheNextOfTheKeyCome(t *testing.T) {
	each(t, "patience => '1 hour'", func(l lines) {
		for _, when := range []string{"before", "between", "after"} {
			l.troubled("aaa")
			got := l.receive(10, "1 hour", "a2", "a3")
			behind := func() {
				l.send("a", 4)
				l.receive(10, "1 hour")
			}
			if when == "before" {
				behind()
			}
			var txs []pgx.Tx
			for i, m := range got {
				if i == 1 && when == "between" {
					behind()
				}
				tx, err := l.db.Conn(l).Begin(l.Context())
				if err != nil {
					l.Fatal(err)
				}
				if n, err := surface.Ack(l.Context(), tx, queue, m.ClaimID, []int64{m.ID}); err != nil || n != 1 {
					l.Fatalf("ack: %d, %v", n, err)
				}
				txs = append(txs, tx)
			}
			if when == "after" {
				behind()
			}
			for _, tx := range txs {
				l.receive(10, "1 hour") // waits for neither
				if err := tx.Commit(l.Context()); err != nil {
					l.Fatal(err)
				}
			}
			l.ack(l.receive(10, "1 hour", "a4")[0])
			l.receive(10, "1 hour")
		}
	})
}
