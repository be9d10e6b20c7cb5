package operators_test

import (
	"maps"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

// found returns what doctor finds, one line a finding.
func found(b bench) string {
	b.Helper()
	return strings.Join(pgtest.QueryAll[string](b, b.db, `select concat_ws(' | ', severity, finding, queue_name,
		group_name, value, message, cure) from weir.doctor() where severity <> 'info'`), "\n")
}

// finds fails the test when doctor finds something else than one line that matches each pattern.
func (b bench) finds(patterns ...string) {
	b.Helper()
	lines := strings.Split(found(b), "\n")
	if len(patterns) == 0 && lines[0] == "" {
		return
	}
	if len(lines) != len(patterns) {
		b.Fatalf("doctor finds:\n%s\nwant %q", strings.Join(lines, "\n"), patterns)
	}
	for i, pattern := range patterns {
		if !regexp.MustCompile(pattern).MatchString(lines[i]) {
			b.Errorf("doctor finds:\n%s\nwant %s", lines[i], pattern)
		}
	}
}

func TestAHealthyDatabaseHasNoFindings(t *testing.T) {
	each(t, "2", func(b bench) {
		b.clock.Stop(b) // the transaction that is open below must not become an old one
		b.finds()
		b.run("select weir.create_group('jobs', 'audit', ordered => true)", "select weir.bind('a.*', 'jobs')",
			"select weir.create_queue('a.b-c_d')", "select weir.grant_admin('jobs', '"+b.db.Role(b)+"')")
		open := b.run("begin", "select weir.send('jobs', '1')", "select weir.receive('jobs')")
		b.fill()
		b.finds()
		b.on(open, "commit")
		b.drain("default")
		b.drain("audit")
		b.settle()
		b.run("select weir.pause('jobs')", "select weir.send('jobs', '1', delay => '1 day')",
			"select weir.rename_queue('a.b-c_d', 'other')")
		b.clock.Advance(b, 59*time.Minute)
		b.settle()
		b.finds()
	})
}

// illness is one way in which a database can be ill.
type illness struct {
	provoke func(b bench) (cure []string)
	want    string
}

// changedByHand are illnesses of the schema and of settings.
func changedByHand() map[string]illness {
	return map[string]illness{
		"a right of PUBLIC": {func(b bench) []string {
			b.run(`grant execute on function weir.maintain(interval) to public`)
			return []string{"revoke all on function weir.maintain(interval) from public"}
		}, `^error \| public_right \| function weir.maintain\(interval\)`},
		"a table that PUBLIC may read": {func(b bench) []string {
			b.run(`grant select on weir_internal.q1_log_0 to public`)
			return []string{"revoke all on table weir_internal.q1_log_0 from public"}
		}, `^error \| public_right \| table weir_internal.q1_log_0`},
		"an unlogged table": {func(b bench) []string {
			b.run("alter table weir_internal.q1_later set unlogged")
			return []string{"alter table weir_internal.q1_later set logged"}
		}, `^error \| table_changed \| jobs \| q1_later`},
		"a trigger on a table": {func(b bench) []string {
			b.run("create trigger t before insert on weir_internal.q1_parked "+
				"execute function suppress_redundant_updates_trigger()", "drop trigger t on weir_internal.q1_parked",
				"vacuum weir_internal.q1_parked", "alter table weir_internal.q1_parked enable row level security")
			return []string{"alter table weir_internal.q1_parked disable row level security"}
		}, `^error \| table_changed \| jobs \| q1_parked`},
		"an index that is gone": {func(b bench) []string {
			b.run("alter index weir_internal.q1_log_2_order rename to elsewhere")
			return []string{"alter index weir_internal.elsewhere rename to q1_log_2_order"}
		}, `^error \| relation_missing \| jobs \| log_2_order`},
		"a function that is not this version's": {func(b bench) []string {
			b.run(`create or replace function weir_internal."stats:jobs"() returns setof weir.group_stats language sql
				security definer as 'select * from weir_internal.stats(''jobs'') limit 1'`)
			return []string{"select weir_internal.generate_queue_functions(q) from weir_internal.queues q"}
		}, `^error \| functions_not_ours \| jobs \| stats:jobs`},
		"a database that is not read committed": {func(b bench) []string {
			b.run("do $$ begin execute format('alter database %I set default_transaction_isolation = serializable', " +
				"current_database()); end $$")
			return []string{"do $$ begin execute format('alter database %I reset all', current_database()); end $$"}
		}, `^error \| isolation \| database: default_transaction_isolation=serializable`},
		"a queue that seems to come from a dump": {func(b bench) []string {
			b.run("update weir_internal.queues set birth[1] = 1")
			return []string{"select weir.adopt()"}
		}, `^error \| unreadable \| jobs \| WR019`},
		"a cursor that is gone": {func(b bench) []string {
			b.run("create table public.kept as select * from weir_internal.q1_claims_0",
				"delete from weir_internal.q1_claims_0")
			return []string{"insert into weir_internal.q1_claims_0 select * from public.kept"}
		}, `^error \| unreadable \| jobs \| WR016`},
	}
}

// badHabits are illnesses that come from how a queue is used.
func badHabits() map[string]illness {
	return map[string]illness{
		"dead letters": {func(b bench) []string {
			b.run("select weir.send_batch('jobs', array_fill('1'::jsonb, array[100]))",
				"select weir.reject('jobs', c) from (select distinct claim_id c from weir.receive('jobs', max => 100)) t")
			b.settle()
			return []string{"select weir.discard('jobs', 'default')"}
		}, `^warning \| dead_letters \| jobs \| default \| 100 dead letters`},
		"a group that nobody reads": {func(b bench) []string {
			b.run("select weir.create_group('jobs', 'audit.log')")
			b.fill()
			b.drain("default")
			b.clock.Advance(b, 20*time.Minute)
			b.settle()
			return []string{"select weir.drop_group('jobs', 'audit.log')"}
		}, `^warning \| stuck_group \| jobs \| audit.log`},
		"a paused group with a backlog": {func(b bench) []string {
			b.run("select weir.pause('jobs', 'default')", "select weir.send('jobs', '1')")
			b.settle()
			b.clock.Advance(b, 20*time.Minute)
			return []string{"select weir.resume('jobs', 'default')"}
		}, `^warning \| paused_group \| jobs \| default \| 1 waiting`},
		"a writer that keeps a segment": {func(b bench) []string {
			writer := b.run("begin", "select weir.send('jobs', '1')")
			b.fill()
			b.clock.Advance(b, 2*time.Minute)
			b.settle()
			return end(writer)
		}, `^warning \| transaction_keeps_segment \| jobs \| transaction of process \d+ .*send`},
		"a receive that is not committed": {func(b bench) []string {
			reader := b.run("select weir.send('jobs', '1')", "begin", "select weir.receive('jobs')")
			b.clock.Advance(b, 2*time.Minute)
			b.settle()
			return end(reader)
		}, `^error \| transaction_holds_lanes \| jobs \| process \d+ .*receive`},
		"an old transaction": {func(b bench) []string {
			reader := b.run("begin", "select 1")
			b.clock.Advance(b, 2*time.Hour)
			return end(reader)
		}, `^warning \| old_transaction \| process \d+ of weir_owner`},
		"a prepared transaction": {func(b bench) []string {
			b.run("begin", "create table public.t ()", "prepare transaction 'p "+b.db.Name+"'")
			b.clock.Advance(b, time.Hour)
			return []string{"rollback prepared 'p " + b.db.Name + "'"}
		}, `^warning \| old_transaction \| prepared transaction`},
		"a clock that went back": {func(b bench) []string {
			b.clock.Advance(b, time.Hour)
			b.run("select weir.send('jobs', '1')")
			b.drain("default")
			b.settle()
			b.clock.Advance(b, -time.Hour)
			return []string{"select setval('public.clock_offset', 3600000000)"}
		}, `^error \| clock_went_back \| jobs \| (00:59|01:00)`},
		"no maintenance": {func(b bench) []string {
			b.settle()
			b.clock.Advance(b, 10*time.Minute)
			b.run("select weir.send('jobs', '1')")
			return []string{"select weir.maintain()"}
		}, `^warning \| no_maintenance \| jobs \| 00:10`},
	}
}

// TestEachFindingIsProvoked makes a healthy database ill in one way, looks that doctor finds that and nothing else, and
// does what the cure says.
func TestEachFindingIsProvoked(t *testing.T) {
	t.Parallel()
	all := changedByHand()
	maps.Copy(all, badHabits())
	for name, c := range all {
		t.Run(name, func(t *testing.T) {
			each(t, "1", func(b bench) {
				b.finds()
				cure := c.provoke(b)
				b.finds(c.want)
				b.run(cure...)
				b.finds()
			})
		})
	}
}

// end returns what ends the transaction of a connection.
func end(conn *pgx.Conn) []string {
	return []string{"select pg_terminate_backend(" + pidOf(conn) + ", 10000)"}
}

func TestRolesAreToldByTheirRights(t *testing.T) {
	each(t, "1", func(b bench) {
		surface.CreateQueue(b, b.db.Pool(b), "theirs", "")
		b.run("grant select on weir_internal.q1_later to public", "alter table weir_internal.q1_later set unlogged",
			"alter table weir_internal.q2_later set unlogged")
		for right, want := range map[string]string{
			"consume": "table_changed jobs", "admin": "public_right, table_changed jobs",
		} {
			role := b.db.Role(b)
			b.run("select weir.grant_" + right + "('jobs', '" + role + "')")
			var got string
			err := b.db.As(b, role).QueryRow(b.Context(), `select string_agg(concat_ws(' ', finding, queue_name), ', ')
				from weir.doctor() where severity <> 'info'`).Scan(&got)
			if err != nil || got != want {
				b.Errorf("who has the right to %s finds %q, %v; want %q", right, got, err, want)
			}
		}
		_, err := b.db.As(b, b.db.Role(b)).Exec(b.Context(), "select weir.doctor()")
		surface.WantState(b, err, "42501")
	})
}
