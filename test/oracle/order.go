package oracle

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/weirmq/weir/test/surface"
)

// ahead says which message of the same line had to come before one that an ordered group was delivered, or "": one that
// was delivered before it, or whose transaction had committed before the other's began, or that the same transaction
// sent before it. What was sent with a delay has no place before its first delivery.
func (w *World) ahead(g *Group, m surface.Message, beside []surface.Message, now time.Duration) string {
	sent := w.Messages[m.ID]
	if !g.Ordered || sent.Line == "" {
		return ""
	}
	for _, id := range slices.Sorted(maps.Keys(w.Messages)) {
		other := w.Messages[id]
		if id == m.ID || other.Line != sent.Line || !w.before(g, other, sent) || w.over(g, id, now) {
			continue
		}
		i := slices.IndexFunc(beside, func(b surface.Message) bool { return b.ID == id })
		if i < 0 || beside[i].ClaimID != m.ClaimID {
			return fmt.Sprintf("before %d of the same line %s, %+v", id, sent.Line, g.States[id])
		}
	}
	return ""
}

// before says whether a message must come before another of its line.
func (w *World) before(g *Group, a, b Sent) bool {
	stateA, stateB := g.States[a.ID], g.States[b.ID]
	switch {
	case stateA.Place > 0 || stateB.Place > 0:
		return stateA.Place > 0 && (stateB.Place == 0 || stateA.Place < stateB.Place)
	case a.Due > a.At || b.Due > b.At || stateA.Late || stateB.Late:
		return false
	}
	return a.committed < b.began || a.began == b.began && a.ID < b.ID
}

// over says whether a message stands in no other's way any more, or whether that is not known.
func (w *World) over(g *Group, id int64, now time.Duration) bool {
	s := g.States[id]
	held := s.Claim != 0 && w.Claims[s.Claim].Deadline > now
	switch {
	case s.Acked || s.Dead:
		return true
	case held:
		return false
	case s.Claim != 0 && s.Attempts >= g.MaxAttempts:
		return true // dead, since its lease is over
	}
	return !s.Owed || s.Gone || w.TTL > 0 && w.Messages[id].At+w.TTL <= now+Slack
}

// takeAlong gives back what a claim holds of lines of which a message failed: that delivery is not counted.
func (w *World) takeAlong(claim int64, g *Group, lines map[string]bool) {
	for _, id := range w.Claims[claim].IDs {
		s := g.States[id]
		if s.Claim == claim && !w.Claims[claim].Done[id] && lines[w.Messages[id].Line] {
			w.Claims[claim].Done[id] = true
			s.Claim = 0
			s.Attempts--
			g.States[id] = s
		}
	}
}

// PassedOver notes what is past its time now: it may have been dropped, need not be delivered, and nobody remembers
// that it was cancelled.
func (w *World) PassedOver(now time.Duration) {
	for _, g := range w.Groups {
		for id, s := range g.States {
			if w.TTL > 0 && w.Messages[id].At+w.TTL <= now+Slack {
				s.Owed, s.Gone = false, false
				g.States[id] = s
			}
		}
	}
}

// Moved notes that a group was moved to another place in the log, and its claims taken: it may be delivered anything
// again, also what was cancelled. With keeps, what it was owed it still is.
func (w *World) Moved(group string, keeps bool) {
	g := w.Groups[group]
	for id, s := range g.States {
		owed := keeps && s.Owed && !s.Acked && !s.Dead
		g.States[id] = State{Owed: owed, Loose: true, Due: s.Due, Late: s.Late}
	}
}

// Cancelled notes that no group is delivered a message any more; who works at it may finish it.
func (w *World) Cancelled(id int64) {
	for _, g := range w.Groups {
		s := g.States[id]
		s.Owed, s.Gone = false, true
		g.States[id] = s
	}
}

// Depth says how many messages a group has to finish: at least those that cannot have died with a lease that ended. It
// is not known while some may have been dropped, or be there again.
func (w *World) Depth(group string, now time.Duration) (least, most int, known bool) {
	g := w.Groups[group]
	for _, s := range g.States {
		switch {
		case s.Loose || s.Gone || !s.Owed:
			return 0, 0, false
		case s.Acked || s.Dead:
			continue
		case s.Claim == 0 || s.Attempts < g.MaxAttempts || w.Claims[s.Claim].Deadline > now:
			least++
		}
		most++
	}
	return least, most, true
}
