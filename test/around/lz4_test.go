package around_test

import (
	"fmt"
	"testing"

	"github.com/weirmq/weir/internal/migrate"
	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

// TestScatteredIdsOfAClaimAreCompressedByLz4OrNotAtAll asks how the claim log of a queue of an older release, and of a
// new one, stores what a receive takes out of a lane of many keys: pglz takes a sixth of a receive of 100 messages.
func TestScatteredIdsOfAClaimAreCompressedByLz4OrNotAtAll(t *testing.T) {
	t.Parallel()
	want15(t, "postgres")
	with := pgtest.StartServer(t, pgtest.ServerOptions{BinDir: debian15, Fast: true}).NewDB(t, true)
	for db, want := range map[*pgtest.DB]string{with: "lz4", pgtest.New(t, pgtest.Options{Bare: true}): "none"} {
		must(t, pgtest.RunRelease(t.Context(), db.Conn(t), "../upgrade/testdata/0.1.0.sql.gz"))
		surface.CreateQueue(t, db.Pool(t), "older", "lanes => 4")
		must(t, migrate.Install(t.Context(), db.Conn(t)))
		surface.CreateQueue(t, db.Pool(t), "new", "lanes => 4")
		for i, queue := range []string{"older", "new"} {
			for range 20 {
				db.Exec(t, `select count(*) from weir.send_batch($1, array_fill('1'::jsonb, array[100]),
					array(select 'key-' || i from generate_series(1, 100) i))`, queue)
			}
			db.Exec(t, "select count(*) from weir.receive_records($1, max => 200)", queue)
			got := pgtest.QueryVal[string](t, db, fmt.Sprintf(
				`select string_agg(coalesce(pg_column_compression(ids), 'none'), ' ')
				from weir_internal.q%d_claims_0 where n = 200`, i+1))
			if got != want {
				t.Errorf("%s queue: a claim's ids are compressed by %s, want %s", queue, got, want)
			}
		}
	}
}
