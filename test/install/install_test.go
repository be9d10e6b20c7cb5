// Package install_test installs the engine as its users do: as an ordinary role, into a database with other things in
// it, twice, twice at once; and looks at what then stands in the catalogue.
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
	"github.com/weirmq/weir/test/surface"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

var update = flag.Bool("update", false, "write sql/golden/schema.sql anew instead of comparing with it")

const golden = "../../sql/golden/schema.sql"

// dump lists what the engine's schemas hold, one object a line, in an order and a form that do not depend on the
// version.
const dump = `
with schemas as (select oid, nspname from pg_namespace where nspname in ('weir', 'weir_internal'))
select line from (
	select 1 as part, format('schema %s %s', nspname, replace(nspacl::text, nspowner::regrole::text, 'owner')) as line
	from pg_namespace where nspname in ('weir', 'weir_internal')
	union all
	select 2, format('%s %s.%s of %s with %s', case c.relkind when 'r' then 'table' when 'S' then 'sequence'
			when 'v' then 'view' when 'c' then 'type' else c.relkind::text end, s.nspname, c.relname,
		coalesce(nullif(c.reloftype, 0)::regtype::text, '-'), coalesce(c.reloptions::text, '-'))
	from pg_class c join schemas s on s.oid = c.relnamespace where c.relkind not in ('t', 'i')
	union all
	select 3, format('column %s.%s.%s %s %s %s%s', s.nspname, c.relname, a.attname,
		format_type(a.atttypid, a.atttypmod), a.attstorage,
		case when a.attnotnull then 'not null ' else '' end, coalesce('default ' || pg_get_expr(d.adbin, d.adrelid), ''))
	from pg_attribute a join pg_class c on c.oid = a.attrelid join schemas s on s.oid = c.relnamespace
	left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
	where a.attnum > 0 and not a.attisdropped and c.relkind in ('r', 'c', 'v')
	union all
	select 4, pg_get_indexdef(i.indexrelid) from pg_index i join pg_class c on c.oid = i.indexrelid
		join schemas s on s.oid = c.relnamespace
	union all
	select 5, format('constraint on %s %s', k.conrelid::regclass, pg_get_constraintdef(k.oid)) from pg_constraint k
		join schemas s on s.oid = k.connamespace where k.contype <> 'n' and k.conrelid <> 0
	union all
	select 6, format('function %s.%s(%s) returns %s %s %s%s %s', s.nspname, p.proname,
		pg_get_function_arguments(p.oid), pg_get_function_result(p.oid), p.provolatile,
		case when p.prosecdef then 'definer ' else '' end,
		coalesce(p.proconfig::text, '-'), replace(p.proacl::text, p.proowner::regrole::text, 'owner'))
	from pg_proc p join schemas s on s.oid = p.pronamespace
) t order by part, line collate "C"`

func catalogue(t *testing.T, db *pgtest.DB) string {
	t.Helper()
	return strings.Join(pgtest.QueryAll[string](t, db, dump), "\n") + "\n"
}

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

