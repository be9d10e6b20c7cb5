// Package jobs_test holds that jobs do what they promise: unique ones are there once, tracked ones tell the truth,
// cancelled ones do not run, schedules fire once for each due time, and what follows a job is sent exactly once.
package jobs_test

import (
	"context"
	"fmt"
	"strings"
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
	db      *pgtest.DB
	options string
	clock   *surface.Clock
}

func each(t *testing.T, options string, test func(b bench)) {
	t.Parallel()
	surface.Each(t, queue, options, func(t *testing.T, db *pgtest.DB) {
		test(bench{t, db, options, surface.MovableClock(t, db)})
	})
}

// settle does what maintain does, and turns the rings however small their tables are.
func (b bench) settle() {
	b.Helper()
	for range 7 {
		b.db.Exec(b, "select weir_log.rotate_jobs(1)")
		b.db.Exec(b, "select weir_log.rotate_dedup(1)")
		b.db.Exec(b, "select weir_log.trim_cancellations()")
	}
}

// anew puts the queue aside, with all that is in it, and makes another of its name.
func (b bench) anew() {
	b.Helper()
	b.db.Exec(b, "update weir_internal.queues set name = 'aside' || no where name = 'jobs'")
	surface.CreateQueue(b, b.db.Pool(b), queue, b.options)
}

func (b bench) reject(m surface.Message) {
	b.Helper()
	b.db.Exec(b, "select weir.reject('jobs', $1, array[$2::bigint])", m.ClaimID, m.ID)
}

// exec runs a statement that must succeed.
func (b bench) exec(c surface.Conn, sql string, args ...any) {
	b.Helper()
	if _, err := c.Exec(b.Context(), sql, args...); err != nil {
		b.Fatalf("%s: %v", sql, err)
	}
}

func tryEnqueue(ctx context.Context, c surface.Conn, options string) (id int64, err error) {
	err = c.QueryRow(ctx, "select weir.enqueue("+strings.TrimSuffix("'jobs', 'mail', "+options, ", ")+")").Scan(&id)
	return id, err
}

// enqueue enqueues a job of kind mail; options are further arguments by name.
func (b bench) enqueue(options string) int64 {
	b.Helper()
	return b.enqueueOn(b.db.Pool(b), options)
}

func (b bench) enqueueOn(c surface.Conn, options string) int64 {
	b.Helper()
	id, err := tryEnqueue(b.Context(), c, options)
	if err != nil {
		b.Fatalf("enqueue %s: %v", options, err)
	}
	return id
}

// enqueueing enqueues in the background, on a connection of its own; wait until it waits for a lock.
func (b bench) enqueueing(options string) (pid uint32, id func() int64) {
	b.Helper()
	conn := b.db.Conn(b)
	result := make(chan int64, 1)
	go func() {
		id, err := tryEnqueue(b.Context(), conn, options)
		if err != nil {
			b.Errorf("enqueue: %v", err)
		}
		result <- id
	}()
	return conn.PgConn().PID(), func() int64 { return <-result }
}

func (b bench) receive(batchMax int) []surface.Message {
	b.Helper()
	got, err := surface.Receive(b.Context(), b.db.Pool(b), queue, "default", batchMax, "1 minute")
	if err != nil {
		b.Fatal(err)
	}
	return got
}

// take receives one job, which must be there.
func (b bench) take() surface.Message {
	b.Helper()
	got := b.receive(1)
	if len(got) != 1 {
		b.Fatalf("received %v, want one job", got)
	}
	return got[0]
}

// ask returns what the SQL expression over weir.job tells of a job.
func (b bench) ask(id int64, expression string) string {
	b.Helper()
	return strings.Join(pgtest.QueryAll[string](b, b.db,
		"select ("+expression+")::text from weir.job('jobs', $1) j", id), "\n")
}

// want compares the state of a job.
func (b bench) want(id int64, state string) {
	b.Helper()
	if got := b.ask(id, "j.state"); got != state {
		b.Errorf("job %d is %q, want %q", id, got, state)
	}
}

func TestAnUntrackedJobIsAMessageWithAKind(t *testing.T) {
	each(t, "priorities => 2", func(b bench) {
		id := b.enqueue(`'{"to": "a"}', 'k', '{"h": 1}'`)
		m := b.take()
		if m.ID != id || m.Payload != `{"to": "a"}` || *m.Key != "k" || *m.Headers != `{"h": 1, "kind": "mail"}` {
			b.Errorf("received %v with headers %s", m, *m.Headers)
		}
		b.enqueue("priority => 0")
		high := b.enqueue("priority => 1")
		if m := b.take(); m.ID != high {
			b.Errorf("received %d before %d, which has priority", m.ID, high)
		}
		if n := pgtest.QueryVal[int](b, b.db, "select count(*) from weir.job('jobs', $1)", id); n != 0 {
			b.Errorf("an untracked job has a state")
		}
	})
}

