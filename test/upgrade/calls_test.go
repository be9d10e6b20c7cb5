package upgrade_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/weirmq/weir/internal/pgtest"
)

// call is a public function of a release.
type call struct {
	Name     string
	Kind     string   // f or p, a procedure
	Args     []string // names
	Types    []string
	Defaults int      // of the last so many arguments
	Columns  []string // of its rows; none: it returns one value
}

const publicFunctions = `
select p.proname, p.prokind::text, coalesce(p.proargnames[1:p.pronargs], '{}'),
	 p.proargtypes::regtype[]::text[], p.pronargdefaults::int,
	case when p.proargmodes is not null
		then array(select n from unnest(p.proargnames, p.proargmodes) t (n, m) where m in ('t', 'o'))
		else array(select attname::text from pg_attribute a join pg_type y on y.typrelid = a.attrelid
			where y.oid = p.prorettype and a.attnum > 0 and not a.attisdropped) end
from pg_proc p where p.pronamespace = 'weir'::regnamespace order by 1`

// TestOldCallsAreStillUnderstood has the upgraded database parse every call that a release knew: with all arguments by
// position, with all by name, and with those only that had no default; and every column that came back.
func TestOldCallsAreStillUnderstood(t *testing.T) {
	t.Parallel()
	eachRelease(t, func(t *testing.T, db *pgtest.DB) {
		rows, err := db.Pool(t).Query(t.Context(), publicFunctions)
		if err != nil {
			t.Fatal(err)
		}
		calls, err := pgx.CollectRows(rows, pgx.RowToStructByPos[call])
		if err != nil || len(calls) < 30 {
			t.Fatalf("%d functions, %v", len(calls), err)
		}
		upgrade(t, db)
		conn := db.Conn(t)
		for _, c := range calls {
			for _, args := range c.forms() {
				query := fmt.Sprintf("select %s from weir.%s(%s)", c.columns(), c.Name, args)
				if c.Kind == "p" {
					query = fmt.Sprintf("call weir.%s(%s)", c.Name, args)
				}
				if _, err := conn.Prepare(t.Context(), "", query); err != nil {
					t.Errorf("%s: %v", query, err)
				}
			}
		}
	})
}

// forms returns lists of arguments, all of them null.
func (c call) forms() []string {
	var byPlace, byName []string
	for i, typ := range c.Types {
		byPlace = append(byPlace, "null::"+typ)
		byName = append(byName, pgx.Identifier{c.Args[i]}.Sanitize()+" => null::"+typ)
	}
	needed := len(byPlace) - c.Defaults
	all := []string{
		strings.Join(byPlace, ", "), strings.Join(byName, ", "),
		strings.Join(byPlace[:needed], ", "), strings.Join(byName[:needed], ", "),
	}
	return all
}

// columns returns what a call selects.
func (c call) columns() string {
	if len(c.Columns) == 0 {
		return "*"
	}
	return strings.Join(c.Columns, ", ")
}