func TestInstallTwiceChangesNothing(t *testing.T) {
	pgtest.EachMajor(t, func(t *testing.T, major int) {
		db := bare(t, major)
		for range 2 {
			if err := install(t.Context(), db); err != nil {
				t.Fatal(err)
			}
		}
		surface.CreateQueue(t, db.Pool(t), "orders", "")
		first := catalogue(t, db)
		var ids []int64
		ids = append(ids, pgtest.QueryVal[int64](t, db, "select weir.send('orders', '1')"))
		if err := install(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		if again := catalogue(t, db); again != first {
			t.Errorf("a second install changed the catalogue:\n%s", difference(first, again))
		}
		if got := pgtest.QueryAll[int64](t, db, "select id from weir.pop('orders', max => 10)"); len(got) != len(ids) {
			t.Errorf("received %v after a second install, want %v", got, ids)
		}
		if n := pgtest.QueryVal[int64](t, db, "select no from public.queues"); n != 1 {
			t.Error("the other things in the database were touched")
		}
	})
}

func TestInstallTwiceAtOnce(t *testing.T) {
	pgtest.EachMajor(t, func(t *testing.T, major int) {
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

func TestUninstallLeavesNothing(t *testing.T) {
	pgtest.EachMajor(t, func(t *testing.T, major int) {
		db := bare(t, major)
		count := "select sum(n)::bigint from (" +
			"select count(*) n from pg_class union all select count(*) from pg_proc union all " +
			"select count(*) from pg_type union all select count(*) from pg_namespace where nspname !~ '^pg_' union all " +
			"select count(*) from pg_default_acl union all select count(*) from pg_event_trigger) t"
		before := pgtest.QueryVal[int64](t, db, count)
		if err := install(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		surface.CreateQueue(t, db.Pool(t), "orders", "")
		db.Exec(t, "drop schema weir, weir_internal cascade")
		if after := pgtest.QueryVal[int64](t, db, count); after != before {
			t.Errorf("the catalogues had %d rows before the install and have %d after it was removed", before, after)
		}
		if err := install(t.Context(), db); err != nil {
			t.Errorf("install again: %v", err)
		}
	})
}

func TestNewerSchemaIsLeftAlone(t *testing.T) {
	pgtest.EachMajor(t, func(t *testing.T, major int) {
		db := pgtest.New(t, pgtest.Options{Major: major})
		db.Exec(t, "update weir_internal.installation set schema_version = schema_version + 1, version = '99.0.0'")
		before := catalogue(t, db)
		err := install(t.Context(), db)
		if err == nil || surface.SQLState(err) != "WR013" {
			t.Fatalf("install over a newer schema: %v, want WR013", err)
		}
		if catalogue(t, db) != before || pgtest.QueryVal[string](t, db, "select weir.version()") != "99.0.0" {
			t.Error("the refused install changed something")
		}
	})
}

// TestCatalogueIsTheGoldenOne compares an install with one queue with what is in git: go test ./test/install -update
// writes it.
func TestCatalogueIsTheGoldenOne(t *testing.T) {
	pgtest.EachMajor(t, func(t *testing.T, major int) {
		db := pgtest.New(t, pgtest.Options{Major: major})
		surface.CreateQueue(t, db.Pool(t), "orders", "")
		got := "-- Generated by go test ./test/install -update: what an install with one queue puts into the catalogue.\n" +
			comment(catalogue(t, db))
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
			t.Errorf("run go test ./test/install -update when this is meant:\n%s", difference(string(want), got))
		}
	})
}

// comment makes every line one of a comment: the file is read, not run.
func comment(text string) string {
	return "-- " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n-- ") + "\n"
}

// difference lists the lines that one text has and the other has not.
func difference(a, b string) string {
	var out strings.Builder
	for sign, texts := range map[string][2]string{"-": {a, b}, "+": {b, a}} {
		other := map[string]bool{}
		for line := range strings.SplitSeq(texts[1], "\n") {
			other[line] = true
		}
		for line := range strings.SplitSeq(texts[0], "\n") {
			if !other[line] {
				out.WriteString(sign + line + "\n")
			}
		}
	}
	return out.String()
}

func TestRightsAreClosed(t *testing.T) {
	pgtest.EachMajor(t, func(t *testing.T, major int) {
		db := pgtest.New(t, pgtest.Options{Major: major})
		surface.CreateQueue(t, db.Pool(t), "orders", "")
		db.Exec(t, "select weir.create_group('orders', 'more')")
		for what, query := range map[string]string{
			"definer functions that do not pin search_path": `select p.oid::regprocedure::text from pg_proc p
				where pronamespace in ('weir'::regnamespace, 'weir_internal'::regnamespace) and prosecdef
					and not coalesce(array_to_string(proconfig, ',') ~ 'search_path=("")?pg_catalog', false)`,
			"functions that PUBLIC may execute": `select p.oid::regprocedure::text from pg_proc p
				where pronamespace in ('weir'::regnamespace, 'weir_internal'::regnamespace)
					and (proacl is null or exists (select from aclexplode(proacl) a where a.grantee = 0))`,
			"relations that PUBLIC may use": `select c.oid::regclass::text from pg_class c
				where relnamespace in ('weir'::regnamespace, 'weir_internal'::regnamespace)
					and exists (select from aclexplode(relacl) a where a.grantee = 0)`,
			"schemas that PUBLIC may use": `select nspname::text from pg_namespace
				where nspname in ('weir', 'weir_internal')
					and exists (select from aclexplode(nspacl) a where a.grantee = 0)`,
		} {
			if all := pgtest.QueryAll[string](t, db, query); len(all) > 0 {
				t.Errorf("%s: %v", what, all)
			}
		}
		stranger := db.As(t, db.Role(t))
		for _, call := range []string{
			"select weir.send('orders', '1')", "select weir.receive('orders')", "select weir.version()",
			"select weir.maintain()",
			`select weir_internal."send:orders"('1', null, null, null)`, "select * from weir_internal.queues",
		} {
			_, err := stranger.Exec(t.Context(), call)
			surface.WantState(t, err, "42501")
		}
	})
}
