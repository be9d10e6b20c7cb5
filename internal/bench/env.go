package bench

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

// serverSettings are those of the server that the driver starts. Durability is as PostgreSQL ships it; the sizes keep
// checkpoints, which come at random, out of runs of some seconds. Autovacuum is at its defaults.
var serverSettings = map[string]string{
	"shared_buffers": "512MB", "max_wal_size": "8GB", "checkpoint_timeout": "30min", "max_connections": "50",
}

// reported are the settings that decide the figures, for the report of a server that somebody else started.
var reported = []string{
	"autovacuum", "autovacuum_naptime", "checkpoint_timeout", "commit_delay", "fsync", "full_page_writes", "jit",
	"max_wal_size", "shared_buffers", "synchronous_commit", "wal_buffers", "wal_compression", "wal_level",
	"wal_sync_method",
}

// env is the server that the runs share.
type env struct {
	server    *embedded.Server // nil when somebody else started it
	dir       string           // the server's data
	admin     *pgx.Conn
	config    *pgx.ConnConfig
	local     bool // the server's processes can be looked at
	scratches int  // numbers the databases
}

// openEnv starts a server, or connects to the one that the DSN names.
func openEnv(ctx context.Context, dsn string, log *slog.Logger) (_ *env, err error) {
	e := &env{}
	defer func() {
		if err != nil {
			err = errors.Join(err, e.close(context.WithoutCancel(ctx)))
		}
	}()
	if dsn == "" {
		dsn, err = e.start(ctx, log)
		if err != nil {
			return nil, err
		}
	}
	if e.config, err = pgx.ParseConfig(dsn); err != nil {
		return nil, optionf("cannot read the DSN: %v", err)
	}
	if e.admin, err = pgx.ConnectConfig(ctx, e.config); err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	e.local = runtime.GOOS == "linux" && e.sees(ctx)
	return e, nil
}

func (e *env) start(ctx context.Context, log *slog.Logger) (dsn string, err error) {
	bin, err := wheel.PostgresBin(ctx)
	if err != nil {
		return "", err
	}
	if e.dir, err = os.MkdirTemp("", "weir-bench-"); err != nil { // short enough for a socket's path
		return "", fmt.Errorf("make directory for benchmark: %w", err)
	}
	if err = os.Chmod(e.dir, 0o711); err != nil { // root runs the server as somebody else
		return "", fmt.Errorf("make directory for benchmark: %w", err)
	}
	e.server, err = embedded.Start(ctx, embedded.Options{
		DataDir: filepath.Join(e.dir, "data"), SocketDir: filepath.Join(e.dir, "s"), BinDir: bin,
		Settings: serverSettings, Logger: log,
	})
	if err != nil {
		return "", fmt.Errorf("start server to measure: %w", err)
	}
	return e.server.SocketDSN(embedded.Superuser, "postgres"), nil
}

// sees reports whether the server's processes are on this machine.
func (e *env) sees(ctx context.Context) bool {
	var pid int
	if err := e.admin.QueryRow(ctx, "select pg_backend_pid()").Scan(&pid); err != nil {
		return false
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return err == nil && strings.Contains(string(text), "postgres")
}

// close ends what openEnv began. The data are the driver's own and go with the directory.
func (e *env) close(ctx context.Context) error {
	var err error
	if e.admin != nil {
		err = e.admin.Close(ctx)
	}
	if e.server != nil {
		err = errors.Join(err, e.server.Stop(ctx))
	}
	if e.dir != "" {
		err = errors.Join(err, os.RemoveAll(e.dir))
	}
	return err
}

// databaseDSN is the connection string of a database.
func (e *env) databaseDSN(database string) string {
	if e.server != nil {
		return e.server.SocketDSN(embedded.Superuser, database)
	}
	u, err := url.Parse(e.config.ConnString())
	if err == nil && u.Scheme != "" {
		u.Path = "/" + database
		return u.String()
	}
	return e.config.ConnString() + " dbname=" + database // of two, libpq takes the last
}

// connect opens a connection to a database.
func (e *env) connect(ctx context.Context, database, app string) (*pgx.Conn, error) {
	config := e.config.Copy()
	config.Database = database
	config.RuntimeParams["application_name"] = app
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", database, err)
	}
	return conn, nil
}

// ServerInfo is what was measured on.
type ServerInfo struct {
	Version  string            `json:"version"`
	Build    string            `json:"build,omitempty"` // what the driver started; "" for --dsn
	Settings map[string]string `json:"settings"`
	CPUs     int               `json:"cpus"`
	Load     string            `json:"load_before"` // the machine's load averages when the first run began
}

func (e *env) info(ctx context.Context) (ServerInfo, error) {
	info := ServerInfo{Settings: map[string]string{}, CPUs: runtime.NumCPU()}
	if e.server != nil {
		info.Build = wheel.Postgres.Name + " " + wheel.Postgres.Version
	}
	if err := e.admin.QueryRow(ctx, "select version()").Scan(&info.Version); err != nil {
		return info, fmt.Errorf("read server's version: %w", err)
	}
	rows, err := e.admin.Query(ctx, "select name, current_setting(name) from pg_settings where name = any($1)", reported)
	if err != nil {
		return info, fmt.Errorf("read server's settings: %w", err)
	}
	var name, value string
	_, err = pgx.ForEachRow(rows, []any{&name, &value}, func() error { info.Settings[name] = value; return nil })
	if err != nil {
		return info, fmt.Errorf("read server's settings: %w", err)
	}
	if text, err := os.ReadFile("/proc/loadavg"); err == nil {
		averages := strings.Fields(string(text))
		info.Load = strings.Join(averages[:min(3, len(averages))], " ")
	}
	return info, nil
}
