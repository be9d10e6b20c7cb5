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

func TestMain(m *testing.M) { pgtest.Main(m) }

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
		surface.CreateQueue(t, db.Pool(t), queue, "lanes => 1")
		db.Exec(t, "select weir.create_group($1, 'second')", queue)
		db.Exec(t, "select weir.send_batch($1, array_fill('1'::jsonb, array[20]))", queue)
		got, err := surface.Receive(t.Context(), db.Pool(t), queue, "default", 3, "1 hour")
		if err != nil || len(got) != 3 {
			t.Fatalf("received %v, %v", got, err)
		}
		claims[queue], first[queue] = got[0].ClaimID, got[0].ID
	}
	db.Exec(t, "select weir.schedule('others', '@daily', 'other', 'k')")
	db.Exec(t, "select weir.bind('news', 'mine'), weir.bind('both', 'mine'), weir.bind('both', 'other')")
	return claims, first
}

//go:embed testdata/*.sql
var scripts embed.FS

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
			role := db.Role(t)
			if right != "none" {
				verb := map[string]string{"producer": "produce", "consumer": "consume", "admin": "admin"}[right]
				db.Exec(t, "select weir.grant_"+verb+"('mine', $1)", role)
			}
			replace := strings.NewReplacer("{role}", role, "{claim}", strconv.FormatInt(claims["mine"], 10),
				"{other_claim}", strconv.FormatInt(claims["other"], 10), "{first}", strconv.FormatInt(first["mine"], 10))
			conn := db.As(t, role)
			for i, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
				m := linePat.FindStringSubmatch(line)
				if m == nil && !strings.HasPrefix(line, "--") {
					t.Fatalf("%s.sql:%d is not `statement; -- ok` or `-- fail SQLSTATE`", right, i+1)
				} else if m == nil {
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
		surface.CreateQueue(t, db.Pool(t), "q", "lanes => 1")
		installer := []string{ // for whoever installed Weir, and by GRANT by hand
			"adopt", "bind", "create_queue", "create_token", "find_token", "grant_admin", "grant_consume", "grant_produce",
			"list_bindings", "list_tokens", "revoke_admin", "revoke_consume", "revoke_produce", "revoke_token", "unbind",
		}
		got := pgtest.QueryAll[string](t, db, `select distinct p.proname::text from pg_proc p
			where p.pronamespace = 'weir'::regnamespace and not exists (
				select from weir_internal.rights() r where 'weir.' || p.proname = any(r.functions)) order by 1`)
		if !slices.Equal(got, installer) {
			t.Errorf("functions that are part of no right: %v, want %v; see weir_internal.rights", got, installer)
		}
		if got := pgtest.QueryAll[string](t, db, `select p.proname::text from pg_proc p
			where p.pronamespace = 'weir_internal'::regnamespace and proname like '%:q' and not exists (
				select from weir_internal.rights() r where split_part(p.proname, ':', 1) = any(r.verbs))`); len(got) > 0 {
			t.Errorf("functions of a queue that are part of no right: %v", got)
		}
		if got := pgtest.QueryAll[string](t, db, `select f.name from (
				select unnest(functions) from weir_internal.rights()
				union select 'weir_internal."' || unnest(verbs) || ':q"' from weir_internal.rights()) f (name)
			where to_regproc(f.name) is null`); len(got) > 0 {
			t.Errorf("rights name functions that are not there: %v", got)
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
		db.Exec(t, `drop function weir.nack, weir_internal."nack:mine", weir.pause, weir_internal."stats:mine"`)
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
		surface.CreateQueue(t, db.Pool(t), "mine", "lanes => 1") // of the same name, but not of the same rights
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
		if _, err := db.As(t, member).Exec(t.Context(), "select weir.pop('mine'), weir.stats()"); err != nil {
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
