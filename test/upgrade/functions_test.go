package upgrade_test

import (
	"testing"

	"github.com/weirmq/weir/internal/engine"
	"github.com/weirmq/weir/internal/migrate"
	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

// older makes a database whose engine has functions that this one has not: one that is gone, and one with other
// arguments, which a role was granted by hand.
func older(t *testing.T) (db *pgtest.DB, role string) {
	t.Helper()
	db = pgtest.New(t, pgtest.Options{})
	role = db.Role(t)
	db.Exec(t, "create function weir.gone(a int) returns int language sql as 'select 1'")
	db.Exec(t, "drop function weir.bind(text, text)")
	db.Exec(t, "create function weir.bind(a text, b text, c int) returns int language sql as 'select 1'")
	db.Exec(t, "grant usage on schema weir to "+role)
	db.Exec(t, "grant execute on function weir.bind to "+role+" with grant option")
	return db, role
}

func TestFunctionsOfAnOlderReleaseGoAndTheirGrantsStay(t *testing.T) {
	t.Parallel()
	db, role := older(t)
	want := surface.Catalogue(t, pgtest.New(t, pgtest.Options{}))
	upgrade(t, db)
	db.Exec(t, "revoke usage on schema weir from "+role)
	if !pgtest.QueryVal[bool](t, db,
		"select has_function_privilege($1, 'weir.bind(text, text)', 'execute with grant option')", role) {
		t.Error("a grant by hand was lost with the change of a function's arguments")
	}
	db.Exec(t, "revoke execute on function weir.bind from "+role)
	if got := surface.Catalogue(t, db); got != want {
		t.Errorf("what an older release had (+) is still there:\n%s", surface.Difference(want, got))
	}
}

func TestFunctionsOfOthersInOurSchemaStay(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Options{})
	_, err := db.Super(t).Exec(t.Context(), "create function weir.theirs() returns int language sql as 'select 1'")
	if err != nil {
		t.Fatal(err)
	}
	upgrade(t, db)
	if !pgtest.QueryVal[bool](t, db, "select to_regproc('weir.theirs') is not null") {
		t.Error("an install dropped a function that is not the engine's")
	}
}

func TestAViewOfTheUsersOnAFunctionThatIsGoneIsNamedAndKept(t *testing.T) {
	t.Parallel()
	db, _ := older(t)
	db.Exec(t, "create view public.mine as select weir.gone(1)")
	before := surface.Catalogue(t, db)
	err := migrate.Install(t.Context(), db.Conn(t))
	if engine.Code(err) != "2BP01" {
		t.Fatalf("error %v, want 2BP01", err)
	}
	if got := surface.Catalogue(t, db); got != before {
		t.Errorf("the failed install changed something:\n%s", surface.Difference(before, got))
	}
}
