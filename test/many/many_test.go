// Package many_test has ten thousand queues in a database at PostgreSQL's default settings, and does with them what one
// does with a few: they are rows.
package many_test

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/weirmq/weir/internal/embedded"
	"github.com/weirmq/weir/internal/migrate"
	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/internal/wheel"
	"github.com/weirmq/weir/test/surface"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// queues makes queues q1 .. qn in one transaction.
func queues(t *testing.T, db *pgtest.DB, n int) {
	t.Helper()
	db.Exec(t, "select weir.create_queue('q' || i) from generate_series(1, $1::int) i", n)
}

// dump returns what pg_dump writes of a database.
func dump(t *testing.T, db *pgtest.DB, args ...string) []byte {
	t.Helper()
	dir, err := wheel.PostgresBin(t.Context())
	if err != nil {
		t.Fatalf("get pg_dump: %v", err)
	}
	cmd := exec.CommandContext(t.Context(), filepath.Join(dir, "pg_dump"),
		append(args, "--dbname="+db.Server.SocketDSN(embedded.Superuser, db.Name))...)
	var failure bytes.Buffer
	cmd.Stderr = &failure
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("pg_dump: %v\n%s", err, failure.String())
	}
	return out
}

func TestTenThousandQueuesAtDefaultSettings(t *testing.T) {
	pgtest.EachMajor(t, func(t *testing.T, major int) {
		t.Parallel()
		db := pgtest.StartServer(t, pgtest.ServerOptions{Major: major, Fast: true}).NewDB(t, false)
		if n := pgtest.QueryVal[int](t, db, "select current_setting('max_locks_per_transaction')::int"); n != 64 {
			t.Fatalf("max_locks_per_transaction is %d", n)
		}
		objects := "select (select count(*) from pg_class) + (select count(*) from pg_proc)"
		before := pgtest.QueryVal[int](t, db, objects)
		queues(t, db, 10_000)
		if after := pgtest.QueryVal[int](t, db, objects); after != before {
			t.Errorf("%d objects of the catalogue became %d", before, after)
		}
		const cycle = `select count(*) from generate_series(1, 10000, 100) i
			cross join lateral weir.send('q' || i, '1') s
			cross join lateral weir.receive('q' || i) m
			cross join lateral weir.ack('q' || i, m.claim_id, m.id) a where a = 1`
		db.Exec(t, "select weir.send('q' || i, '1') from generate_series(1, 10000, 100) i")
		if n := pgtest.QueryVal[int](t, db, cycle); n != 100 {
			t.Errorf("%d messages were finished in one transaction", n)
		}
		surface.Settle(t, db.Pool(t))
		if n, err := surface.Maintain(t.Context(), db.Pool(t)); n != 0 || err != nil {
			t.Errorf("maintain with all idle: %d, %v", n, err)
		}
		if n := pgtest.QueryVal[int](t, db, "select count(*) from weir.list_queues()"); n != 10_000 {
			t.Errorf("%d queues are listed", n)
		}
		t.Run("upgrade", func(t *testing.T) {
			if err := migrate.Install(t.Context(), db.Conn(t)); err != nil {
				t.Error(err)
			}
		})
		t.Run("dump and adopt", func(t *testing.T) {
			to := pgtest.StartServer(t, pgtest.ServerOptions{Major: major, Fast: true}).NewDB(t, true)
			script := bytes.Replace(dump(t, db), []byte("SET transaction_timeout = 0;\n"), nil, 1)
			restore(t, to, script)
			if n := pgtest.QueryVal[int](t, to, "select weir.adopt()"); n != 10_000 {
				t.Errorf("%d queues were adopted", n)
			}
			if n := pgtest.QueryVal[int](t, to, cycle); n != 100 {
				t.Errorf("%d messages were finished after adopt", n)
			}
		})
		db.Exec(t, "select weir.drop_queue('q' || i) from generate_series(1, 5000) i")
		if n := pgtest.QueryVal[int](t, db, "select count(*) from weir.list_queues()"); n != 5_000 {
			t.Errorf("%d queues are left", n)
		}
		if err := migrate.Uninstall(t.Context(), db.Conn(t)); err != nil {
			t.Fatal(err)
		}
		if pgtest.QueryVal[bool](t, db, "select to_regnamespace('weir_internal') is not null") {
			t.Error("the engine is still there")
		}
	})
}

// restore has psql read a dump.
func restore(t *testing.T, to *pgtest.DB, script []byte) {
	t.Helper()
	dir, err := wheel.PostgresBin(t.Context())
	if err != nil {
		t.Fatalf("get psql: %v", err)
	}
	cmd := exec.CommandContext(t.Context(), filepath.Join(dir, "psql"), "--quiet", "--no-psqlrc",
		"--set=ON_ERROR_STOP=1", "--output=/dev/null", to.Server.SocketDSN(embedded.Superuser, to.Name))
	cmd.Stdin = bytes.NewReader(script)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("psql: %v\n%s", err, out)
	}
}

func TestTheSchemaOfAThousandQueuesIsThatOfOne(t *testing.T) {
	pgtest.EachMajor(t, func(t *testing.T, major int) {
		t.Parallel()
		var lines [2]int
		for i, n := range []int{1, 1000} {
			db := pgtest.New(t, pgtest.Options{Major: major})
			queues(t, db, n)
			lines[i] = bytes.Count(dump(t, db, "--schema-only"), []byte("\n"))
		}
		if lines[0] != lines[1] {
			t.Errorf("the schema of one queue has %d lines, that of a thousand %d", lines[0], lines[1])
		}
	})
}

// A grant is what makes objects: a role's on twenty queues, all removed again.
func TestManyGatesAreRemovedWithTheEngine(t *testing.T) {
	pgtest.EachMajor(t, func(t *testing.T, major int) {
		t.Parallel()
		db := pgtest.New(t, pgtest.Options{Major: major})
		queues(t, db, 20)
		role := db.Role(t)
		for i := range 20 {
			db.Exec(t, "select weir.grant_consume($1, $2)", fmt.Sprintf("q%d", i+1), role)
		}
		if err := migrate.Uninstall(t.Context(), db.Conn(t)); err != nil {
			t.Fatal(err)
		}
		if n := pgtest.QueryVal[int](t, db, "select count(*) from pg_proc where proname like '%:q1'"); n != 0 {
			t.Errorf("%d gates are left", n)
		}
	})
}
