// Package dedup_test holds that of the messages with one dedup key that are sent within the window exactly one is sent,
// whoever sends them, however they race, and however the tables of the keys turn meanwhile.
package dedup_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

func TestMain(m *testing.M) {
	pgtest.Main(m)
}

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
		surface.CreateQueue(t, db.Pool(t), "other", "")
		test(bench{t, db, surface.StoppedClock(t, db)})
	})
}

func trySend(ctx context.Context, c surface.Conn, key string) (id int64, err error) {
	err = c.QueryRow(ctx, "select weir.send($1, '1', dedup_key => $2)", queue, key).Scan(&id)
	return id, err
}

// send sends a message with a dedup key and returns its id.
func (b bench) send(c surface.Conn, key string) int64 {
	b.Helper()
	id, err := trySend(b.Context(), c, key)
	if err != nil {
		b.Fatal(err)
	}
	return id
}

// exec runs a statement that must succeed.
func (b bench) exec(c surface.Conn, sql string) {
	b.Helper()
	if _, err := c.Exec(b.Context(), sql); err != nil {
		b.Fatalf("%s: %v", sql, err)
	}
}

// sending sends in the background, on a connection of its own; wait until it waits for a lock.
func (b bench) sending(key string) (pid uint32, id func() int64) {
	b.Helper()
	conn := b.db.Conn(b)
	result := make(chan int64, 1)
	go func() {
		id, err := trySend(b.Context(), conn, key)
		if err != nil {
			b.Errorf("send: %v", err)
		}
		result <- id
	}()
	return conn.PgConn().PID(), func() int64 { return <-result }
}

// step takes one step of the ring and returns what the table that is not open is now: 0 may have writers, 1 is sealed,
// 2 is forgotten.
func (b bench) step() int64 {
	b.Helper()
	b.db.Exec(b, "select weir_log.rotate_dedup(1)")
	return pgtest.QueryVal[int64](b, b.db, "select last_value % 3 from weir_log.dedup_ring")
}

// turnTo takes steps until the ring is in a state.
func (b bench) turnTo(state int64) {
	b.Helper()
	for range 10 {
		if pgtest.QueryVal[int64](b, b.db, "select last_value % 3 from weir_log.dedup_ring") == state {
			return
		}
		b.step()
	}
	b.Fatalf("the ring does not get to state %d", state)
}

func (b bench) wantDelivered(want int) {
	b.Helper()
	b.clock.Advance(b, 2*time.Hour)
	got, err := surface.Pop(b.Context(), b.db.Pool(b), queue, "default", 10000)
	if err != nil || len(got) != want {
		b.Errorf("delivered %d messages, want %d (%v)", len(got), want, err)
	}
}

// TestAKeyCountsForTheWindow walks at random through sends, turns of the ring and time, beside a model.
func TestAKeyCountsForTheWindow(t *testing.T) {
	t.Parallel()
	for _, maintained := range []bool{true, false} {
		t.Run(fmt.Sprintf("maintained=%v", maintained), func(t *testing.T) {
			each(t, "dedup_window => '65 seconds', lanes => 1", func(b bench) {
				type sent struct {
					id int64
					at time.Duration
				}
				keys, now, repeats := map[string]sent{}, time.Duration(0), 0
				pool := b.db.Pool(b)
				for range 400 {
					switch rand.IntN(4) {
					case 0:
						step := time.Duration(rand.IntN(5)) * 10 * time.Second // never closer to the window's end than 5 s
						b.clock.Advance(b, step)
						now += step
					case 1:
						if maintained {
							b.step()
						}
					default:
						key := surface.Number(rand.IntN(4))
						id := b.send(pool, key)
						first, known := keys[key]
						if known && now-first.at < 65*time.Second {
							repeats++
							if id != first.id {
								b.Fatalf("key %s again after %v: id %d, want %d", key, now-first.at, id, first.id)
							}
							continue
						}
						if known && id <= first.id {
							b.Fatalf("key %s after %v: id %d, which is not new", key, now-first.at, id)
						}
						keys[key] = sent{id, now}
					}
				}
				if repeats < 20 || len(keys) < 4 {
					b.Errorf("%d repeats of %d keys: the walk proves nothing", repeats, len(keys))
				}
			})
		})
	}
}

