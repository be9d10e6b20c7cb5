package test

import (
	"cmp"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver of database/sql

	"github.com/weirmq/weir/internal/pgtest"
	weir "github.com/weirmq/weir/sdk/go"
)

func TestASendIsPartOfTheCallersTransaction(t *testing.T) {
	t.Parallel()
	db, c := newClient(t)
	jobs := weir.NewProducer[job](c, "q")
	tx := get(db.Pool(t).Begin(t.Context()))(t)
	get(jobs.In(tx).Send(t.Context(), job{1}, weir.Key("k")))(t)
	must(t, tx.Rollback(t.Context()))
	must(t, pgx.BeginFunc(t.Context(), db.Pool(t), func(tx pgx.Tx) error {
		_, err := jobs.In(tx).Send(t.Context(), job{2}, weir.Key("k"))
		return err
	}))
	got := get(weir.NewConsumer[job](c, "q", weir.Max(10)).Receive(t.Context()))(t)
	if len(got) != 1 || got[0].Payload.N != 2 || got[0].Key != "k" {
		t.Fatalf("received %v", got)
	}
	must(t, got[0].Ack(t.Context()))
}

func TestDatabaseSQLSendsAndAcksInItsTransaction(t *testing.T) {
	t.Parallel()
	db, c := newClient(t)
	plain := get(sql.Open("pgx", db.DSN))(t)
	t.Cleanup(func() { must(t, plain.Close()) })
	odd := "a \"quoted\" back\\slash, {braces} and NULL"
	in := func(end func(*sql.Tx) error) {
		tx := get(plain.BeginTx(t.Context(), nil))(t)
		mine := c.InSQL(tx)
		get(mine.Send(t.Context(), "q", odd, weir.Delay(0), weir.Headers(map[string]any{"a": odd})))(t)
		get(mine.SendBatch(t.Context(), "q", []weir.Outgoing{{Payload: odd, Key: odd}, {Payload: nil}}))(t)
		must(t, end(tx))
	}
	in((*sql.Tx).Rollback)
	in((*sql.Tx).Commit)
	own := weir.NewSQL(plain)
	got := get(own.Receive(t.Context(), "q", weir.Max(10)))(t)
	if len(got) != 3 {
		t.Fatalf("received %d messages", len(got))
	}
	sortByID(got)
	first, second := get(weir.Decode[string](got[0]))(t), get(weir.Decode[string](got[1]))(t)
	if first.Payload != odd || first.Headers["a"] != odd || second.Payload != odd || second.Key != odd {
		t.Errorf("received %q %q and %q %q", first.Payload, first.Headers, second.Payload, second.Key)
	}
	tx := get(plain.BeginTx(t.Context(), nil))(t)
	two := weir.Messages[json.RawMessage]{got[0], got[2]}
	if n := get(c.InSQL(tx).Ack(t.Context(), "q", two))(t); n != 2 {
		t.Errorf("acked %d", n)
	}
	must(t, tx.Commit())
	if n := get(own.AckAll(t.Context(), "q", got[0].ClaimID))(t); n != 1 {
		t.Errorf("acked %d of the rest", n)
	}
	if _, err := own.Send(t.Context(), "none", 1); !errors.Is(err, weir.ErrQueueNotFound) {
		t.Errorf("no queue: %v", err)
	}
}

// A payload that is no JSON is an ErrPayload, whether the SDK or the database reads it, of the send that has it; in a
// transaction it is refused before the database sees it, so that the transaction goes on.
func TestAPayloadThatIsNoJSONIsRefused(t *testing.T) {
	t.Parallel()
	db, c := newClient(t)
	refuse := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, weir.ErrPayload) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, text := range []string{"", "{", `{"a":1}}`, "\x00"} {
		bad, good := json.RawMessage(text), json.RawMessage(`{"a": "<b>"}`)
		_, err := c.Send(t.Context(), "q", bad)
		refuse("a send", err)
		_, err = c.Publish(t.Context(), "topic", bad)
		refuse("a publication", err)
		_, err = c.SendBatch(t.Context(), "q", []weir.Outgoing{{Payload: good}, {Payload: bad}})
		refuse("a batch", err)
		tx := get(db.Pool(t).Begin(t.Context()))(t)
		_, err = c.In(tx).Send(t.Context(), "q", bad)
		_, next := c.In(tx).Send(t.Context(), "q", good)
		must(t, tx.Rollback(t.Context()))
		refuse("in a transaction", err)
		must(t, next)
	}
	failures := make([]error, 40)
	var sends sync.WaitGroup
	for i := range failures {
		sends.Go(func() {
			_, failures[i] = c.Send(t.Context(), "q", json.RawMessage(`{"a": "<b>"}`[i%2:]))
		})
	}
	sends.Wait()
	for i, err := range failures {
		if i%2 == 0 {
			must(t, err)
		} else {
			refuse("beside others", err)
		}
	}
	got := get(c.Receive(t.Context(), "q", weir.Max(100)))(t)
	if len(got) != len(failures)/2 {
		t.Errorf("%d were sent", len(got))
	}
	for _, m := range got {
		if string(m.Payload) != `{"a": "<b>"}` {
			t.Errorf("received %s", m.Payload)
		}
	}
}

