package oracle

import (
	"fmt"
	"slices"
	"time"

	"github.com/weirmq/weir/test/surface"
)

// Oracle judges several sessions on one queue.
type Oracle struct {
	World    *World
	Sessions []*Session

	seen   map[int64]time.Time // enqueued_at as first delivered
	lastID int64
}

// Session is one connection: outside a transaction its operations are part of the world at once.
type Session struct {
	Oracle *Oracle
	Open   bool
	ops    []Op
	marks  []int // savepoints
	began  int
}

// New returns an oracle with n sessions.
func New(n int) *Oracle {
	o := &Oracle{World: NewWorld(), seen: map[int64]time.Time{}}
	for range n {
		o.Sessions = append(o.Sessions, &Session{Oracle: o})
	}
	return o
}

// View is the world as the session sees it: what is committed, and its own operations.
func (s *Session) View() *World {
	if len(s.ops) == 0 {
		return s.Oracle.World
	}
	w := s.Oracle.World.clone()
	for _, op := range s.ops {
		w.Apply(op)
	}
	return w
}

// Do notes an operation.
func (s *Session) Do(op Op) {
	if s.Open {
		s.ops = append(s.ops, op)
	} else {
		s.Oracle.World.Apply(op)
	}
}

// Begin opens a transaction.
func (s *Session) Begin() {
	s.Open = true
	s.began = s.Oracle.tick()
}

func (o *Oracle) tick() int {
	o.World.ticks++
	return o.World.ticks
}

// Commit makes the session's operations part of the world.
func (s *Session) Commit() {
	for _, op := range s.ops {
		s.Oracle.World.Apply(op)
	}
	s.Rollback()
}

// Rollback drops the session's operations.
func (s *Session) Rollback() { s.Open, s.ops, s.marks = false, nil, nil }

// Savepoint marks a place to go back to, and returns how many there are.
func (s *Session) Savepoint() int {
	s.marks = append(s.marks, len(s.ops))
	return len(s.marks)
}

// RollbackTo drops what came after savepoint n (1..), which stays.
func (s *Session) RollbackTo(n int) {
	s.ops = s.ops[:s.marks[n-1]]
	s.marks = s.marks[:n]
}

// Savepoints returns how many savepoints there are.
func (s *Session) Savepoints() int { return len(s.marks) }

// Sent checks the id of a message and notes it.
func (s *Session) Sent(m Sent) error {
	if m.ID <= s.Oracle.lastID {
		return fmt.Errorf("message id %d after %d: ids must rise", m.ID, s.Oracle.lastID)
	}
	s.Oracle.lastID = m.ID
	m.began = s.began
	if !s.Open {
		m.began = s.Oracle.tick()
	}
	s.Do(Op{Sent: &m})
	return nil
}

// Received checks what a receive delivered and notes the claims.
func (s *Session) Received(group string, got []surface.Message, now, deadline time.Duration) error {
	view := s.View()
	var claims []Claim
	attempts := map[int64][]int{}
	for at, m := range got {
		if reason := view.check(group, m, got[:at], now); reason != "" {
			return fmt.Errorf("group %s was delivered %s: %s", group, m, reason)
		}
		if other := s.blocked(group, m.ID); other != "" {
			return fmt.Errorf("group %s was delivered %s, which another open transaction %s", group, m, other)
		}
		if at, ok := s.Oracle.seen[m.ID]; ok && !at.Equal(m.EnqueuedAt) {
			return fmt.Errorf("%s has enqueued_at %s, had %s", m, m.EnqueuedAt, at)
		}
		s.Oracle.seen[m.ID] = m.EnqueuedAt
		i := slices.IndexFunc(claims, func(c Claim) bool { return c.ID == m.ClaimID })
		if i < 0 {
			i = len(claims)
			claims = append(claims, Claim{ID: m.ClaimID, Group: group, Deadline: deadline})
			if _, ok := view.Claims[m.ClaimID]; ok {
				return fmt.Errorf("%s comes with a claim that was there before", m)
			}
		}
		if slices.Contains(claims[i].IDs, m.ID) {
			return fmt.Errorf("%s was delivered twice by one receive", m)
		}
		claims[i].IDs = append(claims[i].IDs, m.ID)
		attempts[m.ClaimID] = append(attempts[m.ClaimID], m.Attempt)
	}
	if len(claims) > 1 {
		return fmt.Errorf("group %s was given %d claims by one receive", group, len(claims))
	}
	for _, c := range claims {
		s.Do(Op{Claimed: &Claimed{Claim: c, Attempts: attempts[c.ID]}})
	}
	return nil
}

