package engine_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/weirmq/weir/internal/engine"
	"github.com/weirmq/weir/internal/pgtest"
)

func TestAMessageComesBackAsItWasSent(t *testing.T) {
	t.Parallel()
	pgtest.EachMajor(t, func(t *testing.T, major int) {
		t.Parallel()
		_, client := newQueue(t, major)
		for _, want := range []engine.Outgoing{
			{Payload: json.RawMessage(`{"amount": 12345678901234567890.123456789012345678901234567890}`)},
			{Payload: json.RawMessage(`null`), Key: ptr("")},
			{Payload: json.RawMessage(`"ünïcödé \" 𝄞"`), Key: ptr("schlüssel")},
			{Payload: json.RawMessage(`[1, 2, {"a": []}]`), Headers: json.RawMessage(`{"trace": "abc"}`), Key: ptr("k")},
		} {
			id := get[int64](t)(client.Send(t.Context(), "q", want, engine.SendOptions{}))
			list := get[[]engine.Message](t)(client.Receive(t.Context(), "q", "default", 10, time.Minute))
			if len(list) != 1 {
				t.Fatalf("%s: got %d messages", want.Payload, len(list))
			}
			got := list[0]
			if got.ID != id || got.ClaimID == 0 || got.Attempt != 1 || time.Since(got.EnqueuedAt).Abs() > time.Hour {
				t.Errorf("%s: got %+v, want id %d", want.Payload, got, id)
			}
			same(t, got.Payload, want.Payload)
			same(t, got.Headers, want.Headers)
			if (got.Key == nil) != (want.Key == nil) || got.Key != nil && *got.Key != *want.Key {
				t.Errorf("%s: another key than sent", want.Payload)
			}
		}
	})
}