func TestAClientBehindAPoolerPreparesNothing(t *testing.T) {
	t.Parallel()
	server := pgtest.StartServer(t, pgtest.ServerOptions{Fast: true})
	db := server.NewDB(t, false)
	c := connect(t, pgtest.StartBouncer(t, server, "transaction", 3).DSN(db)+"&pool_max_conns=10")
	newQueue(t, c, "q", weir.QueueOptions{})
	const senders, each = 10, 20
	var ended sync.WaitGroup
	var popped atomic.Int64
	for sender := range senders {
		ended.Go(func() {
			for n := range each { // a dedup key: each is sent by a statement of its own
				_, err := c.Send(t.Context(), "q", n, weir.DedupKey(fmt.Sprint(sender, n)))
				got, errPop := c.Pop(t.Context(), "q")
				if popped.Add(int64(len(got))); err != nil || errPop != nil {
					t.Error(err, errPop)
				}
			}
		})
	}
	ended.Wait()
	for popped.Load() < senders*each {
		got := get(c.Pop(t.Context(), "q", weir.Max(senders*each)))(t)
		if popped.Add(int64(len(got))); len(got) == 0 {
			t.Fatalf("%d of %d messages came", popped.Load(), senders*each)
		}
	}
}

// Every way in which pgx runs statements works: those without prepared statements are for poolers.
func TestEveryExecModeWorks(t *testing.T) {
	t.Parallel()
	db, _ := newClient(t)
	for _, mode := range []string{"cache_statement", "cache_describe", "describe_exec", "exec", "simple_protocol"} {
		c := connect(t, db.DSN+"&default_query_exec_mode="+mode)
		batch := []weir.Outgoing{{Payload: "a", Key: "k", Headers: map[string]any{"h": 1}}, {Payload: job{7}}}
		get(c.SendBatch(t.Context(), "q", batch))(t)
		got := get(c.Receive(t.Context(), "q", weir.Max(2)))(t)
		sortByID(got)
		if len(got) != 2 || got[0].Key != "k" || string(got[1].Payload) != `{"n":7}` {
			for _, m := range got {
				t.Errorf("%s: received %d, key %q, payload %s", mode, m.ID, m.Key, m.Payload)
			}
			continue
		}
		get(c.Extend(t.Context(), "q", got, time.Minute))(t)
		get(c.Nack(t.Context(), "q", got[1], weir.After(time.Hour)))(t)
		if n := get(c.Ack(t.Context(), "q", got))(t); n != 1 {
			t.Errorf("%s: acked %d", mode, n)
		}
		get(c.Send(t.Context(), "q", job{8}, weir.Delay(time.Millisecond)))(t)
		late := get(c.Receive(t.Context(), "q", weir.Wait(50*time.Second)))(t)
		if len(late) != 1 {
			t.Errorf("%s: the delayed one did not come", mode)
			continue
		}
		get(c.Ack(t.Context(), "q", late[0]))(t)
		get(c.DeadLetters(t.Context(), "q"))(t)
		get(c.Stats(t.Context(), ""))(t)
	}
}

func TestASendWakesWhoWaits(t *testing.T) {
	t.Parallel()
	db, c := newClient(t)
	got := make(chan int, 1)
	go func() {
		list, err := c.Receive(t.Context(), "q", weir.Wait(50*time.Second))
		if err != nil {
			t.Error(err)
		}
		got <- len(list)
	}()
	// The mark is set once the connection listens; what is sent then notifies.
	pgtest.WaitForRow(t, db, marked)
	heard := db.Conn(t)
	get(heard.Exec(t.Context(), pgtest.QueryVal[string](t, db,
		"select format('listen %I', 'weir:' || no % 64) from weir_internal.queues where name = 'q'")))(t)
	get(weir.New(db.Pool(t)).Send(t.Context(), "q", 1))(t)
	get(heard.WaitForNotification(t.Context()))(t)
	if n := <-got; n != 1 {
		t.Errorf("received %d", n)
	}
}

// sortByID orders messages by their ids: those of different keys come in any order.
func sortByID(messages weir.Messages[json.RawMessage]) {
	slices.SortFunc(messages, func(a, b *weir.RawMessage) int { return cmp.Compare(a.ID, b.ID) })
}
