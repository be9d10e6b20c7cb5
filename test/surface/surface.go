// Package surface calls the engine's SQL functions for the tests, one Go function each, through pgx and nothing else.
package surface

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/weirmq/weir/internal/pgtest"
)

// Conn is what a call needs of a connection, a transaction or a pool.
type Conn interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
}

// Message is weir.message.
type Message struct {
	ID         int64
	ClaimID    int64
	Attempt    int
	Key        *string
	Payload    string
	Headers    *string
	EnqueuedAt time.Time
}

// Record is weir.message_record.
type Record struct {
	ClaimID       int64
	N             int
	FirstID       int64
	IDs           []int64
	Attempt       int
	Attempts      []int
	Keys          []*string
	Payloads      []string
	Headers       []*string
	EnqueuedAt    *time.Time
	EnqueuedTimes []time.Time
}

// Messages takes a record apart as the type's comment says.
func (r Record) Messages() []Message {
	var all []Message
	for i := range r.N {
		m := Message{
			ID: r.FirstID + int64(i), ClaimID: r.ClaimID, Attempt: r.Attempt, Payload: r.Payloads[i],
		}
		if r.EnqueuedAt != nil {
			m.EnqueuedAt = *r.EnqueuedAt
		}
		if r.IDs != nil {
			m.ID = r.IDs[i]
		}
		if r.Attempts != nil {
			m.Attempt = r.Attempts[i]
		}
		if r.Keys != nil {
			m.Key = r.Keys[i]
		}
		if r.Headers != nil {
			m.Headers = r.Headers[i]
		}
		if r.EnqueuedTimes != nil {
			m.EnqueuedAt = r.EnqueuedTimes[i]
		}
		all = append(all, m)
	}
	return all
}

// Each is pgtest.Each with a queue in every database, made with these options.
func Each(t *testing.T, queue, options string, test func(t *testing.T, db *pgtest.DB)) {
	t.Helper()
	pgtest.Each(t, func(t *testing.T, db *pgtest.DB) {
		CreateQueue(t, db.Pool(t), queue, options)
		test(t, db)
	})
}

// CreateQueue makes a queue; options are further arguments by name, such as "lanes => 1", or "".
func CreateQueue(tb testing.TB, c Conn, queue, options string) {
	tb.Helper()
	if options != "" {
		options = ", " + options
	}
	if _, err := c.Exec(tb.Context(), "select weir.create_queue($1"+options+")", queue); err != nil {
		tb.Fatalf("create queue: %v", err)
	}
}

// Send sends one message; key, headers and delay may be nil.
func Send(ctx context.Context, c Conn, queue, payload string, key, headers, delay *string) (int64, error) {
	var id int64
	err := c.QueryRow(ctx, "select weir.send($1, $2::text::jsonb, $3, $4::text::jsonb, $5::text::interval)",
		queue, payload, key, headers, delay).Scan(&id)
	return id, err
}

// SendBatch sends many messages; keys, headers and delay may be nil.
func SendBatch(
	ctx context.Context, c Conn, queue string, payloads []string, keys, headers []*string, delay *string,
) ([]int64, error) {
	rows, err := c.Query(ctx,
		"select weir.send_batch($1, $2::text[]::jsonb[], $3, $4::text[]::jsonb[], $5::text::interval)",
		queue, payloads, keys, headers, delay)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[int64])
}

// Receive claims messages.
func Receive(ctx context.Context, c Conn, queue, group string, batchMax int, lease string) ([]Message, error) {
	rows, err := c.Query(ctx,
		`select id, claim_id, attempt, key, payload::text, headers::text, enqueued_at
		 from weir.receive($1, $2, $3, $4::text::interval)`,
		queue, group, batchMax, lease)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[Message])
}

// ReceiveRecords claims messages and returns them as records.
func ReceiveRecords(ctx context.Context, c Conn, queue, group string, batchMax int, lease string) ([]Record, error) {
	rows, err := c.Query(ctx,
		`select claim_id, n, first_id, ids, attempt, attempts, keys, payloads::text[], headers::text[], enqueued_at,
		     enqueued_times
		 from weir.receive_records($1, $2, $3, $4::text::interval)`,
		queue, group, batchMax, lease)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[Record])
}

// Pop claims messages and finishes them at once.
func Pop(ctx context.Context, c Conn, queue, group string, batchMax int) ([]Message, error) {
	rows, err := c.Query(ctx,
		`select id, claim_id, attempt, key, payload::text, headers::text, enqueued_at from weir.pop($1, $2, $3)`,
		queue, group, batchMax)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[Message])
}

// Ack finishes messages of a claim; ids nil: all of it.
func Ack(ctx context.Context, c Conn, queue string, claim int64, ids []int64) (int, error) {
	if ids == nil {
		return count(ctx, c, "select weir.ack_all($1, $2)", queue, claim)
	}
	return count(ctx, c, "select weir.ack($1, $2, $3::bigint[])", queue, claim, ids)
}

// Nack has messages of a claim delivered again; delay nil: after the group's backoff.
func Nack(ctx context.Context, c Conn, queue string, claim int64, ids []int64, delay *string) (int, error) {
	return count(ctx, c, "select weir.nack($1, $2, $3, $4::text::interval, 'nacked')", queue, claim, ids, delay)
}

