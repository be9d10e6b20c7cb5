// Package rotation_test turns the rings under what makes it hard: transactions that stay open, leases that
// outlive several turns, maintenance that is rolled back, queues that nobody consumes.
package rotation_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/weirmq/weir/internal/pgtest"
)

func TestMain(m *testing.M) {
	pgtest.Main(m)
}

type bench struct {
	*testing.T
	db *pgtest.DB
}

// each runs a test on a log with segments and tables of the claim log of 64 KiB, and a queue "ring".
func each(t *testing.T, test func(b bench)) {
	pgtest.EachMajor(t, func(t *testing.T, major int) {
		b := bench{t, pgtest.New(t, pgtest.Options{Major: major})}
		b.db.Exec(t, "update weir_internal.logs set segment_bytes = 65536, claims_bytes = 65536")
		b.db.Exec(t, "select weir.create_queue('ring')")
		test(b)
	})
}

type message struct {
	id, claim int64
	attempt   int
}

// fill sends n messages of about 1 kB, each in a transaction of its own.
func (b bench) fill(queue string, n int) {
	b.Helper()
	for range n {
		b.db.Exec(b, `select weir.send($1, to_jsonb(array_to_string(array(
			select md5(random()::text) from generate_series(1, 32)), '')))`, queue)
	}
}

func (b bench) receive(queue, group string, batchMax int, lease string) []message {
	b.Helper()
	rows, err := b.db.Pool(b).Query(b.Context(),
		"select id, claim_id, attempt from weir.receive($1, $2, $3, $4::text::interval)", queue, group, batchMax, lease)
	if err != nil {
		b.Fatal(err)
	}
	out, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (m message, err error) {
		err = row.Scan(&m.id, &m.claim, &m.attempt)
		return m, err
	})
	if err != nil {
		b.Fatal(err)
	}
	return out
}

// drain receives and finishes until nothing comes and returns the ids in the order in which they came.
func (b bench) drain(queue string) []int64 {
	b.Helper()
	var out []int64
	for {
		got := b.receive(queue, "default", 1000, "1 hour")
		if len(got) == 0 {
			return out
		}
		for _, m := range got {
			if slices.Contains(out, m.id) {
				b.Fatalf("%v came twice", m)
			}
			out = append(out, m.id)
		}
		b.db.Exec(b, "select weir_log.ack_all($1, $2)", queue, got[0].claim)
	}
}

func (b bench) maintain() int {
	b.Helper()
	b.db.Exec(b, "select setval('weir_log.next_look', 0)") // a segment that is held is looked at again at once
	return pgtest.QueryVal[int](b, b.db, "call weir.maintain()")
}

// settle maintains until there is nothing left to do.
func (b bench) settle() {
	b.Helper()
	for range 100 {
		if b.maintain() == 0 {
			return
		}
	}
	b.Fatal("maintenance finds no end")
}

func (b bench) ring(name string) int64 {
	b.Helper()
	return pgtest.QueryVal[int64](b, b.db, "select pg_sequence_last_value('weir_log."+name+"_ring')")
}

func (b bench) open(statements ...string) *pgx.Conn {
	b.Helper()
	conn := b.db.Conn(b)
	for _, sql := range append([]string{"begin"}, statements...) {
		if _, err := conn.Exec(b.Context(), sql); err != nil {
			b.Fatal(err)
		}
	}
	return conn
}

func (b bench) end(conn *pgx.Conn, how string) {
	b.Helper()
	if _, err := conn.Exec(b.Context(), how); err != nil {
		b.Fatal(err)
	}
}

const allSteps = `select count(weir_internal.maintain_step(s.step_name, s.log_name))
	from generate_series(1, 3) i cross join lateral weir.maintenance() s`

func (b bench) size(pattern string) int64 {
	b.Helper()
	return pgtest.QueryVal[int64](b, b.db, `select sum(pg_relation_size(c.oid))::bigint from pg_class c
		where c.relnamespace = 'weir_log'::regnamespace and c.relkind = 'r' and c.relname ~ $1`, pattern)
}

func wantState(tb testing.TB, err error, state string) {
	tb.Helper()
	var pg *pgconn.PgError
	if !errors.As(err, &pg) || pg.Code != state {
		tb.Fatalf("got %v, want %s", err, state)
	}
}

