package api

import (
	"net"
	"sync/atomic"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/weirmq/weir/internal/engine"
)

// holdersMax is how many claims are remembered; beyond it the one that was handed out longest ago is forgotten.
const holdersMax = 50_000

// holders know to which client this server handed which claim, until it is settled, so that people can be told: the
// engine only knows the server's session. What a client's death or the end of a lease leaves behind goes with time.
type holders struct {
	claims *lru.Cache[heldClaim, *holder]
}

type heldClaim struct {
	queue string
	claim int64
}

type holder struct {
	client string // its address
	caller string // the name of its token, or the subject of its JWT; empty where nobody is asked
	left   atomic.Int64
}

func newHolders() *holders {
	claims, _ := lru.New[heldClaim, *holder](holdersMax) // it fails on sizes below 1 only
	return &holders{claims: claims}
}

// handed notes what a client is answered. address is its host and port.
func (h *holders) handed(queue string, list []engine.Message, address, caller string) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = address
	}
	if len(list) > 0 { // of one receive, and so of one claim
		to := &holder{client: host, caller: caller}
		to.left.Store(int64(len(list)))
		h.claims.Add(heldClaim{queue, list[0].ClaimID}, to)
	}
}

// settled notes that a client has done with messages of claims.
func (h *holders) settled(queue string, list []finished) {
	for _, f := range list {
		at := heldClaim{queue, f.ClaimID}
		if of, known := h.claims.Peek(at); known && of.left.Add(-int64(f.Finished)) <= 0 {
			h.claims.Remove(at)
		}
	}
}

// of returns who holds a claim, if it was handed out here.
func (h *holders) of(queue string, claim int64) (client, caller *string) {
	of, known := h.claims.Peek(heldClaim{queue, claim})
	if !known {
		return nil, nil
	}
	if of.caller != "" {
		caller = &of.caller
	}
	return &of.client, caller
}