func TestABatchSaysWhatIsRepeated(t *testing.T) {
	each(t, "lanes => 4", func(b bench) {
		first := b.send(b.db.Pool(b), "c")
		b.db.Exec(b, "create table got (id bigint, repeated boolean, n bigint generated always as identity)")
		b.db.Exec(b, `insert into got select * from weir.send_once($1,
			array['1', '2', '3', '4', '5', '6']::jsonb[], array['a', null, 'b', 'a', 'c', null],
			keys => array['k1', 'k2', null, 'k4', 'k5', 'k6'],
			headers => array[null, '{"h": 2}', null, null, null, null]::jsonb[])`,
			queue)
		got := pgtest.QueryAll[string](b, b.db, `select concat_ws(' ', id - $1, repeated) from got order by n`, first)
		if !slices.Equal(got, []string{"1000 f", "1001 f", "1002 f", "1000 t", "0 t", "1005 f"}) {
			b.Errorf("send_once says %v", got)
		}
		delivered := pgtest.QueryAll[string](b, b.db, `select concat_ws(' ', id - $1, payload, key, headers)
			from weir.pop('jobs', max => 10) order by id`, first)
		if !slices.Equal(delivered, []string{"0 1", "1000 1 k1", `1001 2 k2 {"h": 2}`, "1002 3", "1005 6 k6"}) {
			b.Errorf("delivered %v", delivered)
		}
		ids := pgtest.QueryAll[int64](b, b.db,
			"select weir.send_batch($1, array['1', '2']::jsonb[], dedup_keys => array['a', 'b'])", queue)
		if !slices.Equal(ids, []int64{first + 1000, first + 1002}) {
			b.Errorf("send_batch returned %v", ids)
		}
		b.wantDelivered(0)
	})
}

func TestADelayedMessageIsSentOnce(t *testing.T) {
	each(t, "dedup_window => '3 hours'", func(b bench) {
		send := "select weir.send($1, '1', 'k', '{}', '1 hour', dedup_key => 'a')"
		first := pgtest.QueryVal[int64](b, b.db, send, queue)
		if again := pgtest.QueryVal[int64](b, b.db, send, queue); again != first {
			b.Errorf("ids %d and %d", first, again)
		}
		if got, _ := surface.Pop(b.Context(), b.db.Pool(b), queue, "default", 10); len(got) != 0 {
			b.Errorf("delivered %v at once", got)
		}
		b.wantDelivered(1)
	})
}

func TestOneTransactionRepeatsItself(t *testing.T) {
	each(t, "", func(b bench) {
		for state := range int64(3) {
			key := fmt.Sprint("key", state)
			conn := b.db.Conn(b)
			b.turnAny(state)
			b.exec(conn, "begin")
			b.exec(conn, "savepoint one")
			lost := b.send(conn, key)
			b.exec(conn, "rollback to one")
			first := b.send(conn, key)
			if again := b.send(conn, key); first == lost || again != first {
				b.Errorf("state %d: ids %d (rolled back), %d, %d", state, lost, first, again)
			}
			b.step()
			if again := b.send(conn, key); again != first {
				b.Errorf("state %d: id %d after a turn, was %d", state, again, first)
			}
			b.exec(conn, "commit")
		}
	})
}

// turnAny brings the ring to a state, moving time and sending other keys as that needs.
func (b bench) turnAny(state int64) {
	b.Helper()
	for range 10 {
		if pgtest.QueryVal[int64](b, b.db, "select last_value % 3 from weir_log.dedup_ring") == state {
			return
		}
		b.clock.Advance(b, 10*time.Minute)
		b.db.Exec(b, "select weir.send('other', '1', dedup_key => 'filler')")
		b.step()
	}
	b.Fatalf("the ring does not get to state %d", state)
}

func TestTheSecondOfTwoSendersWaitsForTheFirst(t *testing.T) {
	t.Parallel()
	for _, end := range []string{"commit", "rollback"} {
		for _, turned := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s,turned=%v", end, turned), func(t *testing.T) {
				each(t, "", func(b bench) {
					b.turnAny(2)
					first := b.db.Conn(b)
					b.exec(first, "begin")
					id := b.send(first, "k")
					if turned {
						b.turnTo(0)
						if b.step() != 0 {
							b.Fatal("sealed in spite of a writer")
						}
					}
					pid, second := b.sending("k")
					pgtest.WaitForLock(b, b.db, pid)
					b.send(b.db.Pool(b), "other") // waits for nobody
					b.exec(first, end)
					if got := second(); (got == id) != (end == "commit") {
						b.Errorf("the first sent %d, the second %d", id, got)
					}
					b.wantDelivered(2)
				})
			})
		}
	}
}

