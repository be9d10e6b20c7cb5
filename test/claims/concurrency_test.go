package claims_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirmq/weir/internal/pgtest"
)

// ledger is what producers and consumers did, by message id.
type ledger struct {
	mu       sync.Mutex
	sent     map[int64]bool // committed
	finished map[int64]int
}

func (l *ledger) commit(ids []int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, id := range ids {
		l.sent[id] = true
	}
}

func (l *ledger) finish(id int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.finished[id]++
}

// left tells how many sent messages are not finished.
func (l *ledger) left() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.sent) - len(l.finished)
}

// produce sends in transactions of several calls, of which some are rolled back.
func produce(ctx context.Context, conn *pgx.Conn, l *ledger, queue string, transactions int) error {
	for range transactions {
		tx, err := conn.Begin(ctx)
		if err != nil {
			return err
		}
		var ids []int64
		for range 1 + rand.IntN(3) {
			call := "select array[weir.send($1, '1')]"
			switch rand.IntN(4) {
			case 0:
				call = "select weir_log.send_batch($1, array_fill('1'::json, array[7]), null, null, null, null)"
			case 1:
				call = "select array[weir.send($1, '1', key => (random() * 20)::int::text)]"
			}
			var some []int64
			if err := tx.QueryRow(ctx, call, queue).Scan(&some); err != nil {
				return err
			}
			ids = append(ids, some...)
		}
		if rand.IntN(7) == 0 {
			if err := tx.Rollback(ctx); err != nil {
				return err
			}
			continue
		}
		if err := tx.Commit(ctx); err != nil {
			return err
		}
		l.commit(ids)
	}
	return nil
}

// consume receives and finishes until the context is done, and gives some messages back.
func consume(ctx context.Context, conn *pgx.Conn, l *ledger, queue string) error {
	for ctx.Err() == nil {
		rows, err := conn.Query(ctx, "select id, claim_id from weir.receive($1, max => $2)", queue, 1+rand.IntN(12))
		if err != nil {
			return err
		}
		type held struct{ ID, ClaimID int64 }
		messages, err := pgx.CollectRows(rows, pgx.RowToStructByPos[held])
		if err != nil {
			return err
		}
		for _, m := range messages {
			call := "select weir_log.ack($1, $2, $3)"
			if rand.IntN(10) == 0 {
				call = "select weir_log.settle($1, $2, array[$3::bigint], 'release', '0', null)"
			}
			var n int
			if err := conn.QueryRow(ctx, call, queue, m.ClaimID, m.ID).Scan(&n); err != nil {
				return err
			}
			if n != 1 {
				return fmt.Errorf("%s of %v settled %d messages", call, m, n)
			}
			if call == "select weir_log.ack($1, $2, $3)" {
				l.finish(m.ID)
			}
		}
	}
	return nil
}

func TestEachMessageIsFinishedOnceUnderConcurrentProducersAndConsumers(t *testing.T) {
	pgtest.EachMajor(t, func(t *testing.T, major int) {
		db := pgtest.New(t, pgtest.Options{Major: major})
		db.Exec(t, "select weir.create_queue('orders'), weir.create_queue('other')")
		l := &ledger{sent: map[int64]bool{}, finished: map[int64]int{}}
		held, err := db.Conn(t).Begin(t.Context()) // a writer that stays open to the end
		if err != nil {
			t.Fatal(err)
		}
		var heldID int64
		if err := held.QueryRow(t.Context(), "select weir.send('orders', '1')").Scan(&heldID); err != nil {
			t.Fatal(err)
		}
		var producers, consumers sync.WaitGroup
		for range 3 {
			conn := db.Conn(t)
			producers.Go(func() {
				if err := produce(t.Context(), conn, l, "orders", 60); err != nil {
					t.Error(err)
				}
			})
		}
		done, stop := context.WithCancel(t.Context())
		defer stop()
		for range 4 {
			conn := db.Conn(t)
			consumers.Go(func() {
				if err := consume(done, conn, l, "orders"); err != nil && done.Err() == nil {
					t.Error(err)
				}
			})
		}
		producers.Wait()
		if err := held.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		l.commit([]int64{heldID})
		pgtest.WaitFor(t, "all messages to be finished", func() bool { return l.left() == 0 || t.Failed() })
		stop()
		consumers.Wait()
		for id, n := range l.finished {
			if n != 1 || !l.sent[id] {
				t.Errorf("message %d was finished %d times, sent: %v", id, n, l.sent[id])
			}
		}
	})
}

// receiveAll receives and finishes one after the other until there is nothing left.
func receiveAll(t *testing.T, pool *pgxpool.Pool, queue string, most int) []int64 {
	t.Helper()
	var all []int64
	for {
		rows, err := pool.Query(t.Context(), "select id from weir.receive($1, max => $2)", queue, most)
		if err != nil {
			t.Fatal(err)
		}
		ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
		if err != nil {
			t.Fatal(err)
		}
		if len(ids) == 0 {
			return all
		}
		all = append(all, ids...)
	}
}

func TestOneProducerAndOneConsumerSeeTheOrderOfSending(t *testing.T) {
	pgtest.EachMajor(t, func(t *testing.T, major int) {
		db := pgtest.New(t, pgtest.Options{Major: major})
		db.Exec(t, "select weir.create_queue('orders')")
		var sent []int64
		for i := range 30 {
			call := "select array[weir.send('orders', '1')]"
			if i%3 == 0 {
				call = "select weir_log.send_batch('orders', array_fill('1'::json, array[5]), null, null, null, null)"
			}
			sent = append(sent, pgtest.QueryVal[[]int64](t, db, call)...)
		}
		got := receiveAll(t, db.Pool(t), "orders", 4)
		if fmt.Sprint(got) != fmt.Sprint(sent) {
			t.Errorf("received %v, sent %v", got, sent)
		}
	})
}
