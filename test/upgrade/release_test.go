// Package upgrade_test brings databases of earlier releases up to date: what then stands in the catalogue is what an
// install makes, and everything that was in flight goes on. testdata has what `weir install --print` of each release
// printed: `make freeze` writes it. As long as no release has brought a step, one is made here.
package upgrade_test

import (
	"context"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/jackc/pgx/v5"

	"github.com/weirmq/weir/internal/migrate"
	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/sql"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// base is the first release.
const base = "testdata/0.3.0.sql.gz"

// eachRelease runs a test on every version of PostgreSQL, in a database with the first release, or with today's engine
// when that is not frozen yet.
func eachRelease(t *testing.T, test func(t *testing.T, db *pgtest.DB)) {
	t.Helper()
	pgtest.EachMajor(t, func(t *testing.T, major int) {
		t.Parallel()
		db := pgtest.New(t, pgtest.Options{Major: major, Bare: true})
		if _, err := os.Stat(base); err != nil {
			upgrade(t, db)
		} else if err := pgtest.RunRelease(t.Context(), db.Conn(t), base); err != nil {
			t.Fatal(err)
		}
		test(t, db)
	})
}

// upgrade installs what is in the tree.
func upgrade(t *testing.T, db *pgtest.DB) {
	t.Helper()
	if err := migrate.Install(t.Context(), db.Conn(t)); err != nil {
		t.Fatal(err)
	}
}

// step is one as a later release might have: it changes a table that every call reads, and one of each log.
const step = `-- A step.
do $$
declare
    v_logs regclass[] := array(select format('%I.segments', schema_name) from weir_internal.logs);
    v_log regclass;
begin
    if current_setting('weir.upgrade_from')::int >= 1000 then
        return;
    end if;
    perform weir_internal.lock_tables('weir_internal.queues'::regclass || v_logs);
    alter table weir_internal.queues add column colour text not null default 'none';
    foreach v_log in array v_logs loop
        execute format('alter table %s add column colour text', v_log);
    end loop;
end
$$;
`

// later is an engine of schema version 1,000, with that step.
func later(t *testing.T) fs.FS {
	t.Helper()
	all := fstest.MapFS{"upgrade/1000_step.sql": {Data: []byte(step)}}
	err := fs.WalkDir(sql.FS, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(sql.FS, path)
		all[path] = &fstest.MapFile{Data: text}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for path, change := range map[string][2]string{
		"prologue.sql": {"weir.schema_version = '3'", "weir.schema_version = '1000'"},
		"install.sql":  {"\\ir internal/lock_tables.sql\n", "\\ir internal/lock_tables.sql\n\\ir upgrade/1000_step.sql\n"},
	} {
		changed := strings.Replace(string(all[path].Data), change[0], change[1], 1)
		if changed == string(all[path].Data) {
			t.Fatalf("%s has no %q", path, change[0])
		}
		all[path].Data = []byte(changed)
	}
	return all
}

// upgradeLater installs the engine with the step.
func upgradeLater(ctx context.Context, conn *pgx.Conn, engine fs.FS) error {
	return migrate.InstallFrom(ctx, conn, engine, "install.sql")
}
