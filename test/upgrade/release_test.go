// Package upgrade_test brings databases of earlier releases up to date: what then stands in the catalogue is what an
// install makes, and everything that was in flight goes on. testdata has what `weir install --print` of each release
// printed.
package upgrade_test

import (
	"compress/gzip"
	"io"
	"os"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/weirmq/weir/internal/migrate"
	"github.com/weirmq/weir/internal/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// releases are all that there were.
func releases() []string { return []string{"0.1.0"} }

// eachRelease runs a test for every release on every version of PostgreSQL, in a database with that release.
func eachRelease(t *testing.T, test func(t *testing.T, db *pgtest.DB)) {
	t.Helper()
	pgtest.EachMajor(t, func(t *testing.T, major int) {
		for _, release := range releases() {
			t.Run("from "+release, func(t *testing.T) {
				t.Parallel()
				db := pgtest.New(t, pgtest.Options{Major: major, Bare: true})
				runScript(t, db.Conn(t), releaseScript(t, release))
				test(t, db)
			})
		}
	})
}

// releaseScript returns the install script of a release.
func releaseScript(t *testing.T, release string) string {
	t.Helper()
	file, err := os.Open("testdata/" + release + ".sql.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	script, err := io.ReadAll(unzipped)
	if err != nil {
		t.Fatal(err)
	}
	return string(script)
}

// runScript runs many statements.
func runScript(t *testing.T, conn *pgx.Conn, script string) {
	t.Helper()
	if _, err := conn.PgConn().Exec(t.Context(), script).ReadAll(); err != nil {
		t.Fatal(err)
	}
}

// upgrade installs what is in the tree.
func upgrade(t *testing.T, db *pgtest.DB) {
	t.Helper()
	if err := migrate.Install(t.Context(), db.Conn(t)); err != nil {
		t.Fatal(err)
	}
}
