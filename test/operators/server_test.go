package operators_test

import (
	"testing"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

// TestWhatIsWrongWithTheServerIsFound has a server of its own, which it sets up badly.
func TestWhatIsWrongWithTheServerIsFound(t *testing.T) {
	t.Parallel()
	pgtest.EachMajor(t, func(t *testing.T, major int) {
		server := pgtest.StartServer(t, pgtest.ServerOptions{Major: major, Fast: true, Settings: map[string]string{
			"autovacuum_freeze_max_age": "100000", "max_connections": "20", "wal_level": "replica",
		}})
		db := server.NewDB(t, false)
		super := db.Super(t)
		b := bench{T: t, db: db}
		want := func(pattern string) {
			t.Helper()
			t.Log("looking for " + pattern)
			pgtest.WaitForRow(t, db, "select exists (select from weir.doctor() f where f::text ~ $1)", pattern)
		}
		surface.CreateQueue(t, db.Pool(t), queue, "")
		b.finds()

		b.on(super, "select pg_create_physical_replication_slot('forgotten')")
		want(`warning,replication_slot,,,forgotten`)
		b.on(super, "select pg_drop_replication_slot('forgotten')")
		b.finds()

		b.on(super, "alter system set autovacuum = off", "select pg_reload_conf()")
		want(`warning,autovacuum_off`)
		deleting := b.run(`insert into weir_internal.dead_letters
				(queue_no, group_no, id, payload, enqueued_at, attempts, died_at)
			select q.no, 0, i, '1', now(), 1, now() from generate_series(1, 20000) i, weir_internal.queues q`,
			"delete from weir_internal.dead_letters")
		if err := deleting.Close(t.Context()); err != nil { // PostgreSQL 14 counts what a session did when it ends
			t.Fatal(err)
		}
		want(`warning,dead_rows,,,"20000 in dead_letters"`)
		holder := b.run("begin", "create table public.held ()") // or a worker would freeze the database all the same
		b.run("do $$ begin for i in 1 .. 200001 loop perform pg_current_xact_id(); commit; end loop; end $$")
		want(`error,wraparound`)
		b.on(holder, "rollback")
	})
}

func TestAServerWithoutLz4IsToldOfAsANote(t *testing.T) {
	each(t, func(b bench) {
		if !pgtest.QueryVal[bool](b, b.db, `select exists (select from weir.doctor() where finding = 'no_lz4')
			<> ('lz4' = any(enumvals)) from pg_settings where name = 'default_toast_compression'`) {
			b.Error("no_lz4 is not found just where lz4 is not there")
		}
	})
}
