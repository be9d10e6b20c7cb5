package ordered_test

import (
	"strings"
	"testing"
	"time"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

// lines is one test's queue of one lane, with an ordered group and a clock to move.
type lines struct {
	*testing.T
	db    *pgtest.DB
	clock *surface.Clock
}

func each(t *testing.T, options string, test func(l lines)) {
	t.Parallel()
	pgtest.Each(t, func(t *testing.T, db *pgtest.DB) {
		create(t, db, 1, options)
		test(lines{t, db, surface.StoppedClock(t, db)})
	})
}

// send sends a message of a key with the key and a number as its payload.
func (l lines) send(key string, n int) {
	l.Helper()
	payload := `"` + key + surface.Number(n) + `"`
	if _, err := surface.Send(l.Context(), l.db.Pool(l), queue, payload, &key, nil, nil); err != nil {
		l.Fatal(err)
	}
}

// receive receives and checks the payloads, without their quotes, in order.
func (l lines) receive(batchMax int, lease string, want ...string) []surface.Message {
	l.Helper()
	got, err := surface.Receive(l.Context(), l.db.Pool(l), queue, group, batchMax, lease)
	if err != nil {
		l.Fatal(err)
	}
	if len(got) != len(want) {
		l.Fatalf("received %v, want %v", got, want)
	}
	for i := range got {
		if got[i].Payload != `"`+want[i]+`"` {
			l.Fatalf("received %v, want %v", got, want)
		}
	}
	return got
}

func (l lines) ack(m surface.Message) {
	l.Helper()
	if n, err := surface.Ack(l.Context(), l.db.Pool(l), queue, m.ClaimID, []int64{m.ID}); err != nil || n != 1 {
		l.Fatalf("ack of %v: %d, %v", m, n, err)
	}
}

func (l lines) nack(m surface.Message, delay string) {
	l.Helper()
	n, err := surface.Nack(l.Context(), l.db.Pool(l), queue, m.ClaimID, []int64{m.ID}, &delay)
	if err != nil || n != 1 {
		l.Fatalf("nack of %v: %d, %v", m, n, err)
	}
}

func TestAFailingMessageHoldsUpItsKeyAndNoOther(t *testing.T) {
	each(t, "patience => '1 hour'", func(l lines) {
		for n := range 3 {
			l.send("a", n)
			l.send("b", n)
		}
		got := l.receive(4, "1 minute", "a0", "b0", "a1", "b1")
		l.nack(got[0], "10 seconds")
		l.ack(got[1])
		l.ack(got[3])
		l.ack(l.receive(10, "1 minute", "b2")[0]) // a2 joins a0 and a1
		l.receive(10, "1 minute")
		l.clock.Advance(t, 11*time.Second)
		head := l.receive(10, "1 minute", "a0")
		if head[0].Attempt != 2 {
			l.Errorf("attempt %d, want 2", head[0].Attempt)
		}
		l.receive(10, "1 minute")
		l.ack(head[0])
		for _, m := range l.receive(10, "1 minute", "a1", "a2") {
			l.ack(m)
		}
		l.send("a", 3)
		l.send("a", 4)
		l.receive(10, "1 minute", "a3", "a4") // the key has left its trouble behind
	})
}

func TestASlowConsumerKeepsItsKeysAndFreesTheLaneAfterThePatience(t *testing.T) {
	each(t, "patience => '1 second'", func(l lines) {
		l.send("a", 0)
		l.send("a", 1)
		slow := l.receive(1, "1 minute", "a0")
		l.send("b", 0)
		l.receive(10, "1 minute")
		l.clock.Advance(t, 2*time.Second)
		other := l.receive(10, "1 minute", "b0")
		l.ack(other[0])
		l.receive(10, "1 minute")
		l.ack(slow[0])
		l.ack(l.receive(10, "1 minute", "a1")[0])
	})
}

func TestAWholeClaimThatWasTakenOutOfItsLaneIsAckedAndItsKeyGoesOn(t *testing.T) {
	each(t, "patience => '1 second'", func(l lines) {
		l.send("a", 0)
		l.send("a", 1)
		slow := l.receive(1, "1 minute", "a0")
		l.clock.Advance(t, 2*time.Second)
		l.receive(10, "1 minute") // takes the claim out of the lane
		if n, err := surface.Ack(t.Context(), l.db.Pool(t), queue, slow[0].ClaimID, nil); err != nil || n != 1 {
			t.Fatalf("ack: %d, %v", n, err)
		}
		l.ack(l.receive(10, "1 minute", "a1")[0])
		if n := pgtest.QueryVal[int](t, l.db, "select count(*)::int from weir.parked_keys($1, $2)", queue, group); n != 0 {
			t.Errorf("%d keys are parked when all is done", n)
		}
	})
}

func TestWhatKillsItsConsumerDiesAndItsKeyGoesOn(t *testing.T) {
	each(t, "max_attempts => 2", func(l lines) {
		l.send("a", 0)
		l.send("a", 1)
		for attempt := 1; attempt <= 2; attempt++ {
			got := l.receive(1, "10 seconds", "a0")
			if got[0].Attempt != attempt {
				l.Fatalf("attempt %d, want %d", got[0].Attempt, attempt)
			}
			l.clock.Advance(t, 11*time.Second)
		}
		l.ack(l.receive(10, "10 seconds", "a1")[0])
		dead, err := surface.DeadLetters(t.Context(), l.db.Pool(t), queue, group)
		if err != nil || len(dead) != 1 {
			l.Fatalf("dead letters %v, %v", dead, err)
		}
	})
}

func TestALateAckOfAParkedClaimIsRefused(t *testing.T) {
	each(t, "patience => '1 second'", func(l lines) {
		l.send("a", 0)
		slow := l.receive(1, "10 seconds", "a0")
		l.clock.Advance(t, 2*time.Second)
		l.receive(10, "1 minute") // takes the claim out of the lane
		l.clock.Advance(t, 9*time.Second)
		again := l.receive(10, "1 minute", "a0")
		_, err := surface.Ack(t.Context(), l.db.Pool(t), queue, slow[0].ClaimID, nil)
		surface.WantState(t, err, "WR010")
		l.ack(again[0])
		l.receive(10, "1 minute")
	})
}

func TestOneLaneIsATotalOrderOfMessagesWithoutKeys(t *testing.T) {
	each(t, "patience => '1 hour'", func(l lines) {
		for n := range 4 {
			if _, err := surface.Send(t.Context(), l.db.Pool(t), queue, `"`+surface.Number(n)+`"`, nil, nil, nil); err != nil {
				t.Fatal(err)
			}
		}
		got := l.receive(2, "1 minute", "0", "1")
		l.nack(got[0], "0")
		l.nack(l.receive(10, "1 minute", "0")[0], "0")
		l.ack(l.receive(10, "1 minute", "0")[0])
		for _, want := range []string{"1", "2", "3"} {
			l.ack(l.receive(1, "1 minute", want)[0])
		}
	})
}

func TestADelayedMessageTakesItsTurnWhenItIsDue(t *testing.T) {
	each(t, "patience => '1 hour'", func(l lines) {
		key, delay := "a", "5 seconds"
		if _, err := surface.Send(t.Context(), l.db.Pool(t), queue, `"later"`, &key, nil, &delay); err != nil {
			t.Fatal(err)
		}
		l.send("a", 0)
		first := l.receive(10, "1 minute", "a0")
		l.clock.Advance(t, 6*time.Second)
		l.receive(10, "1 minute") // a0 is with its consumer
		l.send("a", 1)
		l.ack(first[0])
		late := l.receive(10, "1 minute", "later")
		l.receive(10, "1 minute")
		l.ack(late[0])
		l.ack(l.receive(10, "1 minute", "a1")[0])
	})
}

// A receive and maintain() may both have found the claim in its lane before either had its lock.
func TestAClaimThatTwoWantToParkIsParkedOnce(t *testing.T) {
	each(t, "patience => '1 hour'", func(l lines) {
		l.send("a", 0)
		l.send("a", 1)
		got := l.receive(2, "1 minute", "a0", "a1")
		l.db.Exec(l, `
			do $$
			declare
				q weir_internal.queues := weir_internal.find_queue('orders');
				g weir_internal.groups;
				u weir_internal.claim;
			begin
				select * into g from weir_internal.groups where queue_no = q.no and name = 'ordered';
				select t.* into u from weir_internal.q1_unfinished(((q.lanes + 1) * g.no)::smallint, 0, 'infinity', 1) t;
				perform weir_internal.park_claim(q, g, u, true);
				-- who comes second finds it out of the lane, which may be claimed in
				assert weir_internal.park_claim(q, g, u, true);
				assert weir_internal.park_claim(q, g, u, false);
			end
			$$`)
		if n := pgtest.QueryVal[int](l, l.db, "select count(*)::int from weir_internal.q1_parked"); n != 2 {
			l.Errorf("%d rows are parked, want 2", n)
		}
		l.ack(got[0])
		l.ack(got[1])
	})
}

// sendBatch sends messages of one key a letter in one record, with letter and place as payload.
func (l lines) sendBatch(keys string) {
	l.Helper()
	l.db.Exec(l, `select count(*) from weir.send_batch($1,
		array(select to_jsonb(k || i) from regexp_split_to_table($2, '') with ordinality s (k, i)),
		keys => regexp_split_to_array($2, ''))`, queue, keys)
}

func TestWhatIsLeftOfARecordIsDeliveredWhenSomeOfItJoinsParkedLines(t *testing.T) {
	each(t, "patience => '1 hour'", func(l lines) {
		l.sendBatch("abaaaba")
		l.nack(l.receive(1, "1 hour", "a1")[0], "1 hour")
		for _, m := range l.receive(2, "1 hour", "b2", "b6") {
			l.ack(m)
		}
		l.clock.Advance(l, 2*time.Hour)
		l.ack(l.receive(10, "1 hour", "a1")[0])
		for _, m := range l.receive(10, "1 hour", "a3", "a4", "a5", "a7") {
			l.ack(m)
		}
		l.receive(10, "1 hour")
	})
}

func TestWhatIsNotOfAParkedLineIsDeliveredAmongManyThatAre(t *testing.T) {
	each(t, "patience => '1 hour'", func(l lines) {
		l.sendBatch("a")
		l.nack(l.receive(1, "1 hour", "a1")[0], "1 hour")
		l.sendBatch(strings.Repeat("a", 1500) + "b")
		l.ack(l.receive(2000, "1 hour", "b1501")[0])
		l.receive(10, "1 hour")
	})
}

func TestADelayedMessageWaitsForAClaimThatLeftTheLane(t *testing.T) {
	each(t, "patience => '1 minute'", func(l lines) {
		key, delay := "a", "5 seconds"
		if _, err := surface.Send(l.Context(), l.db.Pool(l), queue, `"later"`, &key, nil, &delay); err != nil {
			l.Fatal(err)
		}
		l.send("a", 0)
		first := l.receive(10, "1 hour", "a0")
		l.clock.Advance(l, 6*time.Second)
		l.receive(10, "1 hour") // later stands in its line, before a0 leaves the lane
		l.send("b", 0)
		l.clock.Advance(l, 2*time.Minute)
		l.ack(l.receive(10, "1 hour", "b0")[0]) // a0 has left the lane
		l.receive(10, "1 hour")                 // and is with its consumer
		l.ack(first[0])
		l.ack(l.receive(10, "1 hour", "later")[0])
		l.receive(10, "1 hour")
	})
}

func TestWhatFollowsInItsLineIsTakenAlongOutOfAClaimThatLeftTheLane(t *testing.T) {
	each(t, "patience => '1 minute'", func(l lines) {
		l.sendBatch("aab")
		got := l.receive(10, "1 hour", "a1", "a2", "b3")
		l.send("c", 0)
		l.clock.Advance(l, 2*time.Minute)
		l.ack(l.receive(10, "1 hour", "c0")[0]) // the others have left the lane
		l.nack(got[0], "0")
		n, err := surface.Ack(l.Context(), l.db.Pool(l), queue, got[1].ClaimID, []int64{got[1].ID})
		if err != nil || n != 0 {
			l.Errorf("ack of a2, which stands behind a1: %d, %v", n, err)
		}
		l.ack(got[2])
		l.ack(l.receive(10, "1 hour", "a1")[0])
		last := l.receive(10, "1 hour", "a2")
		if last[0].Attempt != 1 {
			l.Errorf("attempt %d of a2, want 1", last[0].Attempt)
		}
		l.ack(last[0])
	})
}

// A delayed message that becomes due while a message of its key is with a consumer comes behind that one, however often
// it fails.
func TestWhatComesLateDoesNotOvertakeWhatIsBeingWorkedAt(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]func(lines, surface.Message){
		"nacked": func(l lines, m surface.Message) { l.nack(m, "1 hour") },
		"nacked after it left the lane": func(l lines, m surface.Message) {
			l.send("b", 0)
			l.clock.Advance(l, 2*time.Minute)
			l.ack(l.receive(10, "1 hour", "b0")[0])
			l.nack(m, "1 hour")
		},
		"expired": func(l lines, _ surface.Message) {
			l.clock.Advance(l, 2*time.Hour)
			l.nack(l.receive(1, "1 hour", "a0")[0], "1 hour")
		},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, "patience => '1 minute'", func(l lines) {
				key, delay := "a", "5 seconds"
				if _, err := surface.Send(l.Context(), l.db.Pool(l), queue, `"later"`, &key, nil, &delay); err != nil {
					l.Fatal(err)
				}
				l.send("a", 0)
				first := l.receive(1, "1 hour", "a0")
				l.clock.Advance(l, 6*time.Second)
				l.receive(10, "1 hour") // later joins the line
				fail(l, first[0])
				l.receive(10, "1 hour")
				l.clock.Advance(l, 2*time.Hour)
				l.ack(l.receive(10, "1 hour", "a0")[0])
				l.ack(l.receive(10, "1 hour", "later")[0])
				l.receive(10, "1 hour")
			})
		})
	}
}

func TestWhatAClaimKeepsThatLeftItsLaneIsCountedOnce(t *testing.T) {
	each(t, "patience => '1 minute'", func(l lines) {
		l.sendBatch("aab")
		l.receive(10, "1 hour", "a1", "a2", "b3")
		l.send("a", 4)
		l.clock.Advance(l, 2*time.Minute)
		l.receive(10, "1 hour") // they leave the lane, and a4 joins the line
		got := pgtest.QueryVal[string](l, l.db, `select format('%s claimed, %s parked, %s waiting', claimed, parked, waiting)
			from weir.stats($1) where group_name = $2`, queue, group)
		if got != "3 claimed, 1 parked, 0 waiting" {
			l.Errorf("%s, want 3 claimed, 1 parked, 0 waiting", got)
		}
	})
}
