package migrate_test

import (
	"bytes"
	"errors"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/weirmq/weir/internal/engine"
	"github.com/weirmq/weir/internal/migrate"
	"github.com/weirmq/weir/internal/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// sendOne proves that the engine works.
const sendOne = "select weir.send('q', '1')"

func TestAnOrdinaryRoleInstallsBesideWhatIsThere(t *testing.T) {
	t.Parallel()
	pgtest.EachMajor(t, func(t *testing.T, major int) {
		t.Parallel()
		db := pgtest.New(t, pgtest.Options{Major: major, Bare: true})
		db.Exec(t, "create table public.messages as select 1 as id")
		if err := migrate.Install(t.Context(), db.Conn(t)); err != nil {
			t.Fatal(err)
		}
		db.Exec(t, "select weir.create_queue('q')")
		if id := pgtest.QueryVal[int64](t, db, sendOne); id == 0 {
			t.Error("no message was sent")
		}
		if n := pgtest.QueryVal[int](t, db, "select count(*) from public.messages"); n != 1 {
			t.Errorf("%d rows in another table", n)
		}
		elsewhere := pgtest.QueryAll[string](t, db, `select n.nspname || '.' || p.proname from pg_proc p
			join pg_namespace n on n.oid = p.pronamespace
			where n.nspname not in ('weir', 'weir_internal', 'weir_log', 'pg_catalog', 'information_schema')`)
		if len(elsewhere) > 0 {
			t.Errorf("functions outside the engine's schemas: %v", elsewhere)
		}
	})
}

func TestInstallingAgainKeepsMessagesAndVersion(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Options{Bare: true})
	for round := range 3 {
		version, err := migrate.InstallDSN(t.Context(), db.DSN)
		if err != nil || version != migrate.Version() {
			t.Fatalf("round %d: %q, %v", round, version, err)
		}
		if round == 0 {
			db.Exec(t, "select weir.create_queue('q')")
		}
		db.Exec(t, sendOne)
	}
	if n := pgtest.QueryVal[int](t, db, "select count(*) from weir.peek('q')"); n != 3 {
		t.Errorf("%d messages of 3", n)
	}
}

func TestAnyNumberMayInstallAtOnce(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Options{Bare: true})
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			if _, err := migrate.InstallDSN(t.Context(), db.DSN); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

func TestANewerEngineIsRefusedAndLeftAsItIs(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Options{Bare: true})
	if _, err := migrate.InstallDSN(t.Context(), db.DSN); err != nil {
		t.Fatal(err)
	}
	db.Exec(t, "update weir_internal.installation set schema_version = schema_version + 1, version = '9.9.9'")
	conn := db.Conn(t)
	err := migrate.Install(t.Context(), conn)
	var e *engine.Error
	if !errors.As(err, &e) || e.Code != engine.CodeNewerSchema || e.Status != 409 || e.Hint == "" {
		t.Errorf("error %v", err)
	}
	var version string
	if err := conn.QueryRow(t.Context(), "select weir.version()").Scan(&version); err != nil || version != "9.9.9" {
		t.Errorf("the connection gives version %q, %v", version, err)
	}
}

func TestAnInstallThatFailsChangesNothing(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Options{Bare: true})
	if _, err := db.Super(t).Exec(t.Context(), "create schema weir_internal"); err != nil {
		t.Fatal(err)
	}
	_, err := migrate.InstallDSN(t.Context(), db.DSN)
	if engine.Code(err) != "42501" {
		t.Errorf("error %v", err)
	}
	if pgtest.QueryVal[bool](t, db, "select to_regnamespace('weir') is not null") {
		t.Error("half of the engine is there")
	}
}

func TestTheScriptInstallsThroughPlainPsql(t *testing.T) {
	t.Parallel()
	psql, err := exec.LookPath("psql")
	if err != nil {
		t.Skip("there is no psql on this machine")
	}
	script, err := migrate.Script()
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(script, "\n\\") {
		t.Error("the script has lines that only psql can run")
	}
	pgtest.EachMajor(t, func(t *testing.T, major int) {
		t.Parallel()
		db := pgtest.New(t, pgtest.Options{Major: major, Bare: true})
		for range 2 {
			cmd := exec.CommandContext(t.Context(), psql, "-X", "-v", "ON_ERROR_STOP=1", "-d", db.TCP())
			cmd.Stdin = bytes.NewReader([]byte(script))
			if out, err := cmd.CombinedOutput(); err != nil || bytes.Contains(out, []byte("ERROR")) {
				t.Fatalf("%v: %s", err, out)
			}
		}
		db.Exec(t, "select weir.create_queue('q')")
		db.Exec(t, sendOne)
	})
}
