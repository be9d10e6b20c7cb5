// Package rights_test holds that a right on a queue lets a role do what it says, on that queue, and nothing else.
package rights_test

import (
	"context"
	"embed"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/weirmq/weir/internal/migrate"
	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

func TestMain(m *testing.M) {
	pgtest.Main(m)
}

func each(t *testing.T, test func(t *testing.T, db *pgtest.DB)) {
	t.Parallel()
	pgtest.Each(t, test)
}

// world makes the queues `mine` and `other`, with messages, topics and a claim in each, and returns the claims and the
// first message of each.
func world(t *testing.T, db *pgtest.DB) (claims, first map[string]int64) {
	t.Helper()
	claims, first = map[string]int64{}, map[string]int64{}
	for _, queue := range []string{"mine", "other"} {
		surface.CreateQueue(t, db.Pool(t), queue, "")
		db.Exec(t, "select weir.create_group($1, 'second')", queue)
		db.Exec(t, "select weir.send_batch($1, array_fill('1'::jsonb, array[20]))", queue)
		got, err := surface.Receive(t.Context(), db.Pool(t), queue, "default", 3, "1 hour")
		if err != nil || len(got) != 3 {
			t.Fatalf("received %v, %v", got, err)
		}
		claims[queue], first[queue] = got[0].ClaimID, got[0].ID
	}
	db.Exec(t, "select weir.schedule('others', 'other', 'k', cron => '@daily')")
	db.Exec(t, "select weir.bind('news', 'mine'), weir.bind('both', 'mine'), weir.bind('both', 'other')")
	return claims, first
}

//go:embed testdata/*.sql
var scripts embed.FS

var functionPat = regexp.MustCompile(`weir\.\w+\(`)

var linePat = regexp.MustCompile(`^(.*;) -- (ok|fail (\w+))$`)

// TestRolesCanDoWhatTheirScriptsSay runs testdata: a statement a line, which as that role succeeds, or fails with an
// SQLSTATE.
func TestRolesCanDoWhatTheirScriptsSay(t *testing.T) {
	each(t, func(t *testing.T, db *pgtest.DB) {
		for _, right := range []string{"none", "producer", "consumer", "admin"} {
			text, err := scripts.ReadFile(path.Join("testdata", right+".sql"))
			if err != nil {
				t.Fatal(err)
			}
			claims, first := world(t, db)
			role, holder := db.Role(t), db.Role(t)
			for _, verb := range []string{"produce", "consume", "admin"} { // so that there are gates
				db.Exec(t, "select weir.grant_"+verb+"('mine', $1), weir.grant_"+verb+"('other', $1)", holder)
			}
			if right != "none" {
				verb := map[string]string{"producer": "produce", "consumer": "consume", "admin": "admin"}[right]
				db.Exec(t, "select weir.grant_"+verb+"('mine', $1)", role)
			}
			replace := strings.NewReplacer("{role}", role, "{claim}", strconv.FormatInt(claims["mine"], 10),
				"{other_claim}", strconv.FormatInt(claims["other"], 10), "{first}", strconv.FormatInt(first["mine"], 10))
			conn := db.As(t, role)
			once := pgtest.QueryVal[bool](t, db, "select to_regproc('weir_log.send_once') is not null")
			functions := map[string]bool{}
			for _, f := range pgtest.QueryAll[string](t, db, `select distinct 'weir.' || proname || '(' from pg_proc
				where pronamespace = 'weir'::regnamespace`) {
				functions[f] = true
			}
			for i, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
				m := linePat.FindStringSubmatch(line)
				if m == nil && !strings.HasPrefix(line, "--") {
					t.Fatalf("%s.sql:%d is not `statement; -- ok` or `-- fail SQLSTATE`", right, i+1)
				} else if m == nil {
					continue
				}
				if f := functionPat.FindString(m[1]); f != "" && !functions[f] {
					continue // of a part of the engine that is not there yet
				}
				if !once && (strings.Contains(m[1], "dedup_key") || strings.Contains(m[1], "send_once")) {
					continue
				}
				_, err := conn.Exec(t.Context(), replace.Replace(m[1]))
				if surface.SQLState(err) != m[3] || (err != nil) != (m[3] != "") {
					t.Errorf("%s.sql:%d: %s: got %v", right, i+1, line, err)
				}
			}
			db.Exec(t, "select weir.drop_queue(queue_name) from weir.list_queues()")
		}
	})
}

// TestEveryFunctionBelongsToARight makes whoever adds a function decide who may call it.
func TestEveryFunctionBelongsToARight(t *testing.T) {
	each(t, func(t *testing.T, db *pgtest.DB) {
		installer := []string{ // for whoever installed Weir, and by GRANT by hand
			"adopt", "bind", "configure_log", "create_log", "create_queue", "create_token", "drop_log", "find_token",
			"grant_admin", "grant_consume", "grant_produce", "list_bindings", "list_logs", "list_tokens",
			"revoke_admin", "revoke_consume", "revoke_produce", "revoke_token", "unbind",
		}
		for _, f := range pgtest.QueryAll[string](t, db, `select distinct p.proname::text from pg_proc p
			where p.pronamespace = 'weir'::regnamespace and not exists (
				select from weir_internal.rights() r where 'weir.' || p.proname = any(r.functions)) order by 1`) {
			if !slices.Contains(installer, f) {
				t.Errorf("weir.%s is part of no right, see weir_internal.rights", f)
			}
		}
	})
}

