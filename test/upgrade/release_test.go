// Package upgrade_test brings databases of earlier releases up to date: what then stands in the catalogue is what an
// install makes, and everything that was in flight goes on. testdata has what `weir install --print` of each release
// printed.
package upgrade_test

import (
	"testing"

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
				if err := pgtest.RunRelease(t.Context(), db.Conn(t), "testdata/"+release+".sql.gz"); err != nil {
					t.Fatal(err)
				}
				test(t, db)
			})
		}
	})
}

// upgrade installs what is in the tree.
func upgrade(t *testing.T, db *pgtest.DB) {
	t.Helper()
	if err := migrate.Install(t.Context(), db.Conn(t)); err != nil {
		t.Fatal(err)
	}
}
