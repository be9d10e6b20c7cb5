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
	each(t, func(b bench) {
		b.clock.Stop(b) // the transaction that is open below must not become an old one
		b.finds()
		b.run("select weir.create_group('jobs', 'audit', ordered => true)", "select weir.bind('a.*', 'jobs')",
			"select weir.create_queue('a.b-c_d')", "select weir.grant_admin('jobs', '"+b.db.Role(b)+"')",
			"select weir.create_queue('fast', log => 'own')")
		open := b.run("begin", "select weir.send('jobs', '1')", "select weir.receive('jobs')")
		b.fill()
		b.on(open, "commit")
		b.drain("default")
		b.drain("audit")
		b.settle()
		b.finds()
		b.run("select weir.pause('jobs')", "select weir.send('jobs', '1', delay => '1 day')",
			"select weir.rename_queue('a.b-c_d', 'other')")
		b.clock.Advance(b, 59*time.Minute)
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
			b.run(`grant execute on procedure weir.maintain(interval, int) to public`)
			return []string{"revoke all on procedure weir.maintain(interval, int) from public"}
		}, `^error \| public_right \| function weir.maintain\(interval,integer\)`},
		"a table that PUBLIC may read": {func(b bench) []string {
			b.run(`grant select on weir_log.log_0 to public`)
			return []string{"revoke all on table weir_log.log_0 from public"}
		}, `^error \| public_right \| table weir_log.log_0`},
		"an unlogged table": {func(b bench) []string {
			b.run("alter table weir_log.delayed set unlogged")
			return []string{"alter table weir_log.delayed set logged"}
		}, `^error \| table_changed \| delayed`},
		"row security on a table": {func(b bench) []string {
			b.run("alter table weir_log.parked enable row level security")
			return []string{"alter table weir_log.parked disable row level security"}
		}, `^error \| table_changed \| parked`},
		"an index that is gone": {func(b bench) []string {
			b.run("alter index weir_log.log_2_order rename to elsewhere")
			return []string{"alter index weir_log.elsewhere rename to log_2_order"}
		}, `^error \| relation_missing \| log_2_order`},
		"a function of a log that is not this version's": {func(b bench) []string {
			b.run("select weir.create_log('own')", `create or replace function weir_log_own.stats(p_queue text)
				returns setof weir.group_stats language sql as 'select * from weir_log.stats(p_queue)'`)
			return []string{"select weir.drop_log('own')"}
		}, `^error \| functions_not_ours \| stats`},
		"a database that is not read committed": {func(b bench) []string {
			b.run("do $$ begin execute format('alter database %I set default_transaction_isolation = serializable', " +
				"current_database()); end $$")
			return []string{"do $$ begin execute format('alter database %I reset all', current_database()); end $$"}
		}, `^error \| isolation \| database: default_transaction_isolation=serializable`},
		"a log that seems to come from a dump": {func(b bench) []string {
			b.run("update weir_internal.queues set origin[1] = 1", "update weir_internal.logs set origin[1] = 1")
			return []string{
				"update weir_internal.logs set origin = weir_internal.origin_of(schema_name)",
				"update weir_internal.queues set origin = weir_internal.origin_of('weir_log')",
			}
		}, `^error \| restored \| 1 queues .*weir.adopt\(\)`},
		"a claim log that is empty": {func(b bench) []string {
			b.run("create table public.kept as select * from weir_log.claims_0", "delete from weir_log.claims_0")
			return []string{"insert into weir_log.claims_0 select * from public.kept"}
		}, `^error \| unreadable \| log main`},
	}
}

// TestWhatADropWithoutTriggersLeavesIsFound drops a queue in a session in which triggers do not run.
func TestWhatADropWithoutTriggersLeavesIsFound(t *testing.T) {
	each(t, func(b bench) {
		super := b.db.Super(b)
		b.on(super, "set session_replication_role = replica", "select weir.drop_queue('jobs')",
			"set session_replication_role = origin")
		b.finds(`^error \| orphans \| 1 rows of weir_internal.groups`)
		b.run("select weir.create_queue('jobs')", "select weir.send('jobs', '1')")
		b.on(super, pgtest.QueryVal[string](b, b.db, "select cure from weir.doctor() where finding = 'orphans'"))
		b.finds()
		b.on(super, "alter table weir_internal.queues disable trigger all")
		b.finds(`^error \| triggers_off \| weir_internal.queues`)
		b.on(super, "alter table weir_internal.queues enable trigger all")
		b.finds()
	})
}