// Who goes through gates gets from the functions of jobs what the owner gets.
func TestJobsThroughGates(t *testing.T) {
	each(t, func(t *testing.T, db *pgtest.DB) {
		surface.CreateQueue(t, db.Pool(t), "q", "")
		role := db.Role(t)
		db.Exec(t, "select weir.grant_produce('q', $1), weir.grant_consume('q', $1), weir.grant_admin('q', $1)", role)
		conn := db.As(t, role)
		for _, step := range []struct{ query, want string }{
			{"select weir.enqueue('q', 'plain') > 0", "true"},
			{
				"select weir.enqueue('q', 'u', unique_key => 'k', tracked => true) = weir.enqueue('q', 'u', unique_key => 'k')",
				"true",
			},
			{`select string_agg(repeated::text, ' ') from weir.enqueue_batch('q', array[
				'{"kind": "u", "unique_key": "k"}', '{"kind": "b"}']::jsonb[])`, "true false"},
			{"select state from weir.job('q', weir.enqueue('q', 'late', delay => '1 day', tracked => true))", "waiting"},
			{"select weir.cancel('q', weir.enqueue('q', 'c', delay => '1 day'))", "cancelled"},
			{"select weir.cancel('q', 1)", "ended"},
			{"select weir.start_workflow('q', array['{\"kind\": \"a\"}']::jsonb[], 'w')", "1"},
			{"select string_agg(state, ' ') from weir.workflow('q', 1)", "enqueued"},
			{"select name from weir.list_workflows('q', 1)", "w"},
			{"select weir.schedule('s', 'q', 'k', every => '1 hour') > now()", "true"},
			{"select name from weir.list_schedules()", "s"},
			{"select weir.unschedule('s')", "true"},
			{"select weir.unschedule('s')", "false"},
			{`select concat_ws(' ', weir.progress('q', r.claim_id, r.id, '1'), weir.finish('q', r.claim_id, r.id))
				from weir.receive('q', 'default', 1, '1 hour') r`, "t 1"},
			{`select weir.finish_many('q', array[r.claim_id], array[r.id])
				from weir.receive('q', 'default', 1, '1 hour') r`, "{1}"},
			{`select weir.snooze('q', r.claim_id, array[r.id], '1 hour')
				from weir.receive('q', 'default', 1, '1 hour') r`, "1"},
			{"select count(*) from weir.cancelled('q', array[1, 2, 3])", "0"},
		} {
			var got string
			err := conn.QueryRow(t.Context(), "select ("+step.query+")::text").Scan(&got)
			if err != nil || got != step.want {
				t.Errorf("%s: got %q, %v, want %q", step.query, got, err, step.want)
			}
		}
	})
}

// A queue that nobody was granted has no gates; the first grant makes them, and the last revoke, a drop and a rename
// take them along.
func TestGatesAreThereAsLongAsTheyAreGranted(t *testing.T) {
	each(t, func(t *testing.T, db *pgtest.DB) {
		surface.CreateQueue(t, db.Pool(t), "q", "")
		role, other := db.Role(t), db.Role(t)
		gates := func(want string, atLeast int) {
			t.Helper()
			got := pgtest.QueryAll[string](t, db, `select split_part(proname, ':', 2) from pg_proc
				where pronamespace = 'weir_gates'::regnamespace`)
			if len(got) < atLeast || atLeast == 0 && len(got) > 0 ||
				slices.ContainsFunc(got, func(s string) bool { return s != want }) {
				t.Errorf("gates %v, want %d or more of %q", got, atLeast, want)
			}
		}
		gates("", 0)
		db.Exec(t, "select weir.grant_produce('q', $1), weir.grant_produce('q', $2)", role, other)
		gates("q", 2)
		db.Exec(t, "select weir.rename_queue('q', 'p')")
		gates("p", 2)
		if _, err := db.As(t, role).Exec(t.Context(), "select weir.send('p', '1')"); err != nil {
			t.Error(err)
		}
		db.Exec(t, "select weir.revoke_produce('p', $1)", role)
		gates("p", 2)
		db.Exec(t, "select weir.revoke_produce('p', $1)", other)
		gates("", 0)
		db.Exec(t, "select weir.grant_admin('p', $1)", role)
		gates("p", 2)
		db.Exec(t, "select weir.drop_queue('p')")
		gates("", 0)
		if got := granted(t, db, role); len(got) > 0 {
			t.Errorf("granted without a queue: %v", got)
		}
	})
}

