// Package install_test installs the engine as its users do: as an ordinary role, into a database with other
// things in it, twice, twice at once; and looks at what then stands in the catalogue.
package install_test

import (
	"context"
	"flag"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/weirmq/weir/internal/migrate"
	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/sql"
	"github.com/weirmq/weir/test/surface"
)

func TestMain(m *testing.M) {
	pgtest.Main(m)
}

var update = flag.Bool("update", false, "write sql/golden/schema.sql anew instead of comparing with it")

const golden = "../../sql/golden/schema.sql"

const schemas = `(
	'weir'::regnamespace, 'weir_internal'::regnamespace, 'weir_log'::regnamespace, 'weir_gates'::regnamespace)`

// bare makes a database without the engine but with things of others, some of them called as ours are.
func bare(t *testing.T, major int) *pgtest.DB {
	t.Helper()
	db := pgtest.New(t, pgtest.Options{Major: major, Bare: true})
	db.Exec(t, "create table public.queues (no int); insert into public.queues values (1)")
	db.Exec(t, "create function public.send(text, text) returns int language sql as 'select 1'")
	db.Exec(t, "create function public.now() returns timestamptz language sql as 'select timestamptz ''epoch'''")
	db.Exec(t, "create type public.message as (a int)")
	return db
}

func install(ctx context.Context, db *pgtest.DB) error {
	conn, err := pgx.Connect(ctx, db.DSN)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // nothing is left to say
	return migrate.Install(ctx, conn)
}

// catalogue lists what the engine's schemas hold, and what its functions do.
func catalogue(t *testing.T, db *pgtest.DB) string {
	t.Helper()
	return surface.Catalogue(t, db) + surface.Bodies(t, db)
}