// badHabits are illnesses that come from how a queue is used.
func badHabits() map[string]illness {
	return map[string]illness{
		"dead letters": {func(b bench) []string {
			b.run("select weir.send_batch('jobs', array_fill('1'::jsonb, array[100]))",
				"select weir.reject('jobs', c, i) from (select claim_id c, array_agg(id) i "+
					"from weir.receive('jobs', max => 100) group by 1) t")
			b.settle()
			return []string{"select weir.discard('jobs', 'default')"}
		}, `^warning \| dead_letters \| jobs \| default \| 100 dead letters`},
		"a group that holds segments": {func(b bench) []string {
			b.run("select weir.create_group('jobs', 'audit.log')")
			b.fill()
			b.drain("default")
			b.settle()
			return []string{"select weir.drop_group('jobs', 'audit.log')", "call weir.maintain()"}
		}, `^warning \| holds_segments \| jobs \| audit.log`},
		"a group that nobody reads": {func(b bench) []string {
			b.run("select weir.create_group('jobs', 'orderly', ordered => true)", "select weir.send('jobs', '1')",
				"select weir.pop('jobs', 'orderly')")
			b.clock.Advance(b, 2*time.Minute)
			return []string{"select weir.drop_group('jobs', 'default')"}
		}, `^warning \| unread_group \| jobs \| default \| 1 waiting .*ordered => true`},
		"workers that are dead": {func(b bench) []string {
			b.run("select weir.send_batch('jobs', array_fill('1'::jsonb, array[10]))", "select weir.receive('jobs', max => 10)")
			b.clock.Advance(b, 2*time.Minute)
			return []string{"select weir.pop('jobs', max => 10)"}
		}, `^warning \| no_consumer \| jobs \| default \| 10 waiting .* 10 of it was in the hands`},
		"leases that expire again and again": {func(b bench) []string {
			b.run("select weir.send('jobs', '1')")
			for range 4 {
				b.run("select weir.receive('jobs', lease => '1 s')")
				b.clock.Advance(b, 2*time.Second)
			}
			return []string{"select weir.pop('jobs')", "select setval('public.clock_offset', 900000000)"}
		}, `^warning \| leases_expire \| jobs \| default \| 4 claims`},
		"more in than out": {func(b bench) []string {
			b.run("select weir.send_batch('jobs', array_fill('1'::jsonb, array[1000]))")
			b.clock.Advance(b, 2*time.Minute)
			b.run("select weir.send_batch('jobs', array_fill('1'::jsonb, array[1000]))", "select weir.pop('jobs')")
			return []string{"select weir.purge('jobs')"}
		}, `^warning \| falls_behind \| jobs \| default \| 16.7 in, 0.0 out`},
		"a key that has most": {func(b bench) []string {
			b.run("select weir.create_group('jobs', 'orderly', ordered => true)", "select weir.send_batch('jobs', "+
				"array_fill('1'::jsonb, array[200]), array(select 'k' || greatest(i, 150) from generate_series(1, 200) i))")
			return []string{"select weir.drop_group('jobs', 'orderly')"}
		}, `^warning \| hot_key \| jobs \| orderly \| k150 \| This key has 75 %`},
	}
}

