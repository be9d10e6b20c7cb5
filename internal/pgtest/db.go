package pgtest

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirmq/weir/internal/embedded"
	"github.com/weirmq/weir/internal/migrate"
)

// installer puts the engine into a database.
var installer = migrate.Install

// SetInstaller replaces what puts the engine into the template database. Call it before the first New.
func SetInstaller(install func(ctx context.Context, conn *pgx.Conn) error) { installer = install }

// Options say what database New makes.
type Options struct {
	Major int  // 0: the newest that is tested
	Bare  bool // without the engine
}

// DB is a database for one test.
type DB struct {
	Server *Server
	Name   string
	Major  int
	DSN    string // as Owner, through the Unix socket, or through PgBouncer when WEIR_TEST_POOLER is set

	pool func() (*pgxpool.Pool, error)
}

var databases atomic.Int64 // numbers them

// New makes a database with the engine on this test binary's server and drops it at the end of the test.
func New(tb testing.TB, opts Options) *DB {
	tb.Helper()
	if opts.Major == 0 {
		opts.Major = newestMajor()
	}
	return sharedServer(tb, opts.Major).NewDB(tb, opts.Bare)
}

// NewDB makes a database on the server, with the engine unless it shall be bare, and drops it at the end of the test.
func (s *Server) NewDB(tb testing.TB, bare bool) *DB {
	tb.Helper()
	ctx := tb.Context()
	s.install.Do(func() { s.failed = s.makeTemplate(ctx) })
	if s.failed != nil {
		tb.Fatalf("install engine: %v", s.failed)
	}
	template := templateDatabase
	if bare {
		template = "template0"
	}
	name := fmt.Sprintf("test_%d", databases.Add(1))
	create := fmt.Sprintf("create database %s template %s owner %s", name, template, Owner)
	if s.Major() >= 15 { // 14 knows no other way than this, which takes half of the time
		create += " strategy file_copy"
	}
	s.admin.Lock()
	err := s.asSuperuser(ctx, "postgres", create)
	s.admin.Unlock()
	if err != nil {
		tb.Fatalf("make database: %v", err)
	}
	db := &DB{Server: s, Name: name, Major: s.Major(), DSN: s.SocketDSN(Owner, name)}
	if s.bouncer != nil {
		db.DSN = s.bouncer.DSN(db) + "&default_query_exec_mode=cache_describe" // no named prepared statements
	}
	db.pool = sync.OnceValues(func() (*pgxpool.Pool, error) { return pgxpool.New(context.Background(), db.DSN) })
	tb.Cleanup(func() { db.drop() })
	return db
}

// makeTemplate makes the role and the template database, and installs the engine into it as that role.
func (s *Server) makeTemplate(ctx context.Context) error {
	err := s.asSuperuser(ctx, "postgres",
		"create role "+Owner+" login password '"+Owner+"'",
		"create database "+templateDatabase+" template template0 owner "+Owner)
	if err != nil || installer == nil {
		return err
	}
	conn, err := pgx.Connect(ctx, s.SocketDSN(Owner, templateDatabase))
	if err != nil {
		return err
	}
	defer conn.Close(ctx) //nolint:errcheck // nothing is left to say
	if release := os.Getenv("WEIR_TEST_UPGRADE_FROM"); release != "" {
		if err := RunRelease(ctx, conn, release); err != nil {
			return fmt.Errorf("install %s: %w", release, err)
		}
	}
	return installer(ctx, conn)
}

// drop ends the database; it can fail only because the test killed the server, which then goes too.
func (db *DB) drop() {
	ctx, cancel := context.WithTimeout(context.Background(), stopTime)
	defer cancel()
	if pool, err := db.pool(); err == nil {
		pool.Close()
	}
	db.Server.admin.Lock()
	defer db.Server.admin.Unlock()
	db.Server.asSuperuser(ctx, "postgres", "drop database "+db.Name+" with (force)") //nolint:errcheck // as said
}

// Pool returns the database's pool of connections as Owner, one and the same for the whole test.
func (db *DB) Pool(tb testing.TB) *pgxpool.Pool {
	tb.Helper()
	pool, err := db.pool()
	if err != nil {
		tb.Fatalf("open pool: %v", err)
	}
	return pool
}

// Conn opens a connection as Owner, closed at the end of the test.
func (db *DB) Conn(tb testing.TB) *pgx.Conn {
	tb.Helper()
	return connect(tb, db.DSN)
}

// Super opens a connection as superuser, closed at the end of the test.
func (db *DB) Super(tb testing.TB) *pgx.Conn {
	tb.Helper()
	return connect(tb, db.Server.SocketDSN(embedded.Superuser, db.Name))
}

// As opens a connection as another role, closed at the end of the test.
func (db *DB) As(tb testing.TB, role string) *pgx.Conn {
	tb.Helper()
	return connect(tb, db.Server.SocketDSN(role, db.Name))
}

// Role makes a role that may log in, dropped at the end of the test, and returns its name.
func (db *DB) Role(tb testing.TB) string {
	tb.Helper()
	name := fmt.Sprintf("role_%d", databases.Add(1))
	if err := db.Server.asSuperuser(tb.Context(), db.Name, "create role "+name+" login"); err != nil {
		tb.Fatalf("make role: %v", err)
	}
	tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), stopTime)
		defer cancel()
		err := db.Server.asSuperuser(ctx, db.Name, "drop owned by "+name+" cascade", "drop role "+name)
		if err != nil {
			tb.Logf("drop role: %v", err)
		}
	})
	return name
}

// TCP returns the connection string of Owner through 127.0.0.1 and with a password, for poolers and proxies.
func (db *DB) TCP() string {
	u, err := url.Parse(db.Server.DSN(db.Name))
	if err != nil {
		panic(err) // our own make
	}
	u.User = url.UserPassword(Owner, Owner)
	return u.String()
}

// Exec runs a statement on the pool and fails the test when it fails.
func (db *DB) Exec(tb testing.TB, sql string, args ...any) {
	tb.Helper()
	if _, err := db.Pool(tb).Exec(tb.Context(), sql, args...); err != nil {
		tb.Fatalf("exec %s: %v", sql, err)
	}
}

// QueryVal returns the only column of the only row of a query on the pool, and fails the test when it fails.
func QueryVal[T any](tb testing.TB, db *DB, sql string, args ...any) T {
	tb.Helper()
	rows, err := db.Pool(tb).Query(tb.Context(), sql, args...)
	if err != nil {
		tb.Fatalf("query %s: %v", sql, err)
	}
	val, err := pgx.CollectExactlyOneRow(rows, pgx.RowTo[T])
	if err != nil {
		tb.Fatalf("query %s: %v", sql, err)
	}
	return val
}

// QueryAll returns the only column of all rows of a query on the pool, and fails the test when it fails.
func QueryAll[T any](tb testing.TB, db *DB, sql string, args ...any) []T {
	tb.Helper()
	rows, err := db.Pool(tb).Query(tb.Context(), sql, args...)
	if err != nil {
		tb.Fatalf("query %s: %v", sql, err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowTo[T])
	if err != nil {
		tb.Fatalf("query %s: %v", sql, err)
	}
	return all
}

func connect(tb testing.TB, dsn string) *pgx.Conn {
	tb.Helper()
	conn, err := pgx.Connect(tb.Context(), dsn)
	if err != nil {
		tb.Fatalf("connect: %v", err)
	}
	tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), stopTime)
		defer cancel()
		conn.Close(ctx) //nolint:errcheck // the test may have closed it
	})
	return conn
}