// same compares JSON texts as jsonb writes them; the samples are written that way.
func same(t *testing.T, got, want json.RawMessage) {
	t.Helper()
	if string(got) != string(want) {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestEachMessageOfABatchKeepsItsOwnKeyHeadersAndAttempt(t *testing.T) {
	t.Parallel()
	pgtest.EachMajor(t, func(t *testing.T, major int) {
		t.Parallel()
		_, client := newQueue(t, major)
		var batch []engine.Outgoing
		for i := range 9 {
			m := engine.Outgoing{Payload: json.RawMessage(strconv.Itoa(i))}
			if i%2 == 0 {
				m.Key = ptr(fmt.Sprint("key", i))
			}
			if i%3 == 0 {
				m.Headers = json.RawMessage(fmt.Sprintf(`{"h": %d}`, i))
			}
			batch = append(batch, m)
		}
		ids := get[[]int64](t)(client.SendBatch(t.Context(), "q", batch, engine.SendOptions{}))
		if len(ids) != len(batch) || !slices.IsSorted(ids) {
			t.Fatalf("ids %v", ids)
		}
		first := receiveAll(t, client, "q")
		slices.SortFunc(first, func(a, b engine.Message) int { return cmp.Compare(a.ID, b.ID) })
		get[int](t)(client.Nack(t.Context(), "q", first[4].ClaimID, []int64{ids[4]}, ptr(time.Duration(0)), nil))
		again := receiveAll(t, client, "q")
		if len(first) != len(batch) || len(again) != 1 {
			t.Fatalf("got %d messages, then %d", len(first), len(again))
		}
		for i, m := range append(first, again...) {
			n, attempt := i, 1
			if i == len(first) {
				n, attempt = 4, 2
			}
			if m.ID != ids[n] || m.Attempt != attempt || (m.Key != nil) != (n%2 == 0) {
				t.Errorf("message %d is %+v, want id %d attempt %d", n, m, ids[n], attempt)
			}
			same(t, m.Payload, batch[n].Payload)
			same(t, m.Headers, batch[n].Headers)
		}
	})
}

// receiveAll claims until nothing is left.
func receiveAll(t *testing.T, client *engine.Client, queue string) []engine.Message {
	t.Helper()
	var all []engine.Message
	for {
		list := get[[]engine.Message](t)(client.Receive(t.Context(), queue, "default", 1000, time.Minute))
		if len(list) == 0 {
			return all
		}
		all = append(all, list...)
	}
}

func TestWhatATransactionSendsAndAcknowledgesHappensTogetherOrNotAtAll(t *testing.T) {
	t.Parallel()
	pgtest.EachMajor(t, func(t *testing.T, major int) {
		t.Parallel()
		_, client := newQueue(t, major)
		ctx := t.Context()
		get[bool](t)(client.CreateQueue(ctx, "next", engine.QueueOptions{}))
		get[int64](t)(client.Send(ctx, "q", engine.Outgoing{Payload: json.RawMessage("1")}, engine.SendOptions{}))
		claim := receiveAll(t, client, "q")[0].ClaimID
		handOver := func(fail error) error {
			return client.InTx(ctx, func(tx *engine.Client) error {
				if _, err := tx.AckAll(ctx, "q", claim); err != nil {
					return err
				}
				m := engine.Outgoing{Payload: json.RawMessage("2")}
				if _, err := tx.Send(ctx, "next", m, engine.SendOptions{}); err != nil {
					return err
				}
				return fail
			})
		}
		if err := handOver(context.Canceled); err == nil {
			t.Fatal("the error of a transaction got lost")
		}
		if n := len(receiveAll(t, client, "next")); n != 0 {
			t.Errorf("%d messages of a rolled-back transaction", n)
		}
		must(t, handOver(nil))
		if n := get[int](t)(client.AckAll(ctx, "q", claim)); n != 0 {
			t.Errorf("acknowledged %d messages again", n)
		}
		if n := len(receiveAll(t, client, "next")); n != 1 {
			t.Errorf("%d messages of a committed transaction, want 1", n)
		}
	})
}

func TestADelayedMessageIsCountedAndNotDelivered(t *testing.T) {
	t.Parallel()
	_, client := newQueue(t, 0)
	later := engine.SendOptions{Delay: time.Hour}
	get[int64](t)(client.Send(t.Context(), "q", engine.Outgoing{Payload: json.RawMessage("1")}, later))
	if n := len(receiveAll(t, client, "q")); n != 0 {
		t.Errorf("delivered %d", n)
	}
	stats := get[[]engine.GroupStats](t)(client.Stats(t.Context(), "q"))
	if len(stats) != 1 || stats[0].Delayed != 1 || stats[0].Waiting != 0 || stats[0].Log != "main" || !stats[0].Exact {
		t.Errorf("stats %+v", stats)
	}
}

func TestPeekClaimsNothingAndPopFinishes(t *testing.T) {
	t.Parallel()
	_, client := newQueue(t, 0)
	ctx := t.Context()
	id := get[int64](t)(client.Send(ctx, "q", engine.Outgoing{Payload: json.RawMessage("1")}, engine.SendOptions{}))
	for range 2 {
		list := get[[]engine.Peeked](t)(client.Peek(ctx, "q", "default", 5))
		if len(list) != 1 || list[0].ID != id || list[0].Attempt != 0 {
			t.Fatalf("peek: %+v", list)
		}
	}
	popped := get[[]engine.Message](t)(client.Pop(ctx, "q", "default", 5))
	if len(popped) != 1 || popped[0].ID != id || popped[0].Attempt != 1 {
		t.Errorf("pop: %+v", popped)
	}
	stats := get[[]engine.GroupStats](t)(client.Stats(ctx, ""))
	if len(stats) != 1 || stats[0].Waiting+stats[0].Claimed+stats[0].Delayed+stats[0].Dead != 0 {
		t.Errorf("after pop: %+v", stats)
	}
}

func TestDeadLettersAreListedInPagesSentBackAndDiscarded(t *testing.T) {
	t.Parallel()
	_, client := newQueue(t, 0)
	ctx := t.Context()
	batch := slices.Repeat([]engine.Outgoing{{Payload: json.RawMessage("1"), Key: ptr("k")}}, 3)
	ids := get[[]int64](t)(client.SendBatch(ctx, "q", batch, engine.SendOptions{}))
	for _, m := range receiveAll(t, client, "q") {
		get[int](t)(client.Reject(ctx, "q", m.ClaimID, []int64{m.ID}, ptr("no good")))
	}
	page := get[[]engine.DeadLetter](t)(client.DeadLetters(ctx, "q", "default", 2, 0))
	rest := get[[]engine.DeadLetter](t)(client.DeadLetters(ctx, "q", "default", 2, page[1].ID))
	var got []int64
	for _, d := range append(page, rest...) {
		got = append(got, d.ID)
		if d.Reason == nil || *d.Reason != "no good" || d.Attempts != 1 || *d.Key != "k" || d.DiedAt.Before(d.EnqueuedAt) {
			t.Errorf("dead letter %+v", d)
		}
	}
	if !slices.Equal(got, ids) {
		t.Errorf("listed %v, want %v", got, ids)
	}
	if d := get[engine.DeadLetter](t)(client.DeadLetter(ctx, "q", "default", ids[1])); d.ID != ids[1] {
		t.Errorf("asked for %d, got %+v", ids[1], d)
	}
	if n := get[int64](t)(client.Redrive(ctx, "q", "default", ids[:1])); n != 1 {
		t.Errorf("sent back %d", n)
	}
	for _, ids := range [][]int64{nil, {}} {
		if n := get[int64](t)(client.Discard(ctx, "q", "default", ids)); n != 0 {
			t.Errorf("asked to discard none, discarded %d", n)
		}
	}
	if n := get[int64](t)(client.DiscardAll(ctx, "q", "default")); n != 2 {
		t.Errorf("discarded %d", n)
	}
	if list := receiveAll(t, client, "q"); len(list) != 1 || list[0].ID != ids[0] {
		t.Errorf("delivered again: %+v", list)
	}
}

func TestAClaimLastsAsLongAsItWasExtended(t *testing.T) {
	t.Parallel()
	_, client := newQueue(t, 0)
	ctx := t.Context()
	get[int64](t)(client.Send(ctx, "q", engine.Outgoing{Payload: json.RawMessage("1")}, engine.SendOptions{}))
	claim := receiveAll(t, client, "q")[0].ClaimID
	deadline := get[time.Time](t)(client.Extend(ctx, "q", claim, 3*time.Hour))
	if left := time.Until(deadline); left < 2*time.Hour || left > 4*time.Hour {
		t.Errorf("%s left of 3 hours", left)
	}
}

func TestUpkeepComesToAnEnd(t *testing.T) {
	t.Parallel()
	_, client := newQueue(t, 0)
	for range 1000 {
		if get[int](t)(client.Maintain(t.Context(), 0)) == 0 {
			return
		}
	}
	t.Error("a thousand rounds of upkeep, and still something to do")
}

func TestMoreDeadLettersThanOneCallTakesAreAllSentBack(t *testing.T) {
	t.Parallel()
	_, client := newQueue(t, 0)
	ctx := t.Context()
	const many = 10_001
	batch := slices.Repeat([]engine.Outgoing{{Payload: json.RawMessage("1")}}, many)
	get[[]int64](t)(client.SendBatch(ctx, "q", batch, engine.SendOptions{}))
	rejected, byClaim := 0, map[int64][]int64{}
	for _, m := range receiveAll(t, client, "q") {
		byClaim[m.ClaimID] = append(byClaim[m.ClaimID], m.ID)
	}
	for claim, ids := range byClaim {
		rejected += get[int](t)(client.Reject(ctx, "q", claim, ids, nil))
	}
	if rejected != many {
		t.Fatalf("rejected %d", rejected)
	}
	if n := get[int64](t)(client.RedriveAll(ctx, "q", "default")); n != many {
		t.Errorf("sent back %d of %d", n, many)
	}
}

func TestWorkThatWasFinishedBeforeIsNotDoneAgain(t *testing.T) {
	t.Parallel()
	_, client := newQueue(t, 0)
	ctx := t.Context()
	get[int64](t)(client.Send(ctx, "q", engine.Outgoing{Payload: json.RawMessage("1")}, engine.SendOptions{}))
	claim := engine.ClaimPart{Claim: receiveAll(t, client, "q")[0].ClaimID}
	if n := get[int](t)(client.AckUnfinished(ctx, "q", claim)); n != 1 {
		t.Errorf("finished %d", n)
	}
	if _, err := client.AckUnfinished(ctx, "q", claim); engine.Code(err) != engine.CodeAlreadyFinished {
		t.Errorf("the second time: %v", err)
	}
}

func TestAHigherPriorityGoesFirst(t *testing.T) {
	t.Parallel()
	_, client := newQueue(t, 0)
	ctx := t.Context()
	get[bool](t)(client.CreateQueue(ctx, "levels", engine.QueueOptions{Priorities: ptr(2)}))
	low := get[int64](t)(client.Send(ctx, "levels", engine.Outgoing{Payload: json.RawMessage("1")}, engine.SendOptions{}))
	high := get[[]int64](t)(client.SendBatch(ctx, "levels", []engine.Outgoing{{Payload: json.RawMessage("2")}},
		engine.SendOptions{Priority: 1}))
	var got []int64
	for range 2 {
		for _, m := range get[[]engine.Message](t)(client.Receive(ctx, "levels", "default", 1, time.Minute)) {
			got = append(got, m.ID)
		}
	}
	if !slices.Equal(got, []int64{high[0], low}) {
		t.Errorf("received %v, sent %d and with priority %v", got, low, high)
	}
	m := engine.Outgoing{Payload: json.RawMessage("1")}
	if _, err := client.Send(ctx, "levels", m, engine.SendOptions{Priority: 2}); engine.Code(err) !=
		engine.CodeInvalidArgument {
		t.Errorf("a priority that the queue has not: %v", err)
	}
}

func TestARepeatGetsTheFirstOnesIdAndIsNotSent(t *testing.T) {
	t.Parallel()
	_, client := newQueue(t, 0)
	ctx, plain := t.Context(), engine.SendOptions{}
	m := engine.Outgoing{Payload: json.RawMessage("1"), DedupKey: ptr("order-1")}
	first := get[int64](t)(client.Send(ctx, "q", m, plain))
	if again := get[int64](t)(client.Send(ctx, "q", m, plain)); again != first {
		t.Errorf("sent %d and again %d", first, again)
	}
	other := engine.Outgoing{Payload: json.RawMessage("3"), DedupKey: ptr("order-2")}
	batch := []engine.Outgoing{{Payload: json.RawMessage("2")}, m, other}
	if ids := get[[]int64](t)(client.SendBatch(ctx, "q", batch, plain)); len(ids) != 3 || ids[1] != first {
		t.Errorf("sent %v, the first was %d", ids, first)
	}
	sent := get[[]engine.Sent](t)(client.SendOnce(ctx, "q", batch, plain))
	if len(sent) != 3 || sent[0].Repeated || !sent[1].Repeated || sent[1].ID != first || !sent[2].Repeated {
		t.Errorf("sent %+v", sent)
	}
	if list := receiveAll(t, client, "q"); len(list) != 4 {
		t.Errorf("received %d messages, want 4", len(list))
	}
}

func TestAQueueThatIsFullOrTakesNoDedupKeysSaysSo(t *testing.T) {
	t.Parallel()
	_, client := newQueue(t, 0)
	ctx, plain := t.Context(), engine.SendOptions{}
	settings := engine.QueueSettings{DedupWindow: millis(0), BacklogMax: ptr(int64(1))}
	get[bool](t)(client.CreateQueue(ctx, "small", engine.QueueOptions{QueueSettings: settings}))
	m := engine.Outgoing{Payload: json.RawMessage("1"), DedupKey: ptr("k")}
	if _, err := client.Send(ctx, "small", m, plain); engine.Code(err) != engine.CodeInvalidArgument {
		t.Errorf("a dedup key: %v", err)
	}
	m.DedupKey = nil
	pgtest.WaitFor(t, "the refusal", func() bool {
		_, err := client.Send(ctx, "small", m, plain)
		return engine.Code(err) == engine.CodeQueueFull
	})
}

func TestAHealthyDatabaseHasNoErrors(t *testing.T) {
	t.Parallel()
	db, client := newQueue(t, 0)
	for _, f := range get[[]engine.Finding](t)(client.Doctor(t.Context())) {
		if f.Severity == "error" || f.Finding == "" || f.Message == "" {
			t.Errorf("finding %+v", f)
		}
	}
	db.Exec(t, "update weir_internal.queues set origin = '{}'") // as if it had come in a dump
	db.Exec(t, "update weir_internal.logs set origin = '{}'")
	list := get[[]engine.Finding](t)(client.Doctor(t.Context()))
	if len(list) == 0 || list[0].Severity != "error" || list[0].Finding != "restored" ||
		list[0].Cure == "" {
		t.Fatalf("findings %+v", list)
	}
	if n := get[int](t)(client.Adopt(t.Context(), "")); n != 1 {
		t.Errorf("adopted %d queues", n)
	}
	get[int64](t)(client.Send(t.Context(), "q", engine.Outgoing{Payload: json.RawMessage("1")}, engine.SendOptions{}))
}

func TestAGroupThatSeeksBackIsDeliveredAgain(t *testing.T) {
	t.Parallel()
	_, client := newQueue(t, 0)
	ctx := t.Context()
	must(t, client.ConfigureLog(ctx, "main", engine.LogSettings{Retention: millis(time.Hour)}))
	for n := range 3 {
		get[int64](t)(client.Send(ctx, "q", engine.Outgoing{Payload: json.RawMessage(strconv.Itoa(n))}, engine.SendOptions{}))
	}
	first := get[[]engine.Message](t)(client.Pop(ctx, "q", "default", 10))
	must(t, client.Seek(ctx, "q", "default", strconv.FormatInt(first[1].ID, 10)))
	if again := receiveAll(t, client, "q"); len(again) != 2 || again[0].ID != first[1].ID {
		t.Errorf("from the second on: %+v", again)
	}
	must(t, client.Seek(ctx, "q", "default", "start"))
	if again := receiveAll(t, client, "q"); len(again) != 3 {
		t.Errorf("from the start: %+v", again)
	}
	must(t, client.Seek(ctx, "q", "default", "end"))
	if again := receiveAll(t, client, "q"); len(again) != 0 {
		t.Errorf("from the end: %+v", again)
	}
	if err := client.Seek(ctx, "q", "default", "yesterweek"); engine.Code(err) != engine.CodeInvalidArgument {
		t.Errorf("a place that is none: %v", err)
	}
}

func TestAMessageIsShownWithItsStateInEachGroup(t *testing.T) {
	t.Parallel()
	_, client := newQueue(t, 0)
	ctx := t.Context()
	must(t, client.CreateGroup(ctx, "q", "other", engine.GroupOptions{}))
	sent := engine.Outgoing{Payload: json.RawMessage(`{"n": 1}`), Key: ptr("k"), Headers: json.RawMessage(`{"h": 1}`)}
	id := get[int64](t)(client.Send(ctx, "q", sent, engine.SendOptions{}))
	receiveAll(t, client, "q")
	m := get[engine.Stored](t)(client.Get(ctx, "q", id))
	if m.ID != id || *m.Key != "k" || string(m.Payload) != `{"n": 1}` || string(m.Headers) != `{"h": 1}` ||
		m.States["default"] != "claimed" || m.States["other"] != "waiting" || len(m.States) != 2 {
		t.Errorf("message %+v", m)
	}
	known, other := m.Details["default"], m.Details["other"]
	if *known.Attempts != 1 || *known.ClaimID == 0 || !known.Until.After(*known.Since) || other != (engine.Standing{}) {
		t.Errorf("details %+v", m.Details)
	}
	if _, err := client.Get(ctx, "q", id+1); engine.Code(err) != engine.CodeMessageNotFound {
		t.Errorf("a message that is not there: %v", err)
	}
}

func TestAFlushThatFailsLeavesOpenWhatWasSent(t *testing.T) {
	t.Parallel()
	db, _ := newQueue(t, 0)
	conn := db.Conn(t)
	if _, err := conn.Exec(t.Context(), "begin; select 1 / 0"); err == nil {
		t.Fatal("the transaction has not failed")
	}
	err := engine.New(conn).Flush(t.Context())
	if engine.Code(err) != "08006" { // any other says that nothing was done, and SDKs send again
		t.Errorf("flush: %v", err)
	}
}

func TestWhatWasSentAheadCanBeReceivedAndIsDurableAfterAFlush(t *testing.T) {
	t.Parallel()
	pgtest.EachMajor(t, func(t *testing.T, major int) {
		t.Parallel()
		db, _ := newQueue(t, major)
		conn := db.Conn(t)
		if _, err := conn.Exec(t.Context(), "set synchronous_commit = on"); err != nil { // the tests' servers have it off
			t.Fatal(err)
		}
		client := engine.New(conn)
		batch := []engine.Outgoing{{Payload: json.RawMessage(`1`)}, {Payload: json.RawMessage(`2`)}}
		ids := get[[]int64](t)(client.SendBatchAhead(t.Context(), "q", batch, engine.SendOptions{}))
		list := get[[]engine.Message](t)(client.Receive(t.Context(), "q", "default", 10, time.Minute))
		if len(list) != 2 || len(ids) != 2 || list[0].ID != ids[0] || list[1].ID != ids[1] {
			t.Errorf("sent %v, received %+v", ids, list)
		}
		get[[]int64](t)(client.SendBatchAhead(t.Context(), "q", batch, engine.SendOptions{}))
		written := pgtest.QueryVal[string](t, db, "select pg_current_wal_insert_lsn()::text")
		if err := client.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		if !pgtest.QueryVal[bool](t, db, "select pg_current_wal_flush_lsn() >= '"+written+"'") {
			t.Errorf("what was written up to %s is not durable", written)
		}
		_, err := client.SendBatchAhead(t.Context(), "nowhere", batch, engine.SendOptions{})
		if engine.Code(err) != engine.CodeQueueNotFound {
			t.Errorf("to no queue: %v", err)
		}
	})
}
