package rotation_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/weirmq/weir/internal/pgtest"
)

// storm is what the goroutines of TestStorm share.
type storm struct {
	bench
	ctx      context.Context
	mu       sync.Mutex
	sent     map[string]map[int64]bool // queue: ids of what was committed
	finished map[string]map[int64]bool // and of what an ack has finished
	rounds   atomic.Int64              // of maintenance
	sending  atomic.Int64              // producers at work
	over     atomic.Bool               // maintenance ends: nothing may hold its lock after that
}

const producers, transactions = 4, 400

func (s *storm) must(err error) bool {
	if err != nil && s.ctx.Err() == nil {
		s.Error(err)
	}
	return err == nil
}

// produce sends to all queues, several messages a transaction, and rolls some of them back. It leaves its last
// transaction but one open while maintenance goes on.
func (s *storm) produce(no int) {
	defer s.sending.Add(-1)
	conn := s.db.Conn(s)
	for i := range transactions {
		tx, err := conn.Begin(s.ctx)
		if !s.must(err) {
			return
		}
		ids := map[string][]int64{}
		for range 1 + rand.IntN(3) {
			queue := "busy"
			switch n := rand.IntN(100); {
			case n < 3:
				queue = "never"
			case n < 15:
				queue = "lagging"
			case n < 50:
				queue = "single"
			}
			payload := fmt.Sprintf(`{"producer": %d, "i": %d, "fill": %q}`, no, i, strings.Repeat("x", rand.IntN(200)))
			var id int64
			if !s.must(tx.QueryRow(s.ctx, "select weir.send($1, $2)", queue, payload).Scan(&id)) {
				return
			}
			ids[queue] = append(ids[queue], id)
		}
		if i%100 == 98 {
			for until := s.rounds.Load() + 5; s.rounds.Load() < until && s.ctx.Err() == nil; {
				_, err := conn.Exec(s.ctx, "select")
				s.must(err)
			}
		}
		if rand.IntN(5) == 0 {
			s.must(tx.Rollback(s.ctx))
			continue
		}
		if !s.must(tx.Commit(s.ctx)) {
			return
		}
		s.mu.Lock()
		for queue, list := range ids {
			for _, id := range list {
				s.sent[queue][id] = true
			}
		}
		s.mu.Unlock()
	}
}

func (s *storm) all(queue string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sending.Load() == 0 && len(s.finished[queue]) >= len(s.sent[queue])
}

// finish acks one message and notes it; a message that was finished before is one too many.
func (s *storm) finish(conn *pgx.Conn, queue string, claim, id int64) {
	var n int
	err := conn.QueryRow(s.ctx, "select weir_log.ack($1, $2, $3)", queue, claim, id).Scan(&n)
	var pg *pgconn.PgError
	if errors.As(err, &pg) && pg.Code == "WR010" {
		return // the lease was over
	}
	if !s.must(err) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if n != 1 || s.finished[queue][id] {
		s.Errorf("%s: message %d was finished already (%d)", queue, id, n)
	}
	s.finished[queue][id] = true
}

// consume takes messages, finishes most of them, gives some back and lets the lease of some expire. In order, it does
// only the first, and looks at the order.
func (s *storm) consume(queue string, batchMax int, inOrder bool) {
	conn := s.db.Conn(s)
	last := map[int]int{}
	for s.ctx.Err() == nil && !s.all(queue) {
		lease, roll := "1 hour", false
		if !inOrder {
			switch rand.IntN(20) {
			case 0:
				lease = "1 millisecond"
			case 1:
				roll = true
			}
		}
		tx, err := conn.Begin(s.ctx)
		if !s.must(err) {
			return
		}
		rows, err := tx.Query(s.ctx, `select id, claim_id, (payload ->> 'producer')::int, (payload ->> 'i')::int
			from weir.receive($1, max => $2, lease => $3::text::interval)`, queue, 1+rand.IntN(batchMax), lease)
		if !s.must(err) {
			return
		}
		type got struct {
			id, claim   int64
			producer, i int
		}
		all, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (g got, err error) {
			err = row.Scan(&g.id, &g.claim, &g.producer, &g.i)
			return g, err
		})
		if !s.must(err) {
			return
		}
		if roll {
			s.must(tx.Rollback(s.ctx))
			continue
		}
		if !s.must(tx.Commit(s.ctx)) {
			return
		}
		for _, g := range all {
			if inOrder {
				if g.i < last[g.producer] {
					s.Errorf("producer %d: message %d came after %d", g.producer, g.i, last[g.producer])
				}
				last[g.producer] = g.i
			} else if rand.IntN(10) == 0 {
				_, err := conn.Exec(s.ctx, "select weir_log.settle($1, $2, array[$3::bigint], 'nack', '0', null)",
					queue, g.claim, g.id)
				var pg *pgconn.PgError
				if !errors.As(err, &pg) || pg.Code != "WR010" {
					s.must(err)
				}
				continue
			}
			s.finish(conn, queue, g.claim, g.id)
		}
	}
}

