package pgmq_test

import (
	"strings"
	"testing"

	"github.com/weirmq/weir/internal/engine"
	"github.com/weirmq/weir/internal/migrate"
	"github.com/weirmq/weir/internal/pgtest"
)

// functions counts those of the engine's helpers.
const functions = "select count(*) from pg_proc where pronamespace = 'weir_internal'::regnamespace"

func TestInstallingAgainKeepsQueuesAndUninstallingLeavesNothing(t *testing.T) {
	t.Parallel()
	pgtest.EachMajor(t, func(t *testing.T, major int) {
		t.Parallel()
		db := newFace(t, major)
		before := pgtest.QueryVal[int](t, db, functions)
		db.Exec(t, "select pgmq.create('q'), pgmq.create('Q')")
		db.Exec(t, "select pgmq.send_batch('q', array['1', '2', '3']::jsonb[])")
		db.Exec(t, "select count(*) from pgmq.read('q', 1000, 1)")
		if err := migrate.Install(t.Context(), db.Conn(t)); err != nil {
			t.Fatal(err)
		}
		installFace(t, db)
		if !pgtest.QueryVal[bool](t, db, "select pgmq.delete('q', 1) and pgmq.delete('q', 2)") {
			t.Error("what was there before cannot be deleted")
		}
		found := pgtest.QueryAll[string](t, db, "select f::text from weir.doctor() f where f.severity <> 'info'")
		if len(found) > 0 {
			t.Errorf("doctor finds %v", found)
		}
		for range 2 {
			if err := migrate.UninstallFace(t.Context(), db.Conn(t), "pgmq"); err != nil {
				t.Fatal(err)
			}
		}
		left := pgtest.QueryAll[string](t, db, `select nspname::text from pg_namespace where nspname ~ 'pgmq'
			union all select queue_name from weir.list_queues()
			union all select tgname::text from pg_trigger where tgname ~ 'pgmq'`)
		after := pgtest.QueryVal[int](t, db, functions)
		if len(left) > 0 || after != before {
			t.Errorf("left are %v; %d functions, before %d", left, after, before)
		}
	})
}

func TestTheFaceTakesNotThePlaceOfPGMQItself(t *testing.T) {
	t.Parallel()
	pgtest.Each(t, func(t *testing.T, db *pgtest.DB) {
		db.Exec(t, "create schema pgmq")
		err := migrate.InstallFace(t.Context(), db.Conn(t), "pgmq")
		if err == nil || !strings.Contains(err.Error(), "not Weir's") {
			t.Errorf("installed over it: %v", err)
		}
		if logs := pgtest.QueryVal[int](t, db, "select count(*) from weir.list_logs()"); logs != 1 {
			t.Errorf("%d logs", logs)
		}
	})
}

func TestAQueueOfTheFaceStaysWhatItIs(t *testing.T) {
	t.Parallel()
	pgtest.Each(t, func(t *testing.T, db *pgtest.DB) {
		installFace(t, db)
		db.Exec(t, "select pgmq.create('q')")
		for _, call := range []string{
			`select weir.send('pgmq.q', '1')`, `select weir.send_batch('pgmq.q', array['1']::jsonb[])`,
			`select weir.send('pgmq.q', '1', key => 'k')`, `select weir.send('pgmq.q', '1', delay => '1 second')`,
			`select weir.enqueue('pgmq.q', 'kind')`, `select weir.rename_queue('pgmq.q', 'other')`,
			`select weir.move_queue('pgmq.q', 'main')`,
		} {
			_, err := db.Conn(t).Exec(t.Context(), call)
			if code := engine.Code(engine.Wrap("call", err)); code != "WR006" {
				t.Errorf("%s: %v", call, err)
			}
		}
		db.Exec(t, "select pgmq.send('q', '{\"a\": 1.0}')")
		if got := pgtest.QueryVal[string](t, db, "select payload::text from weir.receive('pgmq.q')"); got != `{"a": 1.0}` {
			t.Errorf("received %s", got)
		}
		if !pgtest.QueryVal[bool](t, db, "select pgmq.delete('q', 1)") {
			t.Error("PGMQ's delete does not find what weir.receive claimed")
		}
	})
}

// What finds a message by its id must not depend on how many others were read and not deleted.
func TestAMessageIsFoundByItsIDHoweverManyAreInFlight(t *testing.T) {
	t.Parallel()
	pgtest.Each(t, func(t *testing.T, db *pgtest.DB) {
		installFace(t, db)
		db.Exec(t, "select pgmq.create('q')")
		db.Exec(t, "select pgmq.send_batch('q', array['1', '2', '3']::jsonb[])")
		conn := db.Conn(t)
		for _, call := range []string{ // this session's plans are those of an empty log
			"select count(*) from pgmq.read('q', 1000, 1)", "select pgmq.delete('q', 1)", "select pgmq.archive('q', 2)",
			"select count(*) from pgmq.read('q', 1000, 1)", "select count(*) from pgmq.set_vt('q', 3, -1)",
		} {
			if _, err := conn.Exec(t.Context(), call); err != nil {
				t.Fatal(err)
			}
		}
		db.Exec(t, "select pgmq.purge_queue('q')")
		db.Exec(t, "delete from weir_internal.cancellations")
		db.Exec(t, "select setval(special, 0) from weir_internal.queues where name = 'pgmq.q'")
		db.Exec(t, `select count(*) from pgmq.send_batch('q',
			(select array_agg(to_jsonb(i)) from generate_series(1, 6000) i))`)
		for range 2000 {
			db.Exec(t, "select count(*) from pgmq.read('q', 1000, 1)")
		}
		db.Exec(t, "select count(*) from pgmq.read('q', 1000, 300)")
		for _, c := range []struct {
			call string
			id   int64
			most int
		}{
			{"select pgmq.delete('q', $1::bigint)", 1000, 80},                     // read alone
			{"select pgmq.delete('q', $1::bigint)", 2200, 80},                     // read with others
			{"select count(*) from pgmq.set_vt('q', $1::bigint, 2000)", 900, 400}, // from here on the queue has a mark
			{"select count(*) from pgmq.set_vt('q', $1::bigint, 2000)", 2190, 400},
			{"select pgmq.archive('q', $1::bigint)", 800, 400},
			{"select pgmq.delete('q', $1::bigint)", 700, 400},
			{"select pgmq.delete('q', $1::bigint)", 5000, 500}, // unread
		} {
			if n := buffers(t, conn, c.call, c.id); n > c.most {
				t.Errorf("%s of %d looks at %d pages", c.call, c.id, n)
			}
		}
	})
}
