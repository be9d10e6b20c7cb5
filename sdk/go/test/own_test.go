package test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirmq/weir/internal/pgtest"
	weir "github.com/weirmq/weir/sdk/go"
)

// enough is more calls than go through a public function before a queue's own is called.
const enough = 12

// watched is a pool, or the tracer of one, that keeps the statements it was given.
type watched struct {
	*pgxpool.Pool

	mu    sync.Mutex
	texts []string
}

func (w *watched) Query(ctx context.Context, text string, args ...any) (pgx.Rows, error) {
	w.mu.Lock()
	w.texts = append(w.texts, text)
	w.mu.Unlock()
	return w.Pool.Query(ctx, text, args...)
}

// TraceQueryStart implements pgx.QueryTracer.
func (w *watched) TraceQueryStart(ctx context.Context, _ *pgx.Conn, q pgx.TraceQueryStartData) context.Context {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.texts = append(w.texts, q.SQL)
	return ctx
}

// TraceQueryEnd implements pgx.QueryTracer.
func (*watched) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// count returns how many statements have a part.
func (w *watched) count(part string) (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, text := range w.texts {
		if strings.Contains(text, part) {
			n++
		}
	}
	return n
}

// last returns the newest statement.
func (w *watched) last() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.texts[len(w.texts)-1]
}

// warm makes all kinds of calls until they go through the queue's own functions, if they ever do, and checks them.
func warm(t *testing.T, c *weir.Client, queue string, seen func(verb string)) {
	t.Helper()
	headers := weir.Headers(map[string]any{"h": 1})
	for i := range enough {
		get(c.Send(t.Context(), queue, job{i}, weir.Key("a \"key\""), headers))(t)
		seen("send")
		ids := get(c.SendBatch(t.Context(), queue, []weir.Outgoing{{Payload: job{i}}, {Payload: nil, Key: "k"}}))(t)
		seen("send_batch")
		if len(ids) != 2 || ids[1] <= ids[0] {
			t.Fatalf("sent as %v", ids)
		}
		get(c.Send(t.Context(), queue, "later", weir.Delay(time.Hour)))(t)
		left := 3
		for left > 0 {
			got := get(c.Receive(t.Context(), queue, weir.Max(5), weir.Lease(time.Hour)))(t)
			seen("receive")
			for _, m := range got {
				if m.Attempt != 1 || m.Key == "a \"key\"" && (m.Headers["h"] != 1.0 ||
					string(m.Payload) != fmt.Sprintf(`{"n": %d}`, i)) {
					t.Fatalf("received %+v", m)
				}
				if n := get(c.Ack(t.Context(), queue, m.ClaimID, m.ID))(t); n != 1 {
					t.Fatalf("acked %d", n)
				}
				seen("ack")
			}
			left -= len(got)
		}
	}
}

func TestCallsGoThroughTheQueuesOwnFunctions(t *testing.T) {
	t.Parallel()
	db, _ := newClient(t)
	pool := &watched{Pool: db.Pool(t)}
	c := weir.New(pool)
	const queue = "0-o.d_d"
	must(t, c.CreateQueue(t.Context(), queue, weir.QueueOptions{}))
	made := map[string]int{}
	warm(t, c, queue, func(verb string) {
		made[verb]++
		own := strings.Contains(pool.last(), `weir_internal."`+verb+`:0-o.d_d"(`)
		if made[verb] == 1 && own || made[verb] == enough && !own {
			t.Errorf("%s number %d: %s", verb, made[verb], pool.last())
		}
	})
	for _, mode := range []string{"cache_statement", "describe_exec", "exec", "simple_protocol"} {
		warm(t, connect(t, db.DSN+"&default_query_exec_mode="+mode), queue, func(string) {})
	}
	plain := get(sql.Open("pgx", db.DSN))(t)
	t.Cleanup(func() { must(t, plain.Close()) })
	warm(t, weir.NewSQL(plain), queue, func(string) {})
}

