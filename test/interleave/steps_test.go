package interleave_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/weirmq/weir/test/oracle"
	"github.com/weirmq/weir/test/surface"
)

// step is one call of a session.
type step struct {
	text string
	args []string
	make maker
}

// maker makes a step's call, which runs while others may. What it returns says, when it has ended and all that ended
// before is known, what that means.
type maker func(r *run, s *session, args []string) func() func() error

// steps are what a program can say: the word, then a queue (A or B) where it is about one, then more.
var steps = map[string]maker{
	"begin":    begin,
	"commit":   commit,
	"rollback": rollback,
	"send":     send,    // send A key
	"later":    later,   // send A key, due in half an hour
	"receive":  receive, // receive A 10: up to ten, with a lease of an hour
	"ack":      settle("ack"),
	"nack":     settle("nack"), // all that the session received last, to be delivered again at once
	"release":  settle("release"),
	"extend":   extend, // for three hours
	"cancel":   cancel, // the message sent last
	"lanes":    lanes,  // lanes A 2
	"pass":     pass,   // two hours
	"step":     maintain,
}

// parse reads steps with commas between them.
func parse(t *testing.T, text string) []step {
	t.Helper()
	var all []step
	for part := range strings.SplitSeq(text, ",") {
		words := strings.Fields(part)
		of, ok := steps[words[0]]
		if !ok {
			t.Fatalf("there is no step %q", part)
		}
		all = append(all, step{text: strings.Join(words, " "), args: words[1:], make: of})
	}
	return all
}

// exec makes a call without an answer. What it means is done only when it has succeeded.
func exec(r *run, s *session, then func() error, sql string, args ...any) func() func() error {
	return func() func() error {
		_, err := s.conn.Exec(r.Context(), sql, args...)
		return func() error {
			if err != nil {
				return s.failed(r, err)
			}
			return then()
		}
	}
}

// failed judges an error: in a transaction that has failed nothing but its end can be done.
func (s *session) failed(r *run, err error, may ...string) error {
	state := surface.SQLState(err)
	if s.aborted && state == "25P02" {
		return nil
	}
	for _, m := range append(may, "40P01") { // two that wait for each other: one gives up
		if state == m {
			s.abort(r)
			return nil
		}
	}
	return err
}

// abort notes that a call has failed: in a transaction, all that this did is undone at that moment.
func (s *session) abort(r *run) {
	s.aborted = s.open
	for _, d := range r.sides {
		if s.open {
			d.oracle.Sessions[s.no].Rollback()
		}
	}
}

func nothing() error { return nil }

func begin(r *run, s *session, _ []string) func() func() error {
	return exec(r, s, func() error {
		s.open = true
		for _, d := range r.sides {
			d.oracle.Sessions[s.no].Begin()
		}
		return nil
	}, "begin")
}

func commit(r *run, s *session, _ []string) func() func() error {
	end := (*oracle.Session).Commit
	return exec(r, s, func() error {
		if s.aborted {
			end = (*oracle.Session).Rollback
		}
		s.ended(r, end)
		return nil
	}, "commit")
}

func rollback(r *run, s *session, _ []string) func() func() error {
	return exec(r, s, func() error {
		s.ended(r, (*oracle.Session).Rollback)
		return nil
	}, "rollback")
}

func (s *session) ended(r *run, end func(*oracle.Session)) {
	s.open, s.aborted = false, false
	for _, d := range r.sides {
		end(d.oracle.Sessions[s.no])
	}
}

func send(r *run, s *session, args []string) func() func() error { return sendDue(r, s, args, 0) }

func later(r *run, s *session, args []string) func() func() error {
	return sendDue(r, s, args, 30*time.Minute)
}

func sendDue(r *run, s *session, args []string, due time.Duration) func() func() error {
	d := r.sides[args[0]]
	m := oracle.Sent{Payload: strconv.Itoa(len(r.trace)), At: r.now, Due: r.now + due, Line: "none"}
	if len(args) > 1 {
		m.Key, m.Line = &args[1], "key "+args[1]
	}
	var delay *string
	if due > 0 {
		delay = surface.Text(due.String())
	}
	return func() func() error {
		id, err := surface.Send(r.Context(), s.conn, d.queue, m.Payload, m.Key, nil, delay)
		return func() error {
			if err != nil {
				return s.failed(r, err)
			}
			m.ID, d.last = id, id
			return d.oracle.Sessions[s.no].Sent(m)
		}
	}
}

