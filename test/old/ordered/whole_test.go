package ordered_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

// TestAWholeClaimEndsInOrderWhateverHappenedToIt ends claims of two messages, behind which a third of the key waits, in
// every way, after everything that is recorded about a claim that goes on.
func TestAWholeClaimEndsInOrderWhateverHappenedToIt(t *testing.T) {
	each(t, "patience => '1 second', backoff_min => '0'", func(l lines) {
		takeOut := func(int64) {
			l.clock.Advance(l, 2*time.Second)
			l.receive(10, "1 minute")
		}
		for name, happen := range map[string]func(claim int64){
			"nothing": func(int64) {}, "extended": l.extend, "turned": l.turn, "out of its lane": takeOut,
			"out of its lane, extended": func(claim int64) { takeOut(claim); l.extend(claim) },
			"out of its lane, turned":   func(claim int64) { takeOut(claim); l.turn(claim) },
			"turned, out of its lane":   func(claim int64) { l.turn(claim); takeOut(claim) },
		} {
			for i, verb := range []string{"ack", "nack", "release", "reject"} {
				for _, many := range []bool{false, true} {
					l.endsInOrder(fmt.Sprintf("%s: %s, by many %t", name, verb, many), verb, many, i%3 == 0, happen)
				}
			}
		}
	})
}

// endsInOrder claims two of three messages of a key, ends that claim and receives what is left.
func (l lines) endsInOrder(what, verb string, many, finishes bool, happen func(claim int64)) {
	l.Helper()
	for n := range 3 {
		l.send("a", n)
	}
	claim := l.receive(2, "1 hour", "a0", "a1")[0].ClaimID
	happen(claim)
	call := surface.End{Verb: verb, Claim: claim, Delay: surface.Text("0")}
	do := call.Alone
	if many {
		do = call.ByMany
	}
	if n, err := do(l.Context(), l.db.Pool(l), queue); err != nil || n != 2 {
		l.Fatalf("%s: %d, %v", what, n, err)
	}
	want, got := []string{`"a0"`, `"a1"`, `"a2"`}, []string(nil)
	if finishes {
		want = want[2:]
	}
	for range want {
		next, err := surface.Receive(l.Context(), l.db.Pool(l), queue, group, 10, "1 hour")
		if err != nil {
			l.Fatal(err)
		}
		for _, m := range next {
			got = append(got, m.Payload)
			l.ack(m)
		}
	}
	left := pgtest.QueryVal[int](l, l.db,
		"select (claimed + parked + waiting)::int from weir.stats($1) where group_name = $2", queue, group)
	if !slices.Equal(got, want) || left != 0 {
		l.Fatalf("%s: then came %v, want %v; %d messages are left", what, got, want, left)
	}
}

func (l lines) extend(claim int64) {
	l.Helper()
	if _, err := surface.Extend(l.Context(), l.db.Pool(l), queue, claim, "2 hours"); err != nil {
		l.Fatal(err)
	}
}

// turn turns the claim log: what is unfinished is carried over to its other table.
func (l lines) turn(int64) {
	l.Helper()
	ring := func() int64 {
		return pgtest.QueryVal[int64](l, l.db, "select pg_sequence_last_value('weir_internal.q1_claims_ring')")
	}
	before := ring()
	l.db.Exec(l, "update weir_internal.queues set claims_bytes = 0")
	pgtest.WaitFor(l, "the claim log turns", func() bool {
		if _, err := surface.Maintain(l.Context(), l.db.Pool(l)); err != nil {
			l.Fatal(err)
		}
		return ring() >= before+2
	})
	l.db.Exec(l, "update weir_internal.queues set claims_bytes = 65536")
}

// endWhole ends each claim as a whole: acknowledges it, gives it back or rejects it, some of them slowly, some through
// the calls for many.
func endWhole(ctx context.Context, t *testing.T, pool *pgxpool.Pool, check *checker, me string, got []delivery) {
	givenBack := map[string]bool{}
	for len(got) > 0 {
		var of, rest []delivery
		for _, d := range got {
			if d.claim == got[0].claim {
				of = append(of, d)
			} else {
				rest = append(rest, d)
			}
		}
		got = rest
		verb := "ack"
		switch fate := rand.IntN(100); {
		case fate < 8:
			verb = "nack"
		case fate < 14:
			verb = "release"
		case fate < 18:
			verb = "reject"
		case fate < 30: // past the group's patience, sometimes past the lease
			waitFor(ctx, time.Duration(rand.IntN(600))*time.Millisecond)
		}
		back := verb == "nack" || verb == "release"
		if anyKey(of, givenBack) {
			continue // its key's messages before are with another by now: the lease will run out
		}
		for _, d := range of {
			if back {
				givenBack[d.key] = true
			} else {
				check.ending(d)
			}
			if back || !anyKey(rest, map[string]bool{d.key: true}) {
				check.release(me, d.key)
			}
		}
		if !endClaim(t, pool, check, verb, of) {
			return
		}
	}
}

// endClaim makes the call and tells the checker of it; false: it came too late, or the test has failed.
func endClaim(t *testing.T, pool *pgxpool.Pool, check *checker, verb string, of []delivery) bool {
	call := surface.End{Verb: verb, Claim: of[0].claim}
	do := call.Alone
	if rand.IntN(2) == 0 {
		do = call.ByMany
	}
	n, err := do(t.Context(), pool, queue)
	state := surface.SQLState(err)
	if state != "" && state != "WR010" {
		t.Error(err)
		return false
	}
	if err == nil && n != len(of) {
		t.Errorf("%s of a claim of %d messages ended %d: %v", verb, len(of), n, of)
	}
	if verb == "ack" || verb == "reject" {
		for _, d := range of {
			check.ended(d, err == nil)
		}
	}
	return err == nil
}

func anyKey(list []delivery, keys map[string]bool) bool {
	for _, d := range list {
		if keys[d.key] {
			return true
		}
	}
	return false
}