func TestMaintainSaysThatItCannotRunInATransaction(t *testing.T) {
	each(t, func(b bench) {
		conn := b.open()
		_, err := conn.Exec(b.Context(), "call weir.maintain()")
		wantState(b, err, "WR015")
		b.end(conn, "rollback")
		for _, bad := range []string{"-1 second", "61 minutes"} {
			_, err := b.db.Pool(b).Exec(b.Context(), "call weir.maintain($1::text::interval)", bad)
			wantState(b, err, "WR006")
		}
	})
}

// A step may take locks for which others wait, so it is no stranger's to do in a transaction of his own.
func TestAStrangersMaintenanceHoldsNothing(t *testing.T) {
	each(t, func(b bench) {
		b.db.Exec(b, "select weir.create_queue('other')")
		role := b.db.Role(b)
		b.db.Exec(b, "select weir.grant_consume('other', '"+role+"')")
		for range 3 {
			b.fill("ring", 50)
			b.drain("ring")
		}
		stranger := b.db.As(b, role)
		for _, sql := range []string{"call weir.maintain()", "select weir.maintain_step('empty segments', 'main')"} {
			for _, begin := range []string{"begin", "begin read only"} {
				if _, err := stranger.Exec(b.Context(), begin); err != nil {
					b.Fatal(err)
				}
				_, err := stranger.Exec(b.Context(), sql)
				wantState(b, err, "WR015")
				b.fill("ring", 1)
				b.drain("ring")
				b.end(stranger, "rollback")
			}
		}
		for _, path := range []string{"public", "weir, public"} {
			stranger := b.db.As(b, role)
			if _, err := stranger.Exec(b.Context(), "set search_path = "+path); err != nil {
				b.Fatal(err)
			}
			b.fill("ring", 70)
			before := b.ring("log")
			if _, err := stranger.Exec(b.Context(), "call weir.maintain()"); err != nil || b.ring("log") == before {
				b.Errorf("with the search path %s maintenance left the ring at %d: %v", path, before, err)
			}
		}
	})
}

func TestMaintenanceThatSomebodyHasJustBegunIsLeftToThem(t *testing.T) {
	each(t, func(b bench) {
		steps := func(every string) int {
			b.fill("ring", 80)
			b.drain("ring")
			return pgtest.QueryVal[int](b, b.db, "call weir.maintain($1::text::interval)", every)
		}
		if steps("1 hour") == 0 {
			b.Error("the first call did nothing")
		}
		if n := steps("1 hour"); n != 0 {
			b.Errorf("a second call within the hour did %d things", n)
		}
		if steps("0") == 0 {
			b.Error("a call that is not to be left out did nothing")
		}
	})
}

func TestStepsThatAreRolledBackLoseNothing(t *testing.T) {
	each(t, func(b bench) {
		var held []message
		for range 8 {
			b.fill("ring", 50)
			got := b.receive("ring", "default", 1, "1 day")
			held = append(held, got...)
			b.end(b.open(allSteps), "rollback")
			b.maintain()
			b.end(b.open(allSteps), "rollback")
			if n := len(b.drain("ring")); n != 49 {
				b.Fatalf("%d of 49 messages came", n)
			}
			b.end(b.open(allSteps, allSteps), "rollback")
			b.settle()
			b.end(b.open(allSteps), "commit")
		}
		if b.ring("log") < 5 {
			b.Errorf("the ring is at %d only", b.ring("log"))
		}
		for range 3 {
			b.db.Exec(b, "select weir_log.send_batch('ring', array_fill('1'::json, array[150]), null, null, null, null)")
			for range 150 {
				for _, m := range b.receive("ring", "default", 1, "1 hour") {
					b.db.Exec(b, "select weir_log.ack('ring', $1, $2)", m.claim, m.id)
				}
			}
			b.end(b.open(allSteps), "rollback")
			b.maintain()
			b.end(b.open(allSteps), "rollback")
			b.settle()
		}
		if b.ring("claims") < 4 {
			b.Errorf("the ring of claims is at %d only", b.ring("claims"))
		}
		if n := len(b.drain("ring")); n != 0 {
			b.Errorf("%d messages came again", n)
		}
		for _, m := range held {
			if n := pgtest.QueryVal[int](b, b.db, "select weir_log.ack('ring', $1, $2)", m.claim, m.id); n != 1 {
				b.Errorf("%v: %d were finished", m, n)
			}
		}
	})
}

