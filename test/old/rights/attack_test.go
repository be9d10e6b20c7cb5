package rights_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

// TestForgedClaimsReachNothing tries, as a consumer of one queue, numbers that it was not given.
func TestForgedClaimsReachNothing(t *testing.T) {
	each(t, func(t *testing.T, db *pgtest.DB) {
		claims, _ := world(t, db)
		for range 5 { // so that other's newest claim has a number that mine has not reached
			db.Exec(t, "select weir.receive('other', 'second', 1, '1 hour')")
		}
		newest := pgtest.QueryVal[int64](t, db, "select max(claim_id) from weir.receive('other', 'second', 1, '1 hour')")
		before := depth(t, db, "other") + depth(t, db, "mine")
		role := db.Role(t)
		db.Exec(t, "select weir.grant_consume('mine', $1)", role)
		conn := db.As(t, role)
		mine := claims["mine"]
		forged := []int64{0, -1, 1, newest, mine + 1, mine + 16384*100, -mine, 1 << 62, -1 << 63}
		for _, claim := range forged {
			for _, call := range []string{
				"ack('mine', $1)", "ack('mine', $1, '{1}')", "nack('mine', $1)", "reject('mine', $1)",
				"extend('mine', $1, '1 hour')",
			} {
				_, err := conn.Exec(t.Context(), "select weir."+call, claim)
				if state := surface.SQLState(err); state != "WR009" && state != "WR010" {
					t.Errorf("%s of claim %d: %v", call, claim, err)
				}
			}
		}
		if after := depth(t, db, "other") + depth(t, db, "mine"); after != before {
			t.Errorf("before:\n%s\nafter:\n%s", before, after)
		}
	})
}

func depth(t *testing.T, db *pgtest.DB, queue string) string {
	t.Helper()
	return strings.Join(pgtest.QueryAll[string](t, db,
		"select concat_ws(' ', group_name, waiting, claimed, delayed, dead) from weir.stats($1)", queue), "\n")
}

// TestNamesAreNotSQL gives everything that takes a name names that would do harm if they were pasted into SQL.
func TestNamesAreNotSQL(t *testing.T) {
	each(t, func(t *testing.T, db *pgtest.DB) {
		world(t, db)
		hostile := []any{
			`x"; drop schema weir cascade; --`, `x'; drop schema weir cascade; --`, `mine"(null); --`, `mine:x`, `%I`, `$1`,
			`"mine"`, `MINE`, "mine\x01", strings.Repeat("m", 64), strings.Repeat("m", 5000), ``, ` `, nil,
		}
		calls := map[string]string{ // what a name leads to where none of that name is
			"create_queue($1)": "WR005", "create_group('mine', $1)": "WR005", "grant_produce('mine', $1)": "WR006",
			"revoke_admin('mine', $1)": "WR006", "drop_group('mine', $1)": "WR003", "receive('mine', $1)": "WR003",
			"peek('mine', $1)": "WR003", "redrive('mine', $1)": "WR003", "configure_group('mine', $1)": "WR003",
		}
		for _, call := range []string{
			"send($1, '1')", "send_batch($1, '{}')", "receive($1)", "pop($1)", "ack($1, 1)", "nack($1, 1)", "reject($1, 1)",
			"extend($1, 1, '1 s')", "peek($1)", "dead_letters($1)", "list_groups($1)", "drop_queue($1)", "pause($1)",
			"purge($1)", "configure_queue($1)", "create_group($1, 'g')", "grant_admin($1, 'weir')", "bind('a', $1)",
			"mark_waiting($1)",
		} {
			calls[call] = "WR001"
		}
		for call, state := range calls {
			for _, name := range hostile {
				_, err := db.Pool(t).Exec(t.Context(), "select weir."+call, name)
				if surface.SQLState(err) != state {
					t.Errorf("%s with %.100v: %v, want %s", call, name, err, state)
				}
			}
		}
		for _, name := range []string{"public", "PUBLIC", "none", "current_user"} {
			_, err := db.Pool(t).Exec(t.Context(), "select weir.grant_consume('mine', $1)", name)
			surface.WantState(t, err, "WR006")
		}
		for _, verb := range []string{"grant", "revoke"} { // not the owner's own
			_, err := db.Pool(t).Exec(t.Context(), "select weir."+verb+"_produce('mine', current_user)")
			surface.WantState(t, err, "WR006")
		}
		db.Exec(t, "select weir.send('mine', '1')")
	})
}

func TestRolesMayHaveAnyName(t *testing.T) {
	each(t, func(t *testing.T, db *pgtest.DB) {
		world(t, db)
		name := `x" with superuser; drop schema weir cascade; --'` + db.Name
		super := db.Super(t)
		quoted := pgx.Identifier{name}.Sanitize()
		if _, err := super.Exec(t.Context(), "create role "+quoted); err != nil {
			t.Fatal(err)
		}
		db.Exec(t, "select weir.grant_produce('mine', $1), weir.grant_admin('mine', $1)", name)
		if _, err := super.Exec(t.Context(), "set role "+quoted+"; select weir.send('mine', '1'); reset role"); err != nil {
			t.Errorf("send: %v", err)
		}
		db.Exec(t, "select weir.revoke_produce('mine', $1), weir.revoke_admin('mine', $1)", name)
		if _, err := super.Exec(t.Context(), "drop role "+quoted); err != nil { // fails while it has rights
			t.Errorf("drop role: %v", err)
		}
	})
}

