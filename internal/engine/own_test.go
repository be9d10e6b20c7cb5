package engine_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirmq/weir/internal/engine"
	"github.com/weirmq/weir/internal/pgtest"
)

// enough is more calls than go through a public function before a queue's own is called.
const enough = 12

// cycle sends, receives and acknowledges in all ways that may go through a queue's own functions.
func cycle(t *testing.T, c *engine.Client, queue string) error {
	t.Helper()
	ctx, wants := t.Context(), []engine.Want{{Max: 1, Lease: time.Hour}, {Max: 1, Lease: time.Hour}}
	key := "a \"key\""
	batch := []engine.Outgoing{
		{Payload: []byte(`"a"`), Key: &key, Headers: []byte(`{"h": 1}`)}, {Payload: []byte(`"b"`), Key: &key},
	}
	if _, err := c.SendBatch(ctx, queue, batch, engine.SendOptions{}); err != nil {
		return err
	}
	if _, err := c.SendBatchAhead(ctx, queue, batch, engine.SendOptions{}); err != nil {
		return err
	}
	for left := 4; left > 0; {
		got, err := c.ReceiveMany(ctx, queue, "default", wants)
		if err != nil {
			return err
		}
		ends := parts(t, got)
		if len(ends) == 0 {
			continue
		}
		counts, more, err := c.AckAndReceive(ctx, queue, ends, "default", wants)
		if err != nil {
			return err
		}
		left -= all(t, ends, counts)
		if ends = parts(t, more); len(ends) == 0 {
			continue
		}
		if counts, err = c.AckMany(ctx, queue, ends); err != nil {
			return err
		}
		left -= all(t, ends, counts)
	}
	rest, err := c.Receive(ctx, queue, "default", 1, time.Hour)
	if len(rest) != 0 {
		t.Fatalf("left are %v", rest)
	}
	return err
}

// parts are what acknowledges messages, which are those that cycle sends.
func parts(t *testing.T, shares [][]engine.Message) (parts []engine.ClaimPart) {
	t.Helper()
	for i, share := range shares {
		for _, m := range share {
			if *m.Key != "a \"key\"" || string(m.Payload)+string(m.Headers) != `"a"{"h": 1}` && string(m.Payload) != `"b"` {
				t.Fatalf("received %+v", m)
			}
			parts = append(parts, engine.ClaimPart{Claim: m.ClaimID, IDs: []int64{m.ID}, Request: i + 1})
		}
	}
	return parts
}

// all checks that each part finished a message, and returns how many those are.
func all(t *testing.T, parts []engine.ClaimPart, counts []*int) int {
	t.Helper()
	for i := range parts {
		if len(counts) != len(parts) || counts[i] == nil || *counts[i] != 1 {
			t.Fatalf("of %v were finished %v", parts, counts)
		}
	}
	return len(parts)
}

func TestCallsFollowQueuesThatAreRenamedDroppedAndMadeAnew(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Options{})
	c := open(t, db)
	const queue = "0-o.d_d"
	create := func() { must(t, c.CreateQueue(t.Context(), queue, engine.QueueOptions{})) }
	cycles := func(want string) {
		t.Helper()
		for range enough {
			if err := cycle(t, c, queue); engine.Code(err) != want {
				t.Fatalf("cycle: %v, want %q", err, want)
			}
		}
	}
	create()
	cycles("")
	must(t, c.RenameQueue(t.Context(), queue, "other"))
	cycles(engine.CodeQueueNotFound)
	create()
	cycles("")
	must(t, c.DropQueue(t.Context(), queue))
	create()
	cycles("")
	must(t, c.DropQueue(t.Context(), queue))
	err := c.InTx(t.Context(), func(tx *engine.Client) error {
		_, err := tx.SendBatch(t.Context(), queue, []engine.Outgoing{{Payload: []byte("1")}}, engine.SendOptions{})
		return err
	})
	if engine.Code(err) != engine.CodeQueueNotFound {
		t.Errorf("send in a transaction: %v", err)
	}
	if sent := pgtest.QueryVal[int64](t, db, "select sent from weir.stats('other')"); sent != 4*enough {
		t.Errorf("%d were sent to the renamed queue", sent)
	}
}

// worker makes a queue "q" and returns a role that may produce to it and consume from it.
func worker(t *testing.T, db *pgtest.DB) (role string) {
	t.Helper()
	must(t, open(t, db).CreateQueue(t.Context(), "q", engine.QueueOptions{}))
	role = db.Role(t)
	db.Exec(t, "select weir.grant_produce('q', $1)", role)
	db.Exec(t, "select weir.grant_consume('q', $1)", role)
	return role
}

