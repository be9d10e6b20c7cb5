package walk_test

import (
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/weirmq/weir/test/oracle"
	"github.com/weirmq/weir/test/surface"
)

// lease draws a lease, and says when it is over.
func (w *walk) lease(rt *rapid.T) (string, time.Duration) {
	if rapid.Bool().Draw(rt, "long lease") {
		return "3 hours", w.now + 3*time.Hour
	}
	return "1 hour", w.now + time.Hour
}

func (w *walk) batchMax(rt *rapid.T) int {
	return rapid.SampledFrom([]int{1, 1, 2, 3, 7, 20, 1000}).Draw(rt, "max")
}

func (w *walk) receive(rt *rapid.T) {
	s, c := w.session(rt)
	group, limit := w.group(rt), w.batchMax(rt)
	lease, deadline := w.lease(rt)
	var got []surface.Message
	if rapid.Bool().Draw(rt, "records") {
		records, err := surface.ReceiveRecords(w.tb.Context(), c, w.queue, group, limit, lease)
		w.note(rt, err)
		for _, r := range records {
			got = append(got, r.Messages()...)
		}
	} else {
		var err error
		got, err = surface.Receive(w.tb.Context(), c, w.queue, group, limit, lease)
		w.note(rt, err)
	}
	w.received(rt, s, group, got, limit, deadline)
}

func (w *walk) received(
	rt *rapid.T, s *oracle.Session, group string, got []surface.Message, limit int, deadline time.Duration,
) {
	if len(got) > limit {
		rt.Fatalf("asked for %d, received %d", limit, len(got))
	}
	w.note(rt, s.Received(group, got, w.now, deadline))
	for _, m := range got {
		if !slices.Contains(w.claims, m.ClaimID) {
			w.claims = append(w.claims, m.ClaimID)
		}
	}
}

func (w *walk) pop(rt *rapid.T) {
	s, c := w.session(rt)
	group, limit := w.group(rt), w.batchMax(rt)
	got, err := surface.Pop(w.tb.Context(), c, w.queue, group, limit)
	w.note(rt, err)
	w.received(rt, s, group, got, limit, w.now+30*time.Second)
	for _, m := range got {
		s.Do(oracle.Op{Settled: &oracle.Settled{Claim: m.ClaimID, Group: group, IDs: []int64{m.ID}, Verb: "ack"}})
	}
}

// claim draws a claim, mostly one of the last, that no other session's open transaction has touched.
func (w *walk) claim(rt *rapid.T, s *oracle.Session) int64 {
	if len(w.claims) == 0 {
		rt.Skip("no claim")
	}
	back := rapid.OneOf(rapid.IntRange(0, min(4, len(w.claims)-1)), rapid.IntRange(0, len(w.claims)-1)).Draw(rt, "claim")
	claim := w.claims[len(w.claims)-1-back]
	if s.Locked(claim) {
		rt.Skip("another transaction has the claim")
	}
	return claim
}

// some draws ids of a claim, rarely with one that is not of it; nil for all.
func (w *walk) some(rt *rapid.T, s *oracle.Session, claim int64) []int64 {
	c, ok := s.View().Claims[claim]
	if !ok || rapid.Bool().Draw(rt, "whole") {
		return nil
	}
	ids := []int64{}
	for _, id := range c.IDs {
		if rapid.Bool().Draw(rt, "this") {
			ids = append(ids, id)
		}
	}
	if rapid.IntRange(0, 9).Draw(rt, "foreign") == 0 {
		ids = append(ids, c.IDs[0]+500) // no record has so many
	}
	return ids
}

