// Package install_test installs the engine as its users do: as an ordinary role, into a database with other
// things in it, twice, twice at once; and looks at what then stands in the catalogue.
package install_test

import (
	"context"
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

// catalogue lists what the engine's schemas hold.
func catalogue(t *testing.T, db *pgtest.DB) string {
	t.Helper()
	return strings.Join(pgtest.QueryAll[string](t, db, `
		select format('f %s %s %s %s', oid::regprocedure, proacl, md5(prosrc), proconfig) from pg_proc
		where pronamespace in `+schemas+`
		union all
		select format('r %s %s %s %s', oid::regclass, relkind, relacl, reloptions) from pg_class
		where relnamespace in `+schemas+`
		union all
		select format('a %s %s %s %s', attrelid::regclass, attname, format_type(atttypid, atttypmod), attstorage)
		from pg_attribute join pg_class c on c.oid = attrelid where relnamespace in `+schemas+` and attnum > 0
		union all
		select format('c %s %s', conrelid::regclass, pg_get_constraintdef(oid)) from pg_constraint
		where connamespace in `+schemas+`
		union all
		select format('n %s %s', nspname, nspacl) from pg_namespace where oid in `+schemas+`
		order by 1`), "\n")
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
		script, err := sql.FS.ReadFile("next/uninstall.sql")
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