func TestAClientFollowsQueuesThatAreRenamedDroppedAndMadeAnew(t *testing.T) {
	t.Parallel()
	db, c := newClient(t)
	send := func(want error) {
		t.Helper()
		for range enough {
			if _, err := c.Send(t.Context(), "q", 1); !errors.Is(err, want) {
				t.Fatalf("send: %v, want %v", err, want)
			}
		}
	}
	send(nil)
	must(t, c.RenameQueue(t.Context(), "q", "other"))
	send(weir.ErrQueueNotFound)
	must(t, c.CreateQueue(t.Context(), "q", weir.QueueOptions{}))
	send(nil)
	must(t, c.DropQueue(t.Context(), "q"))
	must(t, c.CreateQueue(t.Context(), "q", weir.QueueOptions{}))
	send(nil)
	must(t, c.DropQueue(t.Context(), "q"))
	send(weir.ErrQueueNotFound)
	if sent := pgtest.QueryVal[int64](t, db, "select sent from weir.stats('other')"); sent != enough {
		t.Errorf("%d were sent to the renamed queue", sent)
	}
}

func TestNamesAreAskedForOnceAfterSomeCallsAndAgainWhenTheyAreGone(t *testing.T) {
	t.Parallel()
	db, admin := newClient(t)
	pool := &watched{Pool: db.Pool(t)}
	c := weir.New(pool)
	const tells, name, own = "has_function_privilege", "select weir.queue_function(", `:q"(`
	send := func(calls int, want error) {
		t.Helper()
		for range calls {
			if _, err := c.Send(t.Context(), "q", 1); !errors.Is(err, want) {
				t.Fatalf("send: %v, want %v", err, want)
			}
		}
	}
	expect := func(when string, asked, names, calls int) {
		t.Helper()
		if a, n, o := pool.count(tells), pool.count(name), pool.count(own); a != asked || n != names || o != calls {
			t.Errorf("%s: asked %d times whether names are told, %d times for one, called %d own functions; want %d, %d, %d",
				when, a, n, o, asked, names, calls)
		}
	}
	send(8, nil)
	expect("few calls", 0, 0, 0)
	send(4, nil)
	expect("more", 1, 1, 4)
	for range enough {
		get(c.SendBatch(t.Context(), "q", []weir.Outgoing{{Payload: 1}, {Payload: 2}}))(t)
	}
	expect("another function", 1, 2, 8)
	must(t, admin.RenameQueue(t.Context(), "q", "other"))
	send(8, weir.ErrQueueNotFound)
	expect("the queue is gone", 1, 2, 9)
	must(t, admin.CreateQueue(t.Context(), "q", weir.QueueOptions{}))
	send(5, nil)
	expect("there is another", 1, 3, 13)
}

func TestACoalescedClientCallsTheQueuesOwnFunctionFromTheFirstSendOn(t *testing.T) {
	t.Parallel()
	db, _ := newClient(t)
	cfg := get(pgxpool.ParseConfig(db.DSN))(t)
	seen := &watched{}
	cfg.ConnConfig.Tracer = seen
	pool := get(pgxpool.NewWithConfig(t.Context(), cfg))(t)
	t.Cleanup(pool.Close)
	client := weir.New(pool)
	t.Cleanup(client.Close)
	c := client.Coalesced()
	for range 3 {
		get(c.Send(t.Context(), "q", 1))(t)
	}
	if names, own := seen.count("select weir.queue_function("), seen.count(`"send:q"(`); names != 1 || own != 3 {
		t.Errorf("three sends asked for %d names and called %d own functions", names, own)
	}
	for range 2 {
		if _, err := c.Send(t.Context(), "none", 1); !errors.Is(err, weir.ErrQueueNotFound) {
			t.Errorf("send to a queue that is not there: %v", err)
		}
	}
}

