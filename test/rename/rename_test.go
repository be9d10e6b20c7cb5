// Package rename_test holds that a queue keeps all it has under another name, and that whoever uses the old one while
// it changes either succeeds or is told.
package rename_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

func each(t *testing.T, test func(t *testing.T, db *pgtest.DB)) {
	t.Parallel()
	pgtest.Each(t, test)
}

// fails runs a statement that must fail with an SQLSTATE.
func fails(t *testing.T, c surface.Conn, state, sql string, args ...any) {
	t.Helper()
	_, err := c.Exec(t.Context(), sql, args...)
	surface.WantState(t, err, state)
}

func want(t *testing.T, db *pgtest.DB, want int, sql string, args ...any) {
	t.Helper()
	if got := pgtest.QueryVal[int64](t, db, sql, args...); got != int64(want) {
		t.Errorf("%s: %d, want %d", sql, got, want)
	}
}

func TestARenamedQueueKeepsWhatItHas(t *testing.T) {
	each(t, func(t *testing.T, db *pgtest.DB) {
		surface.CreateQueue(t, db.Pool(t), "old", "lanes => 1")
		db.Exec(t, "select weir.create_group('old', 'second')")
		db.Exec(t, "select weir.bind('news', 'old')")
		role := db.Role(t)
		for _, right := range []string{"produce", "consume", "admin"} {
			db.Exec(t, "select weir.grant_"+right+"('old', $1)", role)
		}
		db.Exec(t, "select weir.send_batch('old', array_fill('1'::jsonb, array[5]))")
		db.Exec(t, "select weir.send('old', '2', delay => '1 hour')")
		claim := pgtest.QueryVal[int64](t, db, "select max(claim_id) from weir.receive('old', max => 2)")
		want(t, db, 1, "select weir.reject('old', claim_id, array[id]) from weir.receive('old')")

		user := db.As(t, role)
		if _, err := user.Exec(t.Context(), "select weir.rename_queue('old', 'new')"); err != nil {
			t.Fatal(err)
		}
		for _, sql := range []string{
			"select weir.send('old', '1')", "select weir.receive('old')", "select weir.ack('old', 1, 1)",
			"select weir.stats('old')", "select weir.drop_queue('old')", "select weir.rename_queue('old', 'newer')",
		} {
			fails(t, user, "WR001", sql)
		}
		want(t, db, 2, "select weir.ack_all('new', $1)", claim)
		want(t, db, 2, "select waiting from weir.stats('new') where group_name = 'default'")
		want(t, db, 5, "select waiting from weir.stats('new') where group_name = 'second'")
		want(t, db, 1, "select min(delayed) from weir.stats('new')")
		want(t, db, 1, "select count(*) from weir.dead_letters('new')")
		if got := pgtest.QueryAll[string](t, db, "select queue_name from weir.publish('news', '3')"); len(got) != 1 ||
			got[0] != "new" {
			t.Errorf("published to %v", got)
		}
		for _, sql := range []string{
			"select weir.send('new', '1')", "select * from weir.pop('new', max => 10)", "select weir.purge('new')",
		} {
			if _, err := user.Exec(t.Context(), sql); err != nil {
				t.Errorf("%s: %v", sql, err)
			}
		}
		surface.CreateQueue(t, db.Pool(t), "old", "")
		for _, sql := range []string{
			"select weir.send('old', '1')", "select weir.receive('old')", "select weir.purge('old')",
		} {
			fails(t, user, "42501", sql)
		}
	})
}

func TestARenamedQueueIsDroppedWhole(t *testing.T) {
	each(t, func(t *testing.T, db *pgtest.DB) {
		objects := `select 'f ' || p.oid::regprocedure::text from pg_proc p where p.pronamespace::regnamespace::text ~ '^weir'
			union all
			select 'r ' || c.oid::regclass from pg_class c where c.relnamespace::regnamespace::text ~ '^weir' order by 1`
		before := pgtest.QueryAll[string](t, db, objects)
		surface.CreateQueue(t, db.Pool(t), "old", "")
		db.Exec(t, "select weir.rename_queue('old', 'new')")
		surface.Settle(t, db.Pool(t))
		db.Exec(t, "select weir.drop_queue('new')")
		if after := pgtest.QueryAll[string](t, db, objects); !slices.Equal(before, after) {
			t.Errorf("left over: %v", slices.DeleteFunc(after, func(s string) bool { return slices.Contains(before, s) }))
		}
	})
}

func TestRenameRefusesANameThatIsTakenOrBad(t *testing.T) {
	each(t, func(t *testing.T, db *pgtest.DB) {
		surface.CreateQueue(t, db.Pool(t), "one", "")
		surface.CreateQueue(t, db.Pool(t), "two", "")
		for _, c := range []struct{ state, from, to string }{
			{"WR002", "one", "two"},
			{"WR002", "one", "one"},
			{"WR001", "none", "three"},
			{"WR005", "one", "Three"},
			{"WR005", "one", ""},
			{"WR005", "one", "x:y"},
		} {
			fails(t, db.Pool(t), c.state, "select weir.rename_queue($1, $2)", c.from, c.to)
		}
		fails(t, db.Pool(t), "WR005", "select weir.rename_queue('one', null)")
		got := pgtest.QueryAll[string](t, db, "select queue_name from weir.list_queues() order by 1")
		if !slices.Equal(got, []string{"one", "two"}) {
			t.Errorf("queues %v", got)
		}
	})
}