func TestWhatIsNoJobIsRefused(t *testing.T) {
	each(t, "", func(b bench) {
		b.db.Exec(b, "select weir.create_queue('bare', dedup_window => '0')")
		for call, state := range map[string]string{
			"enqueue('none', 'k')":                                             "WR001",
			"enqueue('jobs', null)":                                            "WR050",
			"enqueue('jobs', '')":                                              "WR050",
			"enqueue('jobs', repeat('k', 256))":                                "WR050",
			"enqueue('jobs', 'k', null)":                                       "WR007",
			"enqueue('jobs', 'k', headers => '[]')":                            "WR006",
			`enqueue('jobs', 'k', headers => '{"job": 1}')`:                    "WR006",
			"enqueue('jobs', 'k', delay => '-1 second', tracked => true)":      "WR006",
			"enqueue('jobs', 'k', delay => '11 years', tracked => true)":       "WR006",
			"enqueue('jobs', 'k', run_at => now() + interval '11 years')":      "WR006",
			"enqueue('jobs', 'k', priority => 1, tracked => true)":             "WR006",
			"enqueue('jobs', 'k', unique_for => '0')":                          "WR006",
			"enqueue('jobs', 'k', unique_key => repeat('k', 1025))":            "WR006",
			"enqueue('bare', 'k', is_unique => true)":                          "WR006",
			"enqueue_batch('jobs', null)":                                      "WR007",
			"enqueue_batch('jobs', array['1']::jsonb[])":                       "WR006",
			"enqueue_batch('jobs', array[null]::jsonb[])":                      "WR006",
			`enqueue_batch('jobs', array['{"kind": "k", "arg": 1}']::jsonb[])`: "WR006",
			`enqueue_batch('jobs', array['{"args": 1}']::jsonb[])`:             "WR050",
			"finish('jobs', 99999999, 1)":                                      "WR009",
			"finish('jobs', null, 1)":                                          "WR006",
			"finish_many('jobs', array[1], array[1, 2])":                       "WR006",
			"progress('jobs', 99999999, 1)":                                    "WR009",
			"snooze('jobs', 99999999)":                                         "WR009",
			"job('jobs', null)":                                                "WR006",
			"job('none', 1)":                                                   "WR001",
			"cancel('jobs', null)":                                             "WR006",
		} {
			_, err := b.db.Pool(b).Exec(b.Context(), "select weir."+call)
			if got := surface.SQLState(err); got != state {
				b.Errorf("%s: %v, want SQLSTATE %s", call, err, state)
			}
		}
		if got := b.receive(10); len(got) != 0 {
			b.Errorf("sent %v all the same", got)
		}
	})
}

func TestATrackedJobTellsItsLife(t *testing.T) {
	each(t, "", func(b bench) {
		id := b.enqueue(`'{"to": "a"}', tracked => true`)
		b.want(id, "waiting")
		m := b.take()
		if got := b.ask(id, "(j.kind, j.state, j.attempt, j.finished_at)"); got != "(mail,running,1,)" {
			b.Errorf("under a claim: %s", got)
		}
		if !pgtest.QueryVal[bool](b, b.db, `select weir.progress('jobs', $1, $2, '{"done": 3}')`, m.ClaimID, id) {
			b.Error("progress says that it was cancelled")
		}
		b.db.Exec(b, `select weir.progress('jobs', $1, $2, '{"done": 7}', '1 hour')`, m.ClaimID, id)
		if got := b.ask(id, "(j.state, j.progress)"); got != `(running,"{""done"": 7}")` {
			b.Errorf("after progress: %s", got)
		}
		b.clock.Advance(b, 50*time.Minute) // the lease was extended
		b.db.Exec(b, "select weir.nack('jobs', $1, reason => 'no network', delay => '1 minute')", m.ClaimID)
		if got := b.ask(id, "(j.state, j.attempt, j.error)"); got != `(waiting,1,"no network")` {
			b.Errorf("after nack: %s", got)
		}
		b.clock.Advance(b, 2*time.Minute)
		m = b.take()
		if got := b.ask(id, "(j.state, j.attempt)"); got != "(running,2)" {
			b.Errorf("the second time: %s", got)
		}
		if n := pgtest.QueryVal[int](b, b.db, `select weir.finish('jobs', $1, $2, '[1]')`, m.ClaimID, id); n != 1 {
			b.Errorf("finished %d", n)
		}
		if got := b.ask(id, "(j.state, j.attempt, j.result, j.finished_at is not null)"); got != "(done,2,[1],t)" {
			b.Errorf("in the end: %s", got)
		}
		if n := pgtest.QueryVal[int](b, b.db, `select weir.finish('jobs', $1, $2, '[2]')`, m.ClaimID, id); n != 0 {
			b.Errorf("finished %d once more", n)
		}
		if got := b.ask(id, "j.result"); got != "[1]" {
			b.Errorf("the result is now %s", got)
		}
	})
}

