// Package pgmq_test holds the face of PGMQ against PGMQ itself, whose SQL and whose client PyPI has, and holds what the
// face promises when several do things at once.
package pgmq_test

import (
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/weirmq/weir/internal/migrate"
	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// newFace makes a database with the engine and the face.
func newFace(t *testing.T, major int) *pgtest.DB {
	t.Helper()
	db := pgtest.New(t, pgtest.Options{Major: major})
	installFace(t, db)
	return db
}

func installFace(t *testing.T, db *pgtest.DB) {
	t.Helper()
	if err := migrate.InstallFace(t.Context(), db.Conn(t), "pgmq"); err != nil {
		t.Fatal(err)
	}
}

// newOriginal makes a database with PGMQ, whose client carries its SQL.
func newOriginal(t *testing.T, major int) *pgtest.DB {
	t.Helper()
	packages, err := clientPackages()
	if err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile(filepath.Join(packages, "pgmq", "sql", "pgmq.sql"))
	if err != nil {
		t.Fatal(err)
	}
	db := pgtest.New(t, pgtest.Options{Major: major, Bare: true})
	db.Exec(t, string(script))
	return db
}

// begin starts a transaction that is rolled back at the end of the test, unless it is over by then.
func begin(t *testing.T, conn *pgx.Conn) pgx.Tx {
	t.Helper()
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return tx
}

// value reads one value within a transaction.
func value[T any](t *testing.T, tx pgx.Tx, sql string, args ...any) T {
	t.Helper()
	var v T
	if err := tx.QueryRow(t.Context(), sql, args...).Scan(&v); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return v
}

// ids reads message ids.
func ids(t *testing.T, db *pgtest.DB, sql string) []int64 {
	t.Helper()
	return pgtest.QueryAll[int64](t, db, sql)
}

// statements returns the statements of a script that has no semicolon elsewhere.
func statements(script string) iter.Seq[string] { return strings.SplitSeq(script, ";") }

// buffers runs a call twice, the second time with an id one higher, and returns how many pages that looked at: the
// first one has made the plans.
func buffers(t *testing.T, conn *pgx.Conn, call string, id int64) int {
	t.Helper()
	if _, err := conn.Exec(t.Context(), call, id-1); err != nil {
		t.Fatal(err)
	}
	return surface.Buffers(t, conn, call, id)
}
