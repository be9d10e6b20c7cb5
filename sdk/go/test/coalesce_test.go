package test

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirmq/weir/internal/pgtest"
	weir "github.com/weirmq/weir/sdk/go"
)

// tellsDone is a context that tells when somebody begins to wait for its end.
type tellsDone struct {
	context.Context

	once  sync.Once
	waits *atomic.Int64
}

func (c *tellsDone) Done() <-chan struct{} {
	c.once.Do(func() { c.waits.Add(1) })
	return c.Context.Done()
}

// crowd are callers that send while the log of the queue q is locked, so that no statement ends.
type crowd struct {
	*testing.T

	db      *pgtest.DB
	release func() // has the statements go on
	waits   atomic.Int64
	ended   sync.WaitGroup
}

// newCrowd locks the log.
func newCrowd(t *testing.T, db *pgtest.DB) *crowd {
	t.Helper()
	tx := get(db.Super(t).Begin(t.Context()))(t)
	get(tx.Exec(t.Context(), `lock table weir_log.log_0, weir_log.log_1, weir_log.log_2 in access exclusive mode`))(t)
	return &crowd{T: t, db: db, release: func() { must(t, tx.Rollback(t.Context())) }}
}

// call has callers make a call each, and returns when their messages wait: in a statement or for one.
func (c *crowd) call(ctx context.Context, callers int, call func(ctx context.Context, i int)) {
	c.Helper()
	before := c.waits.Load()
	for i := range callers {
		c.ended.Go(func() { call(&tellsDone{Context: ctx, waits: &c.waits}, i) })
	}
	pgtest.WaitFor(c, "the callers to wait", func() bool { return c.waits.Load() == before+int64(callers) })
}

// awaitStatements returns when so many statements with a word in them wait for the lock.
func (c *crowd) awaitStatements(n int, word string) {
	c.Helper()
	pgtest.WaitForRow(c, c.db, `select count(*) = $1::int from pg_stat_activity
		where datname = current_database() and wait_event_type = 'Lock' and query like '%' || $2::text || '%'`, n, word)
}

// first has a caller make the call that the others wait for, and returns when its statement waits for the lock.
func (c *crowd) first(ctx context.Context, call func(ctx context.Context)) {
	c.Helper()
	c.call(ctx, 1, func(ctx context.Context, _ int) { call(ctx) })
	c.awaitStatements(1, "weir")
}

// answers are what calls returned, by the number of their message.
type answers struct {
	mu   sync.Mutex
	ids  map[int]int64
	errs map[int]error
}

func newAnswers() *answers { return &answers{ids: map[int]int64{}, errs: map[int]error{}} }

func (a *answers) add(n int, id int64, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err != nil {
		a.errs[n] = err
		return
	}
	a.ids[n] = id
}

// send returns a call that sends job n and notes the answer.
func (a *answers) send(c *weir.Client, from int) func(ctx context.Context, i int) {
	return func(ctx context.Context, i int) {
		id, err := c.Send(ctx, "q", job{from + i})
		a.add(from+i, id, err)
	}
}

// sendOne is send for a single caller.
func (a *answers) sendOne(c *weir.Client, n int) func(ctx context.Context) {
	return func(ctx context.Context) { a.send(c, n)(ctx, 0) }
}

// stored returns the ids of the jobs in the queue by their numbers; it fails the test when one is there twice.
func stored(t *testing.T, db *pgtest.DB) map[int]int64 {
	t.Helper()
	c, ids := connect(t, db.DSN), map[int]int64{}
	for {
		got := get(c.Pop(t.Context(), "q", weir.Max(1000)))(t)
		if len(got) == 0 {
			return ids
		}
		for _, raw := range got {
			m := get(weir.Decode[job](raw))(t)
			if other, twice := ids[m.Payload.N]; twice {
				t.Errorf("job %d is there twice: as %d and as %d", m.Payload.N, other, m.ID)
			}
			ids[m.Payload.N] = m.ID
		}
	}
}

// match fails the test unless what is stored is exactly what was answered with an id.
func (a *answers) match(t *testing.T, stored map[int]int64) {
	t.Helper()
	if fmt.Sprint(stored) != fmt.Sprint(a.ids) {
		t.Errorf("%d messages are there, and %d callers have ids of them:\n%v\n%v", len(stored), len(a.ids), stored, a.ids)
	}
}

// writers counts the transactions that wrote the log.
func writers(t *testing.T, db *pgtest.DB) int64 {
	t.Helper()
	return pgtest.QueryVal[int64](t, db, `select count(distinct txid)
		from (table weir_log.log_0 union all table weir_log.log_1 union all table weir_log.log_2) l`)
}

