// Package limits_test holds that a queue's limits are enforced wherever messages enter it, that what is refused leaves
// nothing behind, and that producers go on once there is room.
package limits_test

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

const queue = "jobs"

// bench is one test's database with a queue and a clock to move.
type bench struct {
	*testing.T
	db    *pgtest.DB
	clock *surface.Clock
}

func each(t *testing.T, options string, test func(b bench)) {
	t.Parallel()
	surface.Each(t, queue, options, func(t *testing.T, db *pgtest.DB) {
		test(bench{t, db, surface.StoppedClock(t, db)})
	})
}

// ok runs a statement that must succeed.
func (b bench) ok(c surface.Conn, sql string) {
	b.Helper()
	if _, err := c.Exec(b.Context(), sql); err != nil {
		b.Fatalf("%s: %v", sql, err)
	}
}

// fails runs a statement that must fail with an SQLSTATE.
func (b bench) fails(c surface.Conn, state, sql string) {
	b.Helper()
	_, err := c.Exec(b.Context(), sql)
	surface.WantState(b, err, state)
}

func (b bench) wantCount(want int64, sql string) {
	b.Helper()
	if got := pgtest.QueryVal[int64](b, b.db, sql); got != want {
		b.Errorf("%s: %d, want %d", sql, got, want)
	}
}

// forget lets the time pass for which a full queue is not counted again.
func (b bench) forget() { b.clock.Advance(b, time.Second) }

const depth = "select max(waiting + claimed + delayed + parked) from weir.stats('jobs')"

func TestAFullQueueRefusesUntilConsumersHaveCaughtUp(t *testing.T) {
	each(t, "backlog_max => 10", func(b bench) {
		pool := b.db.Pool(b)
		b.ok(pool, "select weir.send_batch('jobs', array_fill('1'::jsonb, array[9]))")
		b.fails(pool, "WR020", "select weir.send_batch('jobs', array_fill('1'::jsonb, array[2]))")
		b.wantCount(9, depth) // nothing of it
		b.ok(pool, "select weir.send('jobs', '1')")
		b.fails(pool, "WR020", "select weir.send('jobs', '1')")
		b.fails(pool, "WR020", "select weir.send('jobs', '1', delay => '1 hour')")
		b.fails(pool, "WR020", "select weir.send('jobs', '1', dedup_key => 'a')")
		b.fails(pool, "WR020", "select weir.send_batch('jobs', array['1']::jsonb[], delay => '1 hour')")
		b.forget()
		b.fails(pool, "WR020", "select weir.send('jobs', '1')")
		got, err := surface.Receive(b.Context(), pool, queue, "default", 1, "1 minute")
		if err != nil || len(got) == 0 {
			b.Fatalf("received %v, %v", got, err)
		}
		b.forget()
		b.fails(pool, "WR020", "select weir.send('jobs', '1')") // claimed is not finished
		if n, err := surface.Ack(b.Context(), pool, queue, got[0].ClaimID, nil); n != 1 || err != nil {
			b.Fatalf("acked %d, %v", n, err)
		}
		b.forget()
		b.ok(pool, "select weir.send('jobs', '1', dedup_key => 'a')") // which a refused send did not note
		b.fails(pool, "WR020", "select weir.send('jobs', '1')")
		b.ok(pool, "select weir.send('jobs', '1', dedup_key => 'a')") // a repeat takes no room
		b.wantCount(10, depth)
		b.ok(pool, "select weir.pop('jobs', max => 10) from generate_series(1, 3)") // one may leave some in a lane
		b.forget()
		for range 3 { // again and again, with nobody who maintains
			b.ok(pool, "select weir.send_batch('jobs', array_fill('1'::jsonb, array[10]))")
			b.fails(pool, "WR020", "select weir.send('jobs', '1')")
			b.ok(pool, "select weir.pop('jobs', max => 10) from generate_series(1, 3)")
			b.forget()
		}
	})
}

func TestAClockSetBackLocksNobodyOut(t *testing.T) {
	each(t, "backlog_max => 1", func(b bench) {
		pool := b.db.Pool(b)
		b.clock.Advance(b, time.Hour)
		b.ok(pool, "select weir.send('jobs', '1')")
		b.fails(pool, "WR020", "select weir.send('jobs', '1')")
		b.clock.Advance(b, -time.Hour)
		b.ok(pool, "select weir.pop('jobs')")
		b.ok(pool, "select weir.send('jobs', '1')")
	})
}

func TestTheSlowestGroupCounts(t *testing.T) {
	each(t, "backlog_max => 5", func(b bench) {
		pool := b.db.Pool(b)
		b.ok(pool, "select weir.create_group('jobs', 'slow', ordered => true)")
		for range 5 {
			b.ok(pool, "select weir.send('jobs', '1', 'k')")
			b.ok(pool, "select weir.pop('jobs')")
		}
		b.fails(pool, "WR020", "select weir.send('jobs', '1')")
		b.ok(pool, "select weir.nack('jobs', claim_id, delay => '1 hour') from weir.receive('jobs', 'slow')")
		b.forget()
		b.fails(pool, "WR020", "select weir.send('jobs', '1')") // parked is not finished
		b.ok(pool, "select weir.drop_group('jobs', 'slow')")
		b.forget()
		b.ok(pool, "select weir.send('jobs', '1')")
	})
}

