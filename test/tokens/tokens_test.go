// Package tokens_test holds that a token lets in who has it, as far and as long as it says, and nobody else.
package tokens_test

import (
	"slices"
	"testing"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

func each(t *testing.T, test func(t *testing.T, db *pgtest.DB)) {
	t.Parallel()
	pgtest.Each(t, test)
}

const found = `select coalesce(max(token_name || ' ' || array_to_string(queues, ',') || ' '
	|| array_to_string(verbs, ',')), '') from weir.find_token(sha256($1::bytea))`

func TestATokenIsFoundByItsDigestUntilItIsRevoked(t *testing.T) {
	each(t, func(t *testing.T, db *pgtest.DB) {
		db.Exec(t, "select weir.create_token('plain', sha256('one'))")
		db.Exec(t, `select weir.create_token('narrow', sha256('two'), queues => '{orders.*,eu-*}', verbs => '{read}')`)
		for secret, want := range map[string]string{
			"one": "plain * produce,consume,read", "two": "narrow orders.*,eu-* read", "three": "",
		} {
			if got := pgtest.QueryVal[string](t, db, found, []byte(secret)); got != want {
				t.Errorf("%s: found %q, want %q", secret, got, want)
			}
		}
		names := pgtest.QueryAll[string](t, db, "select token_name from weir.list_tokens() where created_by = session_user")
		if !slices.Equal(names, []string{"narrow", "plain"}) {
			t.Errorf("listed %v", names)
		}
		db.Exec(t, "select weir.revoke_token('plain')")
		if got := pgtest.QueryVal[string](t, db, found, []byte("one")); got != "" {
			t.Errorf("found %q after it was revoked", got)
		}
		if got := pgtest.QueryVal[string](t, db, found, []byte("two")); got == "" {
			t.Error("another one is gone, too")
		}
	})
}

func TestATokenLetsInNoLongerThanItsLifetime(t *testing.T) {
	each(t, func(t *testing.T, db *pgtest.DB) {
		db.Exec(t, "select weir.create_token('short', sha256('one'), lifetime => '1 hour')")
		if got := pgtest.QueryVal[string](t, db, found, []byte("one")); got == "" {
			t.Error("not found within its lifetime")
		}
		db.Exec(t, `create or replace function weir_internal.clock() returns timestamptz language sql volatile
			as $$ select clock_timestamp() + interval '1 hour' $$`)
		if got := pgtest.QueryVal[string](t, db, found, []byte("one")); got != "" {
			t.Errorf("found %q after its lifetime", got)
		}
		if n := pgtest.QueryVal[int](t, db, "select count(*)::int from weir.list_tokens()"); n != 1 {
			t.Errorf("%d tokens are listed, want the expired one", n)
		}
	})
}

func TestWhatCannotBeATokenIsRefusedAndChangesNothing(t *testing.T) {
	each(t, func(t *testing.T, db *pgtest.DB) {
		db.Exec(t, "select weir.create_token('there', sha256('one'))")
		for call, want := range map[string]string{
			"weir.create_token('there', sha256('two'))":                                       "WR043",
			"weir.create_token('other', sha256('one'))":                                       "WR043",
			"weir.create_token('Upper', sha256('two'))":                                       "WR005",
			"weir.create_token(null, sha256('two'))":                                          "WR005",
			"weir.create_token('t', 'short')":                                                 "WR006",
			"weir.create_token('t', null)":                                                    "WR006",
			"weir.create_token('t', sha256('two'), queues => '{}')":                           "WR006",
			"weir.create_token('t', sha256('two'), queues => null)":                           "WR006",
			"weir.create_token('t', sha256('two'), queues => array[null])":                    "WR006",
			"weir.create_token('t', sha256('two'), queues => '{Orders}')":                     "WR006",
			"weir.create_token('t', sha256('two'), queues => array['a' || chr(10)])":          "WR006",
			"weir.create_token('t', sha256('two'), queues => array_fill('*'::text, '{101}'))": "WR006",
			"weir.create_token('t', sha256('two'), verbs => '{}')":                            "WR006",
			"weir.create_token('t', sha256('two'), verbs => '{read,write}')":                  "WR006",
			"weir.create_token('t', sha256('two'), verbs => array[null])":                     "WR006",
			"weir.create_token('t', sha256('two'), lifetime => '0')":                          "WR006",
			"weir.create_token('t', sha256('two'), lifetime => '-1 day')":                     "WR006",
			"weir.create_token('t', sha256('two'), lifetime => '101 years')":                  "WR006",
			"weir.revoke_token('missing')":                                                    "WR044",
			"weir.revoke_token(null)":                                                         "WR005",
		} {
			_, err := db.Pool(t).Exec(t.Context(), "select "+call)
			if got := surface.SQLState(err); got != want {
				t.Errorf("%s: got %v, want %s", call, err, want)
			}
		}
		if n := pgtest.QueryVal[int](t, db, "select count(*)::int from weir.list_tokens()"); n != 1 {
			t.Errorf("%d tokens, want 1", n)
		}
	})
}

func TestOfTwoWhoMakeATokenOfOneNameAtOnceOneIsRefused(t *testing.T) {
	each(t, func(t *testing.T, db *pgtest.DB) {
		first, second := db.Conn(t), db.Conn(t)
		tx, err := first.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Exec(t.Context(), "select weir.create_token('t', sha256('one'))"); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() {
			_, err := second.Exec(t.Context(), "select weir.create_token('t', sha256('two'))")
			ended <- err
		}()
		pgtest.WaitForRow(t, db, "select exists (select from pg_locks where not granted)")
		if err := tx.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		surface.WantState(t, <-ended, "WR043")
		if got := pgtest.QueryVal[string](t, db, found, []byte("two")); got != "" {
			t.Errorf("the second lets in: %q", got)
		}
	})
}

// TestWhoMayNotMakeTokensCannotLookThemUp holds for a role with every right on a queue; a server's role is granted
// find_token alone.
func TestARoleOfAServerCanLookTokensUpAndNothingElse(t *testing.T) {
	each(t, func(t *testing.T, db *pgtest.DB) {
		surface.CreateQueue(t, db.Pool(t), "q", "lanes => 1")
		role := db.Role(t)
		db.Exec(t, "select weir.create_token('plain', sha256('one')), weir.grant_produce('q', $1)", role)
		conn := db.As(t, role)
		for _, call := range []string{
			"weir.find_token(sha256('one'))", "weir.list_tokens()", "weir.create_token('t', sha256('two'))",
			"weir.revoke_token('plain')",
		} {
			_, err := conn.Exec(t.Context(), "select "+call)
			surface.WantState(t, err, "42501")
		}
		db.Exec(t, "grant execute on function weir.find_token(bytea) to "+role)
		var name string
		err := conn.QueryRow(t.Context(), "select token_name from weir.find_token(sha256('one'))").Scan(&name)
		if err != nil || name != "plain" {
			t.Errorf("found %q, %v", name, err)
		}
		_, err = conn.Exec(t.Context(), "select weir.list_tokens()")
		surface.WantState(t, err, "42501")
	})
}