func TestSendsThatComeDuringACallShareTheNextAndEachGetsItsOwnID(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(t *testing.T, db *pgtest.DB) *weir.Client{
		"pgx": func(t *testing.T, db *pgtest.DB) *weir.Client { return connect(t, db.DSN) },
		"database/sql": func(t *testing.T, db *pgtest.DB) *weir.Client {
			pool := get(sql.Open("pgx", db.DSN))(t)
			t.Cleanup(func() { must(t, pool.Close()) })
			return weir.NewSQL(pool)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, admin := newClient(t)
			var calls atomic.Int64
			c := open(t, db).Hooked(func(
				ctx context.Context, _ string, batch []weir.Outgoing,
				send func(context.Context, []weir.Outgoing) ([]int64, error),
			) ([]int64, error) {
				calls.Add(int64(len(batch)))
				return send(ctx, batch)
			})
			const callers = 1500
			crowd, ids := newCrowd(t, db), [callers + 1]int64{}
			send := func(ctx context.Context, n int) {
				var options []weir.SendOption
				if n%2 == 0 {
					options = append(options, weir.Key(strconv.Itoa(n)))
				}
				if n%3 == 0 {
					options = append(options, weir.Headers(map[string]any{"n": n}))
				}
				id, err := c.Send(ctx, "q", job{n}, options...)
				if err != nil {
					t.Error(err)
				}
				ids[n] = id
			}
			crowd.first(t.Context(), func(ctx context.Context) { send(ctx, callers) })
			crowd.call(t.Context(), callers, send)
			crowd.release()
			crowd.ended.Wait()
			if n := writers(t, db); n != 3 {
				t.Errorf("%d sends took %d transactions, want that of the first, of 1,000 and of 500", len(ids), n)
			}
			if n := calls.Load(); n != int64(len(ids)) {
				t.Errorf("the hook saw %d sends of %d", n, len(ids))
			}
			seen := map[int]bool{}
			for len(seen) < len(ids) {
				got := get(admin.Pop(t.Context(), "q", weir.Max(1000)))(t)
				if len(got) == 0 {
					t.Fatalf("%d messages of %d are there", len(seen), len(ids))
				}
				for _, raw := range got {
					n := get(weir.Decode[job](raw))(t).Payload.N
					if seen[n] || raw.ID != ids[n] {
						t.Errorf("message %d, which was seen: %t, has the id %d, and its sender got %d", n, seen[n], raw.ID, ids[n])
					}
					seen[n] = true
					if (raw.Key == strconv.Itoa(n)) != (n%2 == 0) || (raw.Headers["n"] == float64(n)) != (n%3 == 0) {
						t.Errorf("message %d has the key %q and the headers %v", n, raw.Key, raw.Headers)
					}
				}
			}
		})
	}
}

func TestACallCarriesAboutAMebibyte(t *testing.T) {
	t.Parallel()
	db, c := newClient(t)
	crowd := newCrowd(t, db)
	send := func(ctx context.Context, n int) {
		if _, err := c.Send(ctx, "q", strings.Repeat(strconv.Itoa(n%10), 100_000)); err != nil {
			t.Error(err)
		}
	}
	crowd.first(t.Context(), func(ctx context.Context) { send(ctx, 0) })
	crowd.call(t.Context(), 25, send)
	crowd.release()
	crowd.ended.Wait()
	if n := writers(t, db); n != 4 {
		t.Errorf("25 sends of 100,000 bytes behind one took %d transactions, want 1 and 3", n)
	}
}

func TestOneBadMessageAmongManyFailsAlone(t *testing.T) {
	t.Parallel()
	db, c := newClient(t)
	bad := map[int]weir.Outgoing{
		3: {Payload: "x", Key: strings.Repeat("k", 1025)},
		5: {Payload: "a \x00 b"},
		7: {Payload: strings.Repeat("large ", 1<<18)},
		9: {Payload: "x", Key: "\xff"},
	}
	crowd, got := newCrowd(t, db), newAnswers()
	crowd.first(t.Context(), got.sendOne(c, 100))
	crowd.call(t.Context(), 50, func(ctx context.Context, i int) {
		m, is := bad[i]
		if !is {
			m.Payload = job{i}
		}
		id, err := c.Send(ctx, "q", m.Payload, weir.Key(m.Key))
		got.add(i, id, err)
	})
	crowd.release()
	crowd.ended.Wait()
	if len(got.errs) != len(bad) {
		t.Errorf("failed: %v", got.errs)
	}
	for i, m := range bad {
		_, want := c.Send(t.Context(), "q", m.Payload, weir.Key(m.Key))
		if want == nil || fmt.Sprint(got.errs[i]) != want.Error() || weir.Code(got.errs[i]) != weir.Code(want) {
			t.Errorf("message %d: %v, and alone: %v", i, got.errs[i], want)
		}
	}
	got.match(t, stored(t, db))
}