func TestATrackedJobEndsAsItsMessageDoes(t *testing.T) {
	ends := map[string]struct{ sql, state string }{
		"ack":     {"select weir.ack_all('jobs', $1)", "done"},
		"finish":  {"select weir.finish('jobs', $1, max(id)) from weir_log.jobs_0 where what = 0", "done"},
		"reject":  {"select weir_log.settle('jobs', $1, null, 'reject', null, 'bad')", "failed"},
		"snooze":  {"select weir.snooze('jobs', $1, delay => '1 hour')", "waiting"},
		"release": {"select weir.release('jobs', $1)", "waiting"},
	}
	each(t, "", func(b bench) {
		for name, end := range ends {
			id := b.enqueue("tracked => true")
			m := b.take()
			b.db.Exec(b, end.sql, m.ClaimID)
			if got := b.ask(id, "j.state"); got != end.state {
				b.Errorf("%s: the job is %s, want %s", name, got, end.state)
			}
			b.anew()
		}
	})
}

func TestAJobThatDiesAndIsRedrivenIsTriedAgain(t *testing.T) {
	each(t, "", func(b bench) {
		id := b.enqueue("tracked => true")
		for range 5 {
			m := b.take()
			b.db.Exec(b, "select weir.nack('jobs', $1, reason => 'bad', delay => '0')", m.ClaimID)
		}
		if got := b.ask(id, "(j.state, j.attempt, j.error, j.finished_at is not null)"); got != "(failed,5,bad,t)" {
			b.Errorf("past its attempts: %s", got)
		}
		b.db.Exec(b, "select weir.redrive('jobs', 'default')")
		b.want(id, "waiting")
		b.db.Exec(b, "select weir.ack_all('jobs', $1)", b.take().ClaimID)
		b.want(id, "done")
	})
}

func TestALeaseThatExpiresKillsATrackedJobInTheEnd(t *testing.T) {
	each(t, "lanes => 1", func(b bench) {
		b.db.Exec(b, "update weir_internal.groups set max_attempts = 1")
		id := b.enqueue("tracked => true")
		b.take()
		b.clock.Advance(b, 2*time.Minute)
		b.want(id, "waiting")
		if got := b.receive(1); len(got) != 0 {
			b.Fatalf("received %v", got)
		}
		if got := b.ask(id, "(j.state, j.error)"); got != `(failed,"the lease expired")` {
			b.Errorf("%s", got)
		}
	})
}

func TestSnoozeCountsNoAttempt(t *testing.T) {
	each(t, "", func(b bench) {
		b.enqueue("")
		for range 7 {
			m := b.take()
			if m.Attempt != 1 {
				b.Fatalf("attempt %d", m.Attempt)
			}
			b.db.Exec(b, "select weir.snooze('jobs', $1, delay => '1 hour')", m.ClaimID)
			if got := b.receive(1); len(got) != 0 {
				b.Fatalf("received %v at once", got)
			}
			b.clock.Advance(b, 61*time.Minute)
		}
	})
}

func TestFinishRollsBackWithItsTransaction(t *testing.T) {
	each(t, "", func(b bench) {
		id := b.enqueue("tracked => true")
		m := b.take()
		conn := b.db.Conn(b)
		b.exec(conn, "begin")
		b.exec(conn, "select weir.finish('jobs', $1, $2, '1')", m.ClaimID, id)
		b.want(id, "running")
		b.exec(conn, "rollback")
		b.want(id, "running")
		b.clock.Advance(b, 2*time.Minute)
		_, err := b.db.Pool(b).Exec(b.Context(), "select weir.finish('jobs', $1, $2, '1')", m.ClaimID, id)
		surface.WantState(b, err, "WR010")
		_, err = b.db.Pool(b).Exec(b.Context(), "select weir.progress('jobs', $1, $2, '1')", m.ClaimID, id)
		surface.WantState(b, err, "WR010")
		b.want(id, "waiting")
	})
}

