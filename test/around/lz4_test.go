package around_test

import (
	"testing"

	"github.com/weirmq/weir/internal/migrate"
	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

// TestScatteredIdsOfAClaimAreCompressedByLz4OrNotAtAll asks how the claim log stores what a receive takes out of a lane
// of many keys: pglz takes a sixth of a receive of 100 messages.
func TestScatteredIdsOfAClaimAreCompressedByLz4OrNotAtAll(t *testing.T) {
	t.Parallel()
	want15(t, "postgres")
	with := pgtest.StartServer(t, pgtest.ServerOptions{BinDir: debian15, Fast: true}).NewDB(t, true)
	for db, want := range map[*pgtest.DB]string{with: "lz4", pgtest.New(t, pgtest.Options{Bare: true}): "none"} {
		must(t, migrate.Install(t.Context(), db.Conn(t)))
		surface.CreateQueue(t, db.Pool(t), "q", "lanes => 4")
		for range 20 {
			db.Exec(t, `select count(*) from weir.send_batch('q', array_fill('1'::jsonb, array[100]),
				array(select 'key-' || i from generate_series(1, 100) i))`)
		}
		db.Exec(t, "select count(*) from weir.receive_records('q', max => 200)")
		got := pgtest.QueryVal[string](t, db, `select coalesce(string_agg(
			coalesce(pg_column_compression(ids), 'none'), ' '), '') from weir_log.claims_0 where n = 200`)
		if got != want {
			t.Errorf("a claim's ids are compressed by %q, want %q", got, want)
		}
	}
}
