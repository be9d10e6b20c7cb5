package rotation_test

import (
	"testing"

	"github.com/weirmq/weir/internal/pgtest"
)

func TestALogIsMadeListedConfiguredAndDropped(t *testing.T) {
	each(t, func(b bench) {
		if !pgtest.QueryVal[bool](b, b.db, "select weir.create_log('audit', retention => '1 hour')") {
			b.Error("it was not made")
		}
		if pgtest.QueryVal[bool](b, b.db, "select weir.create_log('audit', retention => '1 hour')") {
			b.Error("it was made again")
		}
		for call, state := range map[string]string{
			"select weir.create_log('audit')":                       "WR002",
			"select weir.create_log('Audit')":                       "WR005",
			"select weir.create_log('a-b')":                         "WR005",
			"select weir.create_log(null)":                          "WR005",
			"select weir.create_log('x', segment_bytes => 1)":       "WR006",
			"select weir.configure_log('x', segment_bytes => 1)":    "WR006",
			"select weir.configure_log('audit', claims_bytes => 1)": "WR006",
			"select weir.drop_log('main')":                          "WR006",
			"select weir.drop_log('x')":                             "WR006",
		} {
			_, err := b.db.Pool(b).Exec(b.Context(), call)
			wantState(b, err, state)
		}
		b.db.Exec(b, "select weir.configure_log('audit', segment_bytes => 65536, retention => '0')")
		b.db.Exec(b, "select weir.create_queue('kept', log => 'audit')")
		b.db.Exec(b, "select weir.create_queue('made', log => 'other')")
		_, err := b.db.Pool(b).Exec(b.Context(), "select weir.drop_log('audit')")
		wantState(b, err, "WR006")
		logs := pgtest.QueryAll[string](
			b, b.db, "select concat_ws(' ', log_name, segment_bytes, queues) from weir.list_logs()")
		if len(logs) != 3 || logs[1] != "audit 65536 1" || logs[2] != "other 67108864 1" {
			b.Errorf("the logs are %v", logs)
		}
		b.db.Exec(b, "delete from weir_internal.queues where name = 'kept'")
		b.db.Exec(b, "select weir.drop_log('audit')")
		b.settle()
	})
}

// list_logs waits for the lock of a table whose log is being dropped, and finds it gone.
func TestListLogsPassesOverALogThatIsDropped(t *testing.T) {
	each(t, func(b bench) {
		b.db.Exec(b, "select weir.create_log('audit')")
		dropper := b.open("select weir.drop_log('audit')")
		list := b.beside("select string_agg(log_name, ',') from weir.list_logs()")
		b.end(dropper, "commit")
		if got := list(); got != "main" {
			b.Errorf("the logs are %s", got)
		}
	})
}

func TestAnotherLogKeepsItsMessagesAndTurnsItsRing(t *testing.T) {
	each(t, func(b bench) {
		b.db.Exec(b, "select weir.create_log('audit', segment_bytes => 65536, claims_bytes => 65536)")
		b.db.Exec(b, "select weir.create_queue('kept', log => 'audit')")
		_, err := b.db.Pool(b).Exec(b.Context(), "select weir_log.send('kept', '1', null, null, null, null)")
		wantState(b, err, "WR001")
		for range 5 {
			b.db.Exec(b, `select weir.send('kept', to_jsonb(repeat('x', 1000)))
				from generate_series(1, 80)`)
			var n int
			for range 80 {
				n += pgtest.QueryVal[int](b, b.db, `select sum(weir.ack_all('kept', claim_id))::int
					from weir.receive('kept', lease => '1 hour')`)
			}
			if n != 80 {
				b.Fatalf("%d messages came of 80", n)
			}
			b.settle()
		}
		if at := pgtest.QueryVal[int](b, b.db, "select pg_sequence_last_value('weir_log_audit.log_ring')"); at < 4 {
			b.Errorf("the ring is at %d", at)
		}
		if at := pgtest.QueryVal[int](b, b.db, "select pg_sequence_last_value('weir_log_audit.claims_ring')"); at < 2 {
			b.Errorf("the ring of claims is at %d", at)
		}
		if b.ring("log") != 1 {
			b.Errorf("the ring of main is at %d", b.ring("log"))
		}
	})
}

// What a crash leaves of an unlogged log: its tables are empty, the claim log is not.
func TestAnUnloggedLogThatWasEmptiedGoesOn(t *testing.T) {
	each(t, func(b bench) {
		b.db.Exec(b, "select weir.create_log('fast', unlogged => true, segment_bytes => 65536)")
		if n := pgtest.QueryVal[int](b, b.db, `select count(*) from pg_class where relpersistence = 'u' and relkind = 'r'
			and relnamespace = 'weir_log_fast'::regnamespace`); n != 4 {
			b.Errorf("%d tables are unlogged, want 4", n)
		}
		b.db.Exec(b, "select weir.create_queue('f', log => 'fast')")
		receive := func(lease string) int {
			return pgtest.QueryVal[int](b, b.db, `select coalesce(sum(n), 0)::int
				from unnest(weir_log_fast.receive('f', 'default', 10, $1::text::interval))`, lease)
		}
		b.db.Exec(b, "select weir_log_fast.send('f', '1', null, null, null, null) from generate_series(1, 3)")
		if n := receive("1 millisecond"); n != 3 {
			b.Fatalf("%d messages came of 3", n)
		}
		b.db.Exec(b, "select weir_log_fast.send('f', '1', null, null, null, null)")
		b.db.Exec(b, `truncate weir_log_fast.log_0, weir_log_fast.log_1, weir_log_fast.log_2, weir_log_fast.rest`)
		if n := receive("1 hour"); n != 0 {
			b.Errorf("%d messages came after the crash", n)
		}
		b.db.Exec(b, "select weir_log_fast.send('f', '2', null, null, null, null)")
		if n := receive("1 hour"); n != 1 {
			b.Errorf("%d messages came of the one sent after the crash", n)
		}
		b.settle()
	})
}