// A claim in every segment: its message leaves the ring, again and again.
func TestLongLeasesNeitherStopTheRingNorAreLost(t *testing.T) {
	each(t, func(b bench) {
		held := map[int64]int64{}
		for range 12 {
			b.fill("ring", 60)
			for _, m := range b.receive("ring", "default", 2, "1 day") {
				held[m.id] = m.claim
			}
			b.drain("ring")
			b.settle()
		}
		if b.ring("log") < 9 {
			b.Fatalf("the ring is at %d only", b.ring("log"))
		}
		if b.size("^log_") > 300_000 {
			b.Errorf("the ring holds %d bytes", b.size("^log_"))
		}
		for id, claim := range held {
			b.db.Exec(b, "select weir_log.settle('ring', $1, array[$2::bigint], 'nack', '0', null)", claim, id)
		}
		for range 3 {
			for _, m := range b.receive("ring", "default", 1000, "1 hour") {
				if _, ok := held[m.id]; !ok || m.attempt != 2 {
					b.Fatalf("received %v, which was not held or is of the wrong attempt", m)
				}
				delete(held, m.id)
			}
		}
		if len(held) > 0 {
			b.Fatalf("lost: %v", held)
		}
	})
}

func TestOpenWriterDoesNotStopTheRing(t *testing.T) {
	each(t, func(b bench) {
		writer := b.open("select weir.send('ring', '\"held\"')")
		for range 10 {
			b.fill("ring", 70)
			b.drain("ring")
			b.settle()
		}
		if b.ring("log") < 8 {
			b.Errorf("the ring is at %d only while a writer is open", b.ring("log"))
		}
		b.end(writer, "commit")
		if n := len(b.drain("ring")); n != 1 {
			b.Fatalf("%d messages came of the one that was held", n)
		}
		b.settle()
		if left := b.size("^(log_|rest)"); left > 300_000 {
			b.Errorf("%d bytes are left", left)
		}
	})
}

// A reader that has looked into a segment keeps its table, not the others; what it does not see any more is in `rest`.
func TestOpenReaderKeepsOneTableAndReadsOn(t *testing.T) {
	each(t, func(b bench) {
		b.db.Exec(b, "select weir.create_queue('slow')")
		b.fill("slow", 3)
		reader := b.open("select weir.receive('slow')")
		for range 10 {
			b.fill("ring", 70)
			b.drain("ring")
			b.settle()
		}
		if b.ring("log") < 8 {
			b.Errorf("the ring is at %d only while a reader is open", b.ring("log"))
		}
		if pgtest.QueryVal[int64](b, b.db, "select pg_relation_size('weir_log.log_1')") == 0 {
			b.Error("the table that the reader has locked was truncated")
		}
		var n int
		err := reader.QueryRow(b.Context(), "select count(*) from weir.receive('slow', max => 10)").Scan(&n)
		if err != nil || n != 2 {
			b.Errorf("the reader received %d more, %v; want 2", n, err)
		}
		b.end(reader, "rollback")
		if got := b.drain("slow"); len(got) != 3 || !slices.IsSorted(got) {
			b.Errorf("received %v, want 3 in order", got)
		}
		b.settle()
		if n := pgtest.QueryVal[int](b, b.db, "select count(*) from weir_log.rest"); n != 0 {
			b.Errorf("%d records stay in rest", n)
		}
	})
}