func TestARefusalSaysWhatWouldHelp(t *testing.T) {
	each(t, "backlog_max => 3", func(b bench) {
		_, err := b.db.Pool(b).Exec(b.Context(), "select weir.send_batch('jobs', array_fill('1'::jsonb, array[4]))")
		want := `ERROR: queue "jobs" is full: its slowest group is 0 messages behind, and 4 more exceed its limit of 3 ` +
			"(SQLSTATE WR020)"
		if err == nil || err.Error() != want {
			b.Errorf("error %v, want %s", err, want)
		}
	})
}

func TestPublishSendsToAllOrNone(t *testing.T) {
	each(t, "backlog_max => 1", func(b bench) {
		pool := b.db.Pool(b)
		surface.CreateQueue(b, pool, "another", "message_bytes_max => 1024")
		b.ok(pool, "select weir.bind('news', 'jobs'), weir.bind('news', 'another')")
		b.ok(pool, "select weir.publish('news', '1')")
		b.fails(pool, "WR020", "select weir.publish('news', '1')")
		b.ok(pool, "select weir.pop('jobs')")
		b.forget()
		b.fails(pool, "WR008", "select weir.publish('news', to_jsonb(repeat('x', 1025)))")
		b.wantCount(0, depth)
		b.wantCount(1, "select waiting from weir.stats('another')")
	})
}

func TestTheLimitOfALiveQueueCanBeChanged(t *testing.T) {
	each(t, "", func(b bench) {
		pool := b.db.Pool(b)
		sequences := "select count(*) from pg_class where relname ~ '^backlog_' and relkind = 'S'"
		b.wantCount(0, sequences)
		b.ok(pool, "select weir.send_batch('jobs', array_fill('1'::jsonb, array[5]))")
		b.ok(pool, "select weir.configure_queue('jobs', backlog_max => 5)")
		b.wantCount(1, sequences)
		b.fails(pool, "WR020", "select weir.send('jobs', '1')")
		b.ok(pool, "select weir.configure_queue('jobs', backlog_max => 7)")
		b.ok(pool, "select weir.send('jobs', '1')")
		b.ok(pool, "select weir.configure_queue('jobs', backlog_max => 6)")
		b.fails(pool, "WR020", "select weir.send('jobs', '1')")
		b.ok(pool, "select weir.configure_queue('jobs', message_bytes_max => 2048)")
		b.fails(pool, "WR020", "select weir.send('jobs', '1')")
		b.fails(pool, "WR006", "select weir.configure_queue('jobs', backlog_max => -1)")
		b.ok(pool, "select weir.configure_queue('jobs', backlog_max => 0)")
		b.ok(pool, "select weir.send_batch('jobs', array_fill('1'::jsonb, array[100]))")
		b.ok(pool, "select weir.drop_queue('jobs')")
		b.wantCount(0, sequences)
	})
}

func TestARefusedSenderHoldsUpNobody(t *testing.T) {
	each(t, "backlog_max => 2", func(b bench) {
		pool, refused, filler := b.db.Pool(b), b.db.Conn(b), b.db.Conn(b)
		b.ok(filler, "begin; select weir.send('jobs', '1'); select weir.send('jobs', '1')")
		b.fails(filler, "WR020", "select weir.send('jobs', '1')")
		b.ok(filler, "rollback")
		b.forget()
		b.ok(pool, "select weir.send_batch('jobs', array_fill('1'::jsonb, array[2]))")
		b.ok(refused, "begin; savepoint here")
		b.fails(refused, "WR020", "select weir.send('jobs', '1')")
		b.ok(refused, "rollback to here")
		b.ok(pool, "select weir.pop('jobs', max => 2) from generate_series(1, 2)")
		b.forget()
		b.ok(b.db.Conn(b), "set lock_timeout = '10s'; select weir.send('jobs', '1')")
		b.ok(refused, "select weir.send('jobs', '1')")
		b.ok(refused, "commit")
		b.wantCount(2, depth)
	})
}

func TestAFixedSnapshotIsNotLockedOut(t *testing.T) {
	each(t, "backlog_max => 2", func(b bench) {
		b.db.Exec(b, "update weir_internal.logs set claims_bytes = 65536")
		pool, conn := b.db.Pool(b), b.db.Conn(b)
		for range 3 {
			b.ok(conn, "begin isolation level repeatable read")
			b.ok(conn, "select weir.send('jobs', '1')")
			b.ok(conn, "select weir.send('jobs', '1')")
			b.fails(conn, "WR020", "select weir.send('jobs', '1')")
			b.ok(conn, "rollback")
			b.forget()
		}
		b.ok(conn, "begin isolation level repeatable read")
		b.ok(conn, "select count(*) from pg_class") // takes the snapshot
		b.ok(pool, "do $$ begin for i in 1 .. 600 loop "+
			"perform weir.send('jobs', '1'); commit; perform weir.pop('jobs'); commit; end loop; end $$")
		surface.Settle(b, pool) // the claim log has turned
		_, err := conn.Exec(b.Context(), "select weir.send_batch('jobs', array_fill('1'::jsonb, array[2]))")
		if state := surface.SQLState(err); state != "WR012" {
			b.Errorf("a snapshot that is too old to count by: %v", err)
		}
	})
}