// decoys are functions that would be preferred to PostgreSQL's own where a call does not name the schema.
const decoys = `
	create schema decoys;
	grant usage on schema decoys to public;
	create function decoys.trap() returns text language plpgsql as $$ begin raise exception 'trapped'; end $$;
	create function decoys.format(text, text) returns text language sql as 'select decoys.trap()';
	create function decoys.format(text, text, text) returns text language sql as 'select decoys.trap()';
	create function decoys.unnest(bigint[]) returns setof bigint language sql as 'select decoys.trap()::bigint';
	create function decoys.unnest(text[]) returns setof text language sql as 'select decoys.trap()';
	create function decoys.unnest(weir.message_record[]) returns setof weir.message_record
		language sql as 'select null::weir.message_record from (select decoys.trap()) t where t is not null';
	create function decoys.array_agg(text) returns text[] language sql as 'select array[decoys.trap()]';
	create function decoys.jsonb_build_object(text, text) returns jsonb language sql as 'select decoys.trap()::jsonb';
	create function decoys.quote_ident(text) returns text language sql as 'select decoys.trap()';
	create function decoys.to_regproc(text) returns regproc language sql as 'select decoys.trap()::regproc';
	create function decoys.cardinality(bigint[]) returns int language sql as 'select decoys.trap()::int';
	create function decoys.queue_function(text, text) returns text language sql as 'select decoys.trap()';
	create function decoys.clock() returns timestamptz language sql as 'select decoys.trap()::timestamptz';
	create function decoys.lane_of(text, int) returns int language sql as 'select decoys.trap()::int';
	create function decoys.plus(bigint, int) returns bigint language sql as 'select decoys.trap()::bigint';
	create operator decoys.+ (leftarg = bigint, rightarg = int, function = decoys.plus);
	create operator decoys.- (leftarg = bigint, rightarg = int, function = decoys.plus);
	create function decoys.cat(text, text) returns text language sql as 'select decoys.trap()';
	create operator decoys.|| (leftarg = text, rightarg = text, function = decoys.cat);
	create table decoys.queues (no int, name text);
	create table decoys.groups (no int, name text)`

// TestNobodysObjectsTakeThePlaceOfOurs has the caller look into a schema that somebody else filled, and into its own
// temporary one.
func TestNobodysObjectsTakeThePlaceOfOurs(t *testing.T) {
	each(t, func(t *testing.T, db *pgtest.DB) {
		world(t, db)
		if _, err := db.Super(t).Exec(t.Context(), decoys); err != nil {
			t.Fatal(err)
		}
		role := db.Role(t)
		for _, right := range []string{"produce", "consume", "admin"} {
			db.Exec(t, "select weir.grant_"+right+"('mine', $1)", role)
		}
		for _, conn := range []*pgx.Conn{db.Conn(t), db.As(t, role)} {
			if _, err := conn.Exec(t.Context(), `
				create temporary table queues (no int, name text); create temporary table groups (no int, name text);
				create temporary table pg_proc (proname text); create temporary table templates (name text, body text);
				set search_path = decoys, public`); err != nil {
				t.Fatal(err)
			}
			for _, call := range []string{
				"select weir.send('mine', '1', 'k', '{}', '1 ms')", "select weir.send_batch('mine', array['1', '2']::jsonb[])",
				"select weir.send_batch('mine', array['1', '2']::jsonb[], keys => array['a', null])",
				"select weir.publish('news', '1')", "select weir.route('news')",
				"select weir.ack('mine', claim_id), weir.ack('mine', claim_id, array[id]) from weir.receive('mine', max => 5)",
				"select weir.nack('mine', claim_id, delay => '1 h') from weir.receive('mine')",
				"select weir.reject('mine', claim_id) from weir.receive('mine')",
				"select weir.extend('mine', claim_id, '1 h') from weir.receive_records('mine', max => 2)",
				"select weir.pop('mine'), weir.peek('mine'), weir.mark_waiting('mine'), weir.dead_letters('mine')",
				"select weir.redrive('mine', 'default'), weir.discard('mine', 'default')",
				"select weir.stats('mine'), weir.stats(), weir.list_queues(), weir.list_groups('mine'), weir.version()",
				"select weir.create_group('mine', 'new')", "select weir.configure_group('mine', 'new', 3)",
				"select weir.pause('mine', 'new')", "select weir.resume('mine')", "select weir.purge('mine', 'new')",
				"select weir.drop_group('mine', 'new')", "select weir.configure_queue('mine', 2000 + pg_backend_pid() % 9)",
				"select weir.maintain()",
			} {
				if _, err := conn.Exec(t.Context(), call); err != nil {
					t.Errorf("%s: %v", call, err)
				}
			}
			for _, call := range []string{"send('none', '1')", "receive('mine', 'none')", "ack('mine', 0)"} {
				_, err := conn.Exec(t.Context(), "select weir."+call)
				if state := surface.SQLState(err); !strings.HasPrefix(state, "WR") {
					t.Errorf("%s: %v", call, err)
				}
			}
		}
		owner := db.Conn(t)
		if _, err := owner.Exec(t.Context(), "set search_path = decoys, public"); err != nil {
			t.Fatal(err)
		}
		for i, call := range []string{
			"create_queue('new')", "bind('a.*', 'new')", "list_bindings()", "unbind('a.*', 'new')",
			fmt.Sprintf("grant_produce('new', '%s')", role), fmt.Sprintf("revoke_produce('new', '%s')", role),
			"drop_queue('new')", "drop_queue('mine')",
		} {
			if _, err := owner.Exec(t.Context(), "select weir."+call); err != nil {
				t.Errorf("%d: %s: %v", i, call, err)
			}
		}
	})
}
