package dispatch_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weirmq/weir/internal/engine"
	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/internal/server/dispatch"
)

// blocked runs do while nothing can be sent to the queue q, until the database shows a statement that waits for that,
// and returns when what do started may go on.
func (s *site) blocked(do func()) {
	s.Helper()
	conn := s.db.Conn(s)
	for _, sql := range []string{"begin", "lock table weir_log.log_0, weir_log.log_1, weir_log.log_2 in share mode"} {
		if _, err := conn.Exec(s.Context(), sql); err != nil {
			s.Fatal(err)
		}
	}
	do()
	if _, err := conn.Exec(s.Context(), "rollback"); err != nil {
		s.Fatal(err)
	}
}

// sendMany sends each batch from a goroutine of its own, the first before all others, while the queue is blocked: so
// the others wait together. It returns what each got.
func (s *site) sendMany(batches [][]engine.Outgoing) (ids [][]int64, errs []error) {
	s.Helper()
	ids, errs = make([][]int64, len(batches)), make([]error, len(batches))
	var sent sync.WaitGroup
	s.blocked(func() {
		for i, batch := range batches {
			sent.Go(func() { ids[i], errs[i] = s.Send("q", batch) })
			if i == 0 {
				pgtest.WaitForRow(s, s.db, `select exists (select from pg_stat_activity
					where datname = current_database() and wait_event_type = 'Lock' and query like '%send_batch%')`)
			}
		}
		pgtest.WaitFor(s, "the requests to wait", func() bool { return s.Stats().Waiting == int64(len(batches)) })
	})
	sent.Wait()
	return ids, errs
}

func TestWhatComesDuringACallMakesUpTheNext(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	var batches [][]engine.Outgoing
	for i := range 40 {
		batches = append(batches, message(i))
	}
	ids, errs := s.sendMany(batches)
	for i := range batches {
		if errs[i] != nil || len(ids[i]) != 1 {
			t.Fatalf("request %d: %v, %v", i, ids[i], errs[i])
		}
	}
	if calls := s.Stats().Sends.Calls; calls != 2 {
		t.Errorf("40 requests took %d calls, want 2: the first and all others", calls)
	}
	list, err := s.Receive(t.Context(), "q", "default", engine.Want{Max: 100, Lease: time.Minute}, 0)
	if err != nil || len(list) != 40 {
		t.Fatalf("received %d messages, %v", len(list), err)
	}
	for _, m := range list {
		i := slices.IndexFunc(ids, func(id []int64) bool { return id[0] == m.ID })
		if i < 0 || string(m.Payload) != string(batches[i][0].Payload) {
			t.Errorf("message %d is %s", m.ID, m.Payload)
		}
	}
}

func TestABadMessageFailsItsOwnRequestOnly(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	bad := map[int]struct {
		payload, code string
	}{
		7:  {`"` + strings.Repeat("x", 2<<20) + `"`, engine.CodeMessageTooLarge},
		8:  {`"a\u0000b"`, "22P05"},
		19: {``, engine.CodeNullPayload},
	}
	var batches [][]engine.Outgoing
	for i := range 30 {
		batch := append(message(i), message(i)...)
		if b, is := bad[i]; is {
			batch[1].Payload = json.RawMessage(b.payload)
			if b.payload == "" {
				batch[1].Payload = nil
			}
		}
		batches = append(batches, batch)
	}
	ids, errs := s.sendMany(batches)
	for i := range batches {
		want := bad[i].code
		if got := engine.Code(errs[i]); got != want || want == "" && len(ids[i]) != 2 {
			t.Errorf("request %d: %v, %v, want code %q", i, ids[i], errs[i], want)
		}
	}
	list, err := s.Receive(t.Context(), "q", "default", engine.Want{Max: 100, Lease: time.Minute}, 0)
	if err != nil || len(list) != 2*(30-len(bad)) {
		t.Errorf("%d messages were sent, %v", len(list), err)
	}
}

func TestAnErrorOfTheQueueIsToldToAllThatWait(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	_, err := s.Send("nowhere", message(1))
	if engine.Code(err) != engine.CodeQueueNotFound {
		t.Errorf("send: %v", err)
	}
	_, err = s.Ack("nowhere", []engine.ClaimPart{{Claim: 16384}})
	if engine.Code(err) != engine.CodeQueueNotFound {
		t.Errorf("ack: %v", err)
	}
	_, err = s.Receive(t.Context(), "q", "nobody", engine.Want{Max: 1, Lease: time.Second}, time.Minute)
	if engine.Code(err) != engine.CodeGroupNotFound {
		t.Errorf("receive: %v", err)
	}
	for _, want := range []engine.Want{{Max: 0, Lease: time.Second}, {Max: 10_001, Lease: time.Second}, {Max: 1}} {
		_, err = s.Receive(t.Context(), "q", "default", want, time.Minute)
		if engine.Code(err) != engine.CodeInvalidArgument {
			t.Errorf("receive %+v: %v", want, err)
		}
	}
}

