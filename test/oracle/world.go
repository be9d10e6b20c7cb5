// Package oracle keeps in memory what a queue owes its groups, and judges what the engine delivers by it.
//
// A World is what is committed. A transaction collects operations; they become part of the World when it commits, are
// dropped when it, or a savepoint in it, is rolled back, and until then stand in the way of every other session.
package oracle

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/weirmq/weir/test/surface"
)

// Slack is how far real time may pass unseen beside the time that a test moves; deadlines keep farther away than that.
const Slack = 4 * time.Minute

// Sent is a message as its sender gave it.
type Sent struct {
	ID      int64
	Payload string
	Key     *string
	Headers *string
	At      time.Duration // the test's time when it was sent
	Due     time.Duration // not to be delivered before; At when it has no delay
	Line    string        // what it is in order with in an ordered group; "": nothing that is known

	began, committed int // its transaction, in the order of both; committed 0: it is not
}

// State is how one message stands with one group.
type State struct {
	Owed     bool // false: it may be delivered, as to a group that began when it was there already
	Loose    bool // a seek or a purge has gone over it: it may be delivered at whichever attempt
	Gone     bool // cancelled, or passed over: not to be delivered
	Late     bool // sent again: it has no place before its first delivery
	Attempts int
	Place    int           // of its first delivery among all; 0: there was none
	Claim    int64         // that holds it, also when the lease is over; 0: none
	Due      time.Duration // not to be delivered before
	Acked    bool
	Dead     bool
}

// Claim is a lease as receive gave it.
type Claim struct {
	ID       int64
	Group    string
	IDs      []int64
	Done     map[int64]bool // finished by its holder
	Deadline time.Duration
}

// Group is a group's side of the queue.
type Group struct {
	MaxAttempts int
	Ordered     bool
	States      map[int64]State
}

// World is what a queue holds.
type World struct {
	Messages map[int64]Sent
	Groups   map[string]*Group
	Claims   map[int64]Claim
	TTL      time.Duration // 0: none
	ticks    int           // of transactions that began or ended, and of first deliveries
}

// NewWorld returns a queue with no messages and no groups.
func NewWorld() *World {
	return &World{Messages: map[int64]Sent{}, Groups: map[string]*Group{}, Claims: map[int64]Claim{}}
}

func (w *World) clone() *World {
	c := NewWorld()
	c.TTL, c.ticks = w.TTL, w.ticks
	maps.Copy(c.Messages, w.Messages)
	for name, g := range w.Groups {
		c.Groups[name] = &Group{MaxAttempts: g.MaxAttempts, Ordered: g.Ordered, States: maps.Clone(g.States)}
	}
	for id, claim := range w.Claims {
		claim.Done = maps.Clone(claim.Done)
		c.Claims[id] = claim
	}
	return c
}

// AddGroup makes a group. What is in the queue already it may be delivered, or not.
func (w *World) AddGroup(name string, attemptsMax int, ordered bool) {
	g := &Group{MaxAttempts: attemptsMax, Ordered: ordered, States: map[int64]State{}}
	for id, m := range w.Messages {
		g.States[id] = State{Due: m.Due}
	}
	w.Groups[name] = g
}

// DropGroup ends a group. Its claims stay: what was finished of them is, the rest is taken away.
func (w *World) DropGroup(name string) { delete(w.Groups, name) }

// Op is something a transaction did. Exactly one of its parts is set.
type Op struct {
	Sent    *Sent
	Claimed *Claimed
	Settled *Settled
	Extend  *Extend
}

// Claimed is a receive: what one claim was given.
type Claimed struct {
	Claim    Claim
	Attempts []int // of each message
}

// Settled is an ack, nack, release or reject.
type Settled struct {
	Claim int64
	Group string
	IDs   []int64
	Verb  string
	Due   time.Duration // of a nack
}

// Extend is a deadline moved.
type Extend struct {
	Claim    int64
	Deadline time.Duration
}

