// Package ordered_test holds what an ordered group of the engine promises: of each key the consumers see
// one message after the other, in the order in which they were sent, whatever fails, expires or is slow; and a key in
// trouble delays no other.
package ordered_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

const (
	queue = "orders"
	group = "ordered"
)

func TestMain(m *testing.M) {
	pgtest.Main(m)
}

// create makes a queue with an ordered group; options are further arguments of create_group, or "".
func create(t *testing.T, db *pgtest.DB, lanes int, options string) {
	t.Helper()
	surface.CreateQueue(t, db.Pool(t), queue, fmt.Sprintf("lanes => %d", lanes))
	if options != "" {
		options = ", " + options
	}
	db.Exec(t, fmt.Sprintf("select weir.create_group('%s', '%s', ordered => true%s)", queue, group, options))
}

// sendBatch sends messages of keys, with payloads that are JSON.
func sendBatch(ctx context.Context, c surface.Conn, payloads, keys []string, delay *string) error {
	_, err := c.Exec(ctx, "select weir_log.send_batch($1, $2::text[]::json[], $3, null, $4::text::interval, null)",
		queue, payloads, keys, delay)
	return err
}

// settle ends a claim's hold on messages, in one of the four ways; ids nil: all that is left.
func settle(ctx context.Context, c surface.Conn, verb string, claim int64, ids []int64, delay *string) (int, error) {
	sql, args := "select weir_log.settle($1, $2, $3, $4, $5::text::interval, 'given back')",
		[]any{queue, claim, ids, verb, delay}
	switch {
	case verb == "ack" && ids == nil:
		sql, args = "select weir_log.ack_all($1, $2)", []any{queue, claim}
	case verb == "ack" && len(ids) == 1:
		sql, args = "select weir_log.ack($1, $2, $3)", []any{queue, claim, ids[0]}
	}
	var n int
	err := c.QueryRow(ctx, sql, args...).Scan(&n)
	return n, err
}

// lines is one test's queue of one lane, with an ordered group and a clock to move.
type lines struct {
	*testing.T
	db    *pgtest.DB
	clock *surface.Clock
}

func each(t *testing.T, options string, test func(l lines)) {
	t.Helper()
	t.Parallel()
	alone(t, options, test)
}

// alone is each for a test beside which no other shall have a transaction open: rows that died stay while one is.
func alone(t *testing.T, options string, test func(l lines)) {
	t.Helper()
	pgtest.Each(t, func(t *testing.T, db *pgtest.DB) {
		create(t, db, 1, options)
		test(lines{t, db, surface.StoppedClock(t, db)})
	})
}

// send sends a message of a key with the key and a number as its payload.
func (l lines) send(key string, n int) {
	l.Helper()
	l.sendLater(key, n, nil)
}

func (l lines) sendLater(key string, n int, delay *string) {
	l.Helper()
	payload := `"` + key + surface.Number(n) + `"`
	if _, err := surface.Send(l.Context(), l.db.Pool(l), queue, payload, &key, nil, delay); err != nil {
		l.Fatal(err)
	}
}

// letters sends messages of one key a letter in one record, with letter and place as payload.
func (l lines) letters(keys string) {
	l.Helper()
	var payloads, list []string
	for i, k := range keys {
		payloads, list = append(payloads, fmt.Sprintf(`"%c%d"`, k, i+1)), append(list, string(k))
	}
	if err := sendBatch(l.Context(), l.db.Pool(l), payloads, list, nil); err != nil {
		l.Fatal(err)
	}
}

// receive receives and checks the payloads, without their quotes, in order.
func (l lines) receive(most int, lease string, want ...string) []surface.Message {
	l.Helper()
	conn, err := l.db.Pool(l).Acquire(l.Context())
	if err != nil {
		l.Fatal(err)
	}
	defer conn.Release()
	return l.receiveOn(conn, most, lease, want...)
}

func (l lines) receiveOn(c surface.Conn, most int, lease string, want ...string) []surface.Message {
	l.Helper()
	l.setSeed(c, 0.5) // not the call in 32 that begins with lanes
	return l.receiveAsSeeded(c, most, lease, want...)
}

// setSeed says what random() will answer on a connection from now on.
func (l lines) setSeed(c surface.Conn, seed float64) {
	l.Helper()
	if _, err := c.Exec(l.Context(), "select setseed($1)", seed); err != nil {
		l.Fatal(err)
	}
}

// receiveAsSeeded receives with whatever seed the connection has.
func (l lines) receiveAsSeeded(c surface.Conn, most int, lease string, want ...string) []surface.Message {
	l.Helper()
	got, err := surface.Receive(l.Context(), c, queue, group, most, lease)
	if err != nil {
		l.Fatal(err)
	}
	if len(got) != len(want) {
		l.Fatalf("received %v, want %v", got, want)
	}
	for i := range got {
		if got[i].Payload != `"`+want[i]+`"` {
			l.Fatalf("received %v, want %v", got, want)
		}
	}
	return got
}

// settle ends one message.
func (l lines) settle(verb string, m surface.Message, delay *string) {
	l.Helper()
	n, err := settle(l.Context(), l.db.Pool(l), verb, m.ClaimID, []int64{m.ID}, delay)
	if err != nil || n != 1 {
		l.Fatalf("%s of %v: %d, %v", verb, m, n, err)
	}
}

func (l lines) ack(m surface.Message) {
	l.Helper()
	l.settle("ack", m, nil)
}

func (l lines) nack(m surface.Message, delay string) {
	l.Helper()
	l.settle("nack", m, &delay)
}

// begin begins a transaction on a connection of its own; what is left of it is rolled back.
func (l lines) begin() pgx.Tx {
	l.Helper()
	tx, err := l.db.Conn(l).Begin(l.Context())
	if err != nil {
		l.Fatal(err)
	}
	return tx
}

func (l lines) commit(tx pgx.Tx) {
	l.Helper()
	if err := tx.Commit(l.Context()); err != nil {
		l.Fatal(err)
	}
}

func (l lines) rollback(tx pgx.Tx) {
	l.Helper()
	if err := tx.Rollback(l.Context()); err != nil {
		l.Fatal(err)
	}
}

// wantParked checks how many rows are parked, notes included.
func (l lines) wantParked(want int) {
	l.Helper()
	if n := pgtest.QueryVal[int](l, l.db, "select count(*)::int from weir_log.parked"); n != want {
		l.Errorf("%d rows are parked, want %d", n, want)
	}
}

func (l lines) wantDead(want ...string) {
	l.Helper()
	got := pgtest.QueryAll[string](l, l.db, "select payload::jsonb #>> '{}' from weir_internal.dead_letters order by id")
	if fmt.Sprint(got) != fmt.Sprint(want) {
		l.Errorf("dead letters %v, want %v", got, want)
	}
}

const hour = time.Hour
