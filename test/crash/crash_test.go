// Package crash_test kills PostgreSQL with -9 under load and starts it again: what it had confirmed is there, and
// nothing else.
package crash_test

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

const queue = "crash"

// witness is what the clients know: what was confirmed to them, and what they were never told the end of.
type witness struct {
	mu                         sync.Mutex
	sent, maybe, acked, asking map[string]bool
	failure                    error
}

// rounds of a kill: in each, all sessions work until the server dies under them.
func TestKilledServerKeepsWhatItConfirmed(t *testing.T) {
	pgtest.EachMajor(t, func(t *testing.T, major int) {
		server := pgtest.StartServer(t, pgtest.ServerOptions{Major: major, Settings: map[string]string{
			"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on",
		}})
		db := server.NewDB(t, false)
		surface.CreateQueue(t, db.Pool(t), queue, "lanes => 4")
		db.Exec(t, "select weir.configure_log('main', segment_bytes => 65536, claims_bytes => 65536)")
		w := &witness{
			sent: map[string]bool{}, maybe: map[string]bool{}, acked: map[string]bool{}, asking: map[string]bool{},
		}
		var number atomic.Int64
		for range 3 * pgtest.Longer() {
			var group sync.WaitGroup
			for range 3 {
				group.Go(func() { session(db.DSN, w, func(c *pgx.Conn) error { return w.send(c, &number) }) })
			}
			for range 2 {
				group.Go(func() { session(db.DSN, w, w.consume) })
			}
			group.Go(func() {
				session(db.DSN, w, func(c *pgx.Conn) error {
					_, err := surface.Maintain(context.Background(), c)
					return err
				})
			})
			ringAt := func() int64 {
				return pgtest.QueryVal[int64](t, db, `select pg_sequence_last_value('weir_log.log_ring')
					+ pg_sequence_last_value('weir_log.claims_ring')`)
			}
			before := ringAt()
			pgtest.WaitFor(t, "the rings to turn under load", func() bool { return ringAt() >= before+4 })
			server.Kill()
			group.Wait()
			server.Up(t)
			db.Pool(t).Reset() // its connections died
		}
		if w.failure != nil {
			t.Fatal(w.failure)
		}
		w.verdict(t, db.DSN)
	})
}

// session works on a connection until it breaks.
func session(dsn string, w *witness, work func(c *pgx.Conn) error) {
	conn, err := pgx.Connect(context.Background(), dsn)
	for err == nil {
		err = work(conn)
	}
	if state := surface.SQLState(err); state != "" && state[:2] != "57" {
		w.mu.Lock()
		w.failure = err
		w.mu.Unlock()
	}
	if conn != nil {
		conn.Close(context.Background()) //nolint:errcheck // the server is dead
	}
}

func (w *witness) note(set map[string]bool, payloads []string, is bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range payloads {
		if is {
			set[p] = true
		} else {
			delete(set, p)
		}
	}
}

// send sends a batch in a transaction; every fifth is rolled back.
func (w *witness) send(c *pgx.Conn, number *atomic.Int64) error {
	ctx := context.Background()
	var payloads []string
	for range 10 {
		payloads = append(payloads, strconv.FormatInt(number.Add(1), 10))
	}
	tx, err := c.Begin(ctx)
	if err != nil {
		return err
	}
	if _, err := surface.SendBatch(ctx, tx, queue, payloads, nil, nil, nil); err != nil {
		return err
	}
	if number.Load()%5 == 0 && number.Load()%50 == 0 {
		return tx.Rollback(ctx)
	}
	w.note(w.maybe, payloads, true)
	if err := tx.Commit(ctx); err != nil {
		return err
	}
	w.note(w.sent, payloads, true)
	w.note(w.maybe, payloads, false)
	return nil
}

func (w *witness) consume(c *pgx.Conn) error {
	ctx := context.Background()
	got, err := surface.Receive(ctx, c, queue, "default", 50, "1 hour")
	if err != nil {
		return err
	}
	claims := map[int64][]string{}
	for _, m := range got {
		claims[m.ClaimID] = append(claims[m.ClaimID], m.Payload)
	}
	for claim, payloads := range claims {
		w.note(w.asking, payloads, true)
		if _, err := surface.Ack(ctx, c, queue, claim, nil); err != nil {
			return err
		}
		w.note(w.acked, payloads, true)
		w.note(w.asking, payloads, false)
	}
	return nil
}

// verdict receives all that is left, with every lease over, and compares.
func (w *witness) verdict(t *testing.T, dsn string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context()) //nolint:errcheck // nothing is left to say
	if _, err := conn.Exec(t.Context(), `create or replace function weir_internal.clock() returns timestamptz
		language sql volatile as 'select clock_timestamp() + interval ''2 hours'''`); err != nil {
		t.Fatal(err)
	}
	left := map[string]bool{}
	for idle := 0; idle < 3; {
		got, err := surface.Receive(t.Context(), conn, queue, "default", 1000, "1 day")
		if err != nil {
			t.Fatal(err)
		}
		if idle++; len(got) > 0 {
			idle = 0
		}
		for _, m := range got {
			if left[m.Payload] {
				t.Fatalf("%v came twice", m)
			}
			left[m.Payload] = true
		}
	}
	lost, phantoms, again := 0, 0, 0
	for p := range w.sent {
		if !left[p] && !w.acked[p] && !w.asking[p] {
			lost++
		}
	}
	for p := range left {
		if !w.sent[p] && !w.maybe[p] {
			phantoms++
		}
		if w.acked[p] {
			again++
		}
	}
	t.Logf("%d confirmed, %d acknowledged, %d left, %d unknown", len(w.sent), len(w.acked), len(left), len(w.maybe))
	if lost+phantoms+again > 0 {
		t.Errorf("%d lost, %d phantoms, %d acknowledged but delivered again", lost, phantoms, again)
	}
	deadline := time.Now()
	surface.Settle(t, conn)
	t.Logf("maintenance settled in %s", time.Since(deadline))
}

func TestAfterACrashAConsumerIsToldOfMessagesAgain(t *testing.T) {
	pgtest.EachMajor(t, func(t *testing.T, major int) {
		server := pgtest.StartServer(t, pgtest.ServerOptions{Major: major})
		db := server.NewDB(t, false)
		surface.CreateQueue(t, db.Pool(t), queue, "")
		for range 2 { // marked, and marked again after a crash
			server.Kill()
			server.Up(t)
			waiter, sender := db.Conn(t), db.Conn(t)
			var channel string
			if err := waiter.QueryRow(t.Context(), "select weir.mark_waiting($1)", queue).Scan(&channel); err != nil {
				t.Fatal(err)
			}
			if _, err := waiter.Exec(t.Context(), "listen "+pgx.Identifier{channel}.Sanitize()); err != nil {
				t.Fatal(err)
			}
			if _, err := sender.Exec(t.Context(), "select weir.send($1, '1')", queue); err != nil {
				t.Fatal(err)
			}
			ctx, stop := context.WithTimeout(t.Context(), time.Minute)
			got, err := waiter.WaitForNotification(ctx)
			stop()
			if err != nil || got.Channel != channel {
				t.Fatalf("notified %v, %v", got, err)
			}
			if _, err := waiter.Exec(t.Context(), "select weir.mark_waiting($1)", queue); err != nil {
				t.Fatal(err)
			}
		}
	})
}
