package auth

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"strings"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/singleflight"
)

const (
	// RecheckAfter is how long what a token allows is believed without looking again.
	RecheckAfter = 5 * time.Second
	// rememberedMax is how many tokens are remembered, those that let in and those that do not apart, so that guessed
	// ones push no good ones out.
	rememberedMax = 10_000
	// lookupTimeout limits one look at a token.
	lookupTimeout = 5 * time.Second
)

// Options say who is let in.
type Options struct {
	// Tokens looks tokens up; nil takes none.
	Tokens Finder
	// JWT checks JWTs; nil takes none.
	JWT *JWT
	// ReadOnly refuses everybody what is not looking.
	ReadOnly bool
	// Rate limits the requests of one caller a second, and those of an address that is not let in; 0 does not.
	Rate float64
	// Burst is how many requests may come at once when they are limited; 0 means twice Rate.
	Burst int
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Gate lets requests in. Without tokens and JWTs it lets everybody in, to everything.
type Gate struct {
	opt     Options
	limits  *limits
	in, out *lru.Cache[[sha256.Size]byte, seen]
	lookups singleflight.Group
}

// seen is what was found out about a token.
type seen struct {
	caller *Caller
	err    error
	until  time.Time
}

// New returns a gate.
func New(opt Options) *Gate {
	if opt.Now == nil {
		opt.Now = time.Now
	}
	in, _ := lru.New[[sha256.Size]byte, seen](rememberedMax) // it fails on sizes below 1 only
	out, _ := lru.New[[sha256.Size]byte, seen](rememberedMax)
	return &Gate{opt: opt, limits: newLimits(opt.Rate, opt.Burst), in: in, out: out}
}

// Asks reports whether callers must say who they are.
func (g *Gate) Asks() bool { return g.opt.Tokens != nil || g.opt.JWT != nil }

// ReadOnly reports whether the server only lets look.
func (g *Gate) ReadOnly() bool { return g.opt.ReadOnly }

// Enter tells who a request is from. Its errors have SQLSTATEs of errors.csv: who is not let in, sends too much, or
// cannot be looked up because the database does not answer.
func (g *Gate) Enter(r *http.Request) (*Caller, error) {
	now := g.opt.Now()
	if !g.Asks() {
		return anybody, g.limits.take(addressKey(r.RemoteAddr), now)
	}
	proof, err := bearer(r.Header)
	if err == nil {
		digest := sha256.Sum256([]byte(proof))
		if known, ok := g.in.Get(digest); ok && now.Before(known.until) {
			return known.caller, g.limits.take(string(known.caller.Kind)+" "+known.caller.Name, now)
		}
	}
	if err := g.limits.take(addressKey(r.RemoteAddr), now); err != nil {
		return nil, err
	}
	if err != nil {
		return nil, err
	}
	return g.identify(r.Context(), proof)
}

// Again looks whether a caller who was let in a while ago still is, and what he may do now.
func (g *Gate) Again(ctx context.Context, c *Caller) (*Caller, error) {
	if c.Kind == Anybody {
		return c, nil
	}
	return g.identify(ctx, c.proof)
}

// identify tells who a token belongs to. Those who ask for the same token at once share the answer.
func (g *Gate) identify(ctx context.Context, proof string) (*Caller, error) {
	digest := sha256.Sum256([]byte(proof))
	if known, ok := g.recall(digest); ok {
		return known.caller, known.err
	}
	found, err, _ := g.lookups.Do(string(digest[:]), func() (any, error) {
		if known, ok := g.recall(digest); ok { // a look has ended since
			return known.caller, known.err
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookupTimeout)
		defer cancel()
		caller, err := g.look(ctx, proof, digest)
		return caller, g.remember(digest, caller, err)
	})
	caller, _ := found.(*Caller)
	return caller, err //nolint:wrapcheck // it comes from look
}

// recall returns what was found out about a token not long ago.
func (g *Gate) recall(digest [sha256.Size]byte) (seen, bool) {
	now := g.opt.Now()
	for _, remembered := range []*lru.Cache[[sha256.Size]byte, seen]{g.in, g.out} {
		if known, ok := remembered.Get(digest); ok && now.Before(known.until) {
			return known, true
		}
	}
	return seen{}, false
}

// look asks whoever knows about a token.
func (g *Gate) look(ctx context.Context, proof string, digest [sha256.Size]byte) (*Caller, error) {
	if strings.HasPrefix(proof, Prefix) && g.opt.Tokens != nil {
		return findToken(ctx, g.opt.Tokens, proof, digest)
	}
	if strings.Count(proof, ".") == 2 && g.opt.JWT != nil {
		return g.opt.JWT.verify(ctx, proof, g.opt.Now())
	}
	return nil, errUnknown
}

// remember keeps what was found out, unless nothing was.
func (g *Gate) remember(digest [sha256.Size]byte, caller *Caller, err error) error {
	until := g.opt.Now().Add(RecheckAfter)
	switch {
	case err == nil:
		if e := caller.ExpiresAt; e != nil && e.Before(until) {
			until = *e
		}
		g.in.Add(digest, seen{caller: caller, until: until})
	case isRefusal(err):
		g.in.Remove(digest)
		g.out.Add(digest, seen{err: err, until: until})
	}
	return err
}

// isRefusal reports whether a token was found not to let in, which is not so when it could not be looked at.
func isRefusal(err error) bool { return errors.Is(err, errUnknown) || errors.Is(err, errJWT) }

// bearer returns the token of a request.
func bearer(header http.Header) (string, error) {
	values := header.Values("Authorization")
	switch {
	case len(values) == 0:
		return "", errNoToken
	case len(values) > 1:
		return "", errManyTokens
	}
	scheme, token, _ := strings.Cut(strings.TrimSpace(values[0]), " ")
	if !strings.EqualFold(scheme, "Bearer") || token == "" {
		return "", errNoToken
	}
	return strings.TrimSpace(token), nil
}
