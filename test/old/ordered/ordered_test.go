package ordered_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

const (
	queue = "orders"
	group = "ordered"
	lease = 500 * time.Millisecond
)

// create makes a queue with an ordered group.
func create(t *testing.T, db *pgtest.DB, lanes int, options string) {
	t.Helper()
	surface.CreateQueue(t, db.Pool(t), queue,
		fmt.Sprintf("lanes => %d, segment_bytes => 65536, claims_bytes => 65536", lanes))
	db.Exec(t, fmt.Sprintf("select weir.create_group('%s', '%s', ordered => true, %s)", queue, group, options))
}

func TestEachKeyIsSeenOneMessageAfterTheOther(t *testing.T) {
	t.Parallel()
	pgtest.EachMajor(t, func(t *testing.T, major int) {
		t.Parallel()
		db := pgtest.New(t, pgtest.Options{Major: major})
		create(t, db, 3, "max_attempts => 1000, backoff_min => '20 ms', backoff_max => '100 ms', patience => '150 ms'")
		check := newChecker()
		pool := db.Pool(t)
		sending, stopSending := context.WithTimeout(t.Context(), 4*time.Second)
		defer stopSending()
		working, stopWorking := context.WithTimeout(t.Context(), 5*time.Minute)
		defer stopWorking()

		var producers, consumers sync.WaitGroup
		for p := range 3 {
			producers.Go(func() { produce(sending, t, pool, check, p) })
		}
		for w := range 4 {
			consumers.Go(func() { consume(working, t, pool, check, fmt.Sprintf("consumer %d", w), false) })
		}
		consumers.Go(func() { maintain(working, pool) })
		producers.Wait()
		for check.owed() > 0 && working.Err() == nil {
			waitFor(working, 20*time.Millisecond)
		}
		stopWorking()
		consumers.Wait()
		for _, b := range check.breaches {
			t.Error(b)
		}
		if n := check.owed(); n != 0 {
			t.Errorf("%d messages were never finished", n)
		}
		parked := pgtest.QueryAll[string](t, db, "select key from weir.parked_keys($1, $2)", queue, group)
		if len(parked) > 0 {
			t.Errorf("parked in the end: %v", parked)
		}
		t.Logf("%d messages of %d keys", check.finished, len(check.sent))
	})
}

// produce sends messages of keys of its own, several a transaction, some of them rolled back, until ctx ends.
func produce(ctx context.Context, t *testing.T, pool *pgxpool.Pool, check *checker, me int) {
	next := map[string]int{}
	zipf := rand.NewZipf(rand.New(rand.NewPCG(uint64(me), 7)), 1.1, 1, 40)
	for ctx.Err() == nil {
		tx, err := pool.Begin(t.Context())
		if err != nil {
			t.Error(err)
			return
		}
		upTo := map[string]int{}
		for range 1 + rand.IntN(4) {
			key := fmt.Sprintf("p%d-%d", me, zipf.Uint64())
			upTo[key] = max(upTo[key], next[key]) + 1
			payload := fmt.Sprintf(`{"key":%q,"seq":%d}`, key, upTo[key])
			if _, err := surface.Send(t.Context(), tx, queue, payload, &key, nil, nil); err != nil {
				t.Error(err)
				return
			}
		}
		if rand.IntN(100) < 15 {
			_ = tx.Rollback(t.Context())
			continue
		}
		waitFor(ctx, time.Duration(2+rand.IntN(6))*time.Millisecond)
		if err := tx.Commit(t.Context()); err != nil {
			t.Error(err)
			return
		}
		for key, seq := range upTo {
			next[key] = seq
		}
		check.committed(upTo)
	}
}

// consume receives, works at each key's messages in order, and acknowledges, gives back, rejects or forgets them.
func consume(ctx context.Context, t *testing.T, pool *pgxpool.Pool, check *checker, me string, reliable bool) {
	for ctx.Err() == nil {
		asked := time.Now()
		got, err := surface.Receive(t.Context(), pool, queue, group, 1+rand.IntN(20), lease.String())
		if err != nil {
			t.Error(err)
			return
		}
		if len(got) == 0 {
			waitFor(ctx, 5*time.Millisecond)
			continue
		}
		var deliveries []delivery
		for _, m := range got {
			d := delivery{id: m.ID, claim: m.ClaimID}
			var body struct {
				Key string
				Seq int
			}
			if err := json.Unmarshal([]byte(m.Payload), &body); err != nil {
				t.Error(err)
				return
			}
			d.key, d.seq = body.Key, body.Seq
			deliveries = append(deliveries, d)
		}
		if !check.delivered(me, deliveries, asked.Add(lease)) {
			continue // as one that crashed
		}
		if !reliable && rand.IntN(100) < 4 {
			continue // crashed: the lease will run out
		}
		if rand.IntN(2) == 0 {
			endWhole(ctx, t, pool, check, me, deliveries)
		} else {
			work(ctx, t, pool, check, me, deliveries)
		}
	}
}

// work ends each message; once one of a key is given back, the rest of that key is not touched.
func work(ctx context.Context, t *testing.T, pool *pgxpool.Pool, check *checker, me string, got []delivery) {
	givenBack := map[string]bool{}
	left := map[string]int{}
	for _, d := range got {
		left[d.key]++
	}
	for _, d := range got {
		if givenBack[d.key] {
			continue
		}
		fate := rand.IntN(100)
		if fate == 9 { // slow: past the group's patience, sometimes past the lease
			waitFor(ctx, time.Duration(rand.IntN(600))*time.Millisecond)
		}
		if left[d.key]--; left[d.key] == 0 {
			check.release(me, d.key)
		}
		var err error
		switch {
		case fate < 6:
			givenBack[d.key] = true
			check.release(me, d.key)
			_, err = surface.Nack(t.Context(), pool, queue, d.claim, []int64{d.id}, nil)
		case fate < 9:
			check.ending(d)
			_, err = surface.Reject(t.Context(), pool, queue, d.claim, []int64{d.id})
		default:
			check.ending(d)
			_, err = surface.Ack(t.Context(), pool, queue, d.claim, []int64{d.id})
		}
		state := surface.SQLState(err)
		if !givenBack[d.key] && (state == "" || state == "WR010") {
			check.ended(d, state == "")
		}
		if state == "WR010" { // too late: it is, or will be, delivered again
			return
		} else if state != "" {
			t.Error(err)
			return
		}
	}
}

func maintain(ctx context.Context, pool *pgxpool.Pool) {
	for ctx.Err() == nil {
		_, _ = surface.Maintain(ctx, pool)
		waitFor(ctx, 50*time.Millisecond)
	}
}

// waitFor is a pause in the load that is made, not in a check.
func waitFor(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
