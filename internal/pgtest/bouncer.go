package pgtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// bouncerSettings leave everything else as PgBouncer has it, server_reset_query too, which it does not run between
// transactions: what a client leaves in a session stays there for the next one.
const bouncerSettings = `[databases]
* = host=%s port=%s
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %s
unix_socket_dir =
auth_type = trust
auth_file = %s
pool_mode = %s
default_pool_size = %d
max_client_conn = 2000
`

// Bouncer is a PgBouncer in front of the databases of a server.
type Bouncer struct {
	host    string // and port
	command *exec.Cmd
	log     bytes.Buffer
	ended   chan struct{}
}

// StartBouncer starts PgBouncer in front of a server, with so many sessions a database, and ends it with the test.
// Without the program the test fails: that Weir works behind a pooler is a promise.
func StartBouncer(tb testing.TB, s *Server, mode string, sessions int) *Bouncer {
	tb.Helper()
	dir, err := makeDir(true)
	if err != nil {
		tb.Fatalf("make directory for PgBouncer: %v", err)
	}
	tb.Cleanup(dir.remove)
	b, err := startBouncer(dir.path, s, mode, sessions)
	if err != nil {
		tb.Fatalf("start PgBouncer: %v", err)
	}
	tb.Cleanup(func() {
		b.stop()
		if tb.Failed() {
			tb.Logf("PgBouncer:\n%s", b.log.String())
		}
	})
	return b
}

// DSN returns the connection string of Owner for a database, through PgBouncer.
func (b *Bouncer) DSN(db *DB) string {
	u, err := url.Parse(db.TCP())
	if err != nil {
		panic(err) // our own make
	}
	u.Host = b.host
	return u.String()
}

func startBouncer(dir string, s *Server, mode string, sessions int) (*Bouncer, error) {
	for attempt := 1; ; attempt++ {
		b, err := tryBouncer(dir, s, mode, sessions)
		if !errors.Is(err, errEnded) || attempt == 5 {
			return b, err
		}
	}
}

func tryBouncer(dir string, s *Server, mode string, sessions int) (*Bouncer, error) {
	path, err := bouncerProgram()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), stopTime)
	defer cancel()
	to, err := url.Parse(s.DSN("postgres"))
	if err != nil {
		return nil, err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	b := &Bouncer{host: listener.Addr().String(), ended: make(chan struct{})}
	_, port, err := net.SplitHostPort(b.host)
	config, users := filepath.Join(dir, "pgbouncer.ini"), filepath.Join(dir, "users.txt")
	text := fmt.Sprintf(bouncerSettings, to.Hostname(), to.Port(), port, users, mode, sessions)
	err = errors.Join(err, listener.Close(),
		os.WriteFile(config, []byte(text), 0o644),                                //nolint:gosec // read by another user
		os.WriteFile(users, []byte(fmt.Sprintf("%q %q\n", Owner, Owner)), 0o644), //nolint:gosec // likewise
		os.Chmod(dir, 0o755)) //nolint:gosec // likewise
	if err != nil {
		return nil, err
	}
	args := []string{config}
	if os.Geteuid() == 0 { // which PgBouncer refuses to run as
		args = []string{"-u", "nobody", config}
	}
	b.command = exec.CommandContext(context.WithoutCancel(ctx), path, args...)
	b.command.Stdout, b.command.Stderr = &b.log, &b.log
	if err := b.command.Start(); err != nil {
		return nil, err
	}
	go func() {
		b.command.Wait() //nolint:errcheck // it is killed
		close(b.ended)
	}()
	if err := b.ready(ctx); err != nil {
		b.stop()
		return nil, err
	}
	return b, nil
}

// ready returns when PgBouncer answers.
func (b *Bouncer) ready(ctx context.Context) error {
	for {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", b.host)
		if err == nil {
			return conn.Close()
		}
		select {
		case <-b.ended:
			return fmt.Errorf("%w: %s", errEnded, b.log.String())
		case <-ctx.Done():
			return err
		case <-time.After(pollTime):
		}
	}
}

// bounce puts PgBouncer in transaction mode in front of a server that tests share.
func bounce(s *Server) (*Bouncer, error) {
	dir, err := makeDir(true) // not in the server's: PgBouncer runs as another user
	if err != nil {
		return nil, err
	}
	defer dir.remove() // it was read at the start
	return startBouncer(dir.path, s, "transaction", 20)
}

func (b *Bouncer) stop() {
	b.command.Process.Kill() //nolint:errcheck // fails only when it has ended
	<-b.ended
}

// bouncerProgram returns the path of PgBouncer.
func bouncerProgram() (string, error) {
	for _, name := range []string{"pgbouncer", "/usr/sbin/pgbouncer"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("there is no pgbouncer on this machine; `make pooler` installs it when run as root on Debian " +
		"or Ubuntu, elsewhere install the package pgbouncer first")
}

// Pooled says whether the connections of tests go through PgBouncer in transaction mode, where a setting that a test
// makes for its session is made for others too.
func Pooled() bool { return os.Getenv("WEIR_TEST_POOLER") != "" }
