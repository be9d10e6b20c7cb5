package pgmq_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/weirmq/weir/internal/pgtest"
)

// places are the ways in which a queue can hold the message 1, and how it gets there.
var places = map[string]string{
	"unread":  "select pgmq.send('q', '1')",
	"read":    "select pgmq.send('q', '1'); select pgmq.read('q', 1000, 1)",
	"expired": "select pgmq.send('q', '1'); select pgmq.read('q', -1, 1)",
	"delayed": "select pgmq.send('q', '1', 1000)",
	"set":     "select pgmq.send('q', '1'); select pgmq.read('q', 1000, 1); select pgmq.set_vt('q', 1, 500)",
	"moved":   "select pgmq.send('q', '1'); select pgmq.set_vt('q', 1, 500)",
	"again": `select pgmq.send('q', '1'); select pgmq.read('q', 1000, 1); select pgmq.set_vt('q', 1, 0);
		select pgmq.read('q', 1000, 1)`,
}

// eachPlace runs a test with the message 1 in every place where a queue can hold it.
func eachPlace(t *testing.T, test func(t *testing.T, db *pgtest.DB)) {
	t.Helper()
	pgtest.EachMajor(t, func(t *testing.T, major int) {
		t.Parallel()
		for name, prepare := range places {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				db := newFace(t, major)
				db.Exec(t, "select pgmq.create('q')")
				for _, call := range slices.Collect(statements(prepare)) {
					db.Exec(t, call)
				}
				test(t, db)
			})
		}
	})
}

// takers take the message 1 out of the queue and say whether they did.
var takers = []string{
	"select pgmq.delete('q', 1)",
	"select count(*) = 1 from pgmq.delete('q', array[1])",
	"select count(*) = 1 from pgmq.delete('q', array[1, 7])",
	"select pgmq.archive('q', 1)",
}

func TestOfTwoWhoTakeAMessageTheSecondWaitsAndHasItOnlyIfTheFirstGivesUp(t *testing.T) {
	t.Parallel()
	eachPlace(t, func(t *testing.T, db *pgtest.DB) {
		second := db.Conn(t)
		for i, firstTakes := range takers {
			commits := i == len(takers)-1
			secondTakes := takers[(i+1)%len(takers)]
			tx := begin(t, db.Conn(t))
			if !value[bool](t, tx, firstTakes) {
				t.Fatalf("%s found nothing", firstTakes)
			}
			var took bool
			var err error
			done := make(chan struct{})
			two := begin(t, second)
			pid := second.PgConn().PID()
			go func() {
				defer close(done)
				err = two.QueryRow(t.Context(), secondTakes).Scan(&took)
			}()
			pgtest.WaitForLock(t, db, pid)
			end(t, tx, commits)
			<-done
			if err != nil || took == commits {
				t.Errorf("%s after %s (committed: %t): %t, %v", secondTakes, firstTakes, commits, took, err)
			}
			end(t, two, false)
		}
		if left := ids(t, db, "select msg_id from pgmq.q_q"); len(left) > 0 {
			t.Errorf("%v are left", left)
		}
		if read := ids(t, db, "select msg_id from pgmq.read('q', 10, 10)"); len(read) > 0 {
			t.Errorf("%v were read", read)
		}
	})
}

func TestWhatIsTakenBackByARollbackIsReadAgain(t *testing.T) {
	t.Parallel()
	eachPlace(t, func(t *testing.T, db *pgtest.DB) {
		conn := db.Conn(t)
		for _, take := range append(slices.Clone(takers), "select count(*) = 1 from pgmq.set_vt('q', 1, 5000)") {
			tx := begin(t, conn)
			took := value[bool](t, tx, take)
			if !took || value[int](t, tx, "select count(*) from pgmq.q_q where vt < now() + '2000 s'") > 0 {
				t.Errorf("%s left it", take)
			}
			end(t, tx, false)
		}
		db.Exec(t, "select pgmq.set_vt('q', 1, 0)")
		if read := ids(t, db, "select msg_id from pgmq.read('q', 0, 10)"); !slices.Equal(read, []int64{1}) {
			t.Errorf("%v were read", read)
		}
		if kept := pgtest.QueryVal[int](t, db, "select count(*) from pgmq.a_q"); kept > 0 {
			t.Errorf("%d are archived", kept)
		}
	})
}