func TestAMessageWhoseCallerLeftBeforeTheCallBeganIsNotSent(t *testing.T) {
	t.Parallel()
	db, c := newClient(t)
	crowd, got := newCrowd(t, db), newAnswers()
	crowd.first(t.Context(), got.sendOne(c, 0))
	leaving, leave := context.WithCancel(t.Context())
	left := make(chan error)
	crowd.call(t.Context(), 5, got.send(c, 1))
	crowd.call(leaving, 1, func(ctx context.Context, _ int) {
		_, err := c.Send(ctx, "q", job{100})
		left <- err
	})
	leave()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("who left got %v", err)
	}
	if _, err := c.Send(leaving, "q", job{101}); !errors.Is(err, context.Canceled) {
		t.Errorf("who came with a context that was over got %v", err)
	}
	crowd.release()
	crowd.ended.Wait()
	got.match(t, stored(t, db))
	if len(got.ids) != 6 {
		t.Errorf("the others got %v and %v", got.ids, got.errs)
	}
}

func TestWhoLeavesDuringACallLeavesItToTheOthersAndTheLastEndsIt(t *testing.T) {
	t.Parallel()
	db, c := newClient(t)
	crowd := newCrowd(t, db)
	leaving, leave := context.WithCancel(t.Context())
	staying, leaveLast := context.WithCancel(t.Context())
	left := make(chan error)
	send := func(ctx context.Context, i int) {
		_, err := c.Send(ctx, "q", job{i})
		left <- err
	}
	crowd.first(leaving, func(ctx context.Context) { send(ctx, 0) })
	crowd.call(staying, 3, send)
	next, leaveNext := context.WithCancel(t.Context())
	crowd.call(next, 1, send)
	leave() // a call of one ends with its caller
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("the first got %v", err)
	}
	crowd.awaitStatements(1, "send_batch")
	leaveNext()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("one of four got %v", err)
	}
	crowd.awaitStatements(1, "send_batch")
	leaveLast()
	for range 3 {
		if err := <-left; !errors.Is(err, context.Canceled) {
			t.Errorf("one of the last three got %v", err)
		}
	}
	crowd.awaitStatements(0, "send")
	crowd.release()
	crowd.ended.Wait()
	got := newAnswers()
	got.sendOne(c, 10)(t.Context())
	got.match(t, stored(t, db))
}

func TestACallWhoseServerIsKilledFailsForAllAndIsNotRepeated(t *testing.T) {
	t.Parallel()
	server := pgtest.StartServer(t, pgtest.ServerOptions{Settings: map[string]string{"fsync": "on"}})
	db := server.NewDB(t, false)
	c := connect(t, db.DSN)
	newQueue(t, c, "q", weir.QueueOptions{})
	crowd, got := newCrowd(t, db), newAnswers()
	leaving, leave := context.WithCancel(t.Context())
	crowd.first(leaving, got.sendOne(c, 0))
	crowd.call(t.Context(), 20, got.send(c, 1))
	leave()
	crowd.awaitStatements(1, "send_batch")
	server.Kill()
	crowd.ended.Wait()
	for i := 1; i <= 20; i++ {
		if err := got.errs[i]; !weir.Retryable(err) {
			t.Errorf("send %d: %v", i, err)
		}
	}
	server.Up(t)
	pgtest.WaitFor(t, "a send to succeed", func() bool {
		id, err := c.Send(t.Context(), "q", job{100})
		if err == nil {
			got.add(100, id, nil)
		}
		return err == nil
	})
	got.match(t, stored(t, db))
}

