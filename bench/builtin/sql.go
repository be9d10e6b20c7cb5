package builtin

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/weirmq/weir/bench/adapter"
	"github.com/weirmq/weir/internal/bench/httpload"
	"github.com/weirmq/weir/internal/engine"
	"github.com/weirmq/weir/internal/migrate"
	"github.com/weirmq/weir/internal/wheel"
)

const (
	pollEvery   = time.Millisecond // how long a consumer that found nothing waits
	upkeepEvery = time.Second
	redialEvery = 50 * time.Millisecond
	redialFor   = 2 * time.Minute
)

// SQL is a queue that is called by SQL.
type SQL struct {
	// Install puts the system into a database and returns its version.
	Install func(ctx context.Context, conn *pgx.Conn) (string, error)
}

// Systems are the adapters of this package by the name of their folder.
func Systems() map[string]adapter.System {
	return map[string]adapter.System{
		"weir": SQL{weir}, "pgmq": SQL{pgmq}, "table": SQL{table}, "weir-go": &SDK{},
		"weir-http": HTTP{}, "pgq": PgQ{}, "queen": Queen{}, "river": River{},
	}
}

func weir(ctx context.Context, conn *pgx.Conn) (string, error) {
	return migrate.Version(), migrate.Install(ctx, conn)
}

func table(context.Context, *pgx.Conn) (string, error) { return "-", nil }

// pgmqWheel is the Python package that carries PGMQ's SQL.
var pgmqWheel = wheel.Wheel{Name: "pgmq", Version: "1.1.4", SHA256: map[string]string{
	"": "4d9e7aa517295669d46a11d3d13106efbdc738d0e127d84c567b6d4c936e7d1d",
}}

func pgmq(ctx context.Context, conn *pgx.Conn) (string, error) {
	dir, err := pgmqWheel.Fetch(ctx)
	if err != nil {
		return "", fmt.Errorf("fetch PGMQ: %w", err)
	}
	script, err := os.ReadFile(filepath.Join(dir, "pgmq", "sql", "pgmq.sql"))
	if err != nil {
		return "", fmt.Errorf("read PGMQ's SQL: %w", err)
	}
	version, err := os.ReadFile(filepath.Join(dir, "pgmq", "sql", "VERSION"))
	if err != nil {
		return "", fmt.Errorf("read PGMQ's version: %w", err)
	}
	_, err = conn.PgConn().Exec(ctx, string(script)).ReadAll()
	return strings.TrimSpace(string(version)), err
}

// text reads a statement of the system: that of the setting, or else the one for all settings.
func text(c *adapter.Command, name string) (string, error) {
	for _, dir := range []string{filepath.Join(c.Dir, c.Setting), c.Dir} {
		data, err := os.ReadFile(filepath.Join(dir, name+".sql"))
		if err == nil {
			return string(data), nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("read statement: %w", err)
		}
	}
	return "", fmt.Errorf("%w: no %s.sql", adapter.ErrCannot, name)
}

// Setup implements adapter.System.
func (s SQL) Setup(ctx context.Context, c *adapter.Command) (string, error) {
	conn, err := pgx.Connect(ctx, c.DSN)
	if err != nil {
		return "", fmt.Errorf("connect: %w", err)
	}
	defer conn.Close(ctx) //nolint:errcheck // nothing is left to say
	version, err := s.Install(ctx, conn)
	if err != nil {
		return "", fmt.Errorf("install: %w", err)
	}
	setup, err := text(c, "setup")
	if err != nil {
		return "", err
	}
	if _, err := conn.PgConn().Exec(ctx, setup).ReadAll(); err != nil {
		return "", fmt.Errorf("make queue: %w", err)
	}
	if c.Ordered {
		ordered, err := text(c, "setup_ordered")
		if err != nil {
			return "", err
		}
		if _, err := conn.PgConn().Exec(ctx, ordered).ReadAll(); err != nil {
			return "", fmt.Errorf("make ready for keys: %w", err)
		}
	}
	for i := range c.Groups {
		group, err := text(c, "group")
		if err != nil {
			return "", err
		}
		if _, err := conn.Exec(ctx, group, adapter.GroupName(i), c.Ordered); err != nil {
			return "", fmt.Errorf("make group: %w", err)
		}
	}
	return version, nil
}

// Serve implements adapter.System: it calls the system's upkeep, as a server would.
func (s SQL) Serve(ctx context.Context, c *adapter.Command, ready func(string)) error {
	upkeep, err := text(c, "upkeep")
	if err != nil {
		return err
	}
	k := &link{dsn: c.DSN}
	defer k.close()
	ready("")
	ticker := time.NewTicker(upkeepEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		for steps := 1; steps > 0 && ctx.Err() == nil; {
			err := k.do(ctx, func(conn *pgx.Conn) error { return conn.QueryRow(ctx, upkeep).Scan(&steps) })
			if err != nil && ctx.Err() == nil {
				return fmt.Errorf("call upkeep: %w", err)
			}
		}
	}
}

// Producer implements adapter.System.
func (s SQL) Producer(ctx context.Context, c *adapter.Command) (
	func(ctx context.Context, batch []adapter.Message) error, error,
) {
	name := "send_many"
	switch {
	case c.Keys > 0:
		name = "send_keyed"
	case c.Batch == 1:
		name = "send"
	}
	send, err := text(c, name)
	if err != nil {
		return nil, err
	}
	k := &link{dsn: c.DSN}
	if err := k.do(ctx, func(*pgx.Conn) error { return nil }); err != nil {
		return nil, err
	}
	return func(ctx context.Context, batch []adapter.Message) error {
		return k.do(ctx, func(conn *pgx.Conn) error {
			if name == "send" {
				_, err := conn.Exec(ctx, send, string(batch[0].Payload))
				return err
			}
			payloads, keys := make([]string, len(batch)), make([]string, len(batch))
			for i, m := range batch {
				payloads[i], keys[i] = string(m.Payload), m.Key
			}
			if name == "send_many" {
				_, err := conn.Exec(ctx, send, payloads)
				return err
			}
			_, err := conn.Exec(ctx, send, payloads, keys)
			return err
		})
	}, nil
}

