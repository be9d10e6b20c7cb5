package ordered_test

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirmq/weir/test/surface"
)

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
