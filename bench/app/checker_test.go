package app_test

import (
	"slices"
	"testing"

	"github.com/weirmq/weir/bench/app"
)

// checked is a checker of one session with 10 messages, of which the first three are done.
func checked(t *testing.T) *app.Checker {
	t.Helper()
	s := app.NewStream(2)
	s.Announce(0, 10)
	c := app.NewChecker("g", s)
	for seq := range int64(3) {
		if !c.Begin(app.Place{Seq: seq}, 1) {
			t.Fatalf("message %d is refused", seq)
		}
		c.End(app.Place{Seq: seq}, 1, app.Done)
	}
	return c
}

func TestAnOrderlyDeliveryHasNoFaults(t *testing.T) {
	t.Parallel()
	c := checked(t)
	for attempt := 1; attempt <= 5; attempt++ { // 3 fails until it is dead
		if !c.Begin(app.Place{Seq: 3}, attempt) {
			t.Fatalf("attempt %d is refused", attempt)
		}
		if attempt < 5 {
			c.End(app.Place{Seq: 3}, attempt, app.Failed)
		}
	}
	c.End(app.Place{Seq: 3}, 5, app.Dead)
	if c.Begin(app.Place{Seq: 2}, 2) { // its ack was late: no fault, but nothing to do
		t.Error("a message that is done is to be worked on again")
	}
	for seq := int64(4); seq < 10; seq++ {
		c.Begin(app.Place{Seq: seq}, 1)
		c.End(app.Place{Seq: seq}, 1, app.Done)
	}
	f := c.Finding()
	want := app.GroupCounts{Deliveries: 15, Again: 5, Failed: 4, Done: 9, Dead: 1}
	if f.GroupCounts != want || f.Missing != 0 {
		t.Errorf("found %+v", f)
	}
	if len(f.Letters) != 1 || f.Letters[0] != (app.Place{Seq: 3}) {
		t.Errorf("dead are %v", f.Letters)
	}
}

func TestTheNextMessageMayComeBeforeTheHandlerThatAckedTheOneBeforeEnds(t *testing.T) {
	t.Parallel()
	c := checked(t)
	for seq := int64(3); seq < 6; seq++ {
		if !c.Begin(app.Place{Seq: seq}, 1) {
			t.Fatalf("message %d is refused", seq)
		}
		c.Acking(app.Place{Seq: seq}, 1)
	}
	if f := c.Finding(); f.Missing != 7 {
		t.Errorf("%d are missing while their handlers run", f.Missing)
	}
	for seq := int64(3); seq < 6; seq++ {
		c.End(app.Place{Seq: seq}, 1, app.Done)
	}
	if f := c.Finding(); f.Faults != 0 || f.Done != 6 || f.Missing != 4 {
		t.Errorf("found %+v", f)
	}
}

func TestEachForgedFaultIsFound(t *testing.T) {
	t.Parallel()
	for fault, forge := range map[app.Fault]func(c *app.Checker){
		app.Overtaken: func(c *app.Checker) { c.Begin(app.Place{Seq: 4}, 1) },
		app.Invented:  func(c *app.Checker) { c.Begin(app.Place{Seq: 10}, 1) },
		app.Repeated:  func(c *app.Checker) { c.Begin(app.Place{Seq: 1}, 1) },
		app.TwoAtOnce: func(c *app.Checker) {
			c.Begin(app.Place{Seq: 3}, 1)
			c.Begin(app.Place{Seq: 3}, 2)
		},
		app.Stale: func(c *app.Checker) {
			c.Begin(app.Place{Seq: 3}, 2)
			c.End(app.Place{Seq: 3}, 2, app.Failed)
			c.Begin(app.Place{Seq: 3}, 2)
		},
		app.Undead: func(c *app.Checker) {
			c.Begin(app.Place{Seq: 3}, 5)
			c.End(app.Place{Seq: 3}, 5, app.Dead)
			c.Begin(app.Place{Seq: 3}, 6)
		},
	} {
		t.Run(string(fault), func(t *testing.T) {
			t.Parallel()
			c := checked(t)
			forge(c)
			f := c.Finding()
			if f.ByFault[fault] != 1 || f.Faults != 1 || len(f.Examples) != 1 {
				t.Errorf("found %+v", f)
			}
		})
	}
}