func TestAcksAndExtendsOfManyAreAnsweredEachForItself(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ctx := t.Context()
	var batch []engine.Outgoing
	for i := range 20 {
		batch = append(batch, message(i)...)
	}
	if _, err := s.Send("q", batch); err != nil {
		t.Fatal(err)
	}
	var claims []int64
	for range 20 {
		list, err := s.Receive(ctx, "q", "default", engine.Want{Max: 1, Lease: time.Minute}, 0)
		if err != nil || len(list) != 1 {
			t.Fatalf("received %v, %v", list, err)
		}
		claims = append(claims, list[0].ClaimID)
	}
	var done sync.WaitGroup
	for i, claim := range claims {
		done.Go(func() {
			part := engine.ClaimPart{Claim: claim, Lease: time.Hour}
			if i%5 == 0 {
				part.Claim += 1 << 40
			}
			deadlines, err := s.Extend("q", []engine.ClaimPart{part})
			if i%5 == 0 && !errors.Is(err, dispatch.ErrAlone) {
				t.Errorf("extend of a claim that is none: %v", err)
			} else if i%5 != 0 && (err != nil || time.Until(deadlines[0]) < 50*time.Minute) {
				t.Errorf("extend: %v, %v", deadlines, err)
			}
			counts, err := s.Ack("q", []engine.ClaimPart{part})
			if i%5 == 0 && !errors.Is(err, dispatch.ErrAlone) {
				t.Errorf("ack of a claim that is none: %v", err)
			} else if i%5 != 0 && (err != nil || !slices.Equal(counts, []int{1})) {
				t.Errorf("ack: %v, %v", counts, err)
			}
		})
	}
	done.Wait()
	stats, err := s.client.Stats(ctx, "q")
	if err != nil || stats[0].Claimed != 4 {
		t.Errorf("left: %+v, %v", stats, err)
	}
}

// holdClaims makes every claim wait until the returned function is called.
func (s *site) holdClaims() (release func()) {
	s.Helper()
	s.db.Exec(s, `create function public.hold() returns trigger language plpgsql as
		$$ begin perform pg_advisory_xact_lock(4711); return null; end $$`)
	s.db.Exec(s, "create trigger hold after insert on weir_log.claims_0 execute function public.hold()")
	holder := s.db.Conn(s)
	if _, err := holder.Exec(s.Context(), "select pg_advisory_lock(4711)"); err != nil {
		s.Fatal(err)
	}
	return func() {
		if _, err := holder.Exec(s.Context(), "select pg_advisory_unlock(4711)"); err != nil {
			s.Error(err)
		}
	}
}

// waitForClaim returns when a claim waits.
func (s *site) waitForClaim() {
	s.Helper()
	pgtest.WaitForRow(s, s.db, `select exists (select from pg_stat_activity
		where datname = current_database() and wait_event_type = 'Lock' and query like '%receive_many%')`)
}

func TestAConsumersCallThatHangsHoldsUpNoSend(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	release := s.holdClaims()
	if _, err := s.Send("q", message(1)); err != nil {
		t.Fatal(err)
	}
	got := make(chan int, 1)
	go func() {
		list, err := s.Receive(t.Context(), "q", "default", engine.Want{Max: 1, Lease: time.Minute}, time.Minute)
		if err != nil {
			t.Error(err)
		}
		got <- len(list)
	}()
	s.waitForClaim()
	if _, err := s.Send("q", message(2)); err != nil {
		t.Error(err)
	}
	release()
	if n := <-got; n != 1 {
		t.Errorf("received %d messages", n)
	}
}

func TestWhatWasClaimedForAClientThatWentAwayIsDueAtOnceAndUncounted(t *testing.T) {
	wantNoGoroutines(t)
	s := newSite(t)
	ctx, leave := context.WithCancel(t.Context())
	left := make(chan error, 1)
	release := s.holdClaims()
	if _, err := s.Send("q", append(message(1), message(2)...)); err != nil {
		t.Fatal(err)
	}
	go func() {
		_, err := s.Receive(ctx, "q", "default", engine.Want{Max: 2, Lease: time.Hour}, time.Minute)
		left <- err
	}()
	s.waitForClaim()
	leave()
	release()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Fatalf("the client that left: %v", err)
	}
	list, err := s.Receive(t.Context(), "q", "default", engine.Want{Max: 10, Lease: time.Hour}, time.Minute)
	if err != nil || len(list) != 2 || list[0].Attempt != 1 {
		t.Errorf("the next client: %+v, %v", list, err)
	}
}

func TestAWaitingReceiverIsToldOfASendAtOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	got := make(chan []engine.Message, 1)
	for _, send := range []func(){
		func() {
			if _, err := s.Send("q", message(1)); err != nil {
				t.Error(err)
			}
		},
		func() { s.db.Exec(t, "select weir.send('q', '1')") },
	} {
		go func() {
			list, err := s.Receive(t.Context(), "q", "default", engine.Want{Max: 1, Lease: time.Minute}, time.Minute)
			if err != nil {
				t.Error(err)
			}
			got <- list
		}()
		pgtest.WaitForRow(t, s.db, `select coalesce(pg_sequence_last_value(waiting), 0) > 0 from weir_internal.queues
			where name = 'q'`) // it waits, and armed
		send()
		if list := <-got; len(list) != 1 {
			t.Errorf("received %v", list)
		}
	}
}

func TestTenThousandReceiversWaitInOneLineAndEachMessageGoesToOne(t *testing.T) {
	wantNoGoroutines(t)
	s := newSite(t)
	const waiters, messages = 10_000, 500
	var wg sync.WaitGroup
	var mu sync.Mutex
	seen := map[int64]int{}
	for range waiters {
		wg.Go(func() {
			list, err := s.Receive(t.Context(), "q", "default", engine.Want{Max: 1, Lease: time.Minute}, time.Hour)
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			for _, m := range list {
				seen[m.ID]++
			}
		})
	}
	pgtest.WaitFor(t, "all to wait", func() bool { return s.Stats().Receivers == waiters })
	for i := range messages {
		if _, err := s.Send("q", message(i)); err != nil {
			t.Fatal(err)
		}
	}
	pgtest.WaitFor(t, "all messages to be handed out", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(seen) == messages
	})
	s.drain()
	wg.Wait()
	for id, n := range seen {
		if n != 1 {
			t.Errorf("message %d went to %d receivers", id, n)
		}
	}
}

func TestMoreReceiversThanAreTakenAreTurnedAwayAndAGroupLeavesRoomForOthers(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.db.Exec(t, "select weir.create_group('q', 'other'), weir.create_group('q', 'third')")
	var wg sync.WaitGroup
	wantBusy := func(group string) {
		_, err := s.Receive(t.Context(), "q", group, engine.Want{Max: 1, Lease: time.Minute}, time.Hour)
		if !errors.Is(err, dispatch.ErrBusy) {
			t.Errorf("one too many of group %s: %v", group, err)
		}
	}
	for i, group := range []string{"default", "other"} {
		for range dispatch.GroupReceiversMax {
			wg.Go(func() {
				_, err := s.Receive(t.Context(), "q", group, engine.Want{Max: 1, Lease: time.Minute}, time.Hour)
				if err != nil {
					t.Error(err)
				}
			})
		}
		pgtest.WaitFor(t, "all to wait", func() bool {
			return s.Stats().Receivers == int64(i+1)*dispatch.GroupReceiversMax
		})
		wantBusy(group)
	}
	wantBusy("third")
	s.drain()
	wg.Wait()
	if n := s.Stats().Receivers; n != 0 {
		t.Errorf("%d receivers are left", n)
	}
}

func TestClaimsOfOneServerAreSettledByAnother(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	if _, err := s.Send("q", append(message(1), message(2)...)); err != nil {
		t.Fatal(err)
	}
	list, err := s.Receive(t.Context(), "q", "default", engine.Want{Max: 2, Lease: time.Minute}, 0)
	if err != nil || len(list) != 2 {
		t.Fatal(list, err)
	}
	s.start()
	counts, err := s.Ack("q", []engine.ClaimPart{{Claim: list[0].ClaimID, IDs: []int64{list[0].ID}}})
	if err != nil || counts[0] != 1 {
		t.Errorf("by another server: %v, %v", counts, err)
	}
	if n := pgtest.QueryVal[int](t, s.db, "select weir.ack('q', $1, id => $2)", list[1].ClaimID,
		list[1].ID); n != 1 {
		t.Errorf("by SQL: %d", n)
	}
}