// Reject makes messages of a claim dead letters; ids are asked for.
func Reject(ctx context.Context, c Conn, queue string, claim int64, ids []int64) (int, error) {
	return count(ctx, c, "select weir.reject($1, $2, $3, 'rejected')", queue, claim, ids)
}

// Extend moves a claim's deadline.
func Extend(ctx context.Context, c Conn, queue string, claim int64, lease string) (time.Time, error) {
	var deadline time.Time
	err := c.QueryRow(ctx, "select weir.extend($1, $2, $3::text::interval)", queue, claim, lease).Scan(&deadline)
	return deadline, err
}

// Maintain calls maintain once; it cannot be called within a transaction.
func Maintain(ctx context.Context, c Conn) (int, error) {
	return count(ctx, c, "call weir.maintain()")
}

// Settle calls maintain until it has nothing to do, and fails the test when there is no end to it. A segment that
// something was left in is looked at again at once.
func Settle(tb testing.TB, c Conn) {
	tb.Helper()
	for range 100 {
		if _, err := c.Exec(tb.Context(), "select setval('weir_log.next_look', 0)"); err != nil {
			tb.Fatal(err)
		}
		n, err := Maintain(tb.Context(), c)
		if err != nil {
			tb.Fatalf("maintain: %v", err)
		}
		if n == 0 {
			return
		}
	}
	tb.Fatal("maintain: still at work after 100 calls")
}

func count(ctx context.Context, c Conn, sql string, args ...any) (int, error) {
	var n int
	err := c.QueryRow(ctx, sql, args...).Scan(&n)
	return n, err
}

// Dead is a dead letter.
type Dead struct {
	ID       int64
	Attempts int
	Payload  string
	Reason   *string
}

// DeadLetters lists a group's dead letters, 10,000 at most.
func DeadLetters(ctx context.Context, c Conn, queue, group string) ([]Dead, error) {
	rows, err := c.Query(ctx,
		"select id, attempts, payload::text, reason from weir.dead_letters($1, $2, 10000)", queue, group)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[Dead])
}

// SQLState returns the SQLSTATE of an error, or "".
func SQLState(err error) string {
	var pgErr *pgconn.PgError
	if errors.As(err, &pgErr) {
		return pgErr.Code
	}
	return ""
}

// WantState fails the test unless err has the SQLSTATE.
func WantState(tb testing.TB, err error, state string) {
	tb.Helper()
	if SQLState(err) != state {
		tb.Fatalf("got error %v (SQLSTATE %q), want %s", err, SQLState(err), state)
	}
}

// Text returns a pointer to a string.
func Text(s string) *string { return &s }

// Number returns n as a JSON payload.
func Number(n int) string {
	text, err := json.Marshal(n)
	if err != nil {
		panic(err) // numbers always marshal
	}
	return string(text)
}

// Clock is the engine's clock in one database, which the test moves.
type Clock struct {
	db     *pgtest.DB
	offset time.Duration
}

// MovableClock replaces the database's weir_internal.clock() by one that adds an offset, kept in a sequence so that
// every session sees a move at once.
func MovableClock(tb testing.TB, db *pgtest.DB) *Clock {
	tb.Helper()
	db.Exec(tb, "create sequence public.clock_offset minvalue 0")
	db.Exec(tb, "select setval('public.clock_offset', 0)")
	c := &Clock{db: db}
	c.Run(tb)
	return c
}

// StoppedClock is a MovableClock that stands still, so that it does not matter how long the test takes.
func StoppedClock(tb testing.TB, db *pgtest.DB) *Clock {
	tb.Helper()
	c := MovableClock(tb, db)
	c.Stop(tb)
	return c
}

// Run has the engine's time pass.
func (c *Clock) Run(tb testing.TB) {
	tb.Helper()
	c.since(tb, "clock_timestamp()")
}

// Stop has the engine's time stand still, but for Advance.
func (c *Clock) Stop(tb testing.TB) {
	tb.Helper()
	now := pgtest.QueryVal[time.Time](tb, c.db, "select clock_timestamp()")
	c.since(tb, "timestamptz '"+now.Format(time.RFC3339Nano)+"'")
}

func (c *Clock) since(tb testing.TB, time string) {
	tb.Helper()
	c.db.Exec(tb, `create or replace function weir_internal.clock() returns timestamptz language sql volatile
		as $$ select `+time+` + pg_sequence_last_value('public.clock_offset') * interval '1 microsecond' $$`)
}

// Advance moves the engine's time on.
func (c *Clock) Advance(tb testing.TB, d time.Duration) {
	tb.Helper()
	c.offset += d
	c.db.Exec(tb, "select setval('public.clock_offset', $1)", c.offset.Microseconds())
}

// IDs returns the ids of messages.
func IDs(messages []Message) []int64 {
	var ids []int64
	for _, m := range messages {
		ids = append(ids, m.ID)
	}
	return ids
}

// String shows a message in a failure.
func (m Message) String() string {
	return fmt.Sprintf("{%d claim %d attempt %d %s}", m.ID, m.ClaimID, m.Attempt, m.Payload)
}
