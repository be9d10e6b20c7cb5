// Package idle_test holds that an idle consumer costs nothing, and that no call needs a session of its own.
package idle_test

import (
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

const queue = "idle"

// prepare brings a queue into the state in which receive finds nothing.
var prepare = map[string]func(t *testing.T, db *pgtest.DB){
	"never used": func(*testing.T, *pgtest.DB) {},
	"all acknowledged": func(t *testing.T, db *pgtest.DB) {
		db.Exec(t, "select weir.send_batch('idle', array_fill('1'::jsonb, array[100]))")
		db.Exec(t, "select weir.send('idle', '1', delay => '1 ms')")
		pgtest.WaitFor(t, "the delayed message", func() bool {
			return pgtest.QueryVal[int64](t, db, "select count(*) from weir.pop('idle', max => 1000)") == 1 ||
				pgtest.QueryVal[int64](t, db, "select sum(waiting + delayed)::bigint from weir.stats('idle')") == 0
		})
		surface.Settle(t, db.Pool(t))
	},
	"all claimed": func(t *testing.T, db *pgtest.DB) {
		db.Exec(t, "select weir.send_batch('idle', array_fill('1'::jsonb, array[100]))")
		db.Exec(t, "select count(*) from weir.receive('idle', max => 1000)")
	},
	"all delayed": func(t *testing.T, db *pgtest.DB) {
		db.Exec(t, "select weir.send('idle', '1', delay => '1 hour')")
	},
	"leases have ended": leasesHaveEnded,
	"leases of keys in order have ended": func(t *testing.T, db *pgtest.DB) {
		db.Exec(t, "select weir.drop_group('idle', 'default')")
		db.Exec(t, "select weir.create_group('idle', 'default', ordered => true)")
		leasesHaveEnded(t, db)
	},
	"rolled back": func(t *testing.T, db *pgtest.DB) {
		tx, err := db.Pool(t).Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := surface.Send(t.Context(), tx, queue, "1", nil, nil, nil); err != nil {
			t.Fatal(err)
		}
		if err := tx.Rollback(t.Context()); err != nil {
			t.Fatal(err)
		}
	},
}

// leasesHaveEnded acknowledges in time all that was claimed in some lanes. The next receive looks at what has expired,
// and notes that nothing has.
func leasesHaveEnded(t *testing.T, db *pgtest.DB) {
	db.Exec(t, `select weir.send_batch('idle', array_fill('1'::jsonb, array[100]), array_agg(i::text))
		from generate_series(1, 100) i`)
	claim := pgtest.QueryVal[int64](t, db,
		"select max(claim_id) from weir.receive('idle', max => 1000, lease => '500 ms')")
	if _, err := surface.Ack(t.Context(), db.Pool(t), queue, claim, nil); err != nil {
		t.Fatal(err)
	}
	pgtest.WaitForRow(t, db, "select clock_timestamp() > max(deadline) from weir_log.claims_2")
	db.Exec(t, "select from weir.receive('idle')")
}

func TestReceiveThatFindsNothingWritesNothing(t *testing.T) {
	pgtest.EachMajor(t, func(t *testing.T, major int) {
		for name, state := range prepare {
			t.Run(name, func(t *testing.T) {
				db := pgtest.New(t, pgtest.Options{Major: major})
				surface.CreateQueue(t, db.Pool(t), queue, "")
				state(t, db)
				// no LSN moves but by this session's doing: nothing else is at work in a database of fsync off, except
				// checkpoints and the like, so that one quiet try of some is enough
				conn := db.Conn(t)
				quiet := false
				for range 50 {
					quiet = quiet || writesNothing(t, conn)
				}
				if !quiet {
					t.Error("the end of the WAL moved at every try")
				}
			})
		}
	})
}

func writesNothing(t *testing.T, conn *pgx.Conn) bool {
	t.Helper()
	lsn := func() (at string) {
		if err := conn.QueryRow(t.Context(), "select pg_current_wal_insert_lsn()::text").Scan(&at); err != nil {
			t.Fatal(err)
		}
		return at
	}
	before := lsn()
	for range 20 { // some probe and some do not
		tx, err := conn.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, call := range []string{
			"select * from weir.receive('idle', max => 10)", "select * from weir.receive_records('idle', max => 10)",
			"select * from weir.pop('idle')", "select * from weir.peek('idle', max => 1) where false",
		} {
			tag, err := tx.Exec(t.Context(), call)
			if err != nil || tag.RowsAffected() != 0 {
				t.Fatalf("%s: %d rows, %v", call, tag.RowsAffected(), err)
			}
		}
		var none bool
		err = tx.QueryRow(t.Context(), "select pg_current_xact_id_if_assigned() is null").Scan(&none)
		if err != nil || !none {
			t.Fatalf("the transaction was given an id: it wrote something (%v)", err)
		}
		err = tx.QueryRow(t.Context(), `select count(*) = 0 from pg_locks
			where pid = pg_backend_pid() and locktype = 'advisory'`).Scan(&none)
		if err != nil || !none {
			t.Fatalf("the transaction keeps a lock of the engine from others (%v)", err)
		}
		if err := tx.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	return lsn() == before
}

func TestAConsumerThatBeginsToWaitWritesNothing(t *testing.T) {
	pgtest.EachMajor(t, func(t *testing.T, major int) {
		db := pgtest.New(t, pgtest.Options{Major: major})
		surface.CreateQueue(t, db.Pool(t), queue, "")
		wrote := pgtest.QueryVal[bool](t, db,
			"select pg_current_xact_id_if_assigned() is not null from weir.mark_waiting('idle')")
		if set := pgtest.QueryVal[bool](t, db, `select s.last_value = 1 from pg_sequences s, weir_internal.queues q
			where format('%I.%I', s.schemaname, s.sequencename)::regclass = q.waiting`); !set {
			t.Fatal("the queue is not marked")
		}
		if logged := major < 15; wrote != logged { // sequences without WAL came with PostgreSQL 15
			t.Errorf("mark_waiting wrote: %v, want %v", wrote, logged)
		}
	})
}

// Each call in a session of its own, as behind a pooler, and after each nothing of it is left in the server.
func TestEveryCallMayHaveAnotherSession(t *testing.T) {
	pgtest.EachMajor(t, func(t *testing.T, major int) {
		db := pgtest.New(t, pgtest.Options{Major: major})
		watch := db.Super(t)
		open := 0
		call := func(do func(c *pgx.Conn) error) {
			t.Helper()
			conn := db.Conn(t)
			if err := do(conn); err != nil {
				t.Fatal(err)
			}
			var locks int
			err := watch.QueryRow(t.Context(), "select count(*) from pg_locks where pid = $1 and locktype <> 'virtualxid'",
				int64(conn.PgConn().PID())).Scan(&locks)
			if err != nil || locks != 0 {
				t.Fatalf("a session holds %d locks after its statement (%v)", locks, err)
			}
			var settings int
			err = conn.QueryRow(t.Context(), "select count(*) from pg_settings where source = 'session'").Scan(&settings)
			if err != nil || settings != 0 {
				t.Fatalf("a statement leaves %d settings behind (%v)", settings, err)
			}
			if open++; open%2 == 0 {
				conn.Close(t.Context()) //nolint:errcheck // a pooler closes some, and keeps others
			}
		}
		call(func(c *pgx.Conn) error { surface.CreateQueue(t, c, queue, "lanes => 2"); return nil })
		var got []surface.Message
		receive := func(c *pgx.Conn) (err error) {
			got, err = surface.Receive(t.Context(), c, queue, "default", 10, "1 minute")
			return err
		}
		for range 3 {
			call(func(c *pgx.Conn) error {
				_, err := surface.Send(t.Context(), c, queue, "1", surface.Text("k"), nil, nil)
				return err
			})
		}
		call(receive)
		if len(got) != 3 {
			t.Fatalf("received %v", got)
		}
		claim := got[0].ClaimID
		call(func(c *pgx.Conn) error { _, err := surface.Extend(t.Context(), c, queue, claim, "1 hour"); return err })
		call(func(c *pgx.Conn) error {
			_, err := surface.Ack(t.Context(), c, queue, claim, []int64{got[0].ID})
			return err
		})
		call(func(c *pgx.Conn) error {
			_, err := surface.Nack(t.Context(), c, queue, claim, []int64{got[1].ID}, surface.Text("1 ms"))
			return err
		})
		call(func(c *pgx.Conn) error {
			_, err := surface.Reject(t.Context(), c, queue, claim, []int64{got[2].ID})
			return err
		})
		call(func(c *pgx.Conn) error { _, err := surface.Maintain(t.Context(), c); return err })
		pgtest.WaitFor(t, "the message that was nacked", func() bool { call(receive); return len(got) == 1 })
		call(func(c *pgx.Conn) error { _, err := surface.Ack(t.Context(), c, queue, got[0].ClaimID, nil); return err })
		call(func(c *pgx.Conn) error {
			_, err := c.Exec(t.Context(), "select weir.redrive('idle', 'default')")
			return err
		})
		call(func(c *pgx.Conn) error { _, err := surface.Pop(t.Context(), c, queue, "default", 10); return err })
	})
}