// blocked says what another open transaction has done to a message, or "".
func (s *Session) blocked(group string, id int64) string {
	for _, other := range s.Oracle.Sessions {
		if other == s {
			continue
		}
		for _, op := range other.ops {
			switch {
			case op.Claimed != nil && op.Claimed.Claim.Group == group && slices.Contains(op.Claimed.Claim.IDs, id):
				return "has claimed"
			case op.Settled != nil && op.Settled.Group == group && slices.Contains(op.Settled.IDs, id):
				return "has settled"
			case op.Extend != nil && s.Oracle.World.Groups[group].States[id].Claim == op.Extend.Claim:
				return "has extended the claim of"
			}
		}
	}
	return ""
}

// Locked says whether another open transaction has touched a claim, so that a call would wait for it.
func (s *Session) Locked(claim int64) bool {
	for _, other := range s.Oracle.Sessions {
		if other == s {
			continue
		}
		for _, op := range other.ops {
			if op.Settled != nil && op.Settled.Claim == claim || op.Extend != nil && op.Extend.Claim == claim ||
				op.Claimed != nil && slices.ContainsFunc(op.Claimed.Claim.IDs, func(id int64) bool {
					return s.Oracle.World.Groups[op.Claimed.Claim.Group].States[id].Claim == claim
				}) {
				return true
			}
		}
	}
	return false
}

// Others says whether another session has a transaction open.
func (s *Session) Others() bool {
	return slices.ContainsFunc(s.Oracle.Sessions, func(other *Session) bool { return other != s && other.Open })
}

// Uses says whether an open transaction has touched a group.
func (o *Oracle) Uses(group string) bool {
	for _, s := range o.Sessions {
		for _, op := range s.ops {
			if op.Claimed != nil && op.Claimed.Claim.Group == group || op.Settled != nil && op.Settled.Group == group ||
				op.Extend != nil {
				return true
			}
		}
	}
	return false
}

// Outcome is what a settling call may answer: a count, or one of some SQLSTATEs.
type Outcome struct {
	Count  int
	States []string // also possible; with Count < 0 the only possibility
	IDs    []int64  // what it settles
	Group  string
}

// Settle says what settling some messages of a claim (nil: all of it) must answer.
func (s *Session) Settle(claim int64, ids []int64, now time.Duration) Outcome {
	view := s.View()
	c, ok := view.Claims[claim]
	if !ok {
		return Outcome{Count: -1, States: []string{"WR009", "WR010"}}
	}
	group := view.Groups[c.Group] // nil when it was dropped
	want := ids
	if ids == nil {
		want = c.IDs
	}
	var left []int64
	for _, id := range want {
		if !slices.Contains(c.IDs, id) {
			// WR010: rotation has forgotten a finished claim
			return Outcome{Count: -1, States: []string{"WR010", "WR011"}}
		}
		if !c.Done[id] {
			left = append(left, id)
		}
	}
	if len(left) == 0 {
		return Outcome{Count: 0, States: []string{"WR010"}, Group: c.Group} // likewise
	}
	taken := func(id int64) bool { return group.States[id].Claim != claim }
	if group == nil || c.Deadline <= now || slices.ContainsFunc(left, taken) {
		return Outcome{Count: -1, States: []string{"WR010"}}
	}
	return Outcome{Count: len(left), IDs: left, Group: c.Group}
}

// Check compares what a call answered.
func (o Outcome) Check(n int, err error) error {
	state := surface.SQLState(err)
	switch {
	case err == nil && n == o.Count:
		return nil
	case err != nil && slices.Contains(o.States, state):
		return nil
	}
	if err == nil {
		return fmt.Errorf("answered %d, want %d or one of %v", n, o.Count, o.States)
	}
	return fmt.Errorf("want %d or one of %v: %w", o.Count, o.States, err)
}
