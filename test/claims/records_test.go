package claims_test

import (
	"cmp"
	"fmt"
	"testing"

	"github.com/weirmq/weir/internal/pgtest"
)

// A batch that is too large for one record becomes several, whose messages keep their order, ids and headers.
func TestALargeBatchIsCutIntoRecords(t *testing.T) {
	each(t, func(b bench) {
		for _, batch := range []struct{ count, bytes int }{
			{2500, 5}, {300, 2000}, {1500, 200}, {3, 200_000}, {1, 200_000}, {70, 2000},
		} {
			for _, headers := range []string{"", "null::jsonb", "case when i % 3 = 1 then jsonb_build_object('h', i) end"} {
				b.db.Exec(b, fmt.Sprintf(`create table sent as
					with batch as (
						select array_agg(jsonb_build_object('i', i, 'v', repeat('x', %d)) order by i) as payloads,
							array_agg(%s order by i) as headers
						from generate_series(1, %d) i
					)
					select s.id, s.i, b.payloads[s.i] as payload, b.headers[s.i] as headers
					from batch b
					cross join lateral weir.send_batch('jobs', b.payloads, headers => %s) with ordinality as s (id, i)`,
					batch.bytes, cmp.Or(headers, "null::jsonb"), batch.count,
					map[bool]string{true: "null", false: "b.headers"}[headers == ""]))
				what := fmt.Sprintf("%+v, headers %s", batch, headers)
				const records = `weir_log.log_1 r where r.id in (select id from sent)`
				if n := b.count("select max(n) from " + records); n > 1000 {
					b.Errorf("%s: a record of %d messages", what, n)
				}
				if n := b.count("select coalesce(max(pg_column_size(payloads)), 0) from " + records + " and n > 1"); n > 140_000 {
					b.Errorf("%s: a record of %d bytes", what, n)
				}
				b.db.Exec(b, "create table got (no int generated always as identity, id bigint, payload jsonb, headers jsonb)")
				for had := -1; had < b.count("select count(*) from got"); {
					had = b.count("select count(*) from got")
					b.db.Exec(b, `insert into got (id, payload, headers)
						select id, payload, headers from weir.pop('jobs', max => 70)`)
				}
				if n := b.count(`select count(*) from sent s full join got g on g.no = s.i and g.id = s.id
					where g.payload is distinct from s.payload or g.headers is distinct from s.headers`); n > 0 {
					b.Errorf("%s: %d messages came otherwise than they were sent", what, n)
				}
				if n := b.count(`select count(*) from sent s
					where id <> (select min(id) from sent f where f.id / 1000 = s.id / 1000) + (i - 1) % 1000`); n > 0 {
					b.Errorf("%s: %d ids do not rise as they should", what, n)
				}
				b.db.Exec(b, "drop table sent, got")
			}
		}
	})
}

func (b bench) count(text string) int {
	b.Helper()
	return pgtest.QueryVal[int](b, b.db, text)
}