func TestInstallTwiceChangesNothing(t *testing.T) {
	pgtest.EachMajor(t, func(t *testing.T, major int) {
		t.Parallel()
		db := bare(t, major)
		for range 2 {
			if err := install(t.Context(), db); err != nil {
				t.Fatal(err)
			}
		}
		role := db.Role(t)
		db.Exec(t, "select weir.create_queue('orders'), weir.create_queue('other')")
		db.Exec(t, "select weir.grant_consume('orders', $1)", role)
		first := catalogue(t, db)
		db.Exec(t, "select weir.send('orders', '1'), weir.send('orders', '2')")
		claim := pgtest.QueryVal[int64](t, db, "select claim_id from weir.receive('orders')")
		if err := install(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		if again := catalogue(t, db); again != first {
			t.Errorf("a second install changed the catalogue:\n%s", surface.Difference(first, again))
		}
		if n := pgtest.QueryVal[int](t, db, "select weir.ack_all('orders', $1)", claim); n != 1 {
			t.Errorf("%d messages acknowledged", n)
		}
		if got := pgtest.QueryAll[int64](t, db, "select id from weir.pop('orders', max => 10)"); len(got) != 1 {
			t.Errorf("received %v after a second install", got)
		}
		if n := pgtest.QueryVal[int64](t, db, "select no from public.queues"); n != 1 {
			t.Error("the other things in the database were touched")
		}
		if v := pgtest.QueryVal[string](t, db, "select weir.version()"); v != "0.3.0" {
			t.Errorf("version %s", v)
		}
	})
}

func TestInstallTwiceAtOnce(t *testing.T) {
	pgtest.EachMajor(t, func(t *testing.T, major int) {
		t.Parallel()
		db := bare(t, major)
		var group sync.WaitGroup
		errs := make(chan error, 3)
		for range cap(errs) {
			group.Go(func() { errs <- install(t.Context(), db) })
		}
		group.Wait()
		for range cap(errs) {
			if err := <-errs; err != nil {
				t.Error(err)
			}
		}
		surface.CreateQueue(t, db.Pool(t), "orders", "")
	})
}

func TestANewerSchemaAndAnOlderReleaseAreLeftAlone(t *testing.T) {
	pgtest.EachMajor(t, func(t *testing.T, major int) {
		t.Parallel()
		db := pgtest.New(t, pgtest.Options{Major: major})
		before := catalogue(t, db)
		for version, state := range map[int]string{99: "WR013", 2: "WR015"} {
			db.Exec(t, "update weir_internal.installation set schema_version = $1, version = '9.9.9'", version)
			if err := install(t.Context(), db); surface.SQLState(err) != state {
				t.Errorf("install over schema version %d: %v, want %s", version, err, state)
			}
			if catalogue(t, db) != before || pgtest.QueryVal[string](t, db, "select weir.version()") != "9.9.9" {
				t.Error("the refused install changed something")
			}
		}
	})
}

// What an older release made, and this one has not, goes; what was granted by hand stays.
func TestAnInstallRemovesWhatItHasNotAndKeepsGrants(t *testing.T) {
	pgtest.EachMajor(t, func(t *testing.T, major int) {
		t.Parallel()
		db := pgtest.New(t, pgtest.Options{Major: major})
		role := db.Role(t)
		db.Exec(t, "create function weir.old() returns int language sql as 'select 1'")
		db.Exec(t, "create function weir_log.old() returns int language sql as 'select 1'")
		db.Exec(t, "grant usage on schema weir to "+role+"; grant execute on function weir.create_queue to "+role)
		if err := install(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		if n := pgtest.QueryVal[int](t, db, "select count(*) from pg_proc where proname = 'old'"); n != 0 {
			t.Error("an obsolete function is still there")
		}
		if _, err := db.As(t, role).Exec(t.Context(), "select weir.create_queue('theirs')"); err != nil {
			t.Errorf("create_queue, granted by hand: %v", err)
		}
	})
}

func TestRightsAreClosedAndFunctionsExplained(t *testing.T) {
	pgtest.EachMajor(t, func(t *testing.T, major int) {
		t.Parallel()
		db := pgtest.New(t, pgtest.Options{Major: major})
		db.Exec(t, "select weir.create_queue('orders'), weir.create_group('orders', 'more')")
		db.Exec(t, "select weir.grant_produce('orders', $1), weir.grant_consume('orders', $1)", db.Role(t))
		for what, query := range map[string]string{
			"definer functions that do not pin search_path": `select p.oid::regprocedure::text from pg_proc p
				where pronamespace in ` + schemas + ` and prosecdef
					and not coalesce(array_to_string(proconfig, ',') ~ 'search_path=("")?pg_catalog', false)`,
			"functions that PUBLIC may execute": `select p.oid::regprocedure::text from pg_proc p
				where pronamespace in ` + schemas + `
					and (proacl is null or exists (select from aclexplode(proacl) a where a.grantee = 0))`,
			"relations that PUBLIC may use": `select c.oid::regclass::text from pg_class c
				where relnamespace in ` + schemas + ` and exists (select from aclexplode(relacl) a where a.grantee = 0)`,
			"schemas that PUBLIC may use": `select nspname::text from pg_namespace
				where oid in ` + schemas + ` and exists (select from aclexplode(nspacl) a where a.grantee = 0)`,
			"public functions without a comment": `select oid::regprocedure::text from pg_proc
				where pronamespace = 'weir'::regnamespace and obj_description(oid, 'pg_proc') is null`,
		} {
			if all := pgtest.QueryAll[string](t, db, query); len(all) > 0 {
				t.Errorf("%s: %v", what, all)
			}
		}
		stranger := db.As(t, db.Role(t))
		for _, call := range []string{
			"select weir.send('orders', '1')", "select weir.receive('orders')", "select weir.version()",
			`select weir_gates."send:orders"('1', null, null, null, null)`, "select * from weir_internal.queues",
			"select weir_log.send('orders', '1', null, null, null, null)",
		} {
			_, err := stranger.Exec(t.Context(), call)
			surface.WantState(t, err, "42501")
		}
	})
}

func TestUninstallLeavesNothingAndRefusesWhereOthersDepend(t *testing.T) {
	pgtest.EachMajor(t, func(t *testing.T, major int) {
		t.Parallel()
		db := bare(t, major)
		if err := install(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		db.Exec(t, "select weir.create_queue('orders')")
		db.Exec(t, "select weir.grant_consume('orders', $1)", db.Role(t))
		db.Exec(t, "create view public.mine as select * from weir.list_queues()")
		script, err := sql.FS.ReadFile("uninstall.sql")
		if err != nil {
			t.Fatal(err)
		}
		uninstall := func() error {
			_, err := db.Conn(t).PgConn().Exec(t.Context(), string(script)).ReadAll()
			return err
		}
		if err := uninstall(); surface.SQLState(err) != "WR022" {
			t.Errorf("uninstall where a view depends on it: %v", err)
		}
		db.Exec(t, "drop view public.mine")
		for range 2 {
			if err := uninstall(); err != nil {
				t.Fatal(err)
			}
		}
		if n := pgtest.QueryVal[int](t, db, "select count(*) from pg_namespace where nspname ~ '^weir'"); n != 0 {
			t.Errorf("%d schemas are left", n)
		}
		if err := install(t.Context(), db); err != nil {
			t.Errorf("install again: %v", err)
		}
	})
}

// TestCatalogueIsTheGoldenOne compares an install with what is in git: go test ./test/install -update writes it.
func TestCatalogueIsTheGoldenOne(t *testing.T) {
	pgtest.EachMajor(t, func(t *testing.T, major int) {
		t.Parallel()
		db := pgtest.New(t, pgtest.Options{Major: major})
		got := "-- Generated by go test ./test/install -update: what an install puts into the catalogue.\n-- " +
			strings.ReplaceAll(strings.TrimSpace(surface.Catalogue(t, db)), "\n", "\n-- ") + "\n"
		if *update {
			if err := os.WriteFile(golden, []byte(got), 0o644); err != nil { //nolint:gosec // a source file
				t.Fatal(err)
			}
			return
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("run go test ./test/install -update when this is meant:\n%s", surface.Difference(string(want), got))
		}
	})
}

// What was dropped or changed by hand comes back; an event trigger that refuses leaves all as it was.
func TestAnInstallMendsWhatWasDroppedByHand(t *testing.T) {
	pgtest.EachMajor(t, func(t *testing.T, major int) {
		t.Parallel()
		db := pgtest.New(t, pgtest.Options{Major: major})
		role := db.Role(t)
		db.Exec(t, "select weir.create_queue('orders', log => 'other'), weir.grant_consume('orders', $1)", role)
		want := catalogue(t, db)
		for _, harm := range []string{
			"drop function weir.send(text, json, text, jsonb, interval, text, int)", "drop function weir_log.read_0",
			"drop function weir_log_other.send",
			"drop table weir_log.carries", "drop table weir_log_other.parked cascade", "drop sequence weir_log.waiting_7",
			`drop function weir_gates."receive_many:orders"`, "grant execute on function weir.version() to public",
		} {
			db.Exec(t, harm)
			if catalogue(t, db) == want {
				t.Errorf("%s: nothing is missing", harm)
			}
			if err := install(t.Context(), db); err != nil {
				t.Fatalf("install after %s: %v", harm, err)
			}
			if got := catalogue(t, db); got != want {
				t.Errorf("install after %s:\n%s", harm, surface.Difference(want, got))
			}
		}
		super := db.Super(t)
		for _, sql := range []string{
			"create function public.refuse() returns event_trigger language plpgsql as 'begin raise ''no''; end'",
			"create event trigger refuse on ddl_command_end when tag in ('CREATE FUNCTION') execute function public.refuse()",
		} {
			if _, err := super.Exec(t.Context(), sql); err != nil {
				t.Fatal(err)
			}
		}
		if err := install(t.Context(), db); surface.SQLState(err) != "P0001" {
			t.Errorf("install with an event trigger that refuses: %v", err)
		}
		if got := catalogue(t, db); got != want {
			t.Errorf("the install that failed changed something:\n%s", surface.Difference(want, got))
		}
		if _, err := super.Exec(t.Context(), "drop event trigger refuse; drop owned by "+role); err != nil {
			t.Fatal(err)
		}
		if err := install(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		if n := pgtest.QueryVal[int](t, db, "select count(*) from pg_proc where proname like '%:orders'"); n != 0 {
			t.Errorf("%d gates are left that nobody may pass", n)
		}
	})
}
