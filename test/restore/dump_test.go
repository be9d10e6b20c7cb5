// Package restore_test moves queues from one cluster into another with pg_dump and pg_restore, and holds that nothing
// can be done with them until weir.adopt() was called, and that nothing is lost or comes twice then.
package restore_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weirmq/weir/internal/embedded"
	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/internal/wheel"
	"github.com/weirmq/weir/test/surface"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

func each(t *testing.T, test func(t *testing.T, major int)) {
	t.Parallel()
	pgtest.EachMajor(t, func(t *testing.T, major int) {
		t.Parallel()
		test(t, major)
	})
}

// programs is the directory of pg_dump and pg_restore, which the servers of the tests come without.
func programs(t *testing.T) string {
	t.Helper()
	dir, err := wheel.PostgresBin(t.Context())
	if err != nil {
		t.Fatalf("get pg_dump: %v", err)
	}
	return dir
}

// run runs a program of PostgreSQL to its end.
func run(t *testing.T, name string, args ...string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), filepath.Join(programs(t), name), args...).CombinedOutput()
	if err != nil {
		t.Errorf("%s: %v\n%s", name, err, out)
	}
}

// super is the superuser's connection string, for what pg_restore sets and an ordinary role may not.
func super(db *pgtest.DB) string { return db.Server.SocketDSN(embedded.Superuser, db.Name) }

// dump writes a database into a file.
func dump(t *testing.T, db *pgtest.DB, args ...string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "dump")
	run(t, "pg_dump", append(args, "--format=custom", "--file="+file, "--dbname="+super(db))...)
	return file
}

// restore reads a file into a new database of a server.
func restore(t *testing.T, file string, to *pgtest.Server) *pgtest.DB {
	t.Helper()
	db := to.NewDB(t, true)
	restoreInto(t, file, db)
	return db
}

// restoreInto reads a file into a database, but for a setting that pg_restore makes and older servers do not know.
func restoreInto(t *testing.T, file string, db *pgtest.DB, args ...string) {
	t.Helper()
	sql := filepath.Join(t.TempDir(), "sql")
	run(t, "pg_restore", append(args, "--file="+sql, file)...)
	text, err := os.ReadFile(sql)
	if err == nil {
		err = os.WriteFile(sql, bytes.Replace(text, []byte("SET transaction_timeout = 0;\n"), nil, 1), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	run(t, "psql", "--quiet", "--no-psqlrc", "--set=ON_ERROR_STOP=1", "--output="+os.DevNull, "--file="+sql, super(db))
}

// cluster starts another server.
func cluster(t *testing.T, major int) *pgtest.Server {
	t.Helper()
	return pgtest.StartServer(t, pgtest.ServerOptions{Major: major, Fast: true})
}

// age has a cluster hand out transaction ids up to one.
func age(t *testing.T, db *pgtest.DB, until int64) {
	t.Helper()
	db.Exec(t, fmt.Sprintf(
		"do $$ begin while pg_current_xact_id()::text::bigint < %d loop commit; end loop; end $$", until))
}

// nextXID is the transaction id that a cluster hands out next.
func nextXID(t *testing.T, db *pgtest.DB) int64 {
	t.Helper()
	return pgtest.QueryVal[int64](t, db, "select pg_snapshot_xmax(pg_current_snapshot())::text::bigint")
}

// moved dumps a database, restores it into another cluster, whose transaction ids are all above or all below those of
// the first, and checks that it has to be adopted there.
func moved(t *testing.T, from *pgtest.DB, above bool) *pgtest.DB {
	t.Helper()
	file, server := dump(t, from), cluster(t, from.Major)
	if above {
		age(t, server.NewDB(t, true), nextXID(t, from)+50_000) // other tests go on in the first meanwhile
	}
	to := restore(t, file, server)
	if next := nextXID(t, to); above != (next > nextXID(t, from)) {
		t.Fatalf("the next transaction id is %d there and %d here", next, nextXID(t, from))
	}
	_, err := surface.Send(t.Context(), to.Pool(t), "q", "1", nil, nil, nil)
	surface.WantState(t, err, "WR019")
	return to
}

// adopt calls weir.adopt and wants that many queues adopted.
func adopt(t *testing.T, db *pgtest.DB, want int) {
	t.Helper()
	if n := pgtest.QueryVal[int](t, db, "select weir.adopt()"); n != want {
		t.Fatalf("adopted %d queues, want %d", n, want)
	}
}

// delivered is what a group is given, but for the claims.
type delivered struct {
	Attempt             int
	Key, Payload, Other string
	EnqueuedAt          time.Time
}

// drain receives and finishes all that a group is delivered, until nothing comes for a moment of the clock beyond every
// delay and lease, and returns it by id. One key's messages must come in the order of their numbers.
func drain(t *testing.T, db *pgtest.DB, group string) map[int64]delivered {
	t.Helper()
	all := map[int64]delivered{}
	for {
		list, err := surface.Receive(t.Context(), db.Pool(t), "q", group, 100, "1 hour")
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range list {
			if _, ok := all[m.ID]; ok {
				t.Errorf("group %s: message %d came twice", group, m.ID)
			}
			all[m.ID] = delivered{m.Attempt, text(m.Key), m.Payload, text(m.Headers), m.EnqueuedAt}
		}
		if len(list) > 0 {
			if _, err := surface.Ack(t.Context(), db.Pool(t), "q", list[0].ClaimID, nil); err != nil {
				t.Fatal(err)
			}
		}
		if len(list) == 0 {
			return all
		}
	}
}

func text(s *string) string {
	if s == nil {
		return "none"
	}
	return *s
}

// wantSame compares what two databases deliver to a group.
func wantSame(t *testing.T, group string, got, want map[int64]delivered) {
	t.Helper()
	for id, m := range want {
		if g, ok := got[id]; !ok {
			t.Errorf("group %s: message %d is lost: %v", group, id, m)
		} else if !g.EnqueuedAt.Equal(m.EnqueuedAt) || g.Attempt != m.Attempt || g.Key != m.Key || g.Payload != m.Payload ||
			g.Other != m.Other {
			t.Errorf("group %s: message %d came as %v, want %v", group, id, g, m)
		}
	}
	for id, m := range got {
		if _, ok := want[id]; !ok {
			t.Errorf("group %s: message %d, which was finished, came again: %v", group, id, m)
		}
	}
}

// together runs functions at the same time.
func together(all ...func()) {
	var group sync.WaitGroup
	for _, f := range all {
		group.Go(f)
	}
	group.Wait()
}

func lines(s string) []string { return strings.Split(strings.TrimSpace(s), "\n") }
