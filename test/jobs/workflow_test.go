package jobs_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

func (b bench) start(sql string) int64 {
	b.Helper()
	return pgtest.QueryVal[int64](b, b.db, "select weir.start_"+sql)
}

// states shows the steps of a workflow.
func (b bench) states(workflow int64) string {
	b.Helper()
	return strings.Join(pgtest.QueryAll[string](b, b.db,
		`select name || ' ' || state || coalesce(' ' || result::text, '')
			from weir.workflow('jobs', $1) order by no`, workflow), ", ")
}

// step takes the one job that is there, which must be of a kind, and returns it with what its header tells of others.
func (b bench) step(kind, told string) surface.Message {
	b.Helper()
	m := b.take()
	got := pgtest.QueryVal[string](b, b.db,
		"select concat_ws(' ', $1::jsonb ->> 'kind', $1::jsonb #> '{job,results}', $1::jsonb #> '{job,ended}')", *m.Headers)
	if want := strings.TrimSpace(kind + " " + told); got != want {
		b.Errorf("received %s, want %s", got, want)
	}
	return m
}

func (b bench) finish(m surface.Message, result string) {
	b.Helper()
	b.db.Exec(b, "select weir.finish('jobs', $1, $2, $3)", m.ClaimID, m.ID, result)
}

const chain = `chain('jobs', array['{"kind": "a"}', '{"kind": "b", "name": "second"}', '{"kind": "c"}']::jsonb[])`

func TestAChainGoesOnWithTheResult(t *testing.T) {
	each(t, "lanes => 1", func(b bench) {
		w := b.start(chain)
		m := b.step("a", "")
		b.db.Exec(b, "select weir.nack('jobs', $1, delay => '0')", m.ClaimID)
		m = b.step("a", "")
		conn := b.db.Conn(b)
		b.exec(conn, "begin")
		b.exec(conn, "select weir.finish('jobs', $1, $2, '7')", m.ClaimID, m.ID)
		b.exec(conn, "rollback")
		if got := b.receive(1); len(got) != 0 {
			b.Fatalf("received %v after a finish that was rolled back", got)
		}
		b.finish(m, `{"x": 1}`)
		if got := b.states(w); got != `1 done {"x": 1}, second enqueued, 3 planned` {
			b.Errorf("the chain is %s", got)
		}
		b.db.Exec(b, "select weir.finish('jobs', $1, $2, '9')", m.ClaimID, m.ID) // repeated
		b.step("b", `{"1": {"x": 1}}`)
		b.clock.Advance(b, 2*time.Minute) // its worker was killed
		m = b.step("b", `{"1": {"x": 1}}`)
		b.finish(m, "2")
		b.finish(b.step("c", `{"second": 2}`), "3")
		if got := b.states(w); got != `1 done {"x": 1}, second done 2, 3 done 3` {
			b.Errorf("the chain is %s", got)
		}
		if got := b.receive(1); len(got) != 0 {
			b.Errorf("received %v after the end", got)
		}
	})
}

func TestAStepThatFailsStopsWhatComesAfterItUntilItIsRedriven(t *testing.T) {
	each(t, "lanes => 1", func(b bench) {
		w := b.start(chain)
		b.reject(b.step("a", ""))
		b.settle()
		if got := b.states(w); got != "1 failed, second planned, 3 planned" {
			b.Errorf("the chain is %s", got)
		}
		b.db.Exec(b, "select weir.redrive('jobs', 'default')")
		b.finish(b.step("a", ""), "1")
		b.finish(b.step("b", `{"1": 1}`), "2")
		b.db.Exec(b, "select weir.cancel('jobs', $1)", pgtest.QueryVal[int64](b, b.db,
			"select id from weir.workflow('jobs', $1) where name = '3'", w))
		if got := b.states(w); got != "1 done 1, second done 2, 3 cancelled" {
			b.Errorf("the chain is %s", got)
		}
	})
}

func TestAPlainAckIsNoticedByMaintain(t *testing.T) {
	each(t, "lanes => 1", func(b bench) {
		w := b.start(chain)
		b.db.Exec(b, "select weir.ack_all('jobs', $1)", b.step("a", "").ClaimID)
		b.settle()
		b.db.Exec(b, "select weir.ack_all('jobs', $1)", b.step("b", `{"1": null}`).ClaimID)
		b.settle()
		b.step("c", `{"second": null}`)
		if got := b.states(w); got != "1 done, second done, 3 enqueued" {
			b.Errorf("the chain is %s", got)
		}
	})
}