// TestATurnBetweenTwoWaitersLetsOneSend makes one sender wait in the table that was open, another one after the turn,
// and ends both waits at once: each must see the other.
func TestATurnBetweenTwoWaitersLetsOneSend(t *testing.T) {
	each(t, "", func(b bench) {
		first := b.db.Conn(b)
		for i := range 20 {
			key := fmt.Sprint("key", i)
			b.turnAny(2)
			b.exec(first, "begin")
			lost := b.send(first, key)
			pid, second := b.sending(key)
			pgtest.WaitForLock(b, b.db, pid)
			b.turnTo(0)
			pid, third := b.sending(key)
			pgtest.WaitForLock(b, b.db, pid)
			b.exec(first, "rollback")
			if x, y := second(), third(); x != y || x == lost {
				b.Fatalf("ids %d and %d (%d was rolled back)", x, y, lost)
			}
			if z := b.send(b.db.Pool(b), key); pgtest.QueryVal[int64](b, b.db,
				"select count(*) from weir_log.find_job((select q from weir_internal.queues q where name = $1), $2) f "+
					"where f.txid is not null", queue, z) != 1 {
				b.Fatalf("a repeat is told id %d, which is no message", z)
			}
		}
	})
}

// TestSendersDoNotKeepATableFromBeingSealed holds that only those who wrote to it before it was left do.
func TestSendersDoNotKeepATableFromBeingSealed(t *testing.T) {
	each(t, "", func(b bench) {
		b.turnAny(2)
		writer, later := b.db.Conn(b), b.db.Conn(b)
		b.exec(writer, "begin")
		b.send(writer, "a")
		b.turnTo(0)
		b.exec(later, "begin")
		b.send(later, "b")
		b.exec(writer, "commit")
		b.turnTo(1)
		b.exec(later, "commit")
	})
}

func TestAFixedSnapshotSendsNothingTwice(t *testing.T) {
	each(t, "", func(b bench) {
		for _, level := range []string{"repeatable read", "serializable"} {
			for state := range int64(3) {
				key := fmt.Sprint(level, state)
				b.turnAny(2)
				conn := b.db.Conn(b)
				b.exec(conn, "begin isolation level "+level)
				b.exec(conn, "select count(*) from pg_class") // takes the snapshot
				id := b.send(b.db.Pool(b), key)
				b.turnTo(2)
				if state < 2 {
					b.step()
					b.turnTo(state)
				}
				_, err := trySend(b.Context(), conn, key)
				surface.WantState(b, err, "40001")
				b.exec(conn, "rollback")
				b.exec(conn, "begin isolation level "+level)
				if again := b.send(conn, key); again != id {
					b.Errorf("%s, state %d: id %d, the first was %d", level, state, again, id)
				}
				other := b.send(conn, "other "+key)
				b.exec(conn, "commit")
				if again := b.send(b.db.Pool(b), "other "+key); again != other {
					b.Errorf("%s, state %d: id %d, the first was %d", level, state, again, other)
				}
			}
		}
	})
}

// rows counts the keys that are kept.
func (b bench) rows() int64 {
	b.Helper()
	return pgtest.QueryVal[int64](b, b.db,
		"select (select count(*) from weir_log.dedup_0) + (select count(*) from weir_log.dedup_1)")
}

func TestKeysGoAfterTheWindowAndIdleCostsNothing(t *testing.T) {
	each(t, "", func(b bench) {
		b.db.Exec(b, "select weir.send_batch($1, array_agg('1'::jsonb), dedup_keys => array_agg(i::text)) "+
			"from generate_series(1, 1000) i", queue)
		if b.rows() != 1000 {
			b.Errorf("%d keys are kept", b.rows())
		}
		reader := b.db.Conn(b) // has looked at both tables and stays open
		b.exec(reader, "begin")
		b.send(reader, "0")
		b.clock.Advance(b, 6*time.Minute)
		for range 10 {
			b.step()
		}
		b.exec(reader, "rollback")
		for range 3 {
			for range 8 {
				b.step()
			}
			b.clock.Advance(b, 6*time.Minute)
		}
		if n := b.rows(); n != 0 {
			b.Errorf("%d keys are left", n)
		}
		b.turnTo(1)
		before := pgtest.QueryVal[int64](b, b.db, "select last_value from weir_log.dedup_ring")
		b.send(b.db.Pool(b), "one")
		b.clock.Advance(b, time.Hour)
		b.db.Exec(b, "select weir_log.rotate_dedup()")
		if after := pgtest.QueryVal[int64](b, b.db, "select last_value from weir_log.dedup_ring"); after != before {
			b.Error("the ring turns with next to nothing in it")
		}
	})
}

