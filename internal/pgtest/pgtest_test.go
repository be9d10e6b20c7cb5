package pgtest_test

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/weirmq/weir/internal/pgtest"
)

// The tests here are of the databases, not of the engine, so a table stands for it.
func TestMain(m *testing.M) {
	pgtest.SetInstaller(func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, "create table installed (by text default current_user)")
		if err == nil {
			_, err = conn.Exec(ctx, "insert into installed default values")
		}
		return err
	})
	pgtest.Main(m)
}

func TestEveryMajorGivesADatabaseWithTheEngineOwnedByAnOrdinaryRole(t *testing.T) {
	t.Parallel()
	pgtest.EachMajor(t, func(t *testing.T, major int) {
		t.Parallel()
		db := pgtest.New(t, pgtest.Options{Major: major})
		if got := pgtest.QueryVal[int](t, db, "select current_setting('server_version_num')::int / 10000"); got != major {
			t.Errorf("server is version %d, want %d", got, major)
		}
		if got := pgtest.QueryVal[string](t, db, "select by from installed"); got != pgtest.Owner {
			t.Errorf("engine was installed by %s, want %s", got, pgtest.Owner)
		}
		if pgtest.QueryVal[bool](t, db, "select rolsuper from pg_roles where rolname = current_user") {
			t.Error("the default connection is a superuser's")
		}
		if got := pgtest.QueryVal[string](t, db,
			"select datctype from pg_database where datname = current_database()"); got != "C.UTF-8" {
			t.Errorf("lc_ctype is %s, want C.UTF-8", got)
		}
		var super bool
		err := db.Super(t).QueryRow(t.Context(), "select rolsuper from pg_roles where rolname = current_user").Scan(&super)
		if err != nil || !super {
			t.Errorf("Super's connection is a superuser's: %v, %v", super, err)
		}
	})
}

//nolint:tparallel // the subtest's end is what the test looks at
func TestDatabasesOfTwoTestsShareNothingAndAreDropped(t *testing.T) {
	t.Parallel()
	keeper := pgtest.New(t, pgtest.Options{})
	var name string
	t.Run("first", func(t *testing.T) {
		db := pgtest.New(t, pgtest.Options{})
		db.Exec(t, "insert into installed default values")
		db.Conn(t) // an open connection does not keep it
		name = db.Name
	})
	if n := pgtest.QueryVal[int](t, keeper, "select count(*) from installed"); n != 1 {
		t.Errorf("found %d rows, want only the template's", n)
	}
	if pgtest.QueryVal[bool](t, keeper, "select exists (select from pg_database where datname = $1)", name) {
		t.Errorf("database %s outlived its test", name)
	}
	bare := pgtest.New(t, pgtest.Options{Bare: true})
	if !pgtest.QueryVal[bool](t, bare, "select to_regclass('installed') is null") {
		t.Error("a bare database has the engine")
	}
}

func TestTCPAsksForThePassword(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Options{})
	conn, err := pgx.Connect(t.Context(), db.TCP())
	if err != nil {
		t.Fatalf("connect through TCP: %v", err)
	}
	conn.Close(t.Context()) //nolint:errcheck // nothing is left to say
	config, err := pgx.ParseConfig(db.TCP())
	if err != nil {
		t.Fatal(err)
	}
	config.Password = "wrong"
	_, err = pgx.ConnectConfig(t.Context(), config)
	var pgErr *pgconn.PgError
	if !errors.As(err, &pgErr) || pgErr.Code != "28P01" {
		t.Errorf("connect with a wrong password: %v, want SQLSTATE 28P01", err)
	}
}

//nolint:tparallel // the subtest's end is what the test looks at
func TestRoleHasNoRightsAndIsDropped(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Options{})
	var role string
	t.Run("with role", func(t *testing.T) {
		role = db.Role(t)
		db.Exec(t, "create schema s; grant usage on schema s to "+role)
		_, err := db.As(t, role).Exec(t.Context(), "select from installed")
		var pgErr *pgconn.PgError
		if !errors.As(err, &pgErr) || pgErr.Code != "42501" {
			t.Errorf("reading another's table: %v, want SQLSTATE 42501", err)
		}
	})
	if pgtest.QueryVal[bool](t, db, "select exists (select from pg_roles where rolname = $1)", role) {
		t.Errorf("role %s outlived its test", role)
	}
}

func TestWaitForLockSeesTheWaiterAndWaitForGoneItsEnd(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Options{})
	holder, waiter := db.Conn(t), db.Conn(t)
	ctx := t.Context()
	tx, err := holder.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(ctx, "lock table installed"); err != nil {
		t.Fatal(err)
	}
	got := make(chan error, 1)
	go func() {
		_, err := waiter.Exec(ctx, "select from installed")
		got <- err
	}()
	pgtest.WaitForLock(t, db, waiter.PgConn().PID())
	if err := tx.Rollback(ctx); err != nil {
		t.Fatal(err)
	}
	if err := <-got; err != nil {
		t.Fatal(err)
	}
	pid := waiter.PgConn().PID()
	if err := waiter.Close(ctx); err != nil {
		t.Fatal(err)
	}
	pgtest.WaitForGone(t, db, pid)
}

func TestCommittedRowsSurviveKillAndUncommittedDoNot(t *testing.T) {
	t.Parallel()
	s := pgtest.StartServer(t, pgtest.ServerOptions{Settings: map[string]string{"autovacuum": "off"}})
	db := s.NewDB(t, true)
	db.Exec(t, "create table t (n int)")
	db.Exec(t, "insert into t values (1)")
	ctx := t.Context()
	tx, err := db.Conn(t).Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(ctx, "insert into t values (2)"); err != nil {
		t.Fatal(err)
	}
	s.Kill()
	if err := db.Pool(t).Ping(ctx); err == nil {
		t.Error("the server answers after Kill")
	}
	s.Up(t)
	if sum := pgtest.QueryVal[int](t, db, "select sum(n) from t"); sum != 1 {
		t.Errorf("sum is %d, want 1: the committed row and no other", sum)
	}
	if v := pgtest.QueryVal[string](t, db, "show fsync"); v != "on" {
		t.Errorf("fsync is %s, want on", v)
	}
	if v := pgtest.QueryVal[string](t, db, "show autovacuum"); v != "off" {
		t.Errorf("autovacuum is %s, want what was given", v)
	}
}

func TestMajorsFollowsTheEnvironment(t *testing.T) {
	t.Setenv("WEIR_TEST_PG", "14, 18")
	if got := pgtest.Majors(); len(got) != 2 || got[0] != 14 || got[1] != 18 {
		t.Errorf("majors are %v, want 14 and 18", got)
	}
}