func TestASmallRemainderLeavesTheRingOnceWithItsOrder(t *testing.T) {
	each(t, func(b bench) {
		b.db.Exec(b, "select weir.create_queue('slow')")
		b.db.Exec(b, "select weir.create_group('slow', 'second')")
		var sent []int64
		for range 10 {
			sent = append(sent, pgtest.QueryVal[int64](b, b.db, "select weir.send('slow', '1')"),
				pgtest.QueryVal[int64](b, b.db, "select weir.send('slow', '2')"))
			b.fill("ring", 70)
			b.drain("ring")
			b.settle()
		}
		if b.ring("log") < 9 {
			b.Errorf("the ring is at %d only", b.ring("log"))
		}
		if n := pgtest.QueryVal[int](b, b.db, "select count(distinct id) - count(*) from weir_log.rest"); n != 0 {
			b.Errorf("%d records are in rest twice", -n)
		}
		if got := b.drain("slow"); !slices.Equal(got, sent) {
			b.Errorf("received %v, want %v", got, sent)
		}
		b.settle()
		if n := pgtest.QueryVal[int](b, b.db, "select count(*) from weir_log.rest"); n == 0 {
			b.Error("the second group's messages are gone")
		}
		b.db.Exec(b, "select weir_log.ack_all('slow', claim_id) from weir.receive('slow', 'second', 15)")
		b.db.Exec(b, "select weir_log.ack_all('slow', claim_id) from weir.receive('slow', 'second', 15)")
		for len(b.receive("slow", "second", 100, "1 hour")) > 0 {
			b.db.Exec(b, "select weir_log.ack_all('slow', max(claim)) from weir_log.claims_2 where group_no = 3")
		}
		b.settle()
		if n := pgtest.QueryVal[int](b, b.db, "select count(*) from weir_log.rest"); n != 0 {
			b.Errorf("%d records stay in rest", n)
		}
		if n := pgtest.QueryVal[int](b, b.db, "select count(*) from weir_log.segments"); n > 4 {
			b.Errorf("%d segments are remembered", n)
		}
	})
}

func TestALargeRemainderHoldsItsSegmentAndIsNamed(t *testing.T) {
	each(t, func(b bench) {
		b.db.Exec(b, "select weir.create_queue('slow')")
		b.fill("slow", 20)
		for range 6 {
			b.fill("ring", 70)
			b.drain("ring")
			b.settle()
		}
		if b.ring("log") < 5 {
			b.Errorf("the ring is at %d only: two tables were free", b.ring("log"))
		}
		holder := pgtest.QueryVal[string](b, b.db, `select string_agg(concat_ws(' ', segment_no, q.name, g.name), ',')
			from weir_log.segment_holders() h join weir_internal.queues q on q.no = h.queue_no
			join weir_internal.groups g on g.no = h.group_no`)
		if holder != "1 slow default" {
			b.Errorf("the holder is said to be %q", holder)
		}
		if n := len(b.receive("slow", "default", 16, "0.001 s")); n != 16 {
			b.Fatal(n)
		}
		b.settle() // 20 are still needed: the claims are not finished
		b.db.Exec(b, "select count(*) from weir.receive('slow', max => 1)")
		if got := len(b.drain("slow")); got < 19 {
			b.Errorf("%d of 20 came", got)
		}
	})
}

func TestRetentionKeepsWhatAllHaveFinished(t *testing.T) {
	each(t, func(b bench) {
		b.db.Exec(b, "update weir_internal.logs set retention = '1 hour'")
		for range 4 {
			b.fill("ring", 70)
			b.drain("ring")
			b.settle()
		}
		if n := pgtest.QueryVal[int](b, b.db, "select count(*) from weir_log.log_1"); n < 60 {
			b.Errorf("%d records of the first segment are kept", n)
		}
		b.db.Exec(b, "update weir_internal.logs set retention = '0'")
		b.settle()
		if left := b.size("^log_"); left > 300_000 {
			b.Errorf("%d bytes are left", left)
		}
	})
}

func TestNothingIsTruncatedWhileTheDatabaseIsDumped(t *testing.T) {
	each(t, func(b bench) {
		dump := b.db.Conn(b)
		b.end(dump, "set application_name = 'pg_dump'")
		for range 3 {
			b.fill("ring", 70)
			b.drain("ring")
			b.settle()
		}
		if n := pgtest.QueryVal[int](b, b.db, "select count(*) from weir_log.log_1"); n < 60 {
			b.Errorf("%d records of the first segment are there", n)
		}
		b.end(dump, "set application_name = 'other'")
		b.settle()
		if n := pgtest.QueryVal[int](b, b.db, "select count(*) from weir_log.log_1"); n > 0 && b.ring("log") < 4 {
			b.Errorf("%d records stay", n)
		}
	})
}
