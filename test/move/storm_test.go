package move_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

// message is what is sent in the storm: the n-th committed message of a key, from 1 on.
type message struct {
	Key string
	N   int
}

// storm is a queue in use by many, with a ledger of what each group must be delivered. No lease ends in it.
type storm struct {
	bench
	mu        sync.Mutex
	committed map[message]bool
	given     map[string]map[message]int  // group: deliveries that were not given back
	ended     map[string]map[message]bool // group: being acked or acked
	wrong     []string
}

func (s *storm) fail(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.wrong) < 10 {
		s.wrong = append(s.wrong, fmt.Sprintf(format, args...))
	}
}

// behind says by how much the slower group is behind.
func (s *storm) behind() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.committed) - min(len(s.ended["default"]), len(s.ended["ordered"]))
}

// send sends messages of keys that are this sender's alone, so that the ledger knows their order.
func (s *storm) send(ctx context.Context, sender int) {
	conn := s.db.Conn(s)
	next := map[string]int{}
	for ctx.Err() == nil {
		if s.behind() > 200 { // or no move would ever end
			if _, err := conn.Exec(context.Background(), "select 1"); err != nil {
				s.fail("wait: %v", err)
			}
			continue
		}
		tx, err := conn.Begin(context.Background())
		if err != nil {
			s.fail("begin: %v", err)
			return
		}
		var sent []message
		added := map[string]int{}
		for range 1 + rand.IntN(3) { //nolint:gosec // chance
			key := fmt.Sprintf("%d-%d", sender, rand.IntN(8)) //nolint:gosec // chance
			added[key]++
			m := message{key, next[key] + added[key]}
			payload, err := json.Marshal(m)
			if err == nil {
				_, err = surface.Send(context.Background(), tx, "q", string(payload), &key, nil, nil)
			}
			if err != nil {
				s.fail("send: %v", err)
				return
			}
			sent = append(sent, m)
		}
		if rand.IntN(10) == 0 { //nolint:gosec // chance
			err = tx.Rollback(context.Background())
		} else {
			s.mu.Lock()
			for _, m := range sent {
				s.committed[m] = true
				next[m.Key] = max(next[m.Key], m.N)
			}
			s.mu.Unlock()
			err = tx.Commit(context.Background())
		}
		if err != nil {
			s.fail("end: %v", err)
			return
		}
	}
}

// consume receives for a group until it is told to end and has nothing left.
func (s *storm) consume(ctx context.Context, group string) {
	conn := s.db.Conn(s)
	for empty := 0; ctx.Err() == nil || empty < 20; {
		got, err := surface.Receive(context.Background(), conn, "q", group, 1+rand.IntN(5), "1 hour") //nolint:gosec // chance
		if err != nil {
			s.fail("receive: %v", err)
			return
		}
		if len(got) == 0 {
			empty++
			continue
		}
		empty = 0
		back := map[string]bool{} // keys: a nack of an ordered group takes along what follows of the key
		for _, m := range got {
			if group == "ordered" && back[*m.Key] {
				continue
			}
			again, err := s.settle(conn, group, m)
			if err != nil {
				s.fail("settle: %v", err)
				return
			}
			back[*m.Key] = again
		}
	}
}

// settle acks a message or gives it back, and reports which.
func (s *storm) settle(conn *pgx.Conn, group string, m surface.Message) (again bool, err error) {
	var of message
	if err := json.Unmarshal([]byte(m.Payload), &of); err != nil {
		return false, err
	}
	s.mu.Lock()
	s.given[group][of]++
	if s.given[group][of] > 1 {
		s.wrong = append(s.wrong, fmt.Sprintf("%s was given %v twice", group, of))
	}
	if !s.committed[of] {
		s.wrong = append(s.wrong, fmt.Sprintf("%s was given %v, which was never committed", group, of))
	}
	if group == "ordered" && of.N > 1 && !s.ended[group][message{of.Key, of.N - 1}] {
		s.wrong = append(s.wrong, fmt.Sprintf("%v came before the one ahead was finished", of))
	}
	again = rand.IntN(20) == 0 //nolint:gosec // chance
	if again {
		s.given[group][of]--
	} else {
		s.ended[group][of] = true
	}
	s.mu.Unlock()
	if again {
		delay := "0"
		n, err := surface.Nack(context.Background(), conn, "q", m.ClaimID, []int64{m.ID}, &delay)
		if n == 0 && err == nil {
			err = errors.New("nothing was given back")
		}
		return true, err
	}
	n, err := surface.Ack(context.Background(), conn, "q", m.ClaimID, []int64{m.ID})
	if n != 1 && err == nil {
		err = fmt.Errorf("%d were acked of %v", n, of)
	}
	return false, err
}

// move moves the queue to and fro, as often as a move has ended.
func (s *storm) move(ctx context.Context, ended *atomic.Int64) {
	conn := s.db.Conn(s)
	for ctx.Err() == nil {
		var log, from *string
		err := conn.QueryRow(context.Background(), "select log, moving_from from weir.list_queues()").Scan(&log, &from)
		if err == nil && from == nil {
			ended.Add(1)
			to := "new"
			if *log == "new" {
				to = "main"
			}
			_, err = conn.Exec(context.Background(), "select weir.move_queue('q', $1)", to)
		}
		if err != nil {
			s.fail("move: %v", err)
			return
		}
	}
}

func TestNothingIsLostNorOutOfOrderWhileTheQueueMoves(t *testing.T) {
	each(t, "lanes => 4", func(b bench) {
		b.exec("select weir.create_group('q', 'ordered', ordered => true, max_attempts => 1000)")
		b.exec("update weir_internal.groups set max_attempts = 1000")
		b.exec("update weir_internal.logs set segment_bytes = 65536, claims_bytes = 65536")
		s := &storm{bench: b, committed: map[message]bool{}, given: map[string]map[message]int{}}
		s.ended = map[string]map[message]bool{}
		sending, stop := context.WithCancel(b.Context())
		defer stop()
		receiving, end := context.WithCancel(b.Context())
		defer end()
		for _, g := range []string{"default", "ordered"} {
			s.given[g], s.ended[g] = map[message]int{}, map[message]bool{}
		}
		var senders, others sync.WaitGroup
		var moves atomic.Int64
		for i := range 3 {
			senders.Go(func() { s.send(sending, i) })
		}
		senders.Go(func() { s.move(sending, &moves) })
		for _, g := range []string{"default", "ordered"} {
			for range 2 {
				others.Go(func() { s.consume(receiving, g) })
			}
		}
		others.Go(func() {
			for receiving.Err() == nil {
				if _, err := surface.Maintain(context.Background(), b.db.Pool(b)); err != nil {
					s.fail("maintain: %v", err)
				}
			}
		})
		begin := time.Now()
		pgtest.WaitFor(b, "moves to end", func() bool { return moves.Load() > 4 && time.Since(begin) > 3*time.Second })
		stop()
		senders.Wait()
		pgtest.WaitForRow(b, b.db, "select sum(waiting + claimed + delayed + parked) = 0 from weir.stats('q')")
		end()
		others.Wait()
		for _, g := range []string{"default", "ordered"} {
			for m := range s.committed {
				if s.given[g][m] != 1 {
					s.fail("%s was given %v %d times", g, m, s.given[g][m])
				}
			}
		}
		for _, w := range s.wrong {
			b.Error(w)
		}
		b.Logf("%d messages, %d moves", len(s.committed), moves.Load())
		surface.Settle(b, b.db.Pool(b))
		b.want(0, "select count(*) from weir.list_queues() where moving_from is not null")
	})
}
