// Package around_test holds that Weir goes on through what happens to a database as a whole (pg_upgrade, the failover
// to a standby), and that others can call it: pg_cron, and web servers like PostgREST.
package around_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/weirmq/weir/internal/embedded"
	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/internal/wheel"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

const debian15 = "/usr/lib/postgresql/15/bin"

// want15 fails unless the distribution's PostgreSQL 15 has a file: what is promised is tried.
func want15(t *testing.T, name string) {
	t.Helper()
	path := filepath.Join(debian15, name)
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("there is no %s on this machine; `make around` installs it when run as root on Debian, elsewhere install "+
			"the packages postgresql-15 and postgresql-15-cron first", path)
	}
}

// newest returns the directory of all the programs of a PostgreSQL 18.
func newest(t *testing.T) string {
	t.Helper()
	return get[string](t)(wheel.PostgresBin(t.Context()))
}

// start runs PostgreSQL on a data directory that was made by other means.
func start(t *testing.T, dataDir string, settings map[string]string) *embedded.Server {
	t.Helper()
	s := get[*embedded.Server](t)(embedded.Start(t.Context(), embedded.Options{
		DataDir: dataDir, SocketDir: filepath.Join(filepath.Dir(dataDir), "socket"), BinDir: newest(t), Settings: settings,
	}))
	t.Cleanup(s.Kill)
	return s
}

// shortDir makes a directory whose path is short enough for a socket in it.
func shortDir(t *testing.T) string {
	t.Helper()
	dir := get[string](t)(os.MkdirTemp("", "weir-around-")) //nolint:usetesting // its path is too long
	t.Cleanup(func() { os.RemoveAll(dir) })                 //nolint:errcheck // in the way of nobody
	return dir
}

func connect(t *testing.T, dsn string) *pgx.Conn {
	t.Helper()
	conn := get[*pgx.Conn](t)(pgx.Connect(t.Context(), dsn))
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	return conn
}

// ids runs a query for ids and returns them in order.
func ids(t *testing.T, conn *pgx.Conn, sql string) []int64 {
	t.Helper()
	rows := get[pgx.Rows](t)(conn.Query(t.Context(), sql))
	all := get[[]int64](t)(pgx.CollectRows(rows, pgx.RowTo[int64]))
	slices.Sort(all)
	return all
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// get is must for a call that also returns a value.
func get[T any](t *testing.T) func(T, error) T {
	t.Helper()
	return func(v T, err error) T {
		t.Helper()
		must(t, err)
		return v
	}
}
