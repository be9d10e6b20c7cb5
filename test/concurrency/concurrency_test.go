package concurrency_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

func TestNothingIsLostUnderLoad(t *testing.T) {
	for name, held := range map[string]bool{"alone": false, "beside open transactions": true} {
		t.Run(name, func(t *testing.T) {
			pgtest.EachMajor(t, func(t *testing.T, major int) {
				run(t, major, time.Duration(pgtest.Longer())*4*time.Second, held)
			})
		})
	}
}

func run(t *testing.T, major int, span time.Duration, held bool) {
	db := pgtest.New(t, pgtest.Options{Major: major})
	db.Exec(t, "update weir_internal.logs set segment_bytes = 65536, claims_bytes = 65536")
	surface.CreateQueue(t, db.Pool(t), queue, "lanes => 4")
	db.Exec(t, "select weir.create_group($1, 'other', max_attempts => 1000, backoff_max => '1 second')", queue)
	db.Exec(t, "update weir_internal.groups set max_attempts = 1000, backoff_max = '1 second'")
	l := newLoad(t, db, "default", "other")

	// The writer has sent and commits at the end; the reader has read its own tables and is idle.
	writer, reader := db.Conn(t), db.Conn(t)
	if held {
		for _, sql := range []string{"begin", "select weir.send('load', '0')"} {
			if _, err := writer.Exec(t.Context(), sql); err != nil {
				t.Fatal(err)
			}
		}
		for _, sql := range []string{"begin isolation level repeatable read", "select count(*) from pg_class"} {
			if _, err := reader.Exec(t.Context(), sql); err != nil {
				t.Fatal(err)
			}
		}
	}

	produce, stop := context.WithCancel(t.Context())
	defer stop()
	quiet := make(chan struct{}) // closed when all is settled or given up
	var senders, others sync.WaitGroup
	for range producers {
		senders.Go(func() { l.produce(produce) })
	}
	over := func() bool { return closed(quiet) }
	for _, g := range l.groups {
		for range consumers {
			others.Go(func() { l.consume(g, over) })
		}
	}
	for range 2 {
		others.Go(func() { l.maintain(over) })
	}
	senders.Go(func() { l.disturb(produce, span) })
	others.Go(func() { l.stopWhenTurned(span, stop) })

	senders.Wait()
	db.Pool(t).Reset() // a connection of it may have been ended after its last use
	if held {
		if _, err := writer.Exec(t.Context(), "commit"); err != nil {
			t.Fatal(err)
		}
		l.mu.Lock()
		l.committed["0"] = true
		l.mu.Unlock()
	}
	missing := l.await()
	close(quiet)
	others.Wait()
	l.verdict(missing)
	if t.Failed() {
		return
	}
	if held {
		if _, err := reader.Exec(t.Context(), "commit"); err != nil {
			t.Fatal(err)
		}
	}
	wantNoLocks(t, db)
	wantSmall(t, db)
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// await waits until the engine says that no group has anything left, and returns what was never delivered.
func (l *load) await() map[string][]string {
	missing := map[string][]string{}
	deadline := time.Now().Add(5 * time.Minute)
	for !l.settled() {
		left := pgtest.QueryVal[int64](l.tb, l.db,
			"select sum(waiting + claimed + delayed)::bigint from weir.stats($1)", queue)
		if left == 0 {
			break
		}
		if time.Now().After(deadline) {
			l.fail("%d messages are left after five minutes", left)
			break
		}
		pause(l.tb.Context(), 40*time.Millisecond)
	}
	for _, g := range l.groups {
		missing[g] = l.undelivered(g)
	}
	return missing
}

// maintain turns the rings from sessions of its own. A step that fails does so with a warning, and fails the run: no
// client may stand in its way.
func (l *load) maintain(over func() bool) {
	c := client{l: l}
	for !over() {
		c.use(func(conn *pgx.Conn) error {
			_, err := surface.Maintain(context.Background(), conn)
			return err
		})
		pause(l.tb.Context(), 10*time.Millisecond)
	}
	c.close()
}

// disturb cancels statements and ends sessions at random; those of maintenance for a time only, since on a slow machine
// a step may take longer than it is left alone.
func (l *load) disturb(ctx context.Context, span time.Duration) {
	conn := l.db.Super(l.tb)
	begin := time.Now()
	for ctx.Err() == nil {
		how := "pg_cancel_backend"
		if chance(25) {
			how = "pg_terminate_backend"
		}
		_, err := conn.Exec(context.Background(), "select "+how+`(pid) from (
			select pid from pg_stat_activity
			where datname = current_database() and usename = $1 and query not in ('begin', 'commit')
				and query not like '%load%0%' and query not like '%pg_class%' and state <> 'idle'
				and ($2 or query <> 'call weir.maintain()')
			order by random() limit 1) t`, pgtest.Owner, time.Since(begin) < span)
		if err != nil {
			l.fail("disturb: %v", err)
		}
		pause(ctx, 30*time.Millisecond)
	}
}

// stopWhenTurned ends the load when it has lasted, and both rings have turned under it.
func (l *load) stopWhenTurned(span time.Duration, stop func()) {
	defer stop()
	var log, claims int64
	begin := time.Now()
	for time.Since(begin) < span || log < 3 || claims < 4 {
		if time.Since(begin) > 5*time.Minute {
			l.fail("log ring at %d, claim ring at %d: five minutes of load have not turned them enough", log, claims)
			return
		}
		pause(l.tb.Context(), 50*time.Millisecond)
		err := l.db.Pool(l.tb).QueryRow(l.tb.Context(), `select pg_sequence_last_value('weir_log.log_ring'),
			pg_sequence_last_value('weir_log.claims_ring')`).Scan(&log, &claims)
		if err != nil {
			l.expected(err)
		}
	}
}

func wantNoLocks(t *testing.T, db *pgtest.DB) {
	t.Helper()
	pgtest.WaitForRow(t, db, `select count(*) = 0 from pg_locks
		where pid <> pg_backend_pid() and (locktype = 'advisory' or locktype = 'relation'
			and database = (select oid from pg_database where datname = current_database()))`)
}

// wantSmall turns the rings until there is nothing to do; then nothing of the load may be left in them.
func wantSmall(t *testing.T, db *pgtest.DB) {
	t.Helper()
	surface.Settle(t, db.Pool(t))
	size := pgtest.QueryVal[int64](t, db, `select sum(pg_relation_size(oid))::bigint from pg_class
		where relnamespace = 'weir_log'::regnamespace and relname ~ '^(log_|claims_|rest)' and relkind = 'r'`)
	if size > 4<<20 { // twice what was carried over under load, when others wrote too
		t.Errorf("the rings hold %d bytes after all was done", size)
		for _, query := range []string{
			`select relname || ' ' || pg_relation_size(oid) from pg_class
				where relnamespace = 'weir_log'::regnamespace and relkind = 'r' order by 1`,
			"select s::text from weir_log.segments s order by 1", "select s::text from weir.stats() s",
			"select id || ' ' || coalesce(pos, 0) from weir_log.claims_2 where kind = 'n'",
		} {
			t.Log(strings.Join(pgtest.QueryAll[string](t, db, query), "\n"))
		}
	}
}