// heldUp are illnesses of transactions, clocks and maintenance.
func heldUp() map[string]illness {
	return map[string]illness{
		"a paused group with a backlog": {func(b bench) []string {
			b.run("select weir.pause('jobs', 'default')", "select weir.send('jobs', '1')")
			b.clock.Advance(b, 20*time.Minute)
			return []string{"select weir.purge('jobs')"}
		}, `^warning \| paused_group \| jobs \| default \| 1 waiting`},
		"a writer that keeps a segment": {func(b bench) []string {
			writer := b.run("begin", "select weir.send('jobs', '1')")
			b.fill()
			b.drain("default")
			b.clock.Advance(b, 2*time.Minute)
			b.settle()
			return end(writer)
		}, `^warning \| transaction_keeps_segment \| transaction of process \d+ .*send`},
		"a receive that is not committed": {func(b bench) []string {
			reader := b.run("select weir.send('jobs', '1')", "begin", "select weir.receive('jobs', lease => '1 hour')")
			b.clock.Advance(b, 62*time.Second)
			b.run("select weir.pause('jobs')") // else nobody consumes, too
			return append(end(reader), "select weir.purge('jobs')")
		}, `^error \| transaction_holds_lanes \| jobs \| default \| process \d+ .*receive`},
		"an old transaction": {func(b bench) []string {
			reader := b.run("begin", "select 1")
			b.clock.Advance(b, 2*time.Hour)
			return end(reader)
		}, `^warning \| old_transaction \| process \d+ of weir_owner`},
		"a prepared transaction": {func(b bench) []string {
			b.run("begin", "create table public.t ()", "prepare transaction 'p "+b.db.Name+"'")
			b.clock.Advance(b, time.Hour)
			b.settle()
			return []string{"rollback prepared 'p " + b.db.Name + "'"}
		}, `^warning \| old_transaction \| prepared transaction`},
		"a clock that went back": {func(b bench) []string {
			b.run("select setval('weir_internal.maintained_at', weir_internal.to_micros(now() + '1 hour'))")
			return []string{"call weir.maintain()"}
		}, `^error \| clock_went_back \| (00:59|01:00)`},
		"no maintenance": {func(b bench) []string {
			b.run("select weir.send('jobs', '1')",
				"update weir_internal.installation set installed_at = now() - interval '1 day'",
				"select setval('weir_internal.maintained_at', weir_internal.to_micros(now() - interval '10 minutes'))")
			return []string{"call weir.maintain()"}
		}, `^warning \| no_maintenance \| 00:1`},
	}
}

// TestEachFindingIsProvoked makes a healthy database ill in one way, looks that doctor finds that and nothing else, and
// does what the cure says.
func TestEachFindingIsProvoked(t *testing.T) {
	t.Parallel()
	all := changedByHand()
	maps.Copy(all, badHabits())
	maps.Copy(all, heldUp())
	for name, c := range all {
		t.Run(name, func(t *testing.T) {
			each(t, func(b bench) {
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
	each(t, func(b bench) {
		surface.CreateQueue(b, b.db.Pool(b), "theirs", "")
		b.run("grant select on weir_log.delayed to public", "select weir.send(q, '1') from unnest(array['jobs', 'theirs']) q")
		b.clock.Advance(b, 2*time.Minute)
		b.settle()
		for right, want := range map[string]string{
			"consume": "no_consumer jobs", "admin": "public_right, no_consumer jobs",
		} {
			role := b.db.Role(b)
			b.run("select weir.grant_" + right + "('jobs', '" + role + "')")
			conn := b.db.As(b, role)
			var got string
			err := conn.QueryRow(b.Context(), `select string_agg(concat_ws(' ', finding, queue_name), ', ')
				from weir.doctor() where severity <> 'info'`).Scan(&got)
			if err != nil || got != want {
				b.Errorf("who has the right to %s finds %q, %v; want %q", right, got, err, want)
			}
			err = conn.QueryRow(b.Context(),
				`select string_agg(queue_name || ' ' || waiting, ', ') from weir.stats()`).Scan(&got)
			if err != nil || got != "jobs 1" {
				b.Errorf("who has the right to %s is told %q, %v", right, got, err)
			}
			_, err = conn.Exec(b.Context(), "select weir.stats('theirs')")
			surface.WantState(b, err, "42501")
		}
		_, err := b.db.As(b, b.db.Role(b)).Exec(b.Context(), "select weir.doctor()")
		surface.WantState(b, err, "42501")
	})
}