func receive(r *run, s *session, args []string) func() func() error {
	d := r.sides[args[0]]
	most, err := strconv.Atoi(args[1])
	if err != nil {
		r.Fatal(err)
	}
	deadline := r.now + time.Hour
	return func() func() error {
		got, err := surface.Receive(r.Context(), s.conn, d.queue, group, most, "1 hour")
		return func() error {
			if err != nil {
				return s.failed(r, err)
			}
			s.got[args[0]] = got
			return d.oracle.Sessions[s.no].Received(group, got, r.now, deadline)
		}
	}
}

// settle ends what the session received last of the queue.
func settle(verb string) maker {
	return func(r *run, s *session, args []string) func() func() error {
		d, got := r.sides[args[0]], s.got[args[0]]
		if len(got) == 0 {
			return func() func() error { return nothing }
		}
		call := surface.End{Verb: verb, Claim: got[0].ClaimID, IDs: surface.IDs(got)}
		if verb == "nack" {
			call.Delay = surface.Text("0")
		}
		return func() func() error {
			n, err := call.Alone(r.Context(), s.conn, d.queue)
			return func() error {
				if s.aborted && err != nil {
					return s.failed(r, err)
				}
				o := d.oracle.Sessions[s.no]
				want := o.Settle(call.Claim, call.IDs, r.now)
				if err := want.Check(n, err); err != nil {
					return fmt.Errorf("%s of claim %d: %w", verb, call.Claim, err)
				}
				if err != nil {
					s.abort(r)
				} else if n > 0 {
					o.Do(oracle.Op{Settled: &oracle.Settled{
						Claim: call.Claim, Group: want.Group, IDs: want.IDs, Verb: verb, Due: r.now,
					}})
				}
				return nil
			}
		}
	}
}

func extend(r *run, s *session, args []string) func() func() error {
	d, got := r.sides[args[0]], s.got[args[0]]
	if len(got) == 0 {
		return func() func() error { return nothing }
	}
	claim, deadline := got[0].ClaimID, r.now+3*time.Hour
	return func() func() error {
		_, err := surface.Extend(r.Context(), s.conn, d.queue, claim, "3 hours")
		return func() error {
			o := d.oracle.Sessions[s.no]
			if err != nil {
				if !s.aborted && o.Settle(claim, nil, r.now).Count > 0 {
					return fmt.Errorf("extend of claim %d: %w", claim, err)
				}
				return s.failed(r, err, "WR009", "WR010")
			}
			o.Do(oracle.Op{Extend: &oracle.Extend{Claim: claim, Deadline: deadline}})
			return nil
		}
	}
}

func cancel(r *run, s *session, args []string) func() func() error {
	d := r.sides[args[0]]
	id := d.last
	return func() func() error {
		var was string
		err := s.conn.QueryRow(r.Context(), "select weir.cancel($1, $2)", d.queue, id).Scan(&was)
		return func() error {
			if err != nil {
				return s.failed(r, err)
			}
			if was != "ended" {
				d.oracle.World.Cancelled(id)
			}
			return nil
		}
	}
}

func lanes(r *run, s *session, args []string) func() func() error {
	return exec(r, s, nothing, "select weir.configure_queue($1, lanes => $2::int)", r.sides[args[0]].queue, args[1])
}

func pass(r *run, _ *session, _ []string) func() func() error {
	r.advance(2 * time.Hour)
	return func() func() error { return nothing }
}

// maintain does one step of maintenance: step move remainders.
func maintain(r *run, s *session, args []string) func() func() error {
	name := strings.Join(args, " ")
	return func() func() error {
		_, set := s.conn.Exec(r.Context(), "select setval('weir_log.next_look', 0)")
		_, err := s.conn.Exec(r.Context(), "select weir_internal.maintain_step($1, 'main')", name)
		return func() error {
			if err := errors.Join(set, err); err != nil {
				return s.failed(r, err)
			}
			return nil
		}
	}
}
