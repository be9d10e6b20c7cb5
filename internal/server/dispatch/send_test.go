package dispatch_test

import (
	"errors"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/weirmq/weir/internal/engine"
	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/internal/server/dispatch"
)

// keyed is a message with a dedup key.
func keyed(key string) []engine.Outgoing {
	batch := message(1)
	batch[0].DedupKey = &key
	return batch
}

func TestSendsWithDedupKeysShareACallAndARepeatGetsTheFirstOnesID(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	const requests = 20
	got := make([][]engine.Sent, requests+1)
	g, d := s.behind("weir.send_once")
	s.together(g, d, requests+1, func(i int) {
		var err error
		if got[i], err = d.Send("q", keyed(strconv.Itoa((i+1)/2)), engine.SendOptions{}); err != nil {
			t.Error(err)
		}
	})
	for i := 1; i < requests; i += 2 {
		one, other := got[i][0], got[i+1][0]
		if one.ID != other.ID || one.Repeated == other.Repeated {
			t.Errorf("two with one key: %+v, %+v", one, other)
		}
	}
	if calls := g.count(); calls != 2 {
		t.Errorf("%d requests took %d calls, want 2: the first and all others", requests+1, calls)
	}
}

func TestSendsWithOneDelayOrPriorityShareACallAndKeepIt(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.db.Exec(t, "select weir.create_queue('levels', priorities => 3)")
	var sent sync.WaitGroup
	for i := range 30 {
		sent.Go(func() {
			options := []engine.SendOptions{{}, {Priority: 2}, {Delay: time.Hour}}[i%3]
			if _, err := s.Dispatcher.Send("levels", message(i%3), options); err != nil {
				t.Error(err)
			}
		})
	}
	sent.Wait()
	list, err := s.Receive(t.Context(), "levels", "default", engine.Want{Max: 30, Lease: time.Minute}, 0)
	if err != nil || len(list) != 20 {
		t.Fatalf("received %d messages, %v", len(list), err)
	}
	for i, m := range list {
		if want := string(message(1 - i/10)[0].Payload); string(m.Payload) != want {
			t.Errorf("message %d is %s, want %s", i, m.Payload, want)
		}
	}
	if _, err := s.Dispatcher.Send("levels", message(1), engine.SendOptions{Priority: 3}); engine.Code(err) !=
		engine.CodeInvalidArgument {
		t.Errorf("a priority that the queue has not: %v", err)
	}
}

func TestASendThatWaitsForAnotherTransactionsDedupKeyHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	conn := s.db.Conn(t)
	for _, sql := range []string{"begin", "select * from weir.send_once('q', array['1'::jsonb], array['held'])"} {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	var sent sync.WaitGroup
	for i := range 10 {
		sent.Go(func() {
			key := strconv.Itoa(i)
			if i == 0 {
				key = "held"
			}
			list, err := s.Dispatcher.Send("q", keyed(key), engine.SendOptions{})
			if i == 0 && !errors.Is(err, dispatch.ErrAlone) {
				t.Errorf("the one that has to wait: %v, %v", list, err)
			} else if i > 0 && (err != nil || len(list) != 1 || list[0].Repeated) {
				t.Errorf("another: %v, %v", list, err)
			}
		})
	}
	sent.Wait()
}

func TestAWaitingConsumerGetsAMessageBeforeItsProducerIsTold(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	g, d := s.behind("pg_logical_emit_message")
	got, told := make(chan []engine.Message, 1), make(chan error, 1)
	go func() {
		list, err := d.Receive(t.Context(), "q", "default", engine.Want{Max: 1, Lease: time.Minute}, time.Minute)
		if err != nil {
			t.Error(err)
		}
		got <- list
	}()
	pgtest.WaitFor(t, "a receive that found nothing", func() bool { return d.Stats().Receives.Calls > 1 })
	go func() {
		_, err := d.Send("q", message(1), engine.SendOptions{})
		told <- err
	}()
	if list := <-got; len(list) != 1 {
		t.Errorf("received %v", list)
	}
	pgtest.WaitFor(t, "the producer to wait for the disk", func() bool { return g.count() == 1 })
	select {
	case err := <-told:
		t.Errorf("the producer was told before the disk was: %v", err)
	default:
	}
	close(g.open)
	if err := <-told; err != nil {
		t.Error(err)
	}
}
