package surface

import (
	"strings"
	"testing"

	"github.com/weirmq/weir/internal/pgtest"
)

// catalogue lists what the engine's schemas hold, one object a line, in an order and a form that do not depend on the
// version.
const catalogue = `
with schemas as (select oid, nspname from pg_namespace where nspname ~ '^weir(_internal|_gates|_log(_.*)?)?$')
select line from (
	select 1 as part, format('schema %s %s', nspname, replace(nspacl::text, nspowner::regrole::text, 'owner')) as line
	from pg_namespace join schemas s using (oid, nspname)
	union all
	select 2, format('%s %s.%s of %s with %s', case c.relkind when 'r' then 'table' when 'S' then 'sequence'
			when 'v' then 'view' when 'c' then 'type' else c.relkind::text end, s.nspname, c.relname,
		coalesce(nullif(c.reloftype, 0)::regtype::text, '-'), coalesce(c.reloptions::text, '-'))
	from pg_class c join schemas s on s.oid = c.relnamespace where c.relkind not in ('t', 'i')
	union all
	select 3, format('column %s.%s.%s no. %s %s %s %s%s', s.nspname, c.relname, a.attname,
		row_number() over (partition by c.oid order by a.attnum), format_type(a.atttypid, a.atttypmod), a.attstorage,
		case when a.attnotnull then 'not null ' else '' end, coalesce('default ' || pg_get_expr(d.adbin, d.adrelid), ''))
	from pg_attribute a join pg_class c on c.oid = a.attrelid join schemas s on s.oid = c.relnamespace
	left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
	where a.attnum > 0 and not a.attisdropped and c.relkind in ('r', 'c', 'v')
	union all
	select 4, pg_get_indexdef(i.indexrelid) from pg_index i join pg_class c on c.oid = i.indexrelid
		join schemas s on s.oid = c.relnamespace
	union all
	select 5, format('constraint on %s %s', k.conrelid::regclass, pg_get_constraintdef(k.oid)) from pg_constraint k
		join schemas s on s.oid = k.connamespace where k.contype <> 'n' and k.conrelid <> 0
	union all
	select 6, format('function %s.%s(%s) returns %s %s %s%s %s', s.nspname, p.proname,
		pg_get_function_arguments(p.oid), pg_get_function_result(p.oid), p.provolatile,
		case when p.prosecdef then 'definer ' else '' end,
		coalesce(p.proconfig::text, '-'), replace(p.proacl::text, p.proowner::regrole::text, 'owner'))
	from pg_proc p join schemas s on s.oid = p.pronamespace
) t order by part, line collate "C"`

// Catalogue returns what the engine has in a database, bodies of functions apart.
func Catalogue(tb testing.TB, db *pgtest.DB) string {
	tb.Helper()
	return strings.Join(pgtest.QueryAll[string](tb, db, catalogue), "\n") + "\n"
}

// bodies lists what the engine's functions and views do.
const bodies = `
select format('%s: %s', p.oid::regprocedure, md5(prosrc)) as line from pg_proc p
where pronamespace::regnamespace::text ~ '^weir(_internal|_gates|_log(_.*)?)?$'
union all
select format('%s: %s', c.oid::regclass, pg_get_viewdef(c.oid)) from pg_class c
where relnamespace::regnamespace::text ~ '^weir' and relkind = 'v'
order by 1`

// Bodies returns what the engine's functions and views do, a function a line.
func Bodies(tb testing.TB, db *pgtest.DB) string {
	tb.Helper()
	return strings.Join(pgtest.QueryAll[string](tb, db, bodies), "\n") + "\n"
}

// Difference lists the lines that one text has and the other has not.
func Difference(a, b string) string {
	var out strings.Builder
	for sign, texts := range map[string][2]string{"-": {a, b}, "+": {b, a}} {
		other := map[string]bool{}
		for line := range strings.SplitSeq(texts[1], "\n") {
			other[line] = true
		}
		for line := range strings.SplitSeq(texts[0], "\n") {
			if !other[line] {
				out.WriteString(sign + line + "\n")
			}
		}
	}
	return out.String()
}
