// Package rotation_test turns the rings under what makes it hard: transactions that stay open, leases that outlive
// several turns, maintenance that is rolled back, delayed messages that commit late.
package rotation_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

const queue = "ring"

type bench struct {
	*testing.T
	db *pgtest.DB
}

func each(t *testing.T, lanes string, test func(b bench)) {
	pgtest.EachMajor(t, func(t *testing.T, major int) {
		db := pgtest.New(t, pgtest.Options{Major: major})
		surface.CreateQueue(t, db.Pool(t), queue, "lanes => "+lanes+", segment_bytes => 65536, claims_bytes => 65536")
		test(bench{t, db})
	})
}

// fill sends n messages of about 1 kB, each in a transaction of its own.
func (b bench) fill(n int) {
	b.Helper()
	for range n {
		b.db.Exec(b, `select weir.send('ring', to_jsonb(array_to_string(array(
			select md5(random()::text) from generate_series(1, 32)), '')))`)
	}
}

func (b bench) pop(batchMax int) []surface.Message {
	b.Helper()
	got, err := surface.Pop(b.Context(), b.db.Pool(b), queue, "default", batchMax)
	if err != nil {
		b.Fatal(err)
	}
	return got
}

// drain pops until nothing comes and returns how many different messages came.
func (b bench) drain() int {
	b.Helper()
	seen := map[int64]bool{}
	for {
		got := b.pop(1000)
		if len(got) == 0 {
			return len(seen)
		}
		for _, m := range got {
			if seen[m.ID] {
				b.Fatalf("%v came twice", m)
			}
			seen[m.ID] = true
		}
	}
}

