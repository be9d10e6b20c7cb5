package around_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/weirmq/weir/internal/embedded"
	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

// TestPgUpgradeNeedsNothing takes a queue from PostgreSQL 15 to 18, in the midst of its work.
func TestPgUpgradeNeedsNothing(t *testing.T) {
	t.Parallel()
	want15(t, "pg_ctl")
	old := pgtest.StartServer(t, pgtest.ServerOptions{BinDir: debian15, Fast: true})
	db := old.NewDB(t, false)
	ctx := t.Context()
	surface.CreateQueue(t, db.Pool(t), "q", "lanes => 2")
	db.Exec(t, "select weir.configure_log('main', segment_bytes => 65536)")
	everywhere(t, old, noLz4)
	db.Exec(t, "select weir.create_group('q', 'line', ordered => true)")
	db.Exec(t, "select weir.send_batch('q', array_fill('1'::jsonb, array[500]), array_fill('k'::text, array[500]))")
	db.Exec(t, "select weir.send('q', '2', delay => '1 second')")
	finished := pgtest.QueryAll[int64](t, db, "select id from weir.pop('q', max => 200)")
	held := get[[]surface.Message](t)(surface.Receive(ctx, db.Pool(t), "q", "default", 50, "1 hour"))
	surface.Settle(t, db.Pool(t))
	db.Pool(t).Close()
	everywhere(t, old, noAttver)
	must(t, old.Stop(ctx))

	dir := shortDir(t)
	data := filepath.Join(dir, "data")
	must(t, embedded.Init(ctx, embedded.Options{
		DataDir: data, SocketDir: filepath.Join(dir, "socket"), BinDir: newest(t),
	}))
	upgrade := old.Command(ctx, filepath.Join(newest(t), "pg_upgrade"),
		"--old-bindir="+debian15, "--new-bindir="+newest(t), "--old-datadir="+old.DataDir(), "--new-datadir="+data,
		"--socketdir="+old.SocketDir(), "--username="+embedded.Superuser)
	upgrade.Dir = dir
	if out, err := upgrade.CombinedOutput(); err != nil {
		logs, _ := filepath.Glob(filepath.Join(data, "pg_upgrade_output.d", "*", "log", "*"))
		for _, log := range logs {
			text, _ := os.ReadFile(log) // then less is told
			out = append(out, text[max(0, len(text)-2000):]...)
		}
		t.Fatalf("pg_upgrade: %v\n%s", err, out)
	}

	s := start(t, data, nil)
	conn := connect(t, s.SocketDSN(pgtest.Owner, db.Name))
	var adopted, major int
	must(t, conn.QueryRow(ctx, "select weir.adopt(), current_setting('server_version_num')::int / 10000").
		Scan(&adopted, &major))
	if adopted != 0 || major != 18 {
		t.Errorf("adopted %d queues on PostgreSQL %d, want none on 18", adopted, major)
	}
	if n := get[int](t)(surface.Ack(ctx, conn, "q", held[0].ClaimID, surface.IDs(held)[:10])); n != 10 {
		t.Errorf("an ack of a claim of before finished %d messages", n)
	}
	last := get[int64](t)(surface.Send(ctx, conn, "q", "3", nil, nil, nil))
	gone := slices.Concat(finished, surface.IDs(held))
	var got []int64
	deadline := time.Now().Add(3 * time.Minute)
	for len(got) < 252 && time.Now().Before(deadline) { // the delayed one may have yet to fall due
		got = append(got, ids(t, conn, "select id from weir.pop('q', max => 1000)")...)
	}
	if len(got) != 252 || !slices.Contains(got, last) {
		t.Errorf("received %d messages, want 252 with %d", len(got), last)
	}
	for _, id := range got {
		if slices.Contains(gone, id) {
			t.Errorf("message %d came again", id)
		}
	}
	surface.Settle(t, conn)
}

// noLz4 has no table use lz4, which the new build, unlike those of distributions, cannot read.
const noLz4 = `do $$
	declare
		c record;
	begin
		for c in select attrelid::regclass as relation, attname from pg_attribute where attcompression = 'l' loop
			execute format('alter table %s alter %I set compression pglz', c.relation, c.attname);
		end loop;
	end $$`

// noAttver removes the option pg_attver, which Debian's 15.20 gives to every column of every table and which no other
// build of PostgreSQL knows: pg_upgrade to one of those would fail on any table.
const noAttver = "update pg_attribute set attoptions = null where attoptions::text like '{pg_attver=%'"

// everywhere runs a statement in every database of a server.
func everywhere(t *testing.T, s *pgtest.Server, sql string) {
	t.Helper()
	names := pgtest.QueryAll[string](t, s.NewDB(t, true), "select datname::text from pg_database where datallowconn")
	for _, name := range names {
		conn := connect(t, s.SocketDSN(embedded.Superuser, name))
		_, err := conn.Exec(t.Context(), sql)
		must(t, err)
		must(t, conn.Close(t.Context()))
	}
}
