package limits_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

// forget lets the time pass for which a full queue is not counted again.
func (b bench) forget() { b.clock.Advance(b, 2*time.Second) }

const depth = "select weir_log.backlog(q, 1000000) from weir_internal.queues q where q.name = 'jobs'"

// Calls that send so many messages.
const (
	one = "select weir.send('jobs', '1')"
	two = "select weir_log.send_batch('jobs', array_fill('1'::json, array[2]), null, null, null, null)"
	ten = "select weir_log.send_batch('jobs', array_fill('1'::json, array[10]), null, null, null, null)"
)

// pop receives and finishes what the group default has, up to so many at a time.
func (b bench) pop(n int) {
	b.Helper()
	for pgtest.QueryVal[int](b, b.db, `select count(weir_log.ack_all('jobs', claim_id))
		from (select distinct claim_id from weir.receive('jobs', max => $1)) c`, n) > 0 {
	}
}

func (b bench) limitBacklog(n string) {
	b.Helper()
	b.ok("update weir_internal.queues set backlog_max = " + n + ", backlog_sequence = weir_internal.start_backlog(no)")
}

func TestAFullQueueRefusesUntilConsumersHaveCaughtUp(t *testing.T) {
	eachQueue(t, "backlog_max => 10", func(b bench) {
		b.ok("select weir_log.send_batch('jobs', array_fill('1'::json, array[9]), null, null, null, null)")
		b.fails("WR020", two)
		b.wantCount(9, depth) // nothing of it
		b.ok(one)
		b.fails("WR020", one)
		b.fails("WR020", "select weir.send('jobs', '1', delay => '1 hour')")
		b.fails("WR020", "select weir_log.send_batch('jobs', array['1']::json[], null, null, '1 hour', null)")
		b.forget()
		b.fails("WR020", one)
		got := b.receive(b.conn, "default", 1)
		b.forget()
		b.fails("WR020", one) // claimed is not finished
		b.end("ack", got[0], nil)
		b.forget()
		b.ok(one)
		b.fails("WR020", one)
		b.wantCount(10, depth)
		b.pop(10)
		b.forget()
		for range 3 { // again and again, with nobody who maintains
			b.ok(ten)
			b.fails("WR020", one)
			b.pop(10)
			b.forget()
		}
		b.ok(one)
		got = b.receive(b.conn, "default", 1)
		b.end("nack", got[0], surface.Text("1 hour"))
		b.wantCount(1, depth) // delayed is not finished
		b.ok("select weir.send('jobs', '1', delay => '2 hours')")
		b.wantCount(2, depth)
		b.clock.Advance(b, time.Hour)
		b.pop(10)
		b.wantCount(1, depth)
		b.ok("select weir.send('jobs', '1', 'a') from generate_series(1, 9)")
		b.wantCount(10, depth)
		b.fails("WR020", "select weir.send('jobs', '1', 'a')")
	})
}

func TestAFullQueueIsNotCountedByEverySender(t *testing.T) {
	eachQueue(t, "backlog_max => 100", func(b bench) {
		for range 10 {
			b.ok(ten)
		}
		b.ok(`select setval(
				backlog_sequence, -(((weir_internal.to_micros(weir_internal.clock()) / 1000 + 500) << 20) | 0))
			from weir_internal.queues`)
		b.pop(100)
		b.fails("WR020", one) // it was found full, and that holds for a moment
		b.clock.Advance(b, time.Second)
		b.ok(one)
		conn := b.db.Conn(b)
		if _, err := conn.Exec(b.Context(), one); err != nil {
			b.Fatal(err)
		}
		if n := surface.Buffers(b, conn, "select weir_log.admit(q, 1) from weir_internal.queues q"); n > 10 {
			b.Errorf("a sender that has room touches %d buffers to know", n)
		}
	})
}

func TestAClockSetBackLocksNobodyOut(t *testing.T) {
	eachQueue(t, "backlog_max => 1", func(b bench) {
		b.clock.Advance(b, time.Hour)
		b.ok(one)
		b.fails("WR020", one)
		b.clock.Advance(b, -time.Hour)
		b.pop(1)
		b.ok(one)
	})
}

func TestTheSlowestGroupCounts(t *testing.T) {
	eachQueue(t, "backlog_max => 5", func(b bench) {
		b.ok("select weir.create_group('jobs', 'slow', key_concurrency_max => 1)")
		for range 5 {
			b.ok("select weir.send('jobs', '1', 'k')")
			b.pop(1)
		}
		b.fails("WR020", one)
		if got := b.receive(b.conn, "slow", 5); len(got) != 1 {
			b.Fatal(got)
		}
		b.forget()
		b.fails("WR020", one) // in a key queue is not finished
		b.ok("delete from weir_internal.groups where name = 'slow'")
		b.forget()
		b.ok(one)
	})
}

func TestARefusalSaysWhatWouldHelp(t *testing.T) {
	eachQueue(t, "backlog_max => 3", func(b bench) {
		_, err := b.conn.Exec(b.Context(), ten)
		want := `ERROR: queue "jobs" is full: its slowest group is 0 messages behind, and 10 more exceed its limit of 3 ` +
			"(SQLSTATE WR020)"
		if err == nil || err.Error() != want {
			b.Errorf("error %v, want %s", err, want)
		}
	})
}

