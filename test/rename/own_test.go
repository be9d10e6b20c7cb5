package rename_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

// What docs/tasks/batches.md promises to those who call them.
var promised = map[string]string{
	"send":         "jsonb, text, jsonb, interval, integer -> bigint",
	"send_batch":   "jsonb[], text[], jsonb[], interval, integer -> bigint[]",
	"receive":      "text, integer, interval -> weir.message_record[]",
	"receive_many": "text, integer[], interval[] -> SETOF record",
	"ack":          "bigint, bigint[] -> integer",
	"ack_many":     "bigint[], int8multirange[], integer[] -> integer[]",
}

func TestAQueueTellsTheNamesOfItsOwnFunctions(t *testing.T) {
	each(t, func(t *testing.T, db *pgtest.DB) {
		for _, queue := range []string{"plain", "0-o.d_d"} {
			surface.CreateQueue(t, db.Pool(t), queue, "")
			for verb, signature := range promised {
				got := pgtest.QueryVal[string](t, db, `select (select string_agg(t::regtype::text, ', ' order by i)
						from unnest(proargtypes) with ordinality as a (t, i)) || ' -> ' ||
						case when proretset then 'SETOF ' else '' end || prorettype::regtype
					from pg_proc where oid = weir.queue_function($1, $2)::regproc`, queue, verb)
				if got != signature {
					t.Errorf("%s: %s, want %s", verb, got, signature)
				}
			}
		}
		fails(t, db.Pool(t), "WR001", "select weir.queue_function('none', 'send')")
		fails(t, db.Pool(t), "WR001", "select weir.queue_function(null, 'send')")
		for _, verb := range []string{"'admin'", "'sent'", "'send:plain'", "''", "null"} {
			fails(t, db.Pool(t), "WR006", "select weir.queue_function('plain', "+verb+")")
		}
	})
}

func TestAQueuesOwnFunctionGoesByItsNameAlsoWhenItsCallIsPrepared(t *testing.T) {
	each(t, func(t *testing.T, db *pgtest.DB) {
		surface.CreateQueue(t, db.Pool(t), "q", "lanes => 1")
		name := pgtest.QueryVal[string](t, db, "select weir.queue_function('q', 'send')")
		conn := db.Conn(t)
		_, err := conn.Exec(t.Context(), strings.Replace(
			"prepare send as select {function}('1', null, null, null, null)", "{function}", name, 1))
		if err != nil {
			t.Fatal(err)
		}
		send := func(want string) {
			t.Helper()
			_, err := conn.Exec(t.Context(), "execute send")
			surface.WantState(t, err, want)
		}
		send("")
		db.Exec(t, "select weir.rename_queue('q', 'other')")
		send("42883")
		surface.CreateQueue(t, db.Pool(t), "q", "lanes => 2")
		send("")
		db.Exec(t, "select weir.drop_queue('q')")
		send("42883")
		surface.CreateQueue(t, db.Pool(t), "q", "lanes => 3")
		send("")
		want(t, db, 1, "select sent from weir.stats('other')")
		want(t, db, 1, "select sent from weir.stats('q')")
	})
}

func TestTheHintForAnUnknownQueueOrGroupIsToMakeItOrWhichNamesThereAre(t *testing.T) {
	each(t, func(t *testing.T, db *pgtest.DB) {
		surface.CreateQueue(t, db.Pool(t), "plain", "")
		producer, consumer := db.Role(t), db.Role(t)
		db.Exec(t, "select weir.grant_produce('plain', $1)", producer)
		db.Exec(t, "select weir.grant_consume('plain', $1)", consumer)
		hint := func(c surface.Conn, sql, name, code string) string {
			t.Helper()
			_, err := c.Exec(t.Context(), sql, name)
			var pgErr *pgconn.PgError
			if !errors.As(err, &pgErr) || pgErr.Code != code {
				t.Fatalf("%s: %v, want %s", name, err, code)
			}
			return pgErr.Hint
		}
		const makeQueue, makeGroup = "select weir.create_queue('orders')", "select weir.create_group('plain', 'orders')"
		for _, c := range []struct {
			conn            surface.Conn
			sql, code, want string
		}{
			{db.Pool(t), "select weir.send($1, '1')", "WR001", makeQueue},
			{db.As(t, producer), "select weir.send($1, '1')", "WR001", makeQueue},
			{db.Pool(t), "select weir.bind('a', $1)", "WR001", makeQueue},
			{db.Pool(t), "select weir.receive('plain', $1)", "WR003", makeGroup},
			{db.As(t, consumer), "select weir.receive('plain', $1)", "WR003", makeGroup},
			{db.Pool(t), "select weir.pause('plain', $1)", "WR003", makeGroup},
		} {
			if got := hint(c.conn, c.sql, "orders", c.code); got != c.want {
				t.Errorf("%s: %s", c.sql, got)
			}
			for _, name := range []string{"Orders", "", "a'b", strings.Repeat("x", 48)} {
				if got := hint(c.conn, c.sql, name, c.code); !strings.Contains(got, "1 to 47 characters of a-z") {
					t.Errorf("%s of %q: %s", c.sql, name, got)
				}
			}
		}
	})
}
