package upgrade_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/weirmq/weir/internal/engine"
	"github.com/weirmq/weir/internal/migrate"
	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

// inCatalogues counts what an installation could leave behind.
const inCatalogues = `select sum(n)::bigint from (
	select count(*) n from pg_class union all select count(*) from pg_proc union all
	select count(*) from pg_type union all select count(*) from pg_namespace where nspname !~ '^pg_' union all
	select count(*) from pg_depend union all select count(*) from pg_default_acl union all
	select count(*) from pg_shdepend where dbid = (select oid from pg_database where datname = current_database())
	) t`

// furnish installs the engine into a database without it, with queues, and rights for a role.
func furnish(t *testing.T, db *pgtest.DB, role string) {
	t.Helper()
	upgrade(t, db)
	for _, queue := range []string{"orders", "jobs.more"} {
		surface.CreateQueue(t, db.Pool(t), queue, "")
		db.Exec(t, "select weir.send($1, '1'), weir.bind('a.#', $1)", queue)
		db.Exec(t, "select weir.grant_produce($1, $2), weir.grant_consume($1, $2), weir.grant_admin($1, $2)", queue, role)
	}
	db.Exec(t, "grant execute on function weir.create_queue to "+role)
}

func TestUninstallLeavesNothing(t *testing.T) { //nolint:tparallel // one after the other: rows are counted
	t.Parallel()
	psql, err := exec.LookPath("psql")
	if err != nil {
		t.Fatal("there is no psql on this machine")
	}
	for way, uninstall := range map[string]func(db *pgtest.DB) error{
		"weir uninstall": func(db *pgtest.DB) error { return migrate.UninstallDSN(t.Context(), db.DSN) },
		"psql": func(db *pgtest.DB) error {
			return exec.CommandContext(t.Context(), psql, "-X", "-v", "ON_ERROR_STOP=1", "-d", db.TCP(),
				"-f", "../../sql/uninstall.sql").Run()
		},
	} {
		t.Run(way, func(t *testing.T) {
			pgtest.EachMajor(t, func(t *testing.T, major int) {
				db := pgtest.New(t, pgtest.Options{Major: major, Bare: true})
				role := db.Role(t)
				before := pgtest.QueryVal[int64](t, db, inCatalogues)
				for range 2 { // once gone, it can come back
					furnish(t, db, role)
					if err := uninstall(db); err != nil {
						t.Fatal(err)
					}
					if after := pgtest.QueryVal[int64](t, db, inCatalogues); after != before {
						t.Errorf("the catalogues had %d rows before the install and have %d without it", before, after)
					}
				}
				if err := uninstall(db); err != nil {
					t.Errorf("nothing is there to uninstall: %v", err)
				}
			})
		})
	}
}

func TestUninstallRefusesWhileOthersNeedTheEngine(t *testing.T) {
	t.Parallel()
	pgtest.EachMajor(t, func(t *testing.T, major int) {
		db := pgtest.New(t, pgtest.Options{Major: major, Bare: true})
		furnish(t, db, db.Role(t))
		for what, create := range map[string]string{
			"public.a_view":    "create view public.a_view as select * from weir.list_logs()",
			"public.a_table":   "create table public.a_table (m weir.message)",
			"public.a_default": "create table public.a_default (v text default weir.version())",
		} {
			db.Exec(t, create)
			err := migrate.UninstallDSN(t.Context(), db.DSN)
			named := err != nil && strings.Contains(err.Error(), strings.TrimPrefix(what, "public."))
			if engine.Code(err) != engine.CodeOthersDepend || !named {
				t.Errorf("uninstall with %s: %v", what, err)
			}
			db.Exec(t, "drop "+strings.Fields(create)[1]+" "+what)
		}
		if n := pgtest.QueryVal[int](t, db, "select count(*) from weir.list_queues()"); n != 2 {
			t.Errorf("%d queues are left of 2", n)
		}
		if err := migrate.UninstallDSN(t.Context(), db.DSN); err != nil {
			t.Error(err)
		}
	})
}

func TestAnUninstallThatWasInterruptedIsContinued(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Options{Bare: true})
	furnish(t, db, db.Role(t))
	holder := db.Conn(t)
	for _, sql := range []string{"begin", "select weir.send('jobs.more', '1')"} {
		if _, err := holder.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	conn := db.Conn(t)
	if _, err := conn.Exec(t.Context(), "set lock_timeout = '100ms'"); err != nil {
		t.Fatal(err)
	}
	if err := migrate.Uninstall(t.Context(), conn); engine.Code(err) != "55P03" {
		t.Fatalf("uninstall while a queue is in use: %v, want 55P03", err)
	}
	if _, err := holder.Exec(t.Context(), "commit"); err != nil {
		t.Fatal(err)
	}
	if err := migrate.Uninstall(t.Context(), conn); err != nil {
		t.Error(err)
	}
	if pgtest.QueryVal[bool](t, db, "select to_regnamespace('weir_internal') is not null") {
		t.Error("the engine is still there")
	}
}
