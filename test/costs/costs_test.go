// Package costs_test holds the price of the hot paths: WAL, buffers and dead rows a message, which do not depend on the
// machine. A change that makes them dearer fails here before a benchmark shows it.
package costs_test

import (
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

const (
	calls  = 100 // of each kind in a block
	blocks = 5   // the cheapest counts: others have full-page images and what the server does by itself
	batch  = 100

	deadMost = 10 // rows, of making the queues; no call of more than a thousand may add one

	// Costs are the same from run to run and from PostgreSQL 14 to 18 but for which block a page's split falls into: 6 %
	// of the WAL at most was seen, and two buffers. What costs a tenth more fails.
	dearer = 1.1
	// A cost that fell by more is to be noted down, else the way back to the old one would be open.
	cheaper = 0.85
)

// hot is one of the hot paths and what a message costs on it.
type hot struct {
	name  string
	send  string // a statement that sends; "": receive and ack
	queue string // to receive from
	group string
	max   int     // messages a call
	walB  float64 // of WAL a message
	bufs  float64 // a call
}

const payload = `'{"v":"abcdefghijklmn"}'`

// paths are in the order in which they can run: what is received was sent before.
func paths() []hot {
	many := func(call string) string { return "select count(*) from " + call }
	keyed := func(queue string) string {
		return many("weir.send_batch('" + queue + "', array_fill(" + payload + "::jsonb, array[100]), " +
			"array(select 'key-' || i % 10 from generate_series(1, 100) i))")
	}
	jobs := many(`weir.enqueue_batch('j', array_fill('{"kind":"work","args":{"v":"abcdefghijklmn"}}'::jsonb, array[100]))`)
	batches := many("weir.send_batch('q', array_fill(" + payload + "::jsonb, array[100]))")
	return []hot{
		{"send of 100", batches, "", "", batch, 34.6, 10},
		{"receive and ack of 100", "", "q", "default", batch, 7.1, 35},
		{"send of 1", "select weir.send('q', " + payload + ")", "", "", 1, 283.8, 10},
		{"receive and ack of 1", "", "q", "default", 1, 718, 35},
		{"send of 100 of 10 keys", keyed("k"), "", "", batch, 76.9, 52},
		{"send of 1 with a key", "select weir.send('k', " + payload + ", 'key-7')", "", "", 1, 315.8, 13},
		// One lane: else it is chance how many a receive looks into.
		{"send of 100 of 10 keys into one lane", keyed("o"), "", "", batch, 46.9, 14},
		{"send of 1 with a key into one lane", "select weir.send('o', " + payload + ", 'key-7')", "", "", 1, 316.1, 13},
		{"receive and ack of 100 in order", "", "o", "default", batch, 8.3, 102},
		{"receive and ack of 1 in order", "", "o", "default", 1, 790.2, 97},
		{"enqueue of 100 jobs", jobs, "", "", batch, 59.3, 15},
		{"receive and ack of 100 jobs", "", "j", "default", batch, 7.6, 35},
		{"enqueue of 1 job", "select weir.enqueue('j', 'work', " + payload + ")", "", "", 1, 332.1, 11},
		{"receive and ack of 1 job", "", "j", "default", 1, 717.8, 35},
	}
}

func exec(t *testing.T, conn *pgx.Conn, sql string, args ...any) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), sql, args...); err != nil {
		t.Fatal(err)
	}
}

// do makes a call, receive and ack each in a transaction of its own, and returns of how many messages it was.
func (p *hot) do(t *testing.T, conn *pgx.Conn) int {
	t.Helper()
	if p.send != "" {
		exec(t, conn, p.send)
		return p.max
	}
	var claims []int64
	const receive = `select array_agg(distinct claim_id) from weir.receive_records($1, $2, max => $3)`
	err := conn.QueryRow(t.Context(), receive, p.queue, p.group, p.max).Scan(&claims)
	if err != nil || len(claims) == 0 {
		t.Fatalf("%s: received %v: %v", p.name, claims, err)
	}
	finished := 0
	const ack = `select sum(weir.ack_all($1, c)) from unnest($2::bigint[]) c`
	if err := conn.QueryRow(t.Context(), ack, p.queue, claims).Scan(&finished); err != nil || finished == 0 {
		t.Fatalf("%s: finished %d: %v", p.name, finished, err)
	}
	return finished
}

// wal returns the least WAL a message of all blocks, in bytes.
func (p *hot) wal(t *testing.T, conn *pgx.Conn) float64 {
	t.Helper()
	least := 0.0
	for block := range blocks {
		messages := 0
		before := walAt(t, conn)
		for range calls {
			messages += p.do(t, conn)
		}
		if wal := float64(walAt(t, conn)-before) / float64(messages); block == 0 || wal < least {
			least = wal
		}
	}
	return least
}

// buffers returns how many buffers a call touches: what it looks up, reads and writes, in place of the instructions
// that this takes.
func (p *hot) buffers(t *testing.T, conn *pgx.Conn) float64 {
	t.Helper()
	query := p.send
	if query == "" {
		query = fmt.Sprintf(`select sum(weir.ack_all('%s', c)) from (select distinct claim_id as c
			from weir.receive_records('%[1]s', '%s', max => %d)) r`, p.queue, p.group, p.max)
	}
	least := 0
	for i := range calls {
		if n := surface.Buffers(t, conn, query); i == 0 || n < least {
			least = n
		}
	}
	return float64(least)
}

func TestAMessageCostsNoMoreThanItDidAndNoDeadRows(t *testing.T) {
	db := pgtest.New(t, pgtest.Options{})
	watcher := db.Super(t)
	for _, queue := range []string{"q", "k", "j"} {
		exec(t, watcher, "select weir.create_queue($1)", queue)
	}
	exec(t, watcher, "select weir.create_queue('o', lanes => 1, ordered => true)")
	conn := db.Super(t)
	for _, p := range paths() {
		p.do(t, conn) // plans are made
	}
	for _, p := range paths() {
		wal, buffers := p.wal(t, conn), p.buffers(t, conn)
		t.Logf("%s: %.1f bytes of WAL a message, %.0f buffers a call", p.name, wal, buffers)
		judge(t, p.name+": bytes of WAL a message", wal, p.walB, 0)
		judge(t, p.name+": buffers a call", buffers, p.bufs, 1)
	}
	if err := conn.Close(t.Context()); err != nil { // its statistics are told at the latest now
		t.Fatal(err)
	}
	var dead int64
	err := watcher.QueryRow(t.Context(), `select coalesce(sum(n_tup_upd + n_tup_del), 0)::bigint from pg_stat_user_tables
		where schemaname ~ '^weir'`).Scan(&dead)
	if err != nil || dead > deadMost {
		t.Errorf("%d rows were updated or deleted: %v", dead, err)
	}
}

// judge compares a cost with the one that is noted down. A small one may always be dearer by some spare.
func judge(t *testing.T, what string, have, noted, spare float64) {
	t.Helper()
	switch {
	case have > max(dearer*noted, noted+spare):
		t.Errorf("%s: %.1f, and it was %.1f", what, have, noted)
	case have < min(cheaper*noted, noted-spare):
		t.Errorf("%s: %.1f, and it was %.1f: note the lower cost down", what, have, noted)
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