func TestAStepComesWhenAllBeforeItAreDone(t *testing.T) {
	each(t, "lanes => 1", func(b bench) {
		diamond := `workflow('jobs', array['{"kind": "a", "name": "top"}',
			'{"kind": "b", "name": "left", "after": ["top"]}', '{"kind": "b", "name": "right", "after": ["top"]}',
			'{"kind": "d", "name": "end", "after": ["left", "right", "top"], "args": [1]}']::jsonb[], 'order-7')`
		w := b.start(diamond)
		if again := b.start(diamond); again != w {
			b.Errorf("workflow %d was started beside %d of the same name", again, w)
		}
		b.finish(b.step("a", ""), "1")
		both := b.receive(2)
		if len(both) != 2 {
			b.Fatalf("received %v", both)
		}
		// both end at once, in transactions of which neither sees the other
		first, second := b.db.Conn(b), b.db.Conn(b)
		b.exec(first, "begin")
		b.exec(first, "select weir.finish('jobs', $1, $2, '2')", both[0].ClaimID, both[0].ID)
		done := make(chan error, 1)
		go func() {
			_, err := second.Exec(b.Context(), "select weir.finish('jobs', $1, $2, '3')", both[1].ClaimID, both[1].ID)
			done <- err
		}()
		pgtest.WaitForLock(b, b.db, second.PgConn().PID())
		b.exec(first, "commit")
		if err := <-done; err != nil {
			b.Fatal(err)
		}
		b.finish(b.step("d", `{"top": 1, "left": 2, "right": 3}`), "4")
		if got := b.states(w); got != "top done 1, left done 2, right done 3, end done 4" {
			b.Errorf("the workflow is %s", got)
		}
		b.clock.Advance(b, 25*time.Hour)
		b.settle()
		if got := b.states(w); got != "" {
			b.Errorf("after the retention the workflow is %s", got)
		}
	})
}

// TestABatchCallsBackOnce ends the jobs of batches in every way there is, by many workers at once.
func TestABatchCallsBackOnce(t *testing.T) {
	each(t, "lanes => 4", func(b bench) {
		pool := b.db.Pool(b)
		const batches, size = 6, 15
		for i := range batches {
			b.db.Exec(b, `select weir.start_batch('jobs', array(select jsonb_build_object('kind', 'k', 'args', n)
				from generate_series(1, $1) n), '{"kind": "callback"}', 'b' || $2::int)`, size, i)
		}
		b.db.Exec(b, "create table called (workflow bigint, ended jsonb)")
		b.db.Exec(b, "select weir.cancel('jobs', id) from weir.workflow('jobs', 1) where no = 3")
		var workers sync.WaitGroup
		var called atomic.Int64
		stop := make(chan struct{})
		end := sync.OnceFunc(func() { close(stop); workers.Wait() })
		defer end()
		for w := range 4 {
			workers.Go(func() {
				for over := false; !over; {
					got, err := surface.Receive(b.Context(), pool, queue, "default", 3, "1 minute")
					if err != nil {
						b.Errorf("receive: %v", err)
						return
					}
					for _, m := range got {
						sql := []string{
							"select weir.finish('jobs', $1, $2, '1')", "select weir.ack('jobs', $1, array[$2::bigint])",
							"select weir.reject('jobs', $1, array[$2::bigint])",
							"select weir.finish_many('jobs', array[$1::bigint], array[$2::bigint])",
						}[m.ID/1000%4]
						if strings.Contains(*m.Headers, `"callback"`) {
							sql = fmt.Sprintf(`with c as (insert into called select ('%[1]s'::jsonb #>> '{job,workflow}')::bigint,
								'%[1]s'::jsonb #> '{job,ended}') select weir.finish('jobs', $1, $2)`, *m.Headers)
						}
						if _, err := pool.Exec(b.Context(), sql, m.ClaimID, m.ID); err != nil {
							b.Errorf("%s: %v", sql, err)
						}
						if strings.Contains(*m.Headers, `"callback"`) {
							called.Add(1)
						}
					}
					if w == 0 {
						_, _ = pool.Exec(b.Context(), "select weir_log.rotate_jobs(1)")
					}
					select {
					case <-stop:
						over = len(got) == 0
					default:
					}
				}
			})
		}
		pgtest.WaitFor(b, "the callbacks", func() bool { return called.Load() >= batches || b.Failed() })
		b.settle() // who would call back again has done so, and the workers take that too
		end()
		got := pgtest.QueryAll[string](b, b.db, `select concat_ws(' ', workflow, count(*), sum((ended ->> 'done')::int
			+ (ended ->> 'failed')::int + (ended ->> 'cancelled')::int)) from called group by workflow order by workflow`)
		var want []string
		for i := range batches {
			want = append(want, fmt.Sprintf("%d 1 %d", i+1, size))
		}
		if !slices.Equal(got, want) {
			b.Errorf("called back %q, want %q", got, want)
		}
		if n := pgtest.QueryVal[int](b, b.db, "select count(*) from weir_internal.workflows where ended_at is null"); n != 0 {
			b.Errorf("%d batches are not at their end", n)
		}
	})
}

