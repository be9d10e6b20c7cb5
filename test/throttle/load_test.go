package limits_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

// unfinished tells, in one snapshot and without the engine's own list, of each unfinished claim of the group how many
// messages of each key it has, and whether its lease runs at $2. The key of message i is record number modulo $1.
const unfinished = `
select u.claim, i / 1000 % $1, count(*), bool_or(u.deadline > $2)
from weir_internal.groups g
cross join lateral (
	select distinct k.lane, k.stripe from weir_log.claims_2 k where k.kind = 'c' and k.group_no = g.no) s
cross join lateral weir_log.unfinished(g.no, s.lane, s.stripe, 0, 'infinity', null) u
cross join lateral unnest(u.ids) r
cross join lateral generate_series(lower(r), upper(r) - 1) i
where g.name = 'limited' group by 1, 2`

const keys = 4

// load is a crowd of consumers that fail in every way, and a checker beside them.
type load struct {
	bench
	setting string       // the limit that is set
	keys    int          // whose messages are limited each: 1 for all together
	limit   atomic.Int64 // what holds at this moment
	most    int64        // that was seen
	acked   sync.Map     // ids
	done    atomic.Int64
	late    atomic.Int64 // calls that came after the lease
	stop    chan struct{}
}

// TestTheLimitHoldsWhateverRaces starts without a limit, and sets, lowers, raises and lifts it under way.
func TestTheLimitHoldsWhateverRaces(t *testing.T) {
	for _, run := range []struct {
		settings, setting string
		keys              int
		limits            []int
		seen              int64 // claimed at once, at least
	}{
		{"ordered => false", "concurrency_max", 1, []int{5, 2, 9, 0, 4}, 3},
		{"fair => false", "key_concurrency_max", keys, []int{2, 1, 4, 0, 3}, 1},
		{"fair => true, concurrency_max => 9", "key_concurrency_max", keys, []int{4, 2, 1, 0, 3}, 1},
	} {
		t.Run(run.settings, func(t *testing.T) {
			const messages, consumers = 160, 6
			each(t, "max_attempts => 1000, "+run.settings, func(b bench) {
				l := &load{bench: b, setting: run.setting, keys: run.keys, stop: make(chan struct{})}
				b.clock.Run(b)
				l.limit.Store(1 << 30)
				b.ok("select weir.send('jobs', '1', 'k' || n % 4) from generate_series(1, $1) n", messages)
				if odd := pgtest.QueryVal[int](b, b.db, `select count(*) from weir_log.log_1
					where 'k' || id / 1000 % 4 <> keys[1]`); odd > 0 {
					b.Fatalf("%d messages have another key than their number says", odd)
				}
				var crowd, checker sync.WaitGroup
				for range consumers {
					crowd.Go(func() { l.consume(messages) })
				}
				checker.Go(l.check)
				for i, limit := range run.limits {
					pgtest.WaitFor(b, "progress", func() bool { return l.done.Load() >= int64(messages*(i+1)/8) || b.Failed() })
					l.set(limit)
				}
				crowd.Wait()
				close(l.stop)
				checker.Wait()
				if n := l.done.Load(); n != messages {
					b.Errorf("%d of %d messages were finished", n, messages)
				}
				if l.most < run.seen {
					b.Errorf("the checker saw %d messages claimed at most", l.most)
				}
			})
		})
	}
}

// set tells the checker of a higher limit before, and of a lower one after it holds.
func (l *load) set(limit int) {
	l.Helper()
	next, value := int64(limit), strconv.Itoa(limit)
	if limit == 0 {
		next, value = 1<<30, "null"
	}
	l.limit.Store(max(next, l.limit.Load()))
	l.configure(fmt.Sprintf(`{%q: %s}`, l.setting, value))
	l.limit.Store(next)
}

// check looks again and again. What was claimed before a limit was lowered may be above it, and what a late extension
// brings back may have been there: but no claim may be made that ends above the limit.
func (l *load) check() {
	conn := l.db.Conn(l)
	const settings = "set enable_seqscan = off; set enable_bitmapscan = off; set jit = off"
	if _, err := conn.Exec(l.Context(), settings); err != nil {
		l.Error(err)
	}
	var known map[int64]bool // the claims that were there at the last look
	var limit int64
	for {
		select {
		case <-l.stop:
			return
		default:
		}
		last := limit
		limit = l.limit.Load()
		claims := map[int64]bool{}
		claimed, fresh := make([]int64, l.keys), make([]bool, l.keys)
		err := pgx.BeginTxFunc(l.Context(), conn, pgx.TxOptions{IsoLevel: pgx.RepeatableRead}, func(tx pgx.Tx) error {
			var now time.Time // when it takes its snapshot: a look may last longer than a lease
			if err := tx.QueryRow(l.Context(), "select weir_internal.clock()").Scan(&now); err != nil {
				return err
			}
			rows, err := tx.Query(l.Context(), unfinished, l.keys, now)
			if err != nil {
				return err
			}
			var id, n int64
			var key int
			var held bool
			_, err = pgx.ForEachRow(rows, []any{&id, &key, &n, &held}, func() error {
				claims[id] = true
				if held {
					claimed[key] += n
					fresh[key] = fresh[key] || !known[id]
				}
				return nil
			})
			return err
		})
		if err != nil {
			l.Errorf("count: %v", err)
			return
		}
		for key, n := range claimed {
			if n > limit && fresh[key] && limit == last && l.limit.Load() <= limit {
				l.Errorf("a claim was made with which %d messages are claimed and unfinished, the limit is %d", n, limit)
			}
			if limit < 1<<30 {
				l.most = max(l.most, n)
			}
		}
		known = claims
		if _, err := conn.Exec(l.Context(), "select weir_log.trim_key_queues()"); err != nil {
			l.Errorf("trim: %v", err)
		}
	}
}