func TestProducersAtOnceStopNearTheLimit(t *testing.T) {
	each(t, "backlog_max => 500", func(b bench) {
		const producers = 6
		var sent, refused atomic.Int64
		var group sync.WaitGroup
		for range producers {
			group.Go(func() {
				conn := b.db.Conn(b)
				for range 60 {
					_, err := conn.Exec(b.Context(), "select weir.send_batch('jobs', array_fill('1'::jsonb, array[5]))")
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
		b.ok(b.db.Pool(b), "select weir.pop('jobs', max => 1000) from generate_series(1, 20)")
		b.forget()
		b.ok(b.db.Pool(b), "select weir.send_batch('jobs', array_fill('1'::jsonb, array[500]))")
	})
}

// TestTheSizeOfAMessageIsCheckedWhereItEnters sends what is just as large as it may be, and a little more, in each way.
func TestTheSizeOfAMessageIsCheckedWhereItEnters(t *testing.T) {
	each(t, "message_bytes_max => 1024", func(b bench) {
		pool := b.db.Pool(b)
		b.ok(pool, "select weir.bind('news', 'jobs')")
		b.ok(pool, "create function payload(octets int) returns jsonb language sql immutable as "+
			"$$ select to_jsonb(repeat('x', octets - 2)) $$")
		b.wantCount(1024, "select octet_length(payload(1024)::text)")
		for _, send := range []string{
			"weir.send('jobs', %[1]s, headers => %[2]s)",
			"weir.send('jobs', %[1]s, headers => %[2]s, delay => '1 hour')",
			"weir.send('jobs', %[1]s, headers => %[2]s, dedup_key => clock_timestamp()::text)",
			"weir.send_batch('jobs', array['1', %[1]s], headers => array[null, %[2]s])",
			"weir.send_batch('jobs', array['1', %[1]s], headers => array[null, %[2]s], delay => '1 hour')",
			"weir.send_once('jobs', array['1', %[1]s], array[null, 'k'], headers => array[null, %[2]s])",
			"weir.publish('news', %[1]s, headers => %[2]s)",
		} {
			call := func(payload, headers string) string {
				return "select " + fmt.Sprintf(send, payload+"::jsonb", headers+"::jsonb")
			}
			b.fails(pool, "WR008", call("payload(1025)", "null"))
			b.fails(pool, "WR008", call("payload(1000)", `'{"header": "of more than the octets that are left"}'`))
			b.fails(pool, "WR006", call("'1'", "'[]'"))
			b.ok(pool, call("payload(1024)", "null"))
		}
		for _, send := range []string{
			"weir.send('jobs', '1', repeat('k', 1025))", "weir.publish('news', '1', repeat('k', 1025))",
			"weir.send_batch('jobs', array['1']::jsonb[], array[repeat('k', 1025)])",
			"weir.send_once('jobs', array['1']::jsonb[], array['a'], array[repeat('k', 1025)])",
			"weir.send('jobs', '1', delay => '11 years')", "weir.send('jobs', '1', delay => '11 years', dedup_key => 'b')",
			"weir.send_batch('jobs', array['1']::jsonb[], delay => '-1 s')",
		} {
			b.fails(pool, "WR006", "select "+send)
			b.ok(pool, "select "+strings.NewReplacer("1025", "1024", "11 years", "10 years", "-1 s", "0 s").Replace(send))
		}
	})
}

// TestWhatWasAcceptedComesBack holds that limits are for what enters: a dead letter that was accepted before is sent
// back to its group though the limits are lower now.
func TestWhatWasAcceptedComesBack(t *testing.T) {
	each(t, "lanes => 1", func(b bench) {
		pool := b.db.Pool(b)
		b.ok(pool, "select weir.send('jobs', to_jsonb(repeat('x', 3000)))")
		b.ok(pool, "select weir.reject('jobs', claim_id, array[id]) from weir.receive('jobs')")
		b.ok(pool, "select weir.send('jobs', '1')")
		b.ok(pool, "select weir.configure_queue('jobs', message_bytes_max => 1024, backlog_max => 1)")
		b.wantCount(1, "select weir.redrive('jobs', 'default')")
		b.wantCount(2, depth)
		b.fails(pool, "WR020", "select weir.send('jobs', '1')")
		b.ok(pool, "select weir.pop('jobs', max => 2) from generate_series(1, 2)")
		b.wantCount(0, depth)
	})
}