// TestEachQueueHasItsOwnWindow turns the ring that two queues share while the key of one counts and that of the other
// does not.
func TestEachQueueHasItsOwnWindow(t *testing.T) {
	each(t, "dedup_window => '1 minute'", func(b bench) {
		pool := b.db.Pool(b)
		surface.CreateQueue(b, pool, "long", "dedup_window => '1 day'")
		long := "select weir.send('long', '1', dedup_key => 'a')"
		short, first := b.send(pool, "a"), pgtest.QueryVal[int64](b, b.db, long)
		if short == first {
			b.Fatal("a key of one queue counts in the other")
		}
		for range 12 {
			b.clock.Advance(b, 10*time.Minute)
			for range 6 {
				b.step()
			}
			b.send(pool, "filler")
			if again := pgtest.QueryVal[int64](b, b.db, long); again != first {
				b.Fatalf("id %d within the window, the first was %d", again, first)
			}
		}
		if n := b.rows(); n > 4 {
			b.Errorf("%d keys are kept, of which 2 count", n)
		}
		if again := b.send(pool, "a"); again == short {
			b.Error("the key counts after its window")
		}
	})
}

// TestTheRingTurnsWhenItIsLargeAndWorthIt holds the bound against what was carried over the last time.
func TestTheRingTurnsWhenItIsLargeAndWorthIt(t *testing.T) {
	each(t, "dedup_window => '1 day'", func(b bench) {
		fill := func(keys int, name string) {
			b.db.Exec(b, "select weir.send_batch($1, array_agg('1'::jsonb), dedup_keys => array_agg($2 || i)) "+
				"from generate_series(1, $3::int) i", queue, name, keys)
		}
		turn := func() bool {
			before := pgtest.QueryVal[int64](b, b.db, "select last_value / 3 from weir_log.dedup_ring")
			for range 8 {
				b.db.Exec(b, "select weir_log.rotate_dedup(100000)")
			}
			return pgtest.QueryVal[int64](b, b.db, "select last_value / 3 from weir_log.dedup_ring") > before
		}
		fill(100, "a")
		if turn() {
			b.Error("turned when there was little")
		}
		fill(5000, "b")
		if !turn() {
			b.Error("not turned when there was much")
		}
		fill(100, "c")
		if turn() {
			b.Error("turned when there was little in the open table")
		}
		b.clock.Advance(b, 23*time.Hour)
		fill(2000, "d")
		if !turn() { // what is in the older table was not carried there
			b.Error("not turned the second time")
		}
		if n := b.rows(); n != 7200 {
			b.Errorf("%d keys, want 7200", n)
		}
		fill(2000, "e")
		if turn() {
			b.Error("turned although most of it would be carried over again")
		}
		fill(20000, "f")
		if !turn() {
			b.Error("not turned when there is much again")
		}
		b.clock.Advance(b, 25*time.Hour)
		if !turn() {
			b.Error("not turned when nothing of the older table counts any more")
		}
		if n := b.rows(); n != 0 {
			b.Errorf("%d keys are left", n)
		}
	})
}

func TestATransactionThatMaintainsTwiceHoldsUpNoSender(t *testing.T) {
	each(t, "", func(b bench) {
		b.turnAny(2)
		b.turnTo(0)
		b.turnTo(1)
		b.clock.Advance(b, time.Hour)
		b.turnTo(2)
		b.send(b.db.Pool(b), "b")
		conn := b.db.Conn(b)
		b.exec(conn, "begin")
		for range 10 {
			b.exec(conn, "select weir_log.rotate_dedup(1)")
		}
		b.exec(b.db.Conn(b), "set lock_timeout = '10s'; select weir.send('jobs', '1', dedup_key => 'c')")
		b.exec(conn, "rollback")
	})
}

func TestAQueueWithoutAWindowRefusesKeys(t *testing.T) {
	each(t, "dedup_window => '0'", func(b bench) {
		_, err := trySend(b.Context(), b.db.Pool(b), "a")
		surface.WantState(b, err, "WR006")
		b.db.Exec(b, "select weir.send($1, '1')", queue)
		b.db.Exec(b, "update weir_internal.queues set dedup_window = '1 hour' where name = $1", queue)
		if first, again := b.send(b.db.Pool(b), "a"), b.send(b.db.Pool(b), "a"); first != again {
			b.Errorf("ids %d and %d", first, again)
		}
	})
}

