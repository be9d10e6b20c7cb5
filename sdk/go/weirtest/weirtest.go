// Package weirtest helps to test programs that use Weir, on a real PostgreSQL and without waiting for a worker.
//
//	func TestSignUpSendsAWelcome(t *testing.T) {
//		pool := weirtest.Database(t, os.Getenv("TEST_DATABASE_URL"))
//		client := weir.New(pool)
//		signUp(t.Context(), pool, client, "ann@example.org")
//		weirtest.RequireSent(t, client, "emails", Email{To: "ann@example.org"})
//		weirtest.Advance(t, pool, time.Hour) // for delays, leases, schedules and retries
//		weirtest.Work(t, client, "emails", deliver)
//	}
package weirtest

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	weir "github.com/weirmq/weir/sdk/go"
)

// DDL takes no parameters, so the server writes the statement with its names and values quoted, and it is run then.
const (
	sqlCreate = `select format('create database %I template %I', $1::text, $2::text)`
	sqlDrop   = `select format('drop database if exists %I with (force)', $1::text)`
	sqlClock  = `select format('create or replace function weir_internal.clock() returns timestamptz language sql volatile
			as $f$select clock_timestamp() + %L::interval$f$',
			weir_internal.clock() - clock_timestamp() + $1::text::interval)
		where starts_with(current_database(), $2::text)`
)

// prefix begins the names of the databases that Database makes.
const prefix = "weirtest_"

// Database copies the database of a DSN, which has the engine (`weir install`) and your own tables, and returns a pool
// of the copy, which is dropped at the end of the test. Nobody may be connected to the original meanwhile, and the role
// must be allowed to create databases.
func Database(tb testing.TB, dsn string) *pgxpool.Pool {
	tb.Helper()
	cfg, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		tb.Fatalf("weirtest: read DSN: %v", err)
	}
	name := prefix + strings.ToLower(rand.Text()[:12])
	admin := cfg.ConnConfig.Copy()
	admin.Database = "postgres"
	if err := administer(tb.Context(), admin, sqlCreate, name, cfg.ConnConfig.Database); err != nil {
		tb.Fatalf("weirtest: copy database %s: %v", cfg.ConnConfig.Database, err)
	}
	tb.Cleanup(func() {
		if err := administer(context.Background(), admin, sqlDrop, name); err != nil {
			tb.Errorf("weirtest: drop database %s: %v", name, err)
		}
	})
	cfg.ConnConfig.Database = name
	pool, err := pgxpool.NewWithConfig(context.Background(), cfg)
	if err != nil {
		tb.Fatalf("weirtest: open database %s: %v", name, err)
	}
	tb.Cleanup(pool.Close)
	return pool
}

// administer has the server write a statement with quoted names, and runs it.
func administer(ctx context.Context, cfg *pgx.ConnConfig, write string, names ...any) error {
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // nothing is left to say
	return define(ctx, conn, write, names...)
}

// definer is what a connection and a pool have in common.
type definer interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
}

// define has the server write a statement, and runs it.
func define(ctx context.Context, on definer, write string, args ...any) error {
	var statement string
	if err := on.QueryRow(ctx, write, args...).Scan(&statement); err != nil {
		return fmt.Errorf("write statement: %w", err)
	}
	if _, err := on.Exec(ctx, statement); err != nil {
		return fmt.Errorf("run statement: %w", err)
	}
	return nil
}

// Advance lets time pass for the engine in a database that Database made: what is delayed, leased, scheduled or to be
// tried again by then is due. The role of the pool must be the one that installed the engine.
func Advance(tb testing.TB, pool *pgxpool.Pool, d time.Duration) {
	tb.Helper()
	by := fmt.Sprintf("%d minutes %d microseconds", d/time.Minute, (d % time.Minute).Microseconds())
	err := define(tb.Context(), pool, sqlClock, by, prefix)
	if errors.Is(err, pgx.ErrNoRows) {
		tb.Fatalf("weirtest: %s is no database that weirtest.Database made: its time goes on by itself",
			pool.Config().ConnConfig.Database)
	}
	if err != nil {
		tb.Fatalf("weirtest: let %s pass: %v", d, err)
	}
}

// sentMax is how many messages a helper looks at.
const sentMax = 10_000

// Sent returns the payloads of the messages that wait in a queue, in the order of their ids. Delayed ones are not among
// them.
func Sent[T any](tb testing.TB, c *weir.Client, queue string, opts ...weir.ReceiveOption) []T {
	tb.Helper()
	messages, err := c.Peek(tb.Context(), queue, append([]weir.ReceiveOption{weir.Max(sentMax)}, opts...)...)
	if err != nil {
		tb.Fatalf("weirtest: peek at %s: %v", queue, err)
	}
	payloads := make([]T, len(messages))
	for i, m := range messages {
		if err := json.Unmarshal(m.Payload, &payloads[i]); err != nil {
			tb.Fatalf("weirtest: message %d of %s: %v", m.ID, queue, err)
		}
	}
	return payloads
}

// RequireSent fails the test unless a message with this payload waits in a queue.
func RequireSent[T any](tb testing.TB, c *weir.Client, queue string, want T, opts ...weir.ReceiveOption) {
	tb.Helper()
	sent := Sent[T](tb, c, queue, opts...)
	for _, got := range sent {
		if reflect.DeepEqual(got, want) {
			return
		}
	}
	tb.Fatalf("weirtest: no message %+v was sent to %s; it has %+v", want, queue, sent)
}

// Work runs a handler for what waits in a queue, one message after the other and what the handler sends to it included,
// until the queue has none that is due, and returns how many it handled. A handler that fails fails the test.
func Work[T any](
	tb testing.TB, c *weir.Client, queue string, handle weir.Handler[T], opts ...weir.ReceiveOption,
) int {
	tb.Helper()
	consumer := weir.NewConsumer[T](c, queue, opts...)
	for n := 0; ; {
		messages, err := consumer.Receive(tb.Context())
		if err != nil {
			tb.Fatalf("weirtest: receive from %s: %v", queue, err)
		}
		if len(messages) == 0 {
			return n
		}
		for _, m := range messages {
			if err := handle(tb.Context(), m); err != nil {
				tb.Fatalf("weirtest: message %d of %s: %v", m.ID, queue, err)
			}
			if err := m.Ack(tb.Context()); err != nil {
				tb.Fatalf("weirtest: ack message %d of %s: %v", m.ID, queue, err)
			}
			n++
		}
	}
}