// statements are what a worker executes. An empty one is not needed.
type statements struct {
	receive, ack, send string
	arguments          []any
}

func workStatements(c *adapter.Command) (w statements, err error) {
	name := "receive"
	w.arguments = []any{c.Batch}
	switch {
	case c.Ordered:
		name = "receive_ordered"
	case c.Group != "":
		name = "receive_of"
	}
	if c.Group != "" {
		w.arguments = append(w.arguments, c.Group)
	}
	if c.LeaseS > 0 {
		name += "_lease"
		w.arguments = append(w.arguments, c.LeaseS)
	}
	if w.receive, err = text(c, name); err != nil {
		return w, err
	}
	if c.Perpetual {
		if w.send, err = text(c, "send"); err != nil {
			return w, err
		}
	}
	w.ack, err = text(c, "finish")
	if errors.Is(err, adapter.ErrCannot) { // receive has finished them
		err = nil
	}
	return w, err
}

// Work implements adapter.System.
func (s SQL) Work(ctx context.Context, c *adapter.Command, l *adapter.Ledger, ready func()) error {
	w, err := workStatements(c)
	if err != nil {
		return err
	}
	links := make([]*link, c.Clients) // the end of the process closes them
	for i := range links {
		links[i] = &link{dsn: c.DSN}
		if err := links[i].do(ctx, func(*pgx.Conn) error { return nil }); err != nil {
			return err
		}
	}
	ready()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	failures := make([]error, c.Clients)
	var workers sync.WaitGroup
	for i, k := range links {
		workers.Go(func() {
			if failures[i] = k.work(ctx, w, c, l); failures[i] != nil {
				cancel()
			}
		})
	}
	workers.Wait()
	return errors.Join(failures...)
}

// work is one worker. What it has received when ctx ends it finishes.
func (k *link) work(ctx context.Context, w statements, c *adapter.Command, l *adapter.Ledger) error {
	whole := context.WithoutCancel(ctx)
	payload := string(adapter.NewMessages(c).Make(0).Payload)
	var receipts, numbers []int64
	for ctx.Err() == nil {
		err := k.do(whole, func(conn *pgx.Conn) (err error) {
			receipts, numbers, err = receive(whole, conn, w, receipts[:0], numbers[:0])
			return err
		})
		if err != nil {
			return fmt.Errorf("receive: %w", err)
		}
		if len(numbers) == 0 {
			select {
			case <-ctx.Done():
			case <-time.After(pollEvery):
			}
			continue
		}
		l.Add(numbers...)
		err = k.do(whole, func(conn *pgx.Conn) error {
			for range numbers {
				if w.send == "" {
					break
				}
				if _, err := conn.Exec(whole, w.send, payload); err != nil {
					return err
				}
			}
			if w.ack == "" {
				return nil
			}
			_, err := conn.Exec(whole, w.ack, receipts)
			return err
		})
		if err != nil && !givenAway(err) {
			return fmt.Errorf("finish: %w", err)
		}
	}
	return nil
}

// givenAway reports whether an ack came after its lease had ended: another worker has the messages.
func givenAway(err error) bool {
	var refusal *pgconn.PgError
	return errors.As(err, &refusal) && refusal.Code == engine.CodeClaimExpired
}

// receive executes a statement whose first column is a receipt; in the others are payloads.
func receive(ctx context.Context, conn *pgx.Conn, w statements, receipts, numbers []int64) ([]int64, []int64, error) {
	rows, err := conn.Query(ctx, w.receive, w.arguments...)
	if err != nil {
		return receipts, numbers, err
	}
	defer rows.Close()
	for rows.Next() {
		var receipt int64
		values := rows.RawValues()
		targets := make([]any, len(values)) // nil: not decoded, only looked through
		targets[0] = &receipt
		if err := rows.Scan(targets...); err != nil {
			return receipts, numbers, fmt.Errorf("read receipt: %w", err)
		}
		if len(receipts) == 0 || receipts[len(receipts)-1] != receipt {
			receipts = append(receipts, receipt)
		}
		for _, value := range values[1:] {
			numbers = httpload.Numbers(numbers, value, []byte(`"n"`))
		}
	}
	return receipts, numbers, rows.Err()
}

// link is a connection that is made anew when the server has ended it.
type link struct {
	dsn  string
	conn *pgx.Conn
}

// do runs something and, when the connection broke under it, runs it again on a new one: at least once.
func (k *link) do(ctx context.Context, what func(*pgx.Conn) error) error {
	for began := time.Now(); ; {
		err := k.open(ctx)
		if err == nil {
			if err = what(k.conn); err == nil || !k.conn.IsClosed() {
				return err
			}
		}
		if ctx.Err() != nil || time.Since(began) > redialFor {
			return err
		}
		time.Sleep(redialEvery)
	}
}

func (k *link) open(ctx context.Context) error {
	if k.conn != nil && !k.conn.IsClosed() {
		return nil
	}
	conn, err := pgx.Connect(ctx, k.dsn)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	k.conn = conn
	return nil
}

func (k *link) close() {
	if k.conn != nil {
		_ = k.conn.Close(context.Background()) // nothing is left to say
	}
}