func (w *walk) settle(rt *rapid.T) {
	s, c := w.session(rt)
	claim := w.claim(rt, s)
	ids := w.some(rt, s, claim)
	verbs := []string{"ack", "ack", "ack", "nack", "nack", "release", "reject"}
	if ids == nil { // reject asks for them
		verbs = verbs[:6]
	}
	verb := rapid.SampledFrom(verbs).Draw(rt, "verb")
	call := surface.End{Verb: verb, Claim: claim, IDs: ids}
	want := s.Settle(claim, ids, w.now)
	due := w.now
	if verb == "nack" {
		call.Delay = rapid.SampledFrom([]*string{nil, surface.Text("0"), surface.Text("30 minutes")}).Draw(rt, "delay")
		if call.Delay != nil && *call.Delay != "0" {
			due += 30 * time.Minute
		}
	}
	do := call.Alone
	if rapid.Bool().Draw(rt, "by many") {
		do = call.ByMany
	}
	var n int
	err := w.guarded(rt, s, c, func() (err error) {
		n, err = do(w.tb.Context(), c, w.queue)
		return err
	})
	if err := want.Check(n, err); err != nil {
		rt.Fatalf("%s of claim %d %v at %s: %v; %+v", verb, claim, ids, w.now, err, s.View().Claims[claim])
	}
	if err == nil && n > 0 {
		s.Do(oracle.Op{Settled: &oracle.Settled{Claim: claim, Group: want.Group, IDs: want.IDs, Verb: verb, Due: due}})
	}
}

// ackAll finishes every claim that can be, so that the rings have something to give back: in one call, or each by
// itself.
func (w *walk) ackAll(rt *rapid.T) {
	s, c := w.session(rt)
	var claims []int64
	for _, claim := range w.claims {
		if s.Settle(claim, nil, w.now).Count > 0 && !s.Locked(claim) && rapid.IntRange(0, 5).Draw(rt, "leave") > 0 {
			claims = append(claims, claim)
		}
	}
	if len(claims) > 0 && rapid.Bool().Draw(rt, "together") {
		counts, err := surface.AckMany(w.tb.Context(), c, w.queue, claims)
		w.note(rt, err)
		var left []int64
		for i, n := range counts {
			if n < 0 {
				left = append(left, claims[i])
			} else {
				w.acked(rt, s, claims[i], n, nil)
			}
		}
		claims = left
	}
	for _, claim := range claims {
		var n int
		err := w.guarded(rt, s, c, func() (err error) {
			n, err = surface.Ack(w.tb.Context(), c, w.queue, claim, nil)
			return err
		})
		w.acked(rt, s, claim, n, err)
	}
}

// acked checks and notes what the ack of a whole claim answered.
func (w *walk) acked(rt *rapid.T, s *oracle.Session, claim int64, n int, err error) {
	want := s.Settle(claim, nil, w.now)
	if err := want.Check(n, err); err != nil {
		rt.Fatalf("ack of claim %d: %v", claim, err)
	}
	s.Do(oracle.Op{Settled: &oracle.Settled{Claim: claim, Group: want.Group, IDs: want.IDs, Verb: "ack"}})
}

func (w *walk) extend(rt *rapid.T) {
	s, c := w.session(rt)
	claim := w.claim(rt, s)
	want := s.Settle(claim, nil, w.now)
	lease, deadline := w.lease(rt)
	err := w.guarded(rt, s, c, func() error {
		_, err := surface.Extend(w.tb.Context(), c, w.queue, claim, lease)
		return err
	})
	state := surface.SQLState(err)
	switch {
	case err == nil && want.Count > 0:
		s.Do(oracle.Op{Extend: &oracle.Extend{Claim: claim, Deadline: deadline}})
	case want.Count <= 0 && (state == "WR010" || state == "WR009"):
	default:
		rt.Fatalf("extend of claim %d: %v; want %+v", claim, err, want)
	}
}

// wrongQueue names one queue and a claim of another.
func (w *walk) wrongQueue(rt *rapid.T) {
	s, c := w.session(rt)
	claim := w.claim(rt, s)
	call := surface.End{Verb: rapid.SampledFrom([]string{"ack", "nack", "release"}).Draw(rt, "verb"), Claim: claim}
	other := w.sides[0].queue
	if w.side == w.sides[0] {
		other = w.sides[1].queue
	}
	err := w.guarded(rt, s, c, func() error {
		_, err := call.Alone(w.tb.Context(), c, other)
		return err
	})
	if state := surface.SQLState(err); state != "WR009" && state != "WR010" {
		rt.Fatalf("%s of claim %d of queue %s as one of %s: %v", call.Verb, claim, w.queue, other, err)
	}
}