func (b bench) logRing() int64 {
	b.Helper()
	return pgtest.QueryVal[int64](b, b.db, "select pg_sequence_last_value('weir_internal.q1_log_ring')")
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

func TestRolledBackMaintenanceLosesNoSegment(t *testing.T) {
	each(t, "1", func(b bench) {
		for range 6 {
			b.fill(80)
			conn := b.open("select weir.maintain()", "select weir.maintain()")
			if _, err := conn.Exec(b.Context(), "rollback"); err != nil {
				b.Fatal(err)
			}
		}
		if n := b.drain(); n != 480 {
			b.Fatalf("%d of 480 messages came", n)
		}
		for range 6 {
			b.fill(80)
			for range 4 {
				if _, err := surface.Maintain(b.Context(), b.db.Pool(b)); err != nil {
					b.Fatal(err)
				}
				conn := b.open("select weir.maintain()")
				if _, err := conn.Exec(b.Context(), "rollback"); err != nil {
					b.Fatal(err)
				}
			}
		}
		if n := b.drain(); n != 480 {
			b.Fatalf("%d of the second 480 messages came", n)
		}
		if b.logRing() < 2 {
			b.Fatalf("the ring is at %d only", b.logRing())
		}
	})
}

// The ring does not roll back, so it may not point to a segment that the same transaction has named, which it can only
// where it has truncated one.
func TestSeveralTurnsInATransactionThatRollsBackLoseNoSegment(t *testing.T) {
	each(t, "1", func(b bench) {
		for range 2 {
			for range 4 { // until all three tables are in use
				b.fill(80)
				surface.Settle(b, b.db.Pool(b))
			}
			if n := b.drain(); n != 320 {
				b.Fatalf("%d of 320 messages came", n)
			}
			conn := b.open("select weir_internal.rotate_log(q) from weir_internal.queues q cross join generate_series(1, 6)")
			if _, err := conn.Exec(b.Context(), "rollback"); err != nil {
				b.Fatal(err)
			}
			for range 2 {
				b.fill(80)
				surface.Settle(b, b.db.Pool(b))
			}
			if n := b.drain(); n != 160 {
				b.Fatalf("%d of 160 messages came after the rollback", n)
			}
			surface.Settle(b, b.db.Pool(b))
		}
	})
}

// A table is named anew by the transaction that truncates it, or both roll back.
func TestASegmentIsUsedAgainByTheTransactionThatFreesIt(t *testing.T) {
	each(t, "1", func(b bench) {
		for _, end := range []string{"rollback", "commit", "rollback", "commit", "rollback", "commit"} {
			b.fill(80)
			surface.Settle(b, b.db.Pool(b))
			b.fill(80)
			if n := b.drain(); n != 160 {
				b.Fatalf("%d of 160 messages came", n)
			}
			conn := b.open("select weir_internal.rotate_log(q) from weir_internal.queues q cross join generate_series(1, 6)")
			if _, err := conn.Exec(b.Context(), end); err != nil {
				b.Fatal(err)
			}
		}
		b.fill(80)
		surface.Settle(b, b.db.Pool(b))
		if n := b.drain(); n != 80 {
			b.Fatalf("%d of 80 messages came", n)
		}
		if b.logRing() < 6 {
			b.Errorf("the ring is at %d only", b.logRing())
		}
	})
}

// What was carried over is not there after a rollback, and the old table must not be left for the new one.
func TestRolledBackMaintenanceLosesNoClaim(t *testing.T) {
	each(t, "1", func(b bench) {
		b.db.Exec(b, "select weir.send_batch('ring', array_fill('1'::jsonb, array[4000]))")
		var held []surface.Message
		for turn := range 3 {
			got, err := surface.Receive(b.Context(), b.db.Pool(b), queue, "default", 1, "1 day")
			if err != nil || len(got) != 1 {
				b.Fatalf("received %v, %v", got, err)
			}
			held = append(held, got...)
			b.db.Exec(b, "do $$ begin for i in 1 .. 600 loop perform weir.pop('ring'); end loop; end $$")
			for range 4 {
				conn := b.open("select weir.maintain() from generate_series(1, 20)") // each does one of its steps, at random
				if _, err := conn.Exec(b.Context(), "rollback"); err != nil {
					b.Fatal(err)
				}
				if _, err := surface.Maintain(b.Context(), b.db.Pool(b)); err != nil {
					b.Fatal(err)
				}
			}
			surface.Settle(b, b.db.Pool(b))
			ring := pgtest.QueryVal[int64](b, b.db, "select pg_sequence_last_value('weir_internal.q1_claims_ring')")
			if ring < int64(2*turn+2) {
				b.Errorf("the ring of claims is at %d after %d turns", ring, turn+1)
			}
		}
		for _, m := range held {
			if n, err := surface.Ack(b.Context(), b.db.Pool(b), queue, m.ClaimID, nil); n != 1 || err != nil {
				b.Errorf("message %d: finished %d, %v", m.ID, n, err)
			}
		}
	})
}

// A claim in every segment: to turn, rotation must move messages of claims, again and again.
func TestLongLeasesNeitherStopTheRingNorAreLost(t *testing.T) {
	each(t, "2", func(b bench) {
		held := map[int64]int64{} // message: claim
		for i := range 24 {
			b.fill(40)
			got, err := surface.Receive(b.Context(), b.db.Pool(b), queue, "default", 2, "1 day")
			if err != nil || len(got) == 0 {
				b.Fatalf("received %v, %v", got, err)
			}
			for _, m := range got {
				held[m.ID] = m.ClaimID
			}
			b.drain()
			for range 3 + i%2 {
				if _, err := surface.Maintain(b.Context(), b.db.Pool(b)); err != nil {
					b.Fatal(err)
				}
			}
		}
		surface.Settle(b, b.db.Pool(b))
		if b.logRing() < 6 {
			b.Fatalf("the ring is at %d only", b.logRing())
		}
		claims := map[int64]bool{}
		for _, claim := range held {
			claims[claim] = true
		}
		for claim := range claims {
			if _, err := surface.Nack(b.Context(), b.db.Pool(b), queue, claim, nil, surface.Text("0")); err != nil {
				b.Fatal(err)
			}
		}
		for _, m := range append(b.pop(1000), b.pop(1000)...) {
			if _, ok := held[m.ID]; !ok || m.Attempt != 2 {
				b.Fatalf("received %v, which was not held or is of the wrong attempt", m)
			}
			delete(held, m.ID)
		}
		if len(held) > 0 {
			b.Fatalf("lost: %v", held)
		}
	})
}

func TestOpenWriterDoesNotStopTheRing(t *testing.T) {
	each(t, "2", func(b bench) {
		writer := b.open("select weir.send('ring', '\"held\"')")
		for range 12 {
			b.fill(70)
			b.drain()
			for range 4 {
				if _, err := surface.Maintain(b.Context(), b.db.Pool(b)); err != nil {
					b.Fatal(err)
				}
			}
		}
		if b.logRing() < 8 {
			b.Errorf("the ring is at %d only while a writer is open", b.logRing())
		}
		size := pgtest.QueryVal[int64](b, b.db,
			"select max(pg_relation_size('weir_internal.q1_log_' || k))::bigint from generate_series(0, 2) k")
		if size > 400_000 {
			b.Errorf("a segment of 64 KiB has grown to %d", size)
		}
		if _, err := writer.Exec(b.Context(), "commit"); err != nil {
			b.Fatal(err)
		}
		if n := b.drain(); n != 1 {
			b.Fatalf("%d messages came of the one that was held", n)
		}
	})
}

// The servers of the tests have no autovacuum; this is the lock that it takes.
func TestUpkeepPassesOverTablesThatAreBeingVacuumed(t *testing.T) {
	each(t, "2", func(b bench) {
		vacuum := b.open(`lock table weir_internal.q1_log_0, weir_internal.q1_log_1, weir_internal.q1_log_2,
			weir_internal.q1_claims_0, weir_internal.q1_claims_1 in share update exclusive mode`)
		size := func() int64 {
			return pgtest.QueryVal[int64](b, b.db, `select sum(pg_relation_size(c.oid))::bigint from pg_class c
				where c.relname ~ '^q1_(log|claims)_[0-2]$' and c.relkind = 'r'`)
		}
		for range 6 {
			b.fill(140)
			if n := b.drain(); n != 140 {
				b.Fatalf("received %d messages, want 140", n)
			}
			for range 4 {
				if _, err := surface.Maintain(b.Context(), b.db.Pool(b)); err != nil {
					b.Fatal(err)
				}
			}
		}
		grown := size()
		if grown < 800_000 {
			b.Errorf("the tables hold %d bytes although none can be given back", grown)
		}
		if _, err := vacuum.Exec(b.Context(), "commit"); err != nil {
			b.Fatal(err)
		}
		surface.Settle(b, b.db.Pool(b))
		if left := size(); left > grown/2 {
			b.Errorf("after the vacuum the tables hold %d bytes of %d", left, grown)
		}
		b.fill(1)
		if n := b.drain(); n != 1 {
			b.Errorf("received %d messages, want 1", n)
		}
	})
}

func TestManySlotsDoNotKeepMaintenanceBusy(t *testing.T) {
	each(t, "16", func(b bench) {
		for i := range 20 {
			b.db.Exec(b, "select weir.create_group('ring', 'g' || $1::int)", i)
		}
		surface.Settle(b, b.db.Pool(b)) // fails when there is no end to it
	})
}

// The late one has a transaction id that no snapshot of the receiver lists, because nothing that began after it has
// ended: so until then this test may write nothing, and does not move the clock.
func TestDelayedMessageCommittedLateIsDelivered(t *testing.T) {
	each(t, "1", func(b bench) {
		b.db.Exec(b, "select weir.send('ring', '1', delay => '300 ms')")
		writer := b.open("select weir.send('ring', '2', delay => '100 ms')")
		var first []surface.Message
		pgtest.WaitFor(b, "the delayed message", func() bool { first = b.pop(10); return len(first) > 0 })
		if len(first) != 1 {
			b.Fatalf("received %v, want the message that was committed", first)
		}
		due := false // the writer's own, too: it may have been held up before it sent
		pgtest.WaitFor(b, "the writer's message is due", func() bool {
			const passed = "select bool_and(clock_timestamp() > due_at) from weir_internal.q1_later"
			if err := writer.QueryRow(b.Context(), passed).Scan(&due); err != nil {
				b.Fatal(err)
			}
			return due
		})
		if _, err := writer.Exec(b.Context(), "commit"); err != nil {
			b.Fatal(err)
		}
		if n := b.drain(); n != 1 {
			b.Fatalf("%d messages came after the late commit, want 1", n)
		}
	})
}

// The transaction's own batch has ids around one that it receives and sends back: the record of that one must not be
// taken for a part of the batch.
func TestOwnBatchAroundARetriedMessageIsDeliveredWhole(t *testing.T) {
	each(t, "1", func(b bench) {
		ctx := b.Context()
		stop, cancel := context.WithCancel(ctx)
		done := make(chan int)
		other := b.db.Conn(b)
		go func() {
			n := 0
			for ; stop.Err() == nil; n++ {
				if _, err := other.Exec(ctx, "select weir.send_batch('ring', array_fill('1'::jsonb, array[20]))"); err != nil {
					b.Error(err)
					break
				}
			}
			done <- n * 20
		}()
		writer := b.open()
		for range 5 {
			if _, err := writer.Exec(ctx, "select weir.send_batch('ring', array_fill('2'::jsonb, array[3000]))"); err != nil {
				b.Fatal(err)
			}
		}
		cancel()
		total := <-done + 15_000
		var back []int64
		for range 100 {
			got, err := surface.Receive(ctx, writer, queue, "default", 10_000, "1 minute")
			if err != nil {
				b.Fatal(err)
			}
			for _, m := range got {
				if !slices.Contains(back, m.ClaimID) {
					back = append(back, m.ClaimID)
				}
			}
			if len(got) == 0 {
				break
			}
		}
		for _, claim := range back {
			if _, err := surface.Nack(ctx, writer, queue, claim, nil, surface.Text("0")); err != nil {
				b.Fatal(err)
			}
		}
		if _, err := writer.Exec(ctx, "commit"); err != nil {
			b.Fatal(err)
		}
		seen := 0
		for {
			got := b.pop(997) // ends within records
			if seen += len(got); len(got) == 0 {
				break
			}
		}
		if seen != total {
			b.Fatalf("%d of %d messages came", seen, total)
		}
	})
}

// One session works on several queues, and on one that was made anew: nothing it has cached may be of another queue.
func TestOneSessionWorksOnManyQueues(t *testing.T) {
	each(t, "1", func(b bench) {
		clock := surface.MovableClock(b, b.db)
		conn := b.db.Conn(b)
		for range 2 {
			for _, name := range []string{"a", "b"} {
				surface.CreateQueue(b, conn, name, "lanes => 1")
				ids, err := surface.SendBatch(b.Context(), conn, name, []string{"1", "2", "3", "4"}, nil, nil, nil)
				if err != nil {
					b.Fatal(err)
				}
				got, err := surface.Receive(b.Context(), conn, name, "default", 4, "1 minute")
				if err != nil || len(got) != 4 {
					b.Fatalf("received %v, %v", got, err)
				}
				claim := got[0].ClaimID
				for what, call := range map[string]func() error{
					"ack":    func() error { _, err := surface.Ack(b.Context(), conn, name, claim, ids[:1]); return err },
					"nack":   func() error { _, err := surface.Nack(b.Context(), conn, name, claim, ids[1:2], nil); return err },
					"reject": func() error { _, err := surface.Reject(b.Context(), conn, name, claim, ids[2:3]); return err },
					"extend": func() error { _, err := surface.Extend(b.Context(), conn, name, claim, "2 minutes"); return err },
				} {
					if err := call(); err != nil {
						b.Fatalf("%s in queue %s: %v", what, name, err)
					}
				}
				clock.Advance(b, time.Hour)
				var again []surface.Message
				for range 3 {
					got, err := surface.Receive(b.Context(), conn, name, "default", 4, "1 minute")
					if err != nil {
						b.Fatal(err)
					}
					again = append(again, got...)
				}
				if len(again) != 2 {
					b.Fatalf("received %v of queue %s, want what was nacked and what was left", again, name)
				}
				surface.Settle(b, conn)
			}
			for _, name := range []string{"a", "b"} {
				if _, err := conn.Exec(b.Context(), "select weir.drop_queue($1)", name); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}

func TestDroppedGroupsClaimIsRefused(t *testing.T) {
	each(t, "2", func(b bench) {
		b.db.Exec(b, "select weir.create_group('ring', 'g')")
		b.fill(2)
		got, err := surface.Receive(b.Context(), b.db.Pool(b), queue, "g", 1, "1 hour")
		if err != nil || len(got) != 1 {
			b.Fatalf("received %v, %v", got, err)
		}
		b.db.Exec(b, "select weir.drop_group('ring', 'g')")
		for range 2 {
			_, err = surface.Ack(b.Context(), b.db.Pool(b), queue, got[0].ClaimID, nil)
			surface.WantState(b, err, "WR010")
			b.db.Exec(b, "select weir.create_group('ring', 'g')") // it has the same number
			break
		}
		again, err := surface.Receive(b.Context(), b.db.Pool(b), queue, "g", 10, "1 hour")
		if err != nil || len(again) == 0 {
			b.Fatalf("the new group received %v, %v", again, err)
		}
	})
}

// Names as long as they may be, that differ in their last character only, are different queues.
func TestLongNamesDoNotMeet(t *testing.T) {
	each(t, "1", func(b bench) {
		long := "abcdefghijklmnopqrstuvwxyz-abcdefghijklmnopqrstuvwxyz"
		var longest string
		for n := len(long); n > 0; n-- {
			_, err := b.db.Pool(b).Exec(b.Context(), "select weir.create_queue($1)", long[:n-1]+"x")
			if err == nil {
				longest = long[:n-1]
				break
			}
			surface.WantState(b, err, "WR005")
		}
		surface.CreateQueue(b, b.db.Pool(b), longest+"y", "")
		if _, err := surface.Send(b.Context(), b.db.Pool(b), longest+"y", "1", nil, nil, nil); err != nil {
			b.Fatal(err)
		}
		for name, want := range map[string]int{longest + "x": 0, longest + "y": 1} {
			got, err := surface.ReceiveRecords(b.Context(), b.db.Pool(b), name, "default", 10, "1 minute")
			if err != nil || len(got) != want {
				b.Fatalf("queue %s delivered %v, %v; want %d", name, got, err, want)
			}
		}
		b.db.Exec(b, "select weir.drop_queue(queue_name) from weir.list_queues()")
		left := pgtest.QueryAll[string](b, b.db,
			"select proname::text from pg_proc where pronamespace = 'weir_internal'::regnamespace and proname ~ ':|^q[0-9]'")
		if len(left) > 0 {
			b.Fatalf("dropped queues leave %v", left)
		}
	})
}

// A sender that has chosen a segment, and waits for its table while the ring moves on, must choose again.
func TestSenderThatWaitedWritesToTheOpenSegment(t *testing.T) {
	for name, send := range map[string]string{
		"a message": `select weir.send($1, '"waited"')`,
		"a batch with keys": `select count(*) from weir.send_batch($1, array_fill('"waited"'::jsonb, '{9}'),
			array['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', null])`,
	} {
		t.Run(name, func(t *testing.T) {
			each(t, "1", func(b bench) {
				b.fill(80)
				rotator := b.open("lock table weir_internal.q1_log_0 in access exclusive mode")
				sender := b.db.Conn(b)
				sent := make(chan error, 1)
				go func() {
					_, err := sender.Exec(b.Context(), send, queue)
					sent <- err
				}()
				pgtest.WaitForLock(b, b.db, sender.PgConn().PID())
				for _, sql := range []string{"select weir.maintain()", "commit"} {
					if _, err := rotator.Exec(b.Context(), sql); err != nil {
						b.Fatal(err)
					}
				}
				if err := <-sent; err != nil {
					b.Fatal(err)
				}
				if b.logRing() != 1 {
					b.Fatalf("the ring is at %d: this test needs it to move", b.logRing())
				}
				n := pgtest.QueryVal[int64](b, b.db, `select count(*) from weir_internal.q1_log_0 l
					cross join lateral unnest(l.payloads) m where m = '"waited"'`)
				m := pgtest.QueryVal[int64](b, b.db, `select count(*) from weir_internal.q1_log_1 l
					cross join lateral unnest(l.payloads) m where m = '"waited"'`)
				if n > 0 || m != 1 && m != 9 {
					b.Fatalf("%d messages went into a segment that was closed already, and %d into the next", n, m)
				}
			})
		})
	}
}