func TestAChangedWindowHoldsFromTheNextSendOn(t *testing.T) {
	each(t, "", func(b bench) {
		first := b.send(b.db.Pool(b), "a")
		b.db.Exec(b, "update weir_internal.queues set dedup_window = '1 hour' where name = $1", queue)
		b.clock.Advance(b, 30*time.Minute)
		if again := b.send(b.db.Pool(b), "a"); again != first {
			b.Errorf("ids %d and %d", first, again)
		}
		b.db.Exec(b, "update weir_internal.queues set dedup_window = '10 minutes' where name = $1", queue)
		if again := b.send(b.db.Pool(b), "a"); again == first {
			b.Error("the key still counts")
		}
	})
}

func TestKeysAreChecked(t *testing.T) {
	each(t, "", func(b bench) {
		for _, bad := range []string{
			"weir.send('jobs', '1', dedup_key => repeat('x', 1025))",
			"weir.send_batch('jobs', array['1', '2']::jsonb[], dedup_keys => array['a'])",
			"weir.send_batch('jobs', array['1']::jsonb[], dedup_keys => array[array['a']])",
			"weir.send_once('jobs', array['1']::jsonb[], null)",
			"weir.send_once('jobs', array['1']::jsonb[], '{}')",
		} {
			_, err := b.db.Pool(b).Exec(b.Context(), "select "+bad)
			surface.WantState(b, err, "WR006")
		}
		_, err := b.db.Pool(b).Exec(b.Context(), "select weir.send('jobs', null, dedup_key => 'a')")
		surface.WantState(b, err, "WR007")
		_, err = b.db.Pool(b).Exec(b.Context(), "select weir.send('none', '1', dedup_key => 'a')")
		surface.WantState(b, err, "WR001")
		b.db.Exec(b, "select weir.send('jobs', '1', dedup_key => repeat('x', 1024))")
		b.db.Exec(b, "select weir.send('jobs', '1', dedup_key => '')")
		b.db.Exec(b, "select weir.send_once('jobs', '{}', '{}')")
		b.wantDelivered(2)
	})
}

// TestAKeyIsFoundByItsIndexHoweverManyThereAre counts what a session reads of tables that were never analysed.
func TestAKeyIsFoundByItsIndexHoweverManyThereAre(t *testing.T) {
	each(t, "", func(b bench) {
		fill := "select weir.send_batch($1, array_agg('1'::jsonb), dedup_keys => array_agg($2 || i)) " +
			"from generate_series(1, 20000) i"
		conn := b.db.Conn(b)
		for range 8 { // so that the plans are generic, and made when there was nothing
			b.send(conn, "first")
		}
		b.turnAny(2)
		b.db.Exec(b, fill, queue, "a")
		b.turnTo(0)
		b.db.Exec(b, fill, queue, "b")
		for state := range int64(2) {
			b.turnTo(state)
			b.exec(conn, "begin")
			for i := range 50 {
				b.send(conn, fmt.Sprint("a", i+1))
				b.send(conn, fmt.Sprint("b", i+1))
				b.send(conn, fmt.Sprint("new", state, i))
			}
			var seq, read int64
			if err := conn.QueryRow(b.Context(), `select sum(seq_scan), sum(seq_tup_read + idx_tup_fetch)
				from pg_stat_xact_all_tables where relname like 'dedup!__' escape '!'`).Scan(&seq, &read); err != nil {
				b.Fatal(err)
			}
			b.exec(conn, "commit")
			if seq > 0 || read < 100 || read > 1500 {
				b.Errorf("state %d: %d sequential scans, %d rows read by 150 sends", state, seq, read)
			}
		}
	})
}

func TestWhoDoesNotDeduplicateLeavesTheTablesAlone(t *testing.T) {
	each(t, "", func(b bench) {
		conn := b.db.Conn(b)
		b.exec(conn, "begin")
		b.exec(conn, "select weir.send('jobs', '1')")
		b.exec(conn, "select weir.send_batch('jobs', array['1', '2']::jsonb[])")
		var locks int64
		if err := conn.QueryRow(b.Context(), `select count(*) from pg_locks
			where pid = pg_backend_pid() and relation::regclass::text ~ 'dedup'`).Scan(&locks); err != nil || locks != 0 {
			b.Errorf("%d locks on tables of keys, %v", locks, err)
		}
		b.exec(conn, "commit")
	})
}