// consume works until all messages are acknowledged, through connections that come to grief.
func (l *load) consume(messages int) {
	for l.done.Load() < int64(messages) && !l.Failed() {
		conn, err := pgx.Connect(l.Context(), l.db.DSN)
		if err != nil {
			l.Errorf("connect: %v", err)
			return
		}
		for l.done.Load() < int64(messages) && !conn.IsClosed() && !l.Failed() {
			if err := l.once(conn); err != nil && !conn.IsClosed() && surface.SQLState(err) != "57P01" {
				l.Errorf("consume: %v", err)
				return
			}
		}
		conn.Close(context.WithoutCancel(l.Context())) //nolint:errcheck // it may be gone
	}
}

// once receives some messages and does with them what a consumer may do.
func (l *load) once(conn *pgx.Conn) error {
	ctx := l.Context()
	fate := rand.IntN(100) //nolint:gosec // no secret
	tx, err := conn.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback(ctx)   //nolint:errcheck // it may be over
	most := 1 + rand.IntN(3) //nolint:gosec // no secret
	got, err := surface.Receive(ctx, tx, queue, "limited", most, l.lease(300))
	if err != nil {
		return err
	}
	switch {
	case fate < 5:
		return nil // rolled back
	case fate < 8:
		_, err := tx.Exec(ctx, "select pg_terminate_backend(pg_backend_pid())")
		return err
	case fate < 15: // in the same transaction
		ended, err := l.finish(tx, got)
		if err == nil {
			err = tx.Commit(ctx)
		}
		if err == nil {
			l.note(ended)
		}
		return l.forgive(err)
	}
	if err := tx.Commit(ctx); err != nil {
		return err
	}
	switch {
	case fate < 20:
		return nil // forgotten
	case fate < 23:
		_, err := conn.Exec(ctx, "select pg_terminate_backend(pg_backend_pid())")
		return err
	case fate < 30 && len(got) > 0:
		_, err := settle(ctx, conn, "nack", got[0].ClaimID, []int64{got[0].ID}, surface.Text("0"))
		return l.forgive(err)
	case fate < 35 && len(got) > 0:
		_, err := settle(ctx, conn, "release", got[0].ClaimID, nil, surface.Text("0"))
		return l.forgive(err)
	case fate < 45 && len(got) > 0:
		if _, err := conn.Exec(ctx, "select weir_log.extend('jobs', $1, $2::text::interval)",
			got[0].ClaimID, l.lease(600)); err != nil {
			return l.forgive(err)
		}
	}
	ended, err := l.finish(conn, got)
	l.note(ended)
	return l.forgive(err)
}

// finish acknowledges messages, one by one or all that are left of a claim, as far as it comes, and returns those that
// this finished.
func (l *load) finish(c surface.Conn, got []surface.Message) (ended []int64, err error) {
	for len(got) > 0 {
		sql, args, some := "select weir_log.ack_all('jobs', $1)", []any{got[0].ClaimID}, got // one receive, one claim
		if rand.IntN(2) == 0 {                                                               //nolint:gosec // no secret
			sql, args, some = "select weir_log.ack('jobs', $1, $2)", append(args, got[0].ID), got[:1]
		}
		var n int
		if err := c.QueryRow(l.Context(), sql, args...).Scan(&n); err != nil {
			return ended, err
		}
		if n == len(some) {
			ended = append(ended, surface.IDs(some)...)
		} else {
			l.Errorf("ack of %v finished %d", some, n)
		}
		got = got[len(some):]
	}
	return ended, nil
}

func (l *load) note(ended []int64) {
	for _, id := range ended {
		if _, twice := l.acked.LoadOrStore(id, true); twice {
			l.Errorf("message %d was finished twice", id)
		}
		l.done.Add(1)
	}
}

// lease is so many milliseconds and, with each call that came too late, more: a slow machine gets what it needs.
func (l *load) lease(ms int64) string {
	return fmt.Sprintf("%d ms", ms+50*l.late.Load())
}

// forgive forgives what comes after the lease.
func (l *load) forgive(err error) error {
	if surface.SQLState(err) == "WR010" {
		l.late.Add(1)
		return nil
	}
	return err
}