func TestSendsOfOneGoroutineStayInOrder(t *testing.T) {
	t.Parallel()
	db, c := newClient(t)
	must(t, c.CreateGroup(t.Context(), "q", "in-order", weir.GroupOptions{Ordered: true}))
	const senders, each = 16, 40
	crowd := newCrowd(t, db)
	crowd.call(t.Context(), senders, func(ctx context.Context, sender int) {
		last := int64(0)
		for n := range each {
			id, err := c.Send(ctx, "q", job{n}, weir.Key(strconv.Itoa(sender)))
			if err != nil || id <= last {
				t.Errorf("message %d of %d: id %d after %d: %v", n, sender, id, last, err)
			}
			last = id
		}
	})
	crowd.release()
	crowd.ended.Wait()
	if n := writers(t, db); n >= senders*each {
		t.Errorf("%d sends took %d transactions", senders*each, n)
	}
	next := map[string]int{}
	for range senders * each {
		got := get(c.Pop(t.Context(), "q", weir.InGroup("in-order")))(t)
		if len(got) != 1 {
			t.Fatalf("received %d messages", len(got))
		}
		if n := get(weir.Decode[job](got[0]))(t).Payload.N; n != next[got[0].Key] {
			t.Errorf("%d of %s came, want %d", n, got[0].Key, next[got[0].Key])
		}
		next[got[0].Key]++
	}
}

func TestEachSendOfManyIsToldThatItHasNoRight(t *testing.T) {
	t.Parallel()
	db, _ := newClient(t)
	role := db.Role(t)
	c := connect(t, db.Server.SocketDSN(role, db.Name))
	_, want := c.Send(t.Context(), "q", 1)
	var refused atomic.Int64
	var ended sync.WaitGroup
	for range 50 {
		ended.Go(func() {
			if _, err := c.Send(t.Context(), "q", 1); err != nil && err.Error() == want.Error() {
				refused.Add(1)
			}
		})
	}
	ended.Wait()
	if n := refused.Load(); n != 50 {
		t.Errorf("%d of 50 got the error %v", n, want)
	}
}

func TestEachSendOfManyIsToldThatItsQueueWasDropped(t *testing.T) {
	t.Parallel()
	db, c := newClient(t)
	crowd, got := newCrowd(t, db), newAnswers()
	crowd.first(t.Context(), got.sendOne(c, 0)) // has found the queue
	crowd.call(t.Context(), 10, got.send(c, 1))
	must(t, c.DropQueue(t.Context(), "q"))
	crowd.release()
	crowd.ended.Wait()
	for i := 1; i <= 10; i++ {
		if !errors.Is(got.errs[i], weir.ErrQueueNotFound) {
			t.Errorf("send %d: %v", i, got.errs[i])
		}
	}
	if len(got.ids) > 1 {
		t.Errorf("sent to no queue: %v", got.ids)
	}
}

func TestAClientThatIsClosedWhileSendsWaitAnswersAllOfThem(t *testing.T) {
	t.Parallel()
	db, _ := newClient(t)
	c := get(weir.Connect(t.Context(), db.DSN))(t)
	crowd, got := newCrowd(t, db), newAnswers()
	crowd.first(t.Context(), got.sendOne(c, 0))
	crowd.call(t.Context(), 20, got.send(c, 1))
	closed := make(chan struct{})
	go func() { c.Close(); close(closed) }()
	crowd.release()
	crowd.ended.Wait()
	<-closed
	if len(got.ids)+len(got.errs) != 21 {
		t.Errorf("%d got ids and %d errors", len(got.ids), len(got.errs))
	}
	got.match(t, stored(t, db))
	if _, err := c.Send(t.Context(), "q", job{50}); err == nil {
		t.Error("a closed client sent")
	}
}

var errRollBack = errors.New("roll back")

func TestWhatIsInATransactionSharesNoStatement(t *testing.T) {
	t.Parallel()
	db, c := newClient(t)
	var rolledBack sync.WaitGroup
	for range 3 {
		rolledBack.Go(func() {
			err := c.Transaction(t.Context(), func(tx *weir.Client) error {
				var both sync.WaitGroup
				var errs [3]error
				both.Go(func() {
					_, errs[0] = c.Send(t.Context(), "q", job{1}, weir.Headers(map[string]any{"kept": true}))
				})
				_, errs[1] = tx.Send(t.Context(), "q", job{2})
				_, errs[2] = tx.Send(t.Context(), "q", job{3})
				both.Wait()
				return cmp.Or(errors.Join(errs[:]...), errRollBack)
			})
			if !errors.Is(err, errRollBack) {
				t.Error(err)
			}
		})
	}
	rolledBack.Wait()
	got := get(c.Pop(t.Context(), "q", weir.Max(10)))(t)
	if len(got) != 3 {
		t.Errorf("%d messages are there", len(got))
	}
	for _, m := range got {
		if m.Headers["kept"] != true {
			t.Errorf("%s of a transaction that was rolled back is there", m.Payload)
		}
	}
	if err := pgx.BeginFunc(t.Context(), db.Pool(t), func(tx pgx.Tx) error {
		_, err := weir.New(tx).Send(t.Context(), "q", job{4})
		return cmp.Or(err, errRollBack)
	}); !errors.Is(err, errRollBack) {
		t.Error(err)
	}
	if left := stored(t, db); len(left) > 0 {
		t.Errorf("%v are there", left)
	}
}

