package upgrade_test

import (
	"slices"
	"testing"

	"github.com/weirmq/weir/internal/migrate"
	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

// unlogged lists what a crash empties, which older versions have less of.
const unlogged = `select relname from pg_class
	where relnamespace = 'weir_log'::regnamespace and relpersistence = 'u' order by relname collate "C"`

// TestAnUpgradedDatabaseIsLikeANewOne compares all that is in the catalogue, with the bodies of functions and the order
// of columns, and then once more after the same queue was created in both.
func TestAnUpgradedDatabaseIsLikeANewOne(t *testing.T) {
	t.Parallel()
	eachRelease(t, func(t *testing.T, old *pgtest.DB) {
		role := old.Role(t)
		fresh := pgtest.New(t, pgtest.Options{Major: old.Major})
		prepare := func(db *pgtest.DB) {
			surface.CreateQueue(t, db.Pool(t), "orders", "lanes => 3")
			db.Exec(t, "select weir.create_group('orders', 'audit', ordered => true)")
			db.Exec(t, "select weir.bind('order.*', 'orders')")
			for _, right := range []string{"produce", "consume", "admin"} {
				db.Exec(t, "select weir.grant_"+right+"('orders', '"+role+"')")
			}
			db.Exec(t, "grant execute on function weir.create_queue to "+role+" with grant option")
		}
		prepare(old)
		prepare(fresh)
		upgrade(t, old)
		if version := pgtest.QueryVal[string](t, old, "select weir.version()"); version != migrate.Version() {
			t.Errorf("version %s after the upgrade, want %s", version, migrate.Version())
		}
		for _, queue := range []string{"orders", "another"} {
			if queue != "orders" {
				surface.CreateQueue(t, old.Pool(t), queue, "")
				surface.CreateQueue(t, fresh.Pool(t), queue, "")
			}
			if a, b := surface.Catalogue(t, old), surface.Catalogue(t, fresh); a != b {
				t.Errorf("with %s, the upgraded database (-) is unlike a new one (+):\n%s", queue, surface.Difference(a, b))
			}
			a, b := pgtest.QueryAll[string](t, old, unlogged), pgtest.QueryAll[string](t, fresh, unlogged)
			if !slices.Equal(a, b) {
				t.Errorf("with %s, the upgraded database has %v unlogged, a new one %v", queue, a, b)
			}
			if a, b := surface.Bodies(t, old), surface.Bodies(t, fresh); a != b {
				t.Errorf("with %s, functions of the upgraded database (-) are unlike (+):\n%s", queue,
					surface.Difference(a, b))
			}
		}
	})
}
