package pgmq_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/weirmq/weir/internal/pgtest"
)

// TestEachMessageIsTakenOnceWhateverGoesOn has sessions send, read, delete, archive, pop and set messages of any id, in
// transactions of which some are rolled back, while the log turns all the time. Each message that was sent is deleted,
// archived or popped by one of them, once.
func TestEachMessageIsTakenOnceWhateverGoesOn(t *testing.T) {
	pgtest.EachMajor(t, func(t *testing.T, major int) {
		db := newFace(t, major)
		db.Exec(t, "select weir.configure_log('pgmq', segment_bytes => 65536, claims_bytes => 65536)")
		db.Exec(t, "select pgmq.create('q')")
		s := &storm{T: t, db: db, sent: map[int64]bool{}, taken: map[int64]string{}}
		ctx, stop := context.WithTimeout(t.Context(), time.Duration(pgtest.Longer())*5*time.Second)
		defer stop()
		var sessions, upkeep sync.WaitGroup
		for range 5 {
			sessions.Go(func() { s.session(ctx) })
		}
		over := make(chan struct{})
		upkeep.Go(func() { s.upkeep(over) })
		sessions.Wait()
		close(over)
		upkeep.Wait()
		s.drain()
		if turns := pgtest.QueryVal[int64](t, db, "select pg_sequence_last_value('weir_log_pgmq.claims_ring')"); turns < 2 {
			t.Errorf("the claim log is in state %d: it did not turn", turns)
		}
	})
}

type storm struct {
	*testing.T

	db    *pgtest.DB
	lock  sync.Mutex
	sent  map[int64]bool
	taken map[int64]string // by which call
	last  int64
}

// calls are what a session may do with up to 20 ids, or with none; they return ids.
var calls = []string{
	"select pgmq.send('q', '\"one\"') -- sent",
	"select pgmq.send_batch('q', (select array_agg(to_jsonb(i)) from generate_series(1, 30) i)) -- sent",
	"select pgmq.send('q', '\"later\"', 1) -- sent",
	"select msg_id from pgmq.read('q', 0, 10)",
	"select msg_id from pgmq.read('q', 1, 20)",
	"select msg_id from pgmq.read('q', 100, 5)",
	"select i from unnest($1::bigint[]) i where pgmq.delete('q', i) limit 3 -- taken",
	"select pgmq.delete('q', $1::bigint[]) -- taken",
	"select i from unnest($1::bigint[]) i where pgmq.archive('q', i) limit 2 -- taken",
	"select pgmq.archive('q', ($1::bigint[])[1:3]) -- taken",
	"select msg_id from pgmq.pop('q', 3) -- taken",
	"select msg_id from pgmq.set_vt('q', ($1::bigint[])[1], 0)",
	"select msg_id from pgmq.set_vt('q', ($1::bigint[])[1], 1)",
	"select msg_id from pgmq.set_vt('q', ($1::bigint[])[1:4], 100)",
}

func (s *storm) session(ctx context.Context) {
	conn := s.db.Conn(s.T)
	recent := make([]int64, 0, 64) // ids that were read or sent
	for ctx.Err() == nil {
		tx, err := conn.Begin(s.Context())
		if err != nil {
			s.Error(err)
			return
		}
		done := map[int64]string{}
		for range 1 + rand.IntN(3) {
			if err = s.call(tx, &recent, done); err != nil {
				break
			}
		}
		if err != nil || rand.IntN(6) == 0 {
			if rollbackErr := tx.Rollback(s.Context()); rollbackErr != nil || !s.harmless(err) {
				s.Errorf("%v, %v", err, rollbackErr)
				return
			}
			continue
		}
		if err := tx.Commit(s.Context()); err != nil {
			s.Error(err)
			return
		}
		s.note(done)
	}
}

// harmless tells a deadlock, which PostgreSQL ends, from an error.
func (s *storm) harmless(err error) bool {
	var pg *pgconn.PgError
	return err == nil || errors.As(err, &pg) && pg.Code == "40P01"
}

// call makes one of the calls and notes what it did.
func (s *storm) call(tx pgx.Tx, recent *[]int64, done map[int64]string) error {
	sql := calls[rand.IntN(len(calls))]
	var args []any
	if strings.Contains(sql, "$1") {
		args = append(args, s.pick(*recent))
	}
	rows, err := tx.Query(s.Context(), sql, args...)
	if err != nil {
		return err
	}
	got, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return err
	}
	_, what, _ := strings.Cut(sql, "-- ")
	for _, id := range got {
		if strings.Contains(done[id], "taken") {
			s.Errorf("message %d came in %q after it was taken", id, sql)
		}
		if what != "" {
			done[id] += what + " by " + sql + "; "
		}
		if len(*recent) < cap(*recent) {
			*recent = append(*recent, id)
		} else {
			(*recent)[rand.IntN(len(*recent))] = id
		}
	}
	return nil
}

// pick returns some ids: that were seen, or that are as good as any other.
func (s *storm) pick(recent []int64) []int64 {
	s.lock.Lock()
	last := s.last
	s.lock.Unlock()
	picked := make([]int64, 0, 20)
	for range 1 + rand.IntN(20) {
		if len(recent) > 0 && rand.IntN(2) == 0 {
			picked = append(picked, recent[rand.IntN(len(recent))])
		} else {
			picked = append(picked, 1+rand.Int64N(last+10))
		}
	}
	return picked
}

// note writes down what a transaction that committed did.
func (s *storm) note(done map[int64]string) {
	s.lock.Lock()
	defer s.lock.Unlock()
	for id, what := range done {
		if strings.Contains(what, "taken") {
			if s.taken[id] != "" {
				s.Errorf("message %d was %s and %s", id, s.taken[id], what)
			}
			s.taken[id] = what
		}
		if strings.Contains(what, "sent") {
			s.sent[id] = true
			s.last = max(s.last, id)
		}
	}
}

func (s *storm) upkeep(over chan struct{}) {
	conn := s.db.Conn(s.T)
	for {
		select {
		case <-over:
			return
		default:
			if _, err := conn.Exec(s.Context(), "call weir.maintain()"); err != nil {
				s.Error(err)
				return
			}
		}
	}
}

// drain takes what is left, and compares.
func (s *storm) drain() {
	left := ids(s.T, s.db, "select msg_id from pgmq.q_q")
	if n := pgtest.QueryVal[int](s.T, s.db, "select queue_length from pgmq.metrics('q')"); n != len(left) {
		s.Errorf("metrics tell of %d messages, the view of %d", n, len(left))
	}
	s.db.Exec(s.T, "select count(*) from pgmq.set_vt('q', $1::bigint[], 0)", left)
	done := map[int64]string{}
	for {
		got := ids(s.T, s.db, "select msg_id from pgmq.pop('q', 1000)")
		for _, id := range got {
			done[id] = "taken"
		}
		if len(got) == 0 {
			break
		}
	}
	if len(done) != len(left) {
		s.Errorf("%d of %d that were left were read", len(done), len(left))
	}
	s.note(done)
	for id := range s.sent {
		if s.taken[id] == "" {
			s.Errorf("message %d was lost", id)
		}
	}
	for id, what := range s.taken {
		if !s.sent[id] {
			s.Errorf("message %d was %s, and not sent", id, what)
		}
	}
	s.Logf("%d messages", len(s.sent))
}