func TestStorm(t *testing.T) {
	each(t, func(b bench) {
		ctx, cancel := context.WithTimeout(b.Context(), 3*time.Minute)
		defer cancel()
		s := &storm{bench: b, ctx: ctx, sent: map[string]map[int64]bool{}, finished: map[string]map[int64]bool{}}
		for _, queue := range []string{"never", "lagging", "single", "busy", "idle"} {
			b.db.Exec(b, "select weir.create_queue($1)", queue)
			s.sent[queue], s.finished[queue] = map[int64]bool{}, map[int64]bool{}
		}
		b.db.Exec(b, "update weir_internal.groups set max_attempts = 1000")
		var work, upkeep sync.WaitGroup
		s.sending.Store(producers)
		for i := range producers {
			work.Go(func() { s.produce(i) })
		}
		work.Go(func() { s.consume("busy", 10, false) })
		work.Go(func() { s.consume("busy", 10, false) })
		work.Go(func() { s.consume("single", 10, true) })
		work.Go(func() { s.consume("lagging", 2, false) })
		upkeep.Go(func() {
			conn, other := s.db.Conn(s), s.db.Conn(s)
			for ctx.Err() == nil && !s.over.Load() {
				var n int
				if !s.must(conn.QueryRow(ctx, "call weir.maintain()").Scan(&n)) {
					return
				}
				for _, sql := range []string{"begin", allSteps, "rollback"} {
					_, err := other.Exec(ctx, sql)
					s.must(err)
				}
				s.rounds.Add(1)
			}
		})
		work.Wait()
		b.drainInto(s, "never")
		s.over.Store(true)
		upkeep.Wait()
		cancel()
		for queue, ids := range s.sent {
			for id := range ids {
				if !s.finished[queue][id] {
					b.Errorf("%s: message %d is lost", queue, id)
				}
			}
			if len(s.finished[queue]) != len(ids) {
				b.Errorf("%s: %d were finished of %d", queue, len(s.finished[queue]), len(ids))
			}
		}
		b.settle()
		b.Logf("the log's ring is at %d, that of claims at %d, after %d rounds",
			b.ring("log"), b.ring("claims"), s.rounds.Load())
		// While a queue was behind by much a ring may have stood still, and what was carried over counts for nothing.
		for log, n := b.ring("log"), 0; b.ring("log") < log+2; n++ {
			if n == 20 {
				b.Fatalf("the log's ring is at %d", b.ring("log"))
			}
			b.fill("busy", 70)
			b.drain("busy")
			b.settle()
		}
		b.turnClaims()
		b.turnClaims()
		if left := b.size("^(log_|rest|claims_|delayed)"); left > 700_000 {
			b.Errorf("%d bytes are left", left)
		}
		if n := pgtest.QueryVal[int](b, b.db, "select count(*) from weir_log.rest"); n > 0 {
			b.Errorf("%d records are left in rest", n)
		}
	})
}

func (b bench) drainInto(s *storm, queue string) {
	for _, id := range b.drain(queue) {
		s.finished[queue][id] = true
	}
}