func TestTheLimitOfALiveQueueCanBeChanged(t *testing.T) {
	eachQueue(t, "", func(b bench) {
		b.wantCount(0, "select count(*) from pg_class where relname ~ '^backlog_'") // who has no limit does not pay
		b.ok("select weir_log.send_batch('jobs', array_fill('1'::json, array[5]), null, null, null, null)")
		b.limitBacklog("5")
		b.fails("WR020", one)
		b.limitBacklog("7")
		b.ok(one)
		b.limitBacklog("6")
		b.fails("WR020", one)
		b.limitBacklog("null")
		b.ok(ten)
		b.ok("select weir_internal.end_backlog(q) from weir_internal.queues q")
		b.wantCount(0, "select count(*) from pg_class where relname ~ '^backlog_'")
	})
}

func TestARefusedSenderHoldsUpNobody(t *testing.T) {
	eachQueue(t, "backlog_max => 2", func(b bench) {
		refused, filler := b.db.Conn(b), b.db.Conn(b)
		exec := func(c surface.Conn, state, sql string) {
			b.Helper()
			_, err := c.Exec(b.Context(), sql)
			if surface.SQLState(err) != state {
				b.Fatalf("%s: %v, want %q", sql, err, state)
			}
		}
		exec(filler, "", "begin; select weir.send('jobs', '1'); select weir.send('jobs', '1')")
		exec(filler, "WR020", one)
		exec(filler, "", "rollback")
		b.forget()
		b.ok(two)
		exec(refused, "", "begin; savepoint here")
		exec(refused, "WR020", one)
		exec(refused, "", "rollback to here")
		b.pop(2)
		b.forget()
		exec(b.db.Conn(b), "", "set lock_timeout = '10s'; select weir.send('jobs', '1')")
		exec(refused, "", one)
		exec(refused, "", "commit")
		b.wantCount(2, depth)
	})
}

func TestAFixedSnapshotIsNotLockedOut(t *testing.T) {
	eachQueue(t, "backlog_max => 2", func(b bench) {
		conn := b.db.Conn(b)
		for range 3 {
			if _, err := conn.Exec(b.Context(), "begin isolation level repeatable read"); err != nil {
				b.Fatal(err)
			}
			for _, state := range []string{"", "", "WR020"} {
				if _, err := conn.Exec(b.Context(), one); surface.SQLState(err) != state {
					b.Fatalf("send: %v, want %q", err, state)
				}
			}
			if _, err := conn.Exec(b.Context(), "rollback"); err != nil {
				b.Fatal(err)
			}
			b.forget()
		}
	})
}

func TestProducersAtOnceStopNearTheLimit(t *testing.T) {
	eachQueue(t, "backlog_max => 500", func(b bench) {
		const producers = 6
		var sent, refused atomic.Int64
		var group sync.WaitGroup
		for range producers {
			group.Go(func() {
				conn := b.db.Conn(b)
				for range 60 {
					_, err := conn.Exec(b.Context(),
						"select weir_log.send_batch('jobs', array_fill('1'::json, array[5]), null, null, null, null)")
					switch {
					case err == nil:
						sent.Add(5)
					case surface.SQLState(err) == "WR020":
						refused.Add(1)
					default:
						b.Errorf("send: %v", err)
					}
				}
			})
		}
		group.Wait()
		b.wantCount(sent.Load(), depth)
		// beyond the limit is at most what the others had under way when somebody counted
		if n := sent.Load(); n < 500-5 || n > 500+5*(producers-1) || refused.Load() == 0 {
			b.Errorf("sent %d of 500 at most, %d refusals", n, refused.Load())
		}
		b.pop(1000)
		b.forget()
		for range 50 {
			b.ok(ten)
		}
		b.fails("WR020", one)
	})
}

// TestTheBacklogIsCountedAsItIs compares the count with what a group was not delivered, whatever the cursor's state:
// stripes, parts of records, stragglers, intervals that are half read.
func TestTheBacklogIsCountedAsItIs(t *testing.T) {
	eachQueue(t, "backlog_max => 100000", func(b bench) {
		straggler := b.begin()
		if _, err := straggler.Exec(b.Context(), "select weir.send('jobs', '1'), weir.send('jobs', '1', 'k')"); err != nil {
			b.Fatal(err)
		}
		sent, finished := 0, 0
		for i := range 12 {
			b.ok(ten)
			b.ok("select weir.send('jobs', '1', 'k' || i) from generate_series(1, 5) i")
			sent += 15
			got := b.receive(b.conn, "default", 1+i)
			for _, m := range got[:len(got)/2] {
				b.end("ack", m, nil)
				finished++
			}
			if i == 6 {
				b.commit(straggler)
				sent += 2
			}
			if i == 9 {
				b.clock.Advance(b, time.Minute) // what is claimed expires
			}
			b.wantCount(int64(sent-finished), depth)
		}
		b.ok("select weir.send('jobs', '1') from generate_series(1, 200)")
		sent += 200
		tx := b.begin()
		if got := b.receive(tx, "default", 1); len(got) != 1 { // holds the lane, so that it is split
			b.Fatal(got)
		}
		b.ok(`select weir_log.split_lane(q, g, 0)
			from weir_internal.groups g join weir_internal.queues q on q.no = g.queue_no`)
		b.commit(tx)
		for len(b.receive(b.conn, "default", 7)) > 0 {
			b.wantCount(int64(sent-finished), depth)
		}
		b.wantCount(int64(sent-finished), depth)
	})
}
