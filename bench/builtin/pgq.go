package builtin

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirmq/weir/bench/adapter"
	"github.com/weirmq/weir/internal/bench/httpload"
)

// PgQ is the queue of Skytools, from Debian's packages postgresql-15-pgq3 and pgqd, as its reference says
// (https://pgq.github.io/extension/pgq/files/external-sql.html). On PostgreSQL 15 it is the extension with its functions
// in C, on any other its own edition in PL/pgSQL, which comes in the same package.
type PgQ struct{}

const (
	pgqFiles   = "usr/share/postgresql/15/contrib"
	pgqLibrary = "usr/lib/postgresql/15/lib"
	pgqMajor   = 15
	pgqLook    = time.Second // Skytools' consumers look so often: loop_delay
	pgqTick    = 10          // milliseconds between ticks at its best
)

// Setup implements adapter.System.
func (PgQ) Setup(ctx context.Context, c *adapter.Command) (string, error) {
	conn, err := pgx.Connect(ctx, c.DSN)
	if err != nil {
		return "", fmt.Errorf("connect: %w", err)
	}
	defer conn.Close(ctx) //nolint:errcheck // nothing is left to say
	var major int
	if err := conn.QueryRow(ctx, "select current_setting('server_version_num')::int / 10000").Scan(&major); err != nil {
		return "", fmt.Errorf("read server's version: %w", err)
	}
	file := "pgq_pl_only.sql"
	if major == pgqMajor {
		file = "pgq.sql"
	}
	script, err := os.ReadFile(filepath.Join(c.Build, pgqFiles, file))
	if err != nil {
		return "", fmt.Errorf("read PgQ's SQL: %w", err)
	}
	// The package was only unpacked, so that its library is not where PostgreSQL looks.
	text := strings.ReplaceAll(string(script), "$libdir", filepath.Join(c.Build, pgqLibrary))
	if _, err := conn.PgConn().Exec(ctx, text).ReadAll(); err != nil {
		return "", fmt.Errorf("install PgQ: %w", err)
	}
	number, err := os.ReadFile(filepath.Join(c.Build, "version"))
	if err != nil {
		return "", fmt.Errorf("read PgQ's version: %w", err)
	}
	version := strings.TrimSpace(string(number))
	statements := []string{
		// It looks for an extension's version, pgqd asks it for that, and a script is no extension.
		"create or replace function pgq.version() returns text language sql as $$ select '" + version + "' $$",
		"select pgq.create_queue('bench')",
	}
	for i := range c.Groups {
		statements = append(statements, "select pgq.register_consumer('bench', '"+adapter.GroupName(i)+"')")
	}
	if c.Groups == 0 {
		statements = append(statements, "select pgq.register_consumer('bench', 'bench')")
	}
	if c.Setting == "best" {
		// https://pgq.github.io/extension/pgq/files/external-sql.html#pgq.set_queue_config
		for _, name := range []string{"ticker_max_lag", "ticker_idle_period"} {
			statements = append(statements, fmt.Sprintf("select pgq.set_queue_config('bench', '%s', '%d ms')", name, pgqTick))
		}
	}
	if _, err := conn.PgConn().Exec(ctx, strings.Join(statements, ";")).ReadAll(); err != nil {
		return "", fmt.Errorf("make queue: %w", err)
	}
	if major != pgqMajor {
		version += ", PL/pgSQL"
	}
	return version, nil
}

// Serve implements adapter.System: it runs pgqd, whose sample configuration ticks once a second.
func (PgQ) Serve(ctx context.Context, c *adapter.Command, ready func(string)) error {
	config, err := pgx.ParseConfig(c.DSN)
	if err != nil {
		return fmt.Errorf("read DSN: %w", err)
	}
	dir, err := os.MkdirTemp("", "weir-pgqd-")
	if err != nil {
		return fmt.Errorf("make directory: %w", err)
	}
	defer os.RemoveAll(dir) //nolint:errcheck // our own, and of no harm
	text := fmt.Sprintf("[pgqd]\nsyslog = 0\nbase_connstr = host=%s port=%d user=%s password=%s\n"+
		"initial_database = %s\ndatabase_list = %s\n", config.Host, config.Port, config.User, config.Password,
		config.Database, config.Database)
	if c.Setting == "best" {
		text += fmt.Sprintf("ticker_period = %.2f\n", float64(pgqTick)/1000)
	}
	file := filepath.Join(dir, "pgqd.ini")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return fmt.Errorf("write pgqd's configuration: %w", err)
	}
	return runBeside(ctx, nil, func() error { ready(""); return nil }, filepath.Join(c.Build, "usr", "bin", "pgqd"), "-q",
		file)
}