func TestFinishManyFinishesWhatItCan(t *testing.T) {
	each(t, "lanes => 1", func(b bench) {
		ids := pgtest.QueryAll[int64](b, b.db, `select id from weir.enqueue_batch('jobs',
			array(select jsonb_build_object('kind', 'k', 'args', i) from generate_series(1, 6) i), tracked => true)`)
		lost := b.receive(2)
		b.clock.Advance(b, 2*time.Minute)
		held := b.receive(6)
		if len(held) != 6 {
			b.Fatalf("received %v", held)
		}
		claim := map[int64]int64{}
		for _, m := range held {
			claim[m.ID] = m.ClaimID
		}
		done := pgtest.QueryAll[string](b, b.db, `select coalesce(n::text, 'null') from unnest(weir.finish_many('jobs',
			$1::bigint[], $2::bigint[], array['1', '2', null, '4', '5']::jsonb[])) n`,
			[]int64{claim[ids[0]], claim[ids[2]], claim[ids[3]], lost[1].ClaimID, lost[0].ClaimID},
			[]int64{ids[0], ids[2], ids[3], ids[1], ids[5]})
		if got := fmt.Sprint(done); got != "[1 1 1 null null]" {
			b.Errorf("finished %v", got)
		}
		b.want(ids[1], "running")
		b.want(ids[3], "done")
		if got := b.ask(ids[2], "(j.state, j.result)"); got != "(done,2)" {
			b.Errorf("job %d: %s", ids[2], got)
		}
	})
}

func TestWhatHappenedIsKeptForTheRetention(t *testing.T) {
	each(t, "lanes => 1, job_retention => '1 hour'", func(b bench) {
		later := b.enqueue("tracked => true, delay => '30 days'")
		waiting := b.enqueue("tracked => true, key => 'k'")
		short := b.enqueue("tracked => true")
		for _, m := range b.receive(10) {
			if m.ID == short {
				b.db.Exec(b, `select weir.finish('jobs', $1, $2, '"kept"')`, m.ClaimID, m.ID)
			} else {
				b.db.Exec(b, `select weir.progress('jobs', $1, $2, '9')`, m.ClaimID, m.ID)
				b.db.Exec(b, "select weir.snooze('jobs', $1, array[$2::bigint], '20 days')", m.ClaimID, m.ID)
			}
		}
		for range 5 {
			b.clock.Advance(b, 10*time.Minute)
			b.settle()
			b.want(short, "done")
		}
		for range 10 {
			b.clock.Advance(b, time.Hour)
			b.settle()
		}
		b.want(short, "")
		b.want(later, "waiting")
		if got := b.ask(waiting, "(j.state, j.progress)"); got != "(waiting,9)" {
			b.Errorf("a job that waits: %s", got)
		}
		if n := pgtest.QueryVal[int](b, b.db,
			"select (select count(*) from weir_log.jobs_0) + (select count(*) from weir_log.jobs_1)"); n > 12 {
			b.Errorf("%d events are kept of 2 jobs", n)
		}
	})
}

// TestAFinishAndTheEndOfTheLeaseAgree lets a lease end while the finish of its job is not committed: the job is given
// to nobody else until that is decided, and is done once or delivered again.
func TestAFinishAndTheEndOfTheLeaseAgree(t *testing.T) {
	each(t, "", func(b bench) {
		for _, end := range []string{"commit", "rollback"} {
			id := b.enqueue("tracked => true, " + unique)
			m, finisher := b.take(), b.db.Conn(b)
			b.exec(finisher, "begin")
			b.exec(finisher, "select weir.finish('jobs', $1, $2, '1')", m.ClaimID, id)
			b.clock.Advance(b, 2*time.Minute)
			if got := b.receive(1); len(got) != 0 {
				b.Fatalf("received %v, which is being finished", got)
			}
			if got := b.enqueue(unique); got != id {
				b.Errorf("job %d beside %d, whose finish may roll back", got, id)
			}
			b.exec(finisher, end)
			got := b.receive(1)
			if (len(got) == 1) != (end == "rollback") {
				b.Errorf("after %s received %v", end, got)
			}
			_, err := b.db.Pool(b).Exec(b.Context(), "select weir.finish('jobs', $1, $2)", m.ClaimID, id)
			if want := map[string]string{"commit": "", "rollback": "WR010"}[end]; surface.SQLState(err) != want {
				b.Errorf("after %s the holder is told %v, want %q", end, err, want)
			}
			if end == "commit" {
				b.want(id, "done")
			}
			b.anew()
		}
	})
}
