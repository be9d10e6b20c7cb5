package pooler_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/weirmq/weir/internal/engine"
	"github.com/weirmq/weir/internal/pgtest"
)

// settings leave everything else as PgBouncer has it, server_reset_query too, which it does not run between
// transactions: what a client leaves in a session stays there for the next one.
const settings = `[databases]
%s = host=%s port=%s
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %s
unix_socket_dir =
auth_type = trust
auth_file = %s
pool_mode = %s
default_pool_size = %d
max_client_conn = 100
`

// bouncer is a PgBouncer in front of a database of its own.
type bouncer struct {
	*testing.T
	db      *pgtest.DB
	dsn     string
	servers int // server connections that it may open
}

// program returns the path of PgBouncer. Without it the test fails: that Weir works behind a pooler is a promise.
func program(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"pgbouncer", "/usr/sbin/pgbouncer"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Fatal("there is no pgbouncer on this machine; `make pooler` installs it when run as root on Debian or Ubuntu, " +
		"elsewhere install the package pgbouncer first")
	return ""
}

// pool makes a database and starts PgBouncer in front of it.
func pool(t *testing.T, mode string, servers int) *bouncer {
	t.Helper()
	path := program(t)
	db := pgtest.New(t, pgtest.Options{})
	to := get[*url.URL](t)(url.Parse(db.TCP()))
	at := *to
	at.Host = net.JoinHostPort("127.0.0.1", freePort(t))
	dir := t.TempDir()
	config, users := filepath.Join(dir, "pgbouncer.ini"), filepath.Join(dir, "users.txt")
	write(t, config, fmt.Sprintf(settings, db.Name, to.Hostname(), to.Port(), at.Port(), users, mode, servers))
	write(t, users, fmt.Sprintf("%q %q\n", pgtest.Owner, pgtest.Owner))
	args := []string{config}
	if os.Geteuid() == 0 { // which PgBouncer refuses to run as
		must(t, os.Chmod(filepath.Dir(dir), 0o755)) //nolint:gosec // there are no secrets in it
		args = []string{"-u", "nobody", config}
	}
	start(t, exec.CommandContext(context.WithoutCancel(t.Context()), path, args...))
	b := &bouncer{T: t, db: db, dsn: at.String(), servers: servers}
	pgtest.WaitFor(t, "PgBouncer", func() bool {
		conn, err := pgx.Connect(t.Context(), b.dsn)
		if err == nil {
			err = conn.Close(t.Context())
		}
		return err == nil
	})
	return b
}

// start runs PgBouncer until the test ends, and shows what it said when the test failed.
func start(t *testing.T, command *exec.Cmd) {
	t.Helper()
	var log bytes.Buffer
	command.Stdout, command.Stderr = &log, &log
	must(t, command.Start())
	var ended sync.WaitGroup
	ended.Go(func() { _ = command.Wait() })
	t.Cleanup(func() {
		_ = command.Process.Kill()
		ended.Wait()
		if t.Failed() {
			t.Logf("PgBouncer:\n%s", log.String())
		}
	})
}

// freePort returns a port that nobody listens on.
func freePort(t *testing.T) string {
	t.Helper()
	listener := get[net.Listener](t)(net.Listen("tcp", "127.0.0.1:0"))
	_, port, err := net.SplitHostPort(listener.Addr().String())
	must(t, err)
	must(t, listener.Close())
	return port
}

func write(t *testing.T, path, text string) {
	t.Helper()
	must(t, os.WriteFile(path, []byte(text), 0o644)) //nolint:gosec // PgBouncer reads it as another user
}

// client returns a client as a program gets it.
func (b *bouncer) client() *engine.Client {
	b.Helper()
	c := get[*engine.Client](b.T)(engine.Open(b.Context(), b.dsn, engine.Options{MaxConns: 2}))
	b.Cleanup(c.Close)
	return c
}

// conn returns a connection through PgBouncer.
func (b *bouncer) conn() *pgx.Conn {
	b.Helper()
	config := get[*pgx.ConnConfig](b.T)(engine.ConnConfig(b.dsn))
	c := get[*pgx.Conn](b.T)(pgx.ConnectConfig(b.Context(), config))
	b.Cleanup(func() { _ = c.Close(context.WithoutCancel(b.Context())) })
	return c
}

// wantClean looks into every session behind PgBouncer for what a client may have left.
func (b *bouncer) wantClean() {
	b.Helper()
	var open []pgx.Tx
	for range b.servers { // each transaction stays open, so that the next gets another session
		tx := get[pgx.Tx](b.T)(b.conn().Begin(b.Context()))
		open = append(open, tx)
		var left []string
		must(b.T, tx.QueryRow(b.Context(), `select array(
			select 'listens on ' || c from pg_listening_channels() c
			union all select 'has prepared ' || statement from pg_prepared_statements
			union all select 'has open ' || name from pg_cursors where is_holdable
			union all select 'has locked ' || objid from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()
			union all select 'has set ' || name from pg_settings where source = 'session' and name not in
				('application_name', 'client_encoding', 'DateStyle', 'TimeZone', 'standard_conforming_strings'))`).Scan(&left))
		if len(left) > 0 {
			b.Errorf("a session %s", strings.Join(left, ", "))
		}
	}
	for _, tx := range open {
		must(b.T, tx.Rollback(b.Context()))
	}
	pgtest.WaitForRow(b, b.db, `select not exists (select from pg_locks join pg_database d on d.oid = database
		where locktype = 'advisory' and datname = current_database())`)
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