// transactions begin one in each way; end rolls it back.
func transactions(t *testing.T, db *pgtest.DB, c *weir.Client) map[string]func() (tx *weir.Client, end func() error) {
	t.Helper()
	plain := get(sql.Open("pgx", db.DSN))(t)
	t.Cleanup(func() { must(t, plain.Close()) })
	return map[string]func() (*weir.Client, func() error){
		"In": func() (*weir.Client, func() error) {
			tx := get(db.Pool(t).Begin(t.Context()))(t)
			return c.In(tx), func() error { return tx.Rollback(t.Context()) }
		},
		"InSQL": func() (*weir.Client, func() error) {
			tx := get(plain.BeginTx(t.Context(), nil))(t)
			return c.InSQL(tx), tx.Rollback
		},
	}
}

func TestATransactionThatMeetsADroppedQueueIsToldSo(t *testing.T) {
	t.Parallel()
	db, c := newClient(t)
	for name, begin := range transactions(t, db, c) {
		tx, end := begin()
		for range enough {
			get(tx.Send(t.Context(), "q", 1))(t)
		}
		must(t, end())
		must(t, c.DropQueue(t.Context(), "q"))
		tx, end = begin()
		if _, err := tx.Send(t.Context(), "q", 1); !errors.Is(err, weir.ErrQueueNotFound) {
			t.Errorf("%s: send: %v", name, err)
		}
		if _, err := tx.Send(t.Context(), "q", 1); weir.Code(err) != "25P02" {
			t.Errorf("%s: send after that: %v", name, err)
		}
		must(t, end())
		must(t, c.CreateQueue(t.Context(), "q", weir.QueueOptions{}))
	}
}

func TestAClientOverHTTPCallsPublicFunctionsInATransactionOfTheDatabase(t *testing.T) {
	t.Parallel()
	db, c := newClient(t)
	remote := get(weir.NewHTTP("http://127.0.0.1:1", nil))(t)
	for name, begin := range transactions(t, db, remote) {
		tx, end := begin()
		for range enough {
			get(tx.Send(t.Context(), "q", name))(t)
		}
		must(t, end())
	}
	if got := get(c.Receive(t.Context(), "q"))(t); len(got) != 0 {
		t.Errorf("received %v, which were rolled back", got)
	}
}

// To ask for a name must not end a transaction.
func TestCallsOfARoleThatIsNotToldNamesGoThroughThePublicFunctions(t *testing.T) {
	t.Parallel()
	db, _ := newClient(t)
	role := db.Role(t)
	db.Exec(t, "select weir.grant_produce('q', $1)", role)
	db.Exec(t, "select weir.grant_consume('q', $1)", role)
	db.Exec(t, "revoke execute on function weir.queue_function(text, text) from "+role)
	warm(t, weir.New(db.As(t, role)), "q", func(string) {})
	tx := get(db.As(t, role).Begin(t.Context()))(t)
	c := weir.New(tx)
	for range enough {
		get(c.Send(t.Context(), "q", 1))(t)
	}
	must(t, tx.Commit(t.Context()))
}

func TestAClientOfAnOldEngineCallsThePublicFunctions(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Options{Bare: true})
	installRelease(t, db, "0.1.0")
	c := connect(t, db.DSN)
	must(t, c.CreateQueue(t.Context(), "q", weir.QueueOptions{}))
	warm(t, c, "q", func(string) {})
	for _, begin := range transactions(t, db, connect(t, db.DSN)) {
		tx, end := begin()
		for range enough {
			get(tx.Send(t.Context(), "q", 1))(t)
		}
		must(t, end())
	}
}

func TestARightThatIsTakenAwayIsMissedByTheNextCall(t *testing.T) {
	t.Parallel()
	db, _ := newClient(t)
	role := db.Role(t)
	db.Exec(t, "select weir.grant_produce('q', $1)", role)
	c := weir.New(db.As(t, role))
	for range enough {
		get(c.Send(t.Context(), "q", 1))(t)
	}
	db.Exec(t, "select weir.revoke_produce('q', $1)", role)
	if _, err := c.Send(t.Context(), "q", 1); weir.Code(err) != "42501" {
		t.Errorf("send: %v", err)
	}
}
