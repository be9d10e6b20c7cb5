package ordered_test

import (
	"strings"
	"testing"
	"time"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

func TestALaneHasManyClaimsAtOnceOfDifferentKeys(t *testing.T) {
	each(t, "", func(l lines) {
		l.send("a", 0)
		l.send("b", 0)
		l.send("a", 1)
		l.send("c", 0)
		a := l.receive(1, "1 hour", "a0")[0]
		b := l.receive(1, "1 hour", "b0")[0]
		l.wantParked(0) // nothing met
		c := l.receive(10, "1 hour", "c0")[0]
		l.wantParked(2) // a1 waits behind a0
		l.receive(10, "1 hour")
		l.ack(b)
		l.ack(c)
		l.ack(a)
		l.ack(l.receive(10, "1 hour", "a1")[0])
		l.receive(10, "1 hour")
		l.wantParked(0)
		l.send("a", 2)
		l.ack(l.receive(10, "1 hour", "a2")[0])
		l.wantParked(0)
	})
}

func TestMessagesOfOneKeyAreTogetherInOneClaim(t *testing.T) {
	each(t, "", func(l lines) {
		l.letters("aab")
		l.send("a", 9)
		for _, m := range l.receive(10, "1 hour", "a1", "a2", "b3", "a9") {
			l.ack(m)
		}
		l.wantParked(0)
	})
}

func TestAFailingMessageHoldsUpItsKeyAndNoOther(t *testing.T) {
	each(t, "", func(l lines) {
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
		l.clock.Advance(l, 11*time.Second)
		head := l.receive(10, "1 minute", "a0")
		if head[0].Attempt != 2 {
			l.Errorf("attempt %d, want 2", head[0].Attempt)
		}
		l.receive(10, "1 minute")
		l.ack(head[0])
		for _, m := range l.receive(10, "1 minute", "a1", "a2") {
			if m.Attempt != 1 {
				l.Errorf("attempt %d of %s, want 1", m.Attempt, m.Payload)
			}
			l.ack(m)
		}
		l.send("a", 3)
		l.send("a", 4)
		l.receive(10, "1 minute", "a3", "a4") // the key has left its trouble behind
	})
}

func TestWhatFollowsWaitsHoweverTheMessageAheadEnds(t *testing.T) {
	t.Parallel()
	for _, verb := range []string{"ack", "nack", "release", "reject", "expire"} {
		for _, met := range []string{"met", "not met"} {
			t.Run(verb+" "+met, func(t *testing.T) {
				each(t, "max_attempts => 3", func(l lines) {
					l.letters("aab")
					got := l.receive(10, "1 hour", "a1", "a2", "b3")
					if met == "met" {
						l.send("a", 4)
						l.receive(10, "1 hour")
					}
					zero, attempt := "0", 2
					if verb == "expire" {
						l.ack(got[2])
						l.clock.Advance(l, 2*hour)
					} else {
						l.settle(verb, got[0], &zero)
					}
					if met != "met" {
						l.send("a", 4)
					}
					switch verb {
					case "ack", "reject": // a2 is with the consumer still
						l.receive(10, "1 hour")
						l.ack(got[1])
					case "expire":
						l.ack(l.receive(10, "1 hour", "a1")[0])
						l.ack(l.receive(10, "1 hour", "a2")[0])
					default:
						if verb == "release" {
							attempt = 1
						}
						if attempt == 1 && met == "met" { // it was not delivered, as far as anybody knows
							for _, m := range l.receive(10, "1 hour", "a1", "a2", "a4") {
								l.ack(m)
							}
						} else if attempt == 1 {
							for _, m := range l.receive(10, "1 hour", "a1", "a2") {
								l.ack(m)
							}
							l.ack(l.receive(10, "1 hour", "a4")[0])
						}
						if attempt == 1 {
							l.ack(got[2])
							l.receive(10, "1 hour")
							return
						}
						head := l.receive(10, "1 hour", "a1")[0]
						if head.Attempt != attempt {
							l.Errorf("attempt %d, want %d", head.Attempt, attempt)
						}
						l.ack(head)
						for _, m := range l.receive(10, "1 hour", "a2", "a4") {
							l.ack(m)
						}
						l.ack(got[2])
						l.receive(10, "1 hour")
						return
					}
					l.ack(l.receive(10, "1 hour", "a4")[0])
					l.receive(10, "1 hour")
					if verb == "reject" {
						l.wantDead("a1")
					}
				})
			})
		}
	}
}

func TestWhatKillsItsConsumerDiesAndItsKeyGoesOn(t *testing.T) {
	t.Parallel()
	for _, met := range []bool{false, true} {
		t.Run(map[bool]string{false: "alone", true: "with others behind it"}[met], func(t *testing.T) {
			each(t, "max_attempts => 2", func(l lines) {
				l.send("a", 0)
				l.send("a", 1)
				for attempt := 1; attempt <= 2; attempt++ {
					got := l.receive(1, "10 seconds", "a0")
					if got[0].Attempt != attempt {
						l.Fatalf("attempt %d, want %d", got[0].Attempt, attempt)
					}
					if met {
						l.receive(10, "1 hour") // a1 stands behind it
					}
					l.clock.Advance(t, 11*time.Second)
				}
				l.ack(l.receive(10, "10 seconds", "a1")[0])
				l.wantDead("a0")
				l.receive(10, "1 hour")
				l.wantParked(0)
			})
		})
	}
}

func TestALateAckOfWhatStoodInItsKeyQueueIsRefused(t *testing.T) {
	each(t, "", func(l lines) {
		l.send("a", 0)
		l.send("a", 1)
		slow := l.receive(1, "10 seconds", "a0")
		l.receive(10, "1 minute")
		l.clock.Advance(t, 11*time.Second)
		again := l.receive(10, "1 minute", "a0")
		_, err := settle(l.Context(), l.db.Pool(t), "ack", slow[0].ClaimID, nil, nil)
		surface.WantState(t, err, "WR010")
		l.ack(again[0])
		l.receive(10, "1 minute", "a1")
	})
}

func TestMessagesWithoutKeysFollowEachOther(t *testing.T) {
	each(t, "", func(l lines) {
		for n := range 4 {
			if _, err := surface.Send(t.Context(), l.db.Pool(t), queue, `"`+surface.Number(n)+`"`, nil, nil, nil); err != nil {
				t.Fatal(err)
			}
		}
		got := l.receive(2, "1 minute", "0", "1")
		l.receive(10, "1 minute")
		l.nack(got[0], "0")
		l.nack(l.receive(10, "1 minute", "0")[0], "0")
		l.ack(l.receive(10, "1 minute", "0")[0])
		for _, want := range []string{"1", "2", "3"} {
			l.ack(l.receive(1, "1 minute", want)[0])
		}
		l.receive(1, "1 minute")
		l.wantParked(0)
	})
}

func TestADelayedMessageTakesItsTurnWhenItIsDue(t *testing.T) {
	each(t, "", func(l lines) {
		l.sendLater("a", 9, surface.Text("5 seconds"))
		l.send("a", 0)
		first := l.receive(10, "1 minute", "a0")
		l.clock.Advance(t, 6*time.Second)
		l.receive(10, "1 minute") // a0 is with its consumer
		l.send("a", 1)
		l.receive(10, "1 minute")
		l.ack(first[0])
		late := l.receive(10, "1 minute", "a9")
		l.receive(10, "1 minute")
		l.ack(late[0])
		l.ack(l.receive(10, "1 minute", "a1")[0])
		l.receive(10, "1 minute")
		l.wantParked(0)
	})
}

// A delayed message that becomes due while a message of its key is with a consumer comes behind that one, however often
// it fails.
func TestWhatComesLateDoesNotOvertakeWhatIsBeingWorkedAt(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]func(lines, surface.Message){
		"nacked":                    func(l lines, m surface.Message) { l.nack(m, "1 hour") },
		"nacked before it is asked": nil,
		"expired": func(l lines, _ surface.Message) {
			l.clock.Advance(l, 2*hour)
			l.nack(l.receive(1, "1 hour", "a0")[0], "1 hour")
		},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, "", func(l lines) {
				l.sendLater("a", 9, surface.Text("5 seconds"))
				l.send("a", 0)
				first := l.receive(1, "1 hour", "a0")
				l.clock.Advance(l, 6*time.Second)
				if fail == nil {
					l.nack(first[0], "1 hour")
				}
				l.receive(10, "1 hour") // a9 joins the line
				if fail != nil {
					fail(l, first[0])
				}
				l.receive(10, "1 hour")
				l.clock.Advance(l, 2*hour)
				l.ack(l.receive(10, "1 hour", "a0")[0])
				l.ack(l.receive(10, "1 hour", "a9")[0])
				l.receive(10, "1 hour")
			})
		})
	}
}