// Apply makes an operation part of the world.
func (w *World) Apply(op Op) {
	switch {
	case op.Sent != nil:
		w.ticks++
		m := *op.Sent
		m.committed = w.ticks
		w.Messages[m.ID] = m
		for _, g := range w.Groups {
			g.States[op.Sent.ID] = State{Owed: true, Due: op.Sent.Due}
		}
	case op.Claimed != nil:
		claim := op.Claimed.Claim
		claim.Done = map[int64]bool{}
		w.Claims[claim.ID] = claim
		for i, id := range claim.IDs {
			s := w.Groups[claim.Group].States[id]
			s.Owed = true // who was delivered it once is owed it until it is done
			s.Loose = false
			s.Attempts = op.Claimed.Attempts[i]
			s.Claim = claim.ID
			if s.Place == 0 {
				w.ticks++
				s.Place = w.ticks
			}
			w.Groups[claim.Group].States[id] = s
		}
	case op.Settled != nil:
		w.settle(*op.Settled)
	case op.Extend != nil:
		claim := w.Claims[op.Extend.Claim]
		claim.Deadline = max(claim.Deadline, op.Extend.Deadline)
		w.Claims[claim.ID] = claim
	}
}

func (w *World) settle(op Settled) {
	g := w.Groups[op.Group]
	again := map[string]bool{} // lines
	for _, id := range op.IDs {
		w.Claims[op.Claim].Done[id] = true
		s := g.States[id]
		s.Claim = 0
		switch {
		case op.Verb == "ack":
			s.Acked = true
		case op.Verb == "release":
			s.Attempts--
			s.Due = op.Due
			again[w.Messages[id].Line] = true
		case op.Verb == "reject" || s.Attempts >= g.MaxAttempts:
			s.Dead = true
		default:
			s.Due = op.Due
			again[w.Messages[id].Line] = true
		}
		g.States[id] = s
	}
	if g.Ordered {
		w.takeAlong(op.Claim, g, again)
	}
}

// Redrive lets a dead letter be delivered again.
func (w *World) Redrive(group string, id int64) {
	s := w.Groups[group].States[id]
	w.Groups[group].States[id] = State{Owed: true, Due: s.Due, Gone: s.Gone, Late: true}
}

// MayBeDead says whether a message may be among a group's dead letters, and how many attempts it then has.
func (w *World) MayBeDead(group string, id int64, now time.Duration) (int, bool) {
	g := w.Groups[group]
	s, ok := g.States[id]
	switch {
	case !ok || s.Acked:
		return 0, false
	case s.Dead:
		return s.Attempts, true
	case s.Claim != 0 && s.Attempts >= g.MaxAttempts:
		return s.Attempts, w.Claims[s.Claim].Deadline <= now+Slack // expired once too often
	}
	return 0, false
}

// Unfinished returns the ids of a group that are owed and not acked, by whether they must end up dead.
func (w *World) Unfinished(group string) (open, dead []int64) {
	g := w.Groups[group]
	for id, s := range g.States {
		switch {
		case s.Acked:
		case s.Gone && !s.Dead: // it may have died when a lease ended, or not
		case s.Dead || s.Claim != 0 && s.Attempts >= g.MaxAttempts:
			dead = append(dead, id)
		case s.Owed:
			open = append(open, id)
		}
	}
	slices.Sort(open)
	slices.Sort(dead)
	return open, dead
}

// check says why a message must not be delivered to a group now, or "".
// beside is what the same receive has delivered before it.
func (w *World) check(group string, m surface.Message, beside []surface.Message, now time.Duration) string {
	sent, ok := w.Messages[m.ID]
	if !ok {
		return "phantom: never committed"
	}
	g := w.Groups[group]
	s, ok := g.States[m.ID]
	if !ok {
		return "not for this group"
	}
	held := w.Claims[s.Claim]
	switch {
	case s.Acked:
		return "acknowledged already"
	case s.Dead:
		return "a dead letter"
	case s.Claim != 0 && held.Deadline > now:
		return fmt.Sprintf("in the live claim %d", s.Claim)
	case s.Gone:
		return "cancelled, passed over or dropped"
	case !s.Loose && s.Attempts >= g.MaxAttempts:
		return fmt.Sprintf("past its %d attempts", g.MaxAttempts)
	case w.TTL > 0 && sent.At+w.TTL < now-Slack:
		return "past its ttl"
	case !s.Loose && m.Attempt != s.Attempts+1:
		return fmt.Sprintf("attempt %d, want %d", m.Attempt, s.Attempts+1)
	case s.Due > now+Slack:
		return fmt.Sprintf("not due before %s", s.Due)
	case m.Payload != sent.Payload:
		return "payload differs from " + sent.Payload
	case !same(m.Key, sent.Key):
		return "key differs"
	case !same(m.Headers, sent.Headers):
		return "headers differ"
	}
	return w.ahead(g, m, beside, now)
}

func same(a, b *string) bool {
	return a == nil && b == nil || a != nil && b != nil && *a == *b
}
