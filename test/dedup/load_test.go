package dedup_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

// window is short, so that the ring turns many times while the load lasts.
const window = 200 * time.Millisecond

// told is what a sender was told of one message, and when, by the server's clock.
type told struct {
	key           string
	id            int64
	repeated      bool
	before, after time.Time // of the call
}

// sender sends random keys in random transactions, and keeps what was committed.
type sender struct {
	*testing.T
	conn      *pgx.Conn
	committed []told
	failed    int           // for another transaction's sake
	sent      *atomic.Int64 // of all senders, that were committed
	repeats   *atomic.Int64
}

func (s *sender) exec(sql string) {
	if _, err := s.conn.Exec(s.Context(), sql); err != nil {
		s.Errorf("%s: %v", sql, err)
	}
}

// call sends one batch with keys of which some may be the same.
func (s *sender) call() ([]told, error) {
	keys := make([]string, 1+rand.IntN(3))
	for i := range keys {
		keys[i] = surface.Number(rand.IntN(20))
	}
	var out []told
	rows, err := s.conn.Query(s.Context(), `with t as materialized (select clock_timestamp() as before),
		s as materialized (select o.* from t, weir.send_once($1, array_fill('1'::jsonb, array[cardinality($2::text[])]), $2)
			with ordinality o (id, repeated, n) where t.before is not null)
		select before, id, repeated, clock_timestamp() from t, s order by n`, queue, keys)
	if err != nil {
		return nil, err
	}
	for rows.Next() {
		m := told{key: keys[len(out)]}
		if err := rows.Scan(&m.before, &m.id, &m.repeated, &m.after); err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, rows.Err()
}

func (s *sender) transaction() {
	level := "read committed"
	if rand.IntN(4) == 0 {
		level = "repeatable read"
	}
	s.exec("begin isolation level " + level)
	var mine []told
	calls := 1
	if rand.IntN(10) == 0 { // two of these may block each other, and PostgreSQL takes a second to see it
		calls = 3
	}
	for range calls {
		s.exec("savepoint here")
		got, err := s.call()
		if err != nil {
			if state := surface.SQLState(err); state != "40001" && state != "40P01" {
				s.Errorf("send: %v", err)
			}
			s.failed++
			s.exec("rollback")
			return
		}
		if rand.IntN(5) == 0 {
			s.exec("rollback to here")
			continue
		}
		mine = append(mine, got...)
		if rand.IntN(5) == 0 {
			s.exec(fmt.Sprintf("select pg_sleep(%f)", rand.Float64()/10)) // a slow transaction is part of the load
		}
	}
	if rand.IntN(4) == 0 {
		s.exec("rollback")
		return
	}
	s.exec("commit")
	s.committed = append(s.committed, mine...)
	for _, m := range mine {
		if m.repeated {
			s.repeats.Add(1)
		} else {
			s.sent.Add(1)
		}
	}
}

func TestNoKeyIsSentTwiceUnderLoad(t *testing.T) {
	t.Parallel()
	pgtest.EachMajor(t, func(t *testing.T, major int) {
		t.Parallel()
		db := pgtest.New(t, pgtest.Options{Major: major})
		surface.CreateQueue(t, db.Pool(t), queue, fmt.Sprintf("dedup_window => '%d milliseconds'", window.Milliseconds()))
		var sentSoFar, repeatsSoFar atomic.Int64
		turns, begun, over := 0, time.Now(), make(chan struct{})
		senders := make([]*sender, 6)
		var group sync.WaitGroup
		for i := range senders {
			senders[i] = &sender{T: t, conn: db.Conn(t), sent: &sentSoFar, repeats: &repeatsSoFar}
			group.Go(func() {
				for !closed(over) && !t.Failed() {
					senders[i].transaction()
				}
			})
		}
		// It lasts until it has proved something, and a slow machine needs longer for that.
		for time.Since(begun) < 4*time.Second || sentSoFar.Load() < 50 || repeatsSoFar.Load() < 50 || turns < 10 {
			if t.Failed() || time.Since(begun) > 10*time.Minute {
				break
			}
			turns += int(pgtest.QueryVal[int64](t, db,
				"select weir_log.rotate_dedup(1)"))
		}
		close(over)
		group.Wait()
		var all []told
		for _, s := range senders {
			all = append(all, s.committed...)
		}
		sent, repeats := judge(t, all)
		var received []int64
		for {
			got, err := surface.Pop(t.Context(), db.Pool(t), queue, "default", 1000)
			if err != nil {
				t.Fatal(err)
			}
			if len(got) == 0 {
				break
			}
			received = append(received, surface.IDs(got)...)
		}
		slices.Sort(received)
		if !slices.Equal(received, sent) {
			t.Errorf("sent %d messages, received %d", len(sent), len(received))
		}
		if len(sent) < 50 || repeats < 50 || turns < 10 {
			t.Errorf("%d sent, %d repeats, %d turns: the load proves nothing", len(sent), repeats, turns)
		}
	})
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// judge checks every pair of messages of one key, and returns the ids of those that were sent and how many were not.
func judge(t *testing.T, all []told) (sent []int64, repeats int) {
	t.Helper()
	first := map[int64]told{}
	byKey := map[string][]told{}
	for _, m := range all {
		if m.repeated {
			repeats++
			continue
		}
		sent = append(sent, m.id)
		first[m.id] = m
		byKey[m.key] = append(byKey[m.key], m)
	}
	for _, m := range all {
		if !m.repeated {
			continue
		}
		f, ok := first[m.id]
		switch {
		case !ok:
			t.Errorf("key %s: a repeat of message %d, which was not sent", m.key, m.id)
		case f.key != m.key:
			t.Errorf("key %s: a repeat of message %d, which has key %s", m.key, m.id, f.key)
		case m.before.Sub(f.after) >= window:
			t.Errorf("key %s: a repeat of message %d, %v after it", m.key, m.id, m.before.Sub(f.after))
		}
	}
	for key, list := range byKey {
		for i, a := range list {
			for _, b := range list[:i] {
				// each call took its time between before and after: so far apart they may have been
				if most := max(a.after.Sub(b.before), b.after.Sub(a.before)); most < window {
					t.Errorf("key %s: messages %d and %d were sent within %v", key, a.id, b.id, most)
				}
			}
		}
	}
	slices.Sort(sent)
	return sent, repeats
}