func TestWhatIsLeftOfARecordIsDeliveredWhenSomeOfItIsParked(t *testing.T) {
	each(t, "", func(l lines) {
		l.letters("abaaaba")
		l.nack(l.receive(1, "1 hour", "a1")[0], "1 hour")
		for _, m := range l.receive(2, "1 hour", "b2", "b6") {
			l.ack(m)
		}
		l.clock.Advance(l, 2*hour)
		l.ack(l.receive(10, "1 hour", "a1")[0])
		for _, m := range l.receive(10, "1 hour", "a3", "a4", "a5", "a7") {
			l.ack(m)
		}
		l.receive(10, "1 hour")
	})
}

func TestWhatIsNotOfAParkedKeyIsDeliveredAmongManyThatAre(t *testing.T) {
	each(t, "", func(l lines) {
		l.letters("a")
		l.nack(l.receive(1, "1 hour", "a1")[0], "1 hour")
		l.letters(strings.Repeat("a", 1500) + "b")
		l.receive(2000, "1 hour") // a thousand are parked
		if n := pgtest.QueryVal[int](l, l.db, "select count(*)::int from weir_log.parked"); n > 1001 {
			l.Errorf("one receive parked %d messages", n)
		}
		l.ack(l.receive(2000, "1 hour", "b1501")[0])
		l.receive(10, "1 hour")
	})
}

func TestAMessageThatIsRedeliveredTakesAlongWhatFollowsIt(t *testing.T) {
	each(t, "", func(l lines) {
		l.letters("aab")
		got := l.receive(10, "1 hour", "a1", "a2", "b3")
		l.nack(got[0], "0")
		n, err := settle(l.Context(), l.db.Pool(l), "ack", got[1].ClaimID, []int64{got[1].ID}, nil)
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

func TestWhatIsPastItsTTLIsNotDeliveredAndItsKeyGoesOn(t *testing.T) {
	each(t, "", func(l lines) {
		l.db.Exec(l, "update weir_internal.groups set ttl = '1 minute'")
		l.send("a", 0)
		got := l.receive(1, "10 seconds", "a0")
		l.clock.Advance(l, 30*time.Second)
		l.nack(l.receive(1, "20 seconds", "a0")[0], "25 seconds")
		l.send("a", 1)
		l.receive(10, "1 hour")
		l.clock.Advance(l, 40*time.Second)
		l.ack(l.receive(10, "1 hour", "a1")[0])
		l.receive(10, "1 hour")
		l.wantParked(0)
		_ = got
	})
}