func TestADeleteWaitsForOpenReadsAndHolds(t *testing.T) {
	t.Parallel()
	for name, readerCommits := range map[string]bool{"the reader commits": true, "the reader rolls back": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pgtest.EachMajor(t, func(t *testing.T, major int) {
				t.Parallel()
				db := newFace(t, major)
				db.Exec(t, "select pgmq.create('q')")
				db.Exec(t, "select pgmq.send_batch('q', array['1', '2']::jsonb[])")
				reader := begin(t, db.Conn(t))
				if n := value[int](t, reader, "select count(*) from pgmq.read('q', 0, 2)"); n != 2 {
					t.Fatalf("%d were read", n)
				}
				deleter := db.Conn(t)
				deleted := make(chan bool)
				go func() {
					var v bool
					if err := deleter.QueryRow(t.Context(), "select pgmq.delete('q', 1)").Scan(&v); err != nil {
						t.Error(err)
					}
					deleted <- v
				}()
				pgtest.WaitForLock(t, db, deleter.PgConn().PID()) // he may have finished it, which cannot be seen yet
				end(t, reader, readerCommits)
				if !<-deleted {
					t.Error("it was not deleted")
				}
				if pgtest.QueryVal[bool](t, db, "select pgmq.delete('q', 1)") {
					t.Error("it was deleted twice")
				}
				if read := ids(t, db, "select msg_id from pgmq.read('q', 0, 10)"); !slices.Equal(read, []int64{2}) {
					t.Errorf("%v were read", read)
				}
				if n := pgtest.QueryVal[int](t, db, "select queue_length from pgmq.metrics('q')"); n != 1 {
					t.Errorf("the queue has %d", n)
				}
				if left := ids(t, db, "select msg_id from pgmq.q_q"); !slices.Equal(left, []int64{2}) {
					t.Errorf("%v are left", left)
				}
			})
		})
	}
}

// A reader that commits while somebody deletes what it reads must not lead to a delete that both believe is theirs.
func TestADeleteOfWhatWasReadWaitsForOneThatFoundItUnread(t *testing.T) {
	t.Parallel()
	pgtest.Each(t, func(t *testing.T, db *pgtest.DB) {
		installFace(t, db)
		db.Exec(t, "select pgmq.create('q')")
		db.Exec(t, "select pgmq.send('q', '1')")
		first := begin(t, db.Conn(t))
		if !value[bool](t, first, "select pgmq.delete('q', 1)") {
			t.Fatal("it was not deleted")
		}
		if read := ids(t, db, "select msg_id from pgmq.read('q', 1000, 1)"); !slices.Equal(read, []int64{1}) {
			t.Fatalf("%v were read", read)
		}
		second := db.Conn(t)
		took := make(chan bool)
		go func() {
			var v bool
			if err := second.QueryRow(t.Context(), "select pgmq.delete('q', 1)").Scan(&v); err != nil {
				t.Error(err)
			}
			took <- v
		}()
		pgtest.WaitForLock(t, db, second.PgConn().PID())
		end(t, first, true)
		if <-took {
			t.Error("it was deleted twice")
		}
	})
}

func TestAMessageThatIsSetBeforeItIsReadIsReadOnceAndThen(t *testing.T) {
	t.Parallel()
	pgtest.Each(t, func(t *testing.T, db *pgtest.DB) {
		installFace(t, db)
		db.Exec(t, "select pgmq.create('q')")
		db.Exec(t, "select pgmq.send_batch('q', array['1', '2', '3']::jsonb[])")
		reader := begin(t, db.Conn(t))
		if n := value[int](t, reader, "select count(*) from pgmq.read('q', 1000, 1)"); n != 1 {
			t.Fatalf("%d were read", n)
		}
		setter := db.Conn(t)
		done := make(chan error)
		go func() {
			_, err := setter.Exec(t.Context(), "select pgmq.set_vt('q', 2, 1000)")
			done <- err
		}()
		pgtest.WaitForLock(t, db, setter.PgConn().PID()) // the reader may be about to read it
		end(t, reader, true)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if read := ids(t, db, "select msg_id from pgmq.read('q', 1000, 10)"); !slices.Equal(read, []int64{3}) {
			t.Errorf("%v were read before", read)
		}
		db.Exec(t, "select pgmq.set_vt('q', 2, 0)")
		for _, count := range []int{1, 2} {
			got := ids(t, db, "select read_ct from pgmq.read('q', 0, 10)")
			if !slices.Equal(got, []int64{int64(count)}) {
				t.Errorf("read %d: counts %v", count, got)
			}
		}
	})
}