// redrive sends all dead letters of a group back to it; those past their ttl stay.
func (w *walk) redrive(rt *rapid.T) {
	group := w.group(rt)
	if w.oracle.Uses(group) {
		rt.Skip("a transaction may be about to add one")
	}
	dead := slices.DeleteFunc(w.checkDead(rt, group), func(id int64) bool {
		ttl := w.oracle.World.TTL
		return ttl > 0 && w.oracle.World.Messages[id].At+ttl <= w.now
	})
	var n int
	err := w.db.Pool(w.tb).QueryRow(w.tb.Context(), "select weir.redrive($1, $2)", w.queue, group).Scan(&n)
	if err != nil || n != len(dead) {
		rt.Fatalf("redrive answered %d, %v; want %d", n, err, len(dead))
	}
	for _, id := range dead {
		w.oracle.World.Redrive(group, id)
	}
}

// checkDead compares a group's dead letters with what may be among them, and returns their ids.
func (w *walk) checkDead(rt *rapid.T, group string) []int64 {
	dead, err := surface.DeadLetters(w.tb.Context(), w.db.Pool(w.tb), w.queue, group)
	w.note(rt, err)
	var ids []int64
	for _, d := range dead {
		attempts, ok := w.oracle.World.MayBeDead(group, d.ID, w.now)
		if !ok || attempts != d.Attempts || d.Payload != w.oracle.World.Messages[d.ID].Payload {
			rt.Fatalf("group %s has the dead letter %+v, which it should not (%t, %d attempts)", group, d, ok, attempts)
		}
		ids = append(ids, d.ID)
	}
	return ids
}

// finish ends all transactions and drains every group: exactly what is owed must come.
func (w *walk) finish(rt *rapid.T) {
	for i, s := range w.oracle.Sessions {
		if s.Open {
			w.exec(rt, w.conns[i], "commit")
			w.eachSession(s, (*oracle.Session).Commit)
		}
	}
	w.each(func() { w.drain(rt) })
}

func (w *walk) drain(rt *rapid.T) {
	s, c := w.oracle.Sessions[0], w.conns[0]
	for _, group := range w.groups {
		for idle := 0; idle < 3; {
			d := 500 * time.Minute
			w.now += d
			w.clock.Advance(w.tb, d)
			got, err := surface.Pop(w.tb.Context(), c, w.queue, group, 1000)
			w.note(rt, err)
			w.received(rt, s, group, got, 1000, w.now+30*time.Second)
			for _, m := range got {
				s.Do(oracle.Op{Settled: &oracle.Settled{Claim: m.ClaimID, Group: group, IDs: []int64{m.ID}, Verb: "ack"}})
			}
			_, err = surface.Maintain(w.tb.Context(), c)
			w.note(rt, err)
			idle++
			if len(got) > 0 {
				idle = 0
			}
		}
		open, dead := w.oracle.World.Unfinished(group)
		if len(open) > 0 {
			for _, id := range open {
				rt.Logf("message %d: %+v", id, w.oracle.World.Groups[group].States[id])
			}
			rt.Fatalf("lost: group %s was never delivered %v", group, open)
		}
		have := slices.DeleteFunc(w.checkDead(rt, group), func(id int64) bool {
			return w.oracle.World.Groups[group].States[id].Gone
		})
		dead = slices.DeleteFunc(dead, func(id int64) bool { return w.oracle.World.Groups[group].States[id].Gone })
		if !slices.Equal(have, dead) {
			rt.Fatalf("group %s has the dead letters %v, want %v", group, have, dead)
		}
	}
}