func TestPlainJobsShareStatementsAndUniqueOnesAndDedupKeysGoAlone(t *testing.T) {
	t.Parallel()
	db, c := newClient(t)
	crowd, got := newCrowd(t, db), newAnswers()
	enqueue := func(ctx context.Context, n int, options ...weir.JobOption) {
		id, err := c.Enqueue(ctx, "q", add{n, n}, options...)
		got.add(n, id, err)
	}
	crowd.first(t.Context(), func(ctx context.Context) { enqueue(ctx, 0) })
	crowd.call(t.Context(), 20, func(ctx context.Context, i int) {
		enqueue(ctx, i+1, weir.With(weir.Headers(map[string]any{"i": i})))
	})
	crowd.call(t.Context(), 1, func(ctx context.Context, _ int) { enqueue(ctx, 30, weir.Tracked()) })
	crowd.call(t.Context(), 1, func(ctx context.Context, _ int) { enqueue(ctx, 31, weir.Unique()) })
	crowd.call(t.Context(), 1, func(ctx context.Context, _ int) {
		id, err := c.Send(ctx, "q", add{32, 32}, weir.DedupKey("d"), weir.Headers(map[string]any{"kind": "add"}))
		got.add(32, id, err)
	})
	crowd.release()
	crowd.ended.Wait()
	if n := writers(t, db); n != 5 {
		t.Errorf("took %d transactions, want 5", n)
	}
	if len(got.ids) != 24 {
		t.Errorf("failed: %v", got.errs)
	}
	if again := get(c.Enqueue(t.Context(), "q", add{31, 31}, weir.Unique()))(t); again != got.ids[31] {
		t.Errorf("the unique job is there as %d and %d", got.ids[31], again)
	}
	if status := get(c.Job(t.Context(), "q", got.ids[30]))(t); status == nil || status.State != "waiting" {
		t.Errorf("the tracked job stands at %+v", status)
	}
	for _, raw := range get(c.Pop(t.Context(), "q", weir.Max(100)))(t) {
		m := get(weir.Decode[add](raw))(t)
		i, has := raw.Headers["i"]
		if m.ID != got.ids[m.Payload.A] || raw.Headers["kind"] != "add" ||
			has != (m.Payload.A >= 1 && m.Payload.A <= 20) || has && i != float64(m.Payload.A-1) {
			t.Errorf("job %+v is there as %d with %v; its id is %d", m.Payload, m.ID, raw.Headers, got.ids[m.Payload.A])
		}
		delete(got.ids, m.Payload.A)
	}
	if len(got.ids) > 0 {
		t.Errorf("not there: %v", got.ids)
	}
}

func TestSendsThatShareAStatementKeepTheirDelaysAndPriorities(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Options{})
	c := connect(t, db.DSN)
	newQueue(t, c, "q", weir.QueueOptions{Priorities: 3})
	crowd := newCrowd(t, db)
	send := func(ctx context.Context, n int, options ...weir.SendOption) {
		if _, err := c.Send(ctx, "q", job{n}, options...); err != nil {
			t.Error(err)
		}
	}
	crowd.first(t.Context(), func(ctx context.Context) { send(ctx, 0) })
	crowd.call(t.Context(), 30, func(ctx context.Context, i int) { send(ctx, i%3, weir.Priority(i%3)) })
	crowd.call(t.Context(), 10, func(ctx context.Context, i int) {
		send(ctx, i, weir.Delay(time.Hour*time.Duration(1+i%2)))
	})
	crowd.release()
	crowd.ended.Wait()
	if n := writers(t, db); n != 7 {
		t.Errorf("took %d transactions, want that of the first and two of each priority", n)
	}
	for i := range 31 {
		got := get(c.Pop(t.Context(), "q"))(t)
		if len(got) != 1 {
			t.Fatalf("%d came as number %d", len(got), i)
		}
		if n := get(weir.Decode[job](got[0]))(t).Payload.N; n != 2-min(i/10, 2) {
			t.Errorf("one of priority %d came as number %d", n, i)
		}
	}
	delayed := pgtest.QueryAll[int](t, db, `select round(extract(epoch from due_at - enqueued_at) / 3600)::int
		from weir.delayed('q') order by 1`)
	if fmt.Sprint(delayed) != "[1 1 1 1 1 2 2 2 2 2]" {
		t.Errorf("delayed are %v", delayed)
	}
}