func TestAHeldTransactionKeepsNobodyFromOtherMessages(t *testing.T) {
	t.Parallel()
	pgtest.Each(t, func(t *testing.T, db *pgtest.DB) {
		installFace(t, db)
		db.Exec(t, "select pgmq.create('q')")
		db.Exec(t, "select pgmq.send_batch('q', (select array_agg(to_jsonb(i)) from generate_series(1, 100) i))")
		db.Exec(t, "select count(*) from pgmq.read('q', 1000, 10)")
		held := begin(t, db.Conn(t))
		for _, call := range []string{
			"select 1 from pgmq.send('q', '101')", "select pgmq.delete('q', 1)::int", "select pgmq.delete('q', 50)::int",
			"select pgmq.archive('q', 2)::int", "select count(*) from pgmq.set_vt('q', 3, 0)",
			"select count(*) from pgmq.delete('q', array[4, 5])",
		} {
			if value[int](t, held, call) == 0 {
				t.Errorf("%s did nothing", call)
			}
		}
		conn := db.Conn(t)
		for _, call := range []string{
			"set statement_timeout = '10 s'", "select pgmq.send('q', '102')",
			"select 1 / count(*) from pgmq.read('q', 1000, 10)",
			"select 1 / pgmq.delete('q', 6)::int", "select 1 / pgmq.delete('q', 60)::int",
			"select 1 / pgmq.archive('q', 7)::int",
			"select 1 / count(*) from pgmq.set_vt('q', 8, 100)", "select 1 / (pgmq.metrics('q')).queue_length",
		} {
			if _, err := conn.Exec(t.Context(), call); err != nil {
				t.Errorf("%s: %v", call, err)
			}
		}
		end(t, held, true)
	})
}

func TestIDsAreDenseAndEachHasItsMessageHoweverManySend(t *testing.T) {
	t.Parallel()
	pgtest.Each(t, func(t *testing.T, db *pgtest.DB) {
		installFace(t, db)
		db.Exec(t, "select pgmq.create('q')")
		const senders, calls, size = 6, 10, 37
		pool := db.Pool(t)
		var all sync.WaitGroup
		var lock sync.Mutex
		want := map[int64]string{}
		for s := range senders {
			all.Go(func() {
				for c := range calls {
					rows, err := pool.Query(t.Context(), `select id, format('"%s/%s/%s"', $1::int, $2::int, i)
						from pgmq.send_batch('q', (select array_agg(to_jsonb(format('%s/%s/%s', $1::int, $2::int, i)) order by i)
							from generate_series(1, $3::int) i)) with ordinality s (id, i)`, s, c, size)
					if err != nil {
						t.Error(err)
						return
					}
					sent, err := pgx.CollectRows(rows, pgx.RowToStructByPos[struct {
						ID   int64
						Text string
					}])
					if err != nil {
						t.Error(err)
						return
					}
					lock.Lock()
					for _, m := range sent {
						want[m.ID] = m.Text
					}
					lock.Unlock()
				}
			})
		}
		all.Wait()
		got := map[int64]string{}
		rows, err := pool.Query(t.Context(), "select msg_id, message::text from pgmq.read('q', 1000, null)")
		if err != nil {
			t.Fatal(err)
		}
		var id int64
		var text string
		if _, err := pgx.ForEachRow(rows, []any{&id, &text}, func() error { got[id] = text; return nil }); err != nil {
			t.Fatal(err)
		}
		for id := range int64(senders * calls * size) {
			if got[id+1] == "" || got[id+1] != want[id+1] {
				t.Fatalf("message %d is %s, sent was %s", id+1, got[id+1], want[id+1])
			}
		}
		if len(got) != senders*calls*size {
			t.Errorf("%d were read", len(got))
		}
	})
}

// end commits a transaction or rolls it back.
func end(t *testing.T, tx pgx.Tx, commit bool) {
	t.Helper()
	finish := tx.Rollback
	if commit {
		finish = tx.Commit
	}
	if err := finish(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(fmt.Errorf("end transaction: %w", err))
	}
}