// Producer implements adapter.System.
func (PgQ) Producer(ctx context.Context, c *adapter.Command) (
	func(ctx context.Context, batch []adapter.Message) error, error,
) {
	k := &link{dsn: c.DSN}
	if err := k.do(ctx, func(*pgx.Conn) error { return nil }); err != nil {
		return nil, err
	}
	return func(ctx context.Context, batch []adapter.Message) error {
		return k.do(ctx, func(conn *pgx.Conn) error {
			switch {
			case len(batch) == 1:
				return insertEvent(ctx, conn, string(batch[0].Payload))
			case c.Setting == "best":
				return copyEvents(ctx, conn, batch)
			}
			texts := make([]string, len(batch))
			for i, m := range batch {
				texts[i] = string(m.Payload)
			}
			_, err := conn.Exec(ctx, "select pgq.insert_event('bench', 'message', t) from unnest($1::text[]) t", texts)
			return err
		})
	}, nil
}

func insertEvent(ctx context.Context, conn *pgx.Conn, payload string) error {
	_, err := conn.Exec(ctx, "select pgq.insert_event('bench', 'message', $1)", payload)
	return err
}

// copyEvents is the way past the functions that the reference names, under pgq.current_event_table.
func copyEvents(ctx context.Context, conn *pgx.Conn, batch []adapter.Message) error {
	tx, err := conn.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback(ctx) //nolint:errcheck // does nothing after the commit
	var table string
	if err := tx.QueryRow(ctx, "select pgq.current_event_table('bench')").Scan(&table); err != nil {
		return fmt.Errorf("find current table: %w", err)
	}
	now := time.Now()
	source := pgx.CopyFromSlice(len(batch), func(i int) ([]any, error) {
		return []any{now, "message", string(batch[i].Payload)}, nil
	})
	columns := []string{"ev_time", "ev_type", "ev_data"}
	if _, err := tx.CopyFrom(ctx, strings.Split(table, "."), columns, source); err != nil {
		return err
	}
	return tx.Commit(ctx)
}

// Work implements adapter.System. A consumer of PgQ is one reader, which gets all events since the last tick at once
// and finishes them together; how many workers are asked for changes nothing.
func (PgQ) Work(ctx context.Context, c *adapter.Command, l *adapter.Ledger, ready func()) error {
	k := &link{dsn: c.DSN}
	if err := k.do(ctx, func(*pgx.Conn) error { return nil }); err != nil {
		return err
	}
	consumer, look := c.Group, pgqLook
	if consumer == "" {
		consumer = "bench"
	}
	if c.Setting == "best" {
		look = pollEvery
	}
	ready()
	payload := string(adapter.NewMessages(c).Make(0).Payload)
	whole := context.WithoutCancel(ctx)
	for ctx.Err() == nil {
		found := false
		err := k.do(whole, func(conn *pgx.Conn) (err error) {
			found, err = workBatch(whole, conn, consumer, l, c.Perpetual, payload)
			return err
		})
		if err != nil {
			return fmt.Errorf("work on batch: %w", err)
		}
		if found {
			continue
		}
		select {
		case <-ctx.Done():
		case <-time.After(look):
		}
	}
	return nil
}

// workBatch takes the next batch, if there is one, and finishes it in the transaction of what its handler writes.
func workBatch(ctx context.Context, conn *pgx.Conn, consumer string, l *adapter.Ledger, again bool, payload string) (
	found bool, err error,
) {
	var batch *int64
	if err := conn.QueryRow(ctx, "select pgq.next_batch('bench', $1)", consumer).Scan(&batch); err != nil {
		return false, fmt.Errorf("take batch: %w", err)
	}
	if batch == nil {
		return false, nil
	}
	rows, err := conn.Query(ctx, "select ev_data from pgq.get_batch_events($1)", *batch)
	if err != nil {
		return false, fmt.Errorf("get events: %w", err)
	}
	var numbers []int64
	for rows.Next() {
		numbers = httpload.Numbers(numbers, rows.RawValues()[0], []byte(`"n"`))
	}
	if err := rows.Err(); err != nil {
		return false, fmt.Errorf("get events: %w", err)
	}
	l.Add(numbers...)
	tx, err := conn.Begin(ctx)
	if err != nil {
		return false, err
	}
	defer tx.Rollback(ctx) //nolint:errcheck // does nothing after the commit
	if again {
		for range numbers {
			if err := insertEvent(ctx, conn, payload); err != nil {
				return false, err
			}
		}
	}
	if _, err := tx.Exec(ctx, "select pgq.finish_batch($1)", *batch); err != nil {
		return false, fmt.Errorf("finish batch: %w", err)
	}
	return true, tx.Commit(ctx)
}