func TestAJobThatFailedAndWasRedrivenCountsOnceInItsBatch(t *testing.T) {
	each(t, "lanes => 1", func(b bench) {
		b.start(`batch('jobs', array['{"kind": "a"}', '{"kind": "b"}']::jsonb[], '{"kind": "callback"}')`)
		b.reject(b.step("a", ""))
		b.db.Exec(b, "select weir.redrive('jobs', 'default')")
		redriven, other := b.take(), b.take()
		if redriven.ID > other.ID { // it mostly comes first
			redriven, other = other, redriven
		}
		b.finish(redriven, "1")
		b.finish(other, "2")
		b.step("callback", `{"done": 2, "failed": 0, "cancelled": 0}`)
	})
}

func TestAForgedHeaderIsNoStep(t *testing.T) {
	each(t, "lanes => 1", func(b bench) {
		w := b.start(chain)
		b.db.Exec(b, "select weir.create_queue('other')")
		for _, header := range []string{
			fmt.Sprintf(`{"job": {"workflow": %d, "step": "1"}}`, w), `{"job": {"workflow": "x"}}`, `{"job": 7}`,
			`{"job": {"workflow": 99999999999999999999}, "tracked": true}`, `{"job": {"tracked": true}}`,
		} {
			for _, end := range []string{
				"finish('other', claim_id, id, '1')", "reject('other', claim_id, array[id])", "nack('other', claim_id)",
			} {
				b.db.Exec(b, "select weir.send('other', '1', headers => $1::jsonb)", header)
				b.db.Exec(b, "select weir."+end+" from weir.receive('other')")
			}
		}
		if got := b.states(w); got != "1 enqueued, second planned, 3 planned" {
			b.Errorf("the chain is %s", got)
		}
	})
}

func TestWhatIsNoWorkflowIsRefused(t *testing.T) {
	each(t, "", func(b bench) {
		for call, state := range map[string]string{
			`start_workflow('jobs', null)`:                                                          "WR055",
			`start_workflow('jobs', '{}')`:                                                          "WR055",
			`start_workflow('jobs', array['1']::jsonb[])`:                                           "WR055",
			`start_workflow('jobs', array[null]::jsonb[])`:                                          "WR055",
			`start_workflow('jobs', array['{"name": "a"}']::jsonb[])`:                               "WR050",
			`start_workflow('jobs', array['{"kind": "a", "x": 1}']::jsonb[])`:                       "WR055",
			`start_workflow('jobs', array['{"kind": "a", "after": ["b"]}']::jsonb[])`:               "WR055",
			`start_workflow('jobs', array['{"kind": "a", "after": "b"}']::jsonb[])`:                 "WR055",
			`start_workflow('jobs', array['{"kind": "a", "name": "a", "after": ["a"]}']::jsonb[])`:  "WR055",
			`start_workflow('jobs', array['{"kind": "a", "name": "2"}', '{"kind": "a"}']::jsonb[])`: "WR055",
			`start_workflow('jobs', array['{"kind": "a", "headers": []}']::jsonb[])`:                "WR006",
			`start_workflow('jobs', array['{"kind": "a"}']::jsonb[], '')`:                           "WR055",
			`start_batch('jobs', array['{"kind": "a"}']::jsonb[], null)`:                            "WR055",
			`start_chain('none', array['{"kind": "a"}']::jsonb[])`:                                  "WR001",
		} {
			_, err := b.db.Pool(b).Exec(b.Context(), "select weir."+call)
			if got := surface.SQLState(err); got != state {
				b.Errorf("%s: %v, want %s", call, err, state)
			}
		}
		if n := pgtest.QueryVal[int](b, b.db, "select count(*) from weir_internal.workflows"); n != 0 {
			b.Errorf("%d were started all the same", n)
		}
	})
}

func TestAStepThatCouldNotBeEnqueuedIsRefusedAtTheStart(t *testing.T) {
	each(t, "", func(b bench) { // else nobody could finish what comes before it
		for step, state := range map[string]string{
			`{"kind": ""}`:                         "WR050",
			`{"kind": "b", "headers": 1}`:          "WR006",
			`{"kind": "b", "headers": {"job": 1}}`: "WR006",
			longStep("args", 2_000_000):            "WR008",
			longStep("key", 1025):                  "WR006",
			longStep("kind", 256):                  "WR050",
		} {
			_, err := b.db.Pool(b).Exec(b.Context(),
				`select weir.start_chain('jobs', array['{"kind": "a"}', $1::text::jsonb])`, step)
			if got := surface.SQLState(err); got != state {
				b.Errorf("%.60s: %v, want %s", step, err, state)
			}
		}
		b.db.Exec(b, `select weir.start_chain('jobs', array['{"kind": "a"}', '{"kind": "b", "headers": {"h": 1}}']::jsonb[])`)
	})
}

// longStep is a step with a text of so many letters as one of its fields.
func longStep(field string, letters int) string {
	text := strings.Repeat("x", letters)
	if field == "kind" {
		return fmt.Sprintf(`{"kind": %q}`, text)
	}
	return fmt.Sprintf(`{"kind": "b", %q: %q}`, field, text)
}