func TestARolledBackRenameChangesNothing(t *testing.T) {
	each(t, func(t *testing.T, db *pgtest.DB) {
		surface.CreateQueue(t, db.Pool(t), "old", "")
		conn := db.Conn(t)
		for _, sql := range []string{
			"begin", "select weir.rename_queue('old', 'new')", "select weir.send('new', '1')", "rollback",
		} {
			if _, err := conn.Exec(t.Context(), sql); err != nil {
				t.Fatalf("%s: %v", sql, err)
			}
		}
		fails(t, conn, "WR001", "select weir.send('new', '1')")
		db.Exec(t, "select weir.send('old', '2')")
		if got := pgtest.QueryAll[string](t, db, "select payload from weir.pop('old', max => 5)"); !slices.Equal(got,
			[]string{"2"}) {
			t.Errorf("received %v", got)
		}
	})
}

func TestRenameWaitsForNoOpenTransaction(t *testing.T) {
	each(t, func(t *testing.T, db *pgtest.DB) {
		surface.CreateQueue(t, db.Pool(t), "old", "lanes => 1")
		db.Exec(t, "select weir.send('old', '1')")
		sender, consumer := db.Conn(t), db.Conn(t)
		for _, sql := range []string{"begin", "select weir.send('old', '2')"} {
			if _, err := sender.Exec(t.Context(), sql); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := consumer.Exec(t.Context(), "begin"); err != nil {
			t.Fatal(err)
		}
		got, err := surface.Receive(t.Context(), consumer, "old", "default", 1, "1 hour")
		if err != nil || len(got) != 1 {
			t.Fatalf("received %v, %v", got, err)
		}
		db.Exec(t, "select set_config('lock_timeout', '1min', true), weir.rename_queue('old', 'new')")
		if n, err := surface.Ack(t.Context(), consumer, "new", got[0].ClaimID, nil); n != 1 || err != nil {
			t.Errorf("acked %d, %v", n, err)
		}
		if _, err := consumer.Exec(t.Context(), "commit"); err != nil {
			t.Fatal(err)
		}
		if _, err := sender.Exec(t.Context(), "commit"); err != nil {
			t.Fatal(err)
		}
		if got := pgtest.QueryAll[string](t, db, "select payload from weir.pop('new', max => 5)"); !slices.Equal(got,
			[]string{"2"}) {
			t.Errorf("received %v", got)
		}
	})
}

func TestAWaiterIsWokenByARename(t *testing.T) {
	each(t, func(t *testing.T, db *pgtest.DB) {
		surface.CreateQueue(t, db.Pool(t), "old", "")
		waiter := db.Conn(t)
		var channel string
		if err := waiter.QueryRow(t.Context(), "select weir.mark_waiting('old')").Scan(&channel); err != nil {
			t.Fatal(err)
		}
		if _, err := waiter.Exec(t.Context(), `listen "`+channel+`"`); err != nil {
			t.Fatal(err)
		}
		db.Exec(t, "select weir.rename_queue('old', 'new')")
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		if _, err := waiter.WaitForNotification(ctx); err != nil {
			t.Fatal(err)
		}
		if err := waiter.QueryRow(t.Context(), "select weir.mark_waiting('new')").Scan(&channel); err != nil {
			t.Fatal(err)
		}
		if _, err := waiter.Exec(t.Context(), `listen "`+channel+`"`); err != nil {
			t.Fatal(err)
		}
		db.Exec(t, "select weir.send('new', '1')")
		if got, err := waiter.WaitForNotification(ctx); err != nil || got.Channel != channel {
			t.Errorf("notified %v, %v", got, err)
		}
	})
}

func TestNothingIsLostWhenAQueueIsRenamedUnderLoad(t *testing.T) {
	each(t, func(t *testing.T, db *pgtest.DB) {
		surface.CreateQueue(t, db.Pool(t), "a", "lanes => 4")
		names := []string{"a", "b"}
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		var mu sync.Mutex
		var sent, received []int64
		told := 0
		var workers sync.WaitGroup
		for range 3 {
			workers.Go(func() {
				conn := db.Conn(t)
				for i := 0; ctx.Err() == nil && !t.Failed(); i++ {
					id, err := surface.Send(t.Context(), conn, names[i%2], "1", nil, nil, nil)
					mu.Lock()
					switch {
					case err == nil:
						sent = append(sent, id)
					case surface.SQLState(err) == "WR001":
						told++
					default:
						t.Errorf("send: %v", err)
					}
					mu.Unlock()
				}
			})
		}
		take := func(conn surface.Conn, queue string) int {
			got, err := surface.Pop(t.Context(), conn, queue, "default", 100)
			if err != nil && surface.SQLState(err) != "WR001" {
				t.Errorf("pop: %v", err)
			}
			mu.Lock()
			defer mu.Unlock()
			received = append(received, surface.IDs(got)...)
			return len(got)
		}
		workers.Go(func() {
			conn := db.Conn(t)
			for i := 0; ctx.Err() == nil; i++ {
				take(conn, names[i%2])
			}
		})
		// It lasts until it has proved something.
		enough := func() bool {
			mu.Lock()
			defer mu.Unlock()
			return len(sent) >= 100 && told >= 100
		}
		now := 0
		for began := time.Now(); !t.Failed() && (time.Since(began) < 2*time.Second || !enough()); now = 1 - now {
			db.Exec(t, "select weir.rename_queue($1, $2)", names[now], names[1-now])
		}
		stop()
		workers.Wait()
		for take(db.Pool(t), names[now]) > 0 {
		}
		slices.Sort(sent)
		slices.Sort(received)
		if !slices.Equal(sent, received) {
			t.Errorf("sent %d messages, received %d", len(sent), len(received))
		}
	})
}