// granted lists what a role was granted on Weir's schemas and functions.
func granted(t *testing.T, db *pgtest.DB, role string) []string {
	t.Helper()
	return pgtest.QueryAll[string](t, db, `
		select 'schema ' || n.nspname from pg_namespace n cross join aclexplode(n.nspacl) a
		where a.grantee = (select oid from pg_roles where rolname = $1)
		union all
		select p.oid::regprocedure::text from pg_proc p cross join aclexplode(p.proacl) a
		where a.grantee = (select oid from pg_roles where rolname = $1)
		order by 1`, role)
}

func TestRightsSurviveAnInstallAndEndWithTheQueue(t *testing.T) {
	each(t, func(t *testing.T, db *pgtest.DB) {
		world(t, db)
		role := db.Role(t)
		for _, right := range []string{"produce", "consume", "admin"} {
			db.Exec(t, "select weir.grant_"+right+"('mine', $1)", role)
			db.Exec(t, "select weir.grant_"+right+"('mine', $1)", role)
		}
		before := granted(t, db, role)
		// an upgrade may make some functions anew
		db.Exec(t, `drop function weir.nack, weir_gates."nack:mine", weir.pause, weir_gates."peek:mine"`)
		if err := migrate.Install(t.Context(), db.Conn(t)); err != nil {
			t.Fatal(err)
		}
		if after := granted(t, db, role); !slices.Equal(before, after) {
			t.Errorf("granted before the install:\n%v\nand after:\n%v", before, after)
		}
		db.Exec(t, "select weir.grant_produce('other', $1)", role)
		db.Exec(t, "select weir.drop_queue('mine')")
		alone := db.Role(t)
		db.Exec(t, "select weir.grant_produce('other', $1)", alone)
		if got, want := granted(t, db, role), granted(t, db, alone); !slices.Equal(got, want) {
			t.Errorf("granted after the drop:\n%v\nwant:\n%v", got, want)
		}
		db.Exec(t, "select weir.drop_queue('other')")
		surface.CreateQueue(t, db.Pool(t), "mine", "") // of the same name, but not of the same rights
		if got := granted(t, db, role); len(got) > 0 {
			t.Errorf("granted without a queue: %v", got)
		}
	})
}

func TestRevokeTakesOneRightOnly(t *testing.T) {
	each(t, func(t *testing.T, db *pgtest.DB) {
		world(t, db)
		for _, right := range []string{"produce", "consume", "admin"} {
			role, other := db.Role(t), db.Role(t)
			for _, r := range []string{"produce", "consume", "admin"} {
				db.Exec(t, "select weir.grant_"+r+"('mine', $1)", role)
				if r != right {
					db.Exec(t, "select weir.grant_"+r+"('mine', $1)", other)
				}
			}
			db.Exec(t, "grant execute on function weir.create_queue to "+role+", "+other) // by hand
			db.Exec(t, "select weir.revoke_"+right+"('mine', $1)", role)
			db.Exec(t, "select weir.revoke_"+right+"('other', $1)", role) // which it has not
			if got, want := granted(t, db, role), granted(t, db, other); !slices.Equal(got, want) {
				t.Errorf("granted without %s:\n%v\nwant:\n%v", right, got, want)
			}
			for _, r := range []string{"produce", "consume", "admin"} {
				db.Exec(t, "select weir.revoke_"+r+"('mine', $1)", role)
			}
			if got := granted(t, db, role); len(got) != 2 { // create_queue, and its schema
				t.Errorf("granted without rights: %v", got)
			}
			if _, err := db.As(t, role).Exec(t.Context(), "select weir.create_queue($1)", right); err != nil {
				t.Errorf("create_queue, granted by hand: %v", err)
			}
		}
	})
}

func TestMembersHaveTheRightsOfTheirRole(t *testing.T) {
	each(t, func(t *testing.T, db *pgtest.DB) {
		world(t, db)
		role, member := db.Role(t), db.Role(t)
		if _, err := db.Super(t).Exec(t.Context(), "grant "+role+" to "+member); err != nil {
			t.Fatal(err)
		}
		db.Exec(t, "select weir.grant_consume('mine', $1)", role)
		if _, err := db.As(t, member).Exec(t.Context(), "select weir.pop('mine'), weir.list_queues()"); err != nil {
			t.Errorf("as a member: %v", err)
		}
		db.Exec(t, "select weir.revoke_consume('mine', $1)", role)
		_, err := db.As(t, member).Exec(t.Context(), "select weir.pop('mine')")
		surface.WantState(t, err, "42501")
	})
}

func TestRightsAreGrantedAtTheSameTime(t *testing.T) {
	each(t, func(t *testing.T, db *pgtest.DB) {
		world(t, db)
		ctx := context.WithoutCancel(t.Context())
		roles := []string{db.Role(t), db.Role(t), db.Role(t), db.Role(t)}
		var all sync.WaitGroup
		for i, role := range roles {
			all.Go(func() {
				for _, call := range []string{"grant_produce", "grant_admin", "revoke_produce", "grant_consume"} {
					queue := []string{"mine", "other"}[i%2]
					if _, err := db.Pool(t).Exec(ctx, "select weir."+call+"($1, $2)", queue, role); err != nil {
						t.Errorf("%s: %v", call, err)
					}
				}
			})
		}
		all.Wait()
	})
}
