package around_test

import (
	"context"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirmq/weir/internal/embedded"
	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

// TestAPromotedStandbyGoesOn kills a primary at work and promotes its synchronous standby: what was confirmed is there,
// and what was finished does not come again.
func TestAPromotedStandbyGoesOn(t *testing.T) {
	t.Parallel()
	primary := pgtest.StartServer(t, pgtest.ServerOptions{BinDir: newest(t)})
	db := primary.NewDB(t, false)
	surface.CreateQueue(t, db.Pool(t), "q", "")
	db.Exec(t, "select weir.configure_log('main', segment_bytes => 65536, claims_bytes => 65536)")
	db.Exec(t, "select weir.configure_group('q', 'default', max_attempts => 1000)")
	data := filepath.Join(shortDir(t), "data")
	backup := exec.CommandContext(t.Context(), filepath.Join(newest(t), "pg_basebackup"), "--pgdata="+data,
		"--write-recovery-conf", "--checkpoint=fast", "--dbname="+primary.SocketDSN(embedded.Superuser, "postgres"))
	if out, err := backup.CombinedOutput(); err != nil {
		t.Fatalf("pg_basebackup: %v\n%s", err, out)
	}
	standby := start(t, data, map[string]string{"cluster_name": "standby"})
	super := db.Super(t)
	for _, sql := range []string{"alter system set synchronous_standby_names = 'standby'", "select pg_reload_conf()"} {
		get[any](t)(super.Exec(t.Context(), sql))
	}
	pgtest.WaitForRow(t, db, "select exists (select from pg_stat_replication where sync_state = 'sync')")

	w := &load{finished: map[int64]bool{}}
	var crew sync.WaitGroup
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	crew.Go(func() { w.send(ctx, db.DSN) })
	crew.Go(func() { w.consume(ctx, db.DSN) })
	pgtest.WaitFor(t, "work that is confirmed", func() bool {
		surface.Settle(t, db.Pool(t))
		w.mu.Lock()
		defer w.mu.Unlock()
		return len(w.sent) > 1000 && len(w.finished) > 200
	})
	primary.Kill()
	stop()
	crew.Wait()

	admin := connect(t, standby.SocketDSN(embedded.Superuser, "postgres"))
	get[any](t)(admin.Exec(t.Context(), "select pg_promote()"))
	conn := connect(t, standby.SocketDSN(pgtest.Owner, db.Name))
	var adopted int
	must(t, conn.QueryRow(t.Context(), "select weir.adopt()").Scan(&adopted))
	if adopted != 0 {
		t.Errorf("adopted %d queues, want none", adopted)
	}
	missing := map[int64]bool{}
	for _, id := range w.sent {
		missing[id] = !w.finished[id] && !slices.Contains(w.unsure, id)
	}
	maps.DeleteFunc(missing, func(_ int64, wanted bool) bool { return !wanted })
	for deadline := time.Now().Add(3 * time.Minute); len(missing) > 0; { // a lease of the last moment has to run out
		for _, id := range ids(t, conn, "select id from weir.pop('q', max => 1000)") {
			if w.finished[id] {
				t.Errorf("message %d, which was finished, came again", id)
			}
			delete(missing, id)
		}
		if time.Now().After(deadline) {
			t.Fatalf("messages %v, which were confirmed, are lost", slices.Sorted(maps.Keys(missing)))
		}
	}
	if next := get[int64](t)(surface.Send(t.Context(), conn, "q", "1", nil, nil, nil)); next <= slices.Max(w.sent) {
		t.Errorf("a new message has the id %d, of which there is one", next)
	}
	surface.Settle(t, conn)
}

// load is what was confirmed to those who work with a queue until their server is gone.
type load struct {
	mu       sync.Mutex
	sent     []int64
	finished map[int64]bool
	unsure   []int64 // taken by the call whose answer never came
}

func (w *load) send(ctx context.Context, dsn string) {
	conn, err := pgx.Connect(ctx, dsn)
	for err == nil {
		var list []int64
		list, err = surface.SendBatch(ctx, conn, "q", []string{"1", "2", "3", "4", "5"}, nil, nil, nil)
		if err == nil {
			w.mu.Lock()
			w.sent = append(w.sent, list...)
			w.mu.Unlock()
		}
	}
}

// consume receives and finishes, each in its own transaction, until its server is gone.
func (w *load) consume(ctx context.Context, dsn string) {
	conn, err := pgx.Connect(ctx, dsn)
	for err == nil {
		var list []surface.Message
		list, err = surface.Receive(ctx, conn, "q", "default", 3, "1 second")
		if err != nil || len(list) == 0 {
			continue
		}
		_, err = surface.Ack(ctx, conn, "q", list[0].ClaimID, nil)
		if surface.SQLState(err) == "WR010" { // too slow, they come again
			err = nil
			continue
		}
		w.mu.Lock()
		for _, m := range list {
			if err == nil {
				w.finished[m.ID] = true
			} else {
				w.unsure = append(w.unsure, m.ID)
			}
		}
		w.mu.Unlock()
	}
}
