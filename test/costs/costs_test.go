// Package costs_test holds the price of the hot paths: WAL and dead rows a message, which do not depend on the machine.
// A change that makes them dearer fails here before a benchmark shows it.
package costs_test

import (
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/weirmq/weir/internal/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

const (
	calls  = 100 // of each kind in a block
	blocks = 3   // the cheapest counts: others have full-page images and what the server does by itself
	batch  = 100

	deadMost = 10 // rows, of making the queue; no call of more than a thousand may add one
)

// hot is one of the hot paths and what a message may cost on it. The limits are a sixth above what was measured.
type hot struct {
	name     string
	do       func(t *testing.T, conn *pgx.Conn)
	messages int // a call
	walMost  float64
}

func exec(t *testing.T, conn *pgx.Conn, sql string, args ...any) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), sql, args...); err != nil {
		t.Fatal(err)
	}
}

// take receives and acknowledges, each in a transaction of its own.
func take(t *testing.T, conn *pgx.Conn, most int) {
	t.Helper()
	var claims []int64
	const receive = `select array_agg(distinct claim_id) from weir.receive_records('q', max => $1)`
	err := conn.QueryRow(t.Context(), receive, most).Scan(&claims)
	if err != nil || len(claims) == 0 {
		t.Fatalf("received %v: %v", claims, err)
	}
	exec(t, conn, `select weir.ack('q', c) from unnest($1::bigint[]) c`, claims)
}

func paths() []hot {
	const one, many = `select weir.send('q', '{"v":"abcdefghijklmn"}')`,
		`select count(*) from weir.send_batch('q', array_fill('{"v":"abcdefghijklmn"}'::jsonb, array[100]))`
	return []hot{
		{"send of 100", func(t *testing.T, c *pgx.Conn) { exec(t, c, many) }, batch, 44},
		{"receive and ack of 100", func(t *testing.T, c *pgx.Conn) { take(t, c, batch) }, batch, 7.3},
		{"send of 1", func(t *testing.T, c *pgx.Conn) { exec(t, c, one) }, 1, 322},
		{"receive and ack of 1", func(t *testing.T, c *pgx.Conn) { take(t, c, 1) }, 1, 690},
	}
}

func TestAMessageCostsNoMoreWALThanItDidAndNoDeadRows(t *testing.T) {
	db := pgtest.New(t, pgtest.Options{})
	watcher := db.Super(t)
	exec(t, watcher, "select weir.create_queue('q')")
	conn := db.Super(t)
	for _, p := range paths() {
		p.do(t, conn) // plans are made
	}
	for _, p := range paths() {
		least := 0.0
		for block := range blocks {
			before := walAt(t, conn)
			for range calls {
				p.do(t, conn)
			}
			if wal := float64(walAt(t, conn)-before) / float64(calls*p.messages); block == 0 || wal < least {
				least = wal
			}
		}
		t.Logf("%s: %.1f bytes of WAL a message", p.name, least)
		if least > p.walMost {
			t.Errorf("%s: %.1f bytes of WAL a message, at most %.1f are meant", p.name, least, p.walMost)
		}
	}
	if err := conn.Close(t.Context()); err != nil { // its statistics are told at the latest now
		t.Fatal(err)
	}
	var dead int64
	err := watcher.QueryRow(t.Context(), `select coalesce(sum(n_tup_upd + n_tup_del), 0)::bigint from pg_stat_user_tables
		where schemaname in ('weir', 'weir_internal')`).Scan(&dead)
	if err != nil || dead > deadMost {
		t.Errorf("%d rows were updated or deleted: %v", dead, err)
	}
}

func walAt(t *testing.T, conn *pgx.Conn) int64 {
	t.Helper()
	var at int64
	err := conn.QueryRow(t.Context(), "select (pg_current_wal_insert_lsn() - '0/0')::bigint").Scan(&at)
	if err != nil {
		t.Fatal(err)
	}
	return at
}