func TestCallsOfARoleThatIsNotToldNamesGoThroughThePublicFunctions(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Options{})
	role := worker(t, db)
	for range 2 {
		c := engine.New(db.As(t, role))
		must(t, c.InTx(t.Context(), func(tx *engine.Client) error {
			for range enough {
				ids, err := tx.SendBatch(t.Context(), "q", []engine.Outgoing{{Payload: []byte("1")}}, engine.SendOptions{})
				if err != nil || len(ids) != 1 {
					t.Errorf("sent as %v: %v", ids, err)
				}
			}
			return nil
		}))
		for range enough {
			if _, err := c.Receive(t.Context(), "q", "default", 3, time.Hour); err != nil {
				t.Error(err)
			}
		}
		db.Exec(t, "revoke execute on function weir.queue_function(text, text) from "+role)
	}
	c := engine.New(db.As(t, role))
	db.Exec(t, "select weir.revoke_consume('q', $1)", role)
	_, err := c.Receive(t.Context(), "q", "default", 1, time.Hour)
	if engine.Code(err) != "42501" {
		t.Errorf("receive without the right: %v", err)
	}
}

func TestCallsThatAreMadeOftenGoThroughTheQueuesOwnFunctions(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Options{})
	role := worker(t, db)
	c := engine.New(db.As(t, role))
	for range enough {
		must(t, cycle(t, c, "q"))
	}
	for _, public := range []string{
		"send_batch(text, jsonb[], text[], jsonb[], interval, text[], integer)",
		"ack_many(text, bigint[], int8multirange[], integer[])",
		"receive_records(text, text, integer, interval)", "receive_many(text, text, integer[], interval[])",
	} {
		db.Exec(t, "revoke execute on function weir."+public+" from "+role)
	}
	must(t, cycle(t, c, "q"))
}

// watched is a pool that keeps the statements it was given.
type watched struct {
	*pgxpool.Pool

	mu    sync.Mutex
	texts []string
}

func (w *watched) Query(ctx context.Context, text string, args ...any) (pgx.Rows, error) {
	w.note(text)
	return w.Pool.Query(ctx, text, args...)
}

func (w *watched) QueryRow(ctx context.Context, text string, args ...any) pgx.Row {
	w.note(text)
	return w.Pool.QueryRow(ctx, text, args...)
}

func (w *watched) note(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.texts = append(w.texts, text)
}

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

func TestNamesAreAskedForOnceAfterSomeCallsAndAgainWhenTheyAreGone(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Options{})
	must(t, open(t, db).CreateQueue(t.Context(), "q", engine.QueueOptions{}))
	pool := &watched{Pool: db.Pool(t)}
	c := engine.New(pool)
	const tells, name, own = "has_function_privilege", "select weir.queue_function(", `:q"(`
	receive := func(calls int, code string) {
		t.Helper()
		for range calls {
			if _, err := c.Receive(t.Context(), "q", "default", 1, time.Hour); engine.Code(err) != code {
				t.Fatalf("receive: %v, want %q", err, code)
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
	receive(8, "")
	expect("few calls", 0, 0, 0)
	receive(4, "")
	expect("more", 1, 1, 4)
	for range enough {
		_, err := c.SendBatch(t.Context(), "q", []engine.Outgoing{{Payload: []byte("1")}}, engine.SendOptions{})
		must(t, err)
	}
	expect("another function", 1, 2, 8)
	must(t, open(t, db).RenameQueue(t.Context(), "q", "other"))
	receive(8, engine.CodeQueueNotFound)
	expect("the queue is gone", 1, 2, 9)
	must(t, open(t, db).CreateQueue(t.Context(), "q", engine.QueueOptions{}))
	receive(5, "")
	expect("there is another", 1, 3, 13)
}

// What counts the queues of a connection sees them in the names of their own functions, too.
func TestAConnectionThatHasCalledTheFunctionsOfTooManyQueuesIsReplaced(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Options{})
	cfg := get[*pgxpool.Config](t)(pgxpool.ParseConfig(db.DSN))
	cfg.MaxConns = 1
	engine.BoundMemory(cfg, 1)
	pool := get[*pgxpool.Pool](t)(pgxpool.NewWithConfig(t.Context(), cfg))
	defer pool.Close()
	var first *pgx.Conn
	use := func(queue string) (replaced bool) {
		name := pgtest.QueryVal[string](t, db, "select weir.queue_function($1, 'send')", queue)
		conn := get[*pgxpool.Conn](t)(pool.Acquire(t.Context()))
		replaced = first != nil && conn.Conn() != first
		first = conn.Conn()
		_, err := conn.Exec(t.Context(), "select "+name+"('1', null, null, null, null)")
		must(t, err)
		conn.Release()
		return replaced
	}
	for i, queue := range []string{"a", "b", "b"} {
		if i < 2 {
			must(t, open(t, db).CreateQueue(t.Context(), queue, engine.QueueOptions{}))
		}
		if replaced := use(queue); replaced != (i == 2) {
			t.Errorf("before call %d the connection was replaced: %t", i, replaced)
		}
	}
}