func TestAMessageIsOvertakenWhileItsHandlerHasNotAckedIt(t *testing.T) {
	t.Parallel()
	for name, overtake := range map[string]func(c *app.Checker){
		"at work": func(c *app.Checker) { c.Begin(app.Place{Seq: 4}, 1) },
		"by one after the next": func(c *app.Checker) {
			c.Acking(app.Place{Seq: 3}, 1)
			c.Begin(app.Place{Seq: 5}, 1)
		},
		"after a failed ack": func(c *app.Checker) {
			c.Acking(app.Place{Seq: 3}, 1)
			c.End(app.Place{Seq: 3}, 1, app.Failed)
			c.Begin(app.Place{Seq: 4}, 1)
		},
		"before its ack fails": func(c *app.Checker) {
			c.Acking(app.Place{Seq: 3}, 1)
			c.Begin(app.Place{Seq: 4}, 1)
			c.End(app.Place{Seq: 3}, 1, app.Failed)
		},
		"in its second attempt": func(c *app.Checker) {
			c.Acking(app.Place{Seq: 3}, 1)
			c.End(app.Place{Seq: 3}, 1, app.Failed)
			c.Begin(app.Place{Seq: 3}, 2)
			c.Begin(app.Place{Seq: 4}, 1)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := checked(t)
			c.Begin(app.Place{Seq: 3}, 1)
			overtake(c)
			if f := c.Finding(); f.ByFault[app.Overtaken] != 1 || f.Faults != 1 {
				t.Errorf("found %+v", f)
			}
		})
	}
}

func TestAnotherSessionsMessageIsInvented(t *testing.T) {
	t.Parallel()
	c := checked(t)
	for _, p := range []app.Place{{Session: 1}, {Session: 2}, {Session: -1}, {Seq: -1}} {
		if c.Begin(p, 1) {
			t.Errorf("%v is accepted", p)
		}
	}
	if n := c.Finding().ByFault[app.Invented]; n != 4 {
		t.Errorf("%d are invented", n)
	}
}

func TestALostMessageIsMissing(t *testing.T) {
	t.Parallel()
	if f := checked(t).Finding(); f.Missing != 7 {
		t.Errorf("%d are missing", f.Missing)
	}
}

func TestWhatWasNotSentIsTakenBack(t *testing.T) {
	t.Parallel()
	s := app.NewStream(1)
	if first := s.Announce(0, 5); first != 0 {
		t.Errorf("the first is %d", first)
	}
	s.Withdraw(0, 2)
	if first := s.Announce(0, 1); first != 3 {
		t.Errorf("the next is %d", first)
	}
}

func TestAfterLostCallsAMessageMayComeAgainBeforeItsHandlerEnds(t *testing.T) {
	t.Parallel()
	c := checked(t)
	c.Shaken(5)
	p := app.Place{Seq: 3}
	if !c.Begin(p, 1) || !c.Begin(p, 2) { // its lease ended while the database was away
		t.Fatal("a delivery is refused")
	}
	c.Acking(p, 1) // by the first handler, which has the message no more
	c.End(p, 1, app.Failed)
	if c.Begin(app.Place{Seq: 3}, 2) {
		t.Error("the same attempt is accepted twice")
	}
	c.End(p, 2, app.Done)
	f := c.Finding()
	if f.Done != 4 || f.Failed != 0 || f.Faults != 1 || f.ByFault[app.TwoAtOnce]+f.ByFault[app.Stale] != 1 {
		t.Errorf("found %+v", f)
	}
}

func TestAfterLostCallsWhatIsPassedOverIsToldToBeLookedForAmongTheDead(t *testing.T) {
	t.Parallel()
	c := checked(t)
	c.Shaken(5)
	c.Begin(app.Place{Seq: 3}, 5) // and its lease ends
	c.Begin(app.Place{Seq: 5}, 1)
	c.End(app.Place{Seq: 3}, 5, app.Done) // which is refused
	c.End(app.Place{Seq: 5}, 1, app.Done)
	c.Begin(app.Place{Seq: 6}, 5)
	c.End(app.Place{Seq: 6}, 5, app.Done)
	f := c.Finding()
	if f.Faults != 0 || f.Done != 5 || f.Dead != 2 || f.Missing != 3 || len(f.Letters) != 0 {
		t.Errorf("found %+v", f)
	}
	if want := []app.Place{{Seq: 3}, {Seq: 4}}; !slices.Equal(f.Skipped, want) {
		t.Errorf("passed over are %v", f.Skipped)
	}
	if want := []app.Place{{Seq: 6}}; !slices.Equal(f.LastDone, want) {
		t.Errorf("done at the last attempt are %v", f.LastDone)
	}
	if c.Begin(app.Place{Seq: 4}, 2); c.Finding().ByFault[app.Undead] != 1 {
		t.Error("one that was passed over comes again, and that is no fault")
	}
}
