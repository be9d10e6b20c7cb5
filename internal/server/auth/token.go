package auth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"strings"

	"github.com/weirmq/weir/internal/engine"
)

// Prefix begins every token, so that one that is found where it should not be is recognised.
const Prefix = "weir_"

// tokenBytes is how much of a token is random.
const tokenBytes = 32

// NewToken makes a token, and the digest that the database gets of it.
func NewToken() (token string, digest []byte) {
	var secret [tokenBytes]byte
	_, _ = rand.Read(secret[:]) // it never fails
	token = Prefix + base64.RawURLEncoding.EncodeToString(secret[:])
	sum := sha256.Sum256([]byte(token))
	return token, sum[:]
}

// wellFormed reports whether a text can be a token: all else need not be looked up.
func wellFormed(text string) bool {
	secret, ok := strings.CutPrefix(text, Prefix)
	raw, err := base64.RawURLEncoding.Strict().DecodeString(secret)
	return ok && err == nil && len(raw) == tokenBytes
}

// Finder looks tokens up; an engine.Client does.
type Finder interface {
	FindToken(ctx context.Context, digest []byte) (t engine.Token, ok bool, err error)
}

// findToken asks the database who a token belongs to. What is compared there are digests of 256 random bits, so how
// long it takes tells nothing.
func findToken(ctx context.Context, tokens Finder, token string, digest [sha256.Size]byte) (*Caller, error) {
	if !wellFormed(token) {
		return nil, errUnknown
	}
	t, ok, err := tokens.FindToken(ctx, digest[:])
	switch {
	case err != nil:
		return nil, err //nolint:wrapcheck // the engine's errors say what was done
	case !ok:
		return nil, errUnknown
	}
	verbs := make([]Verb, len(t.Verbs))
	for i, v := range t.Verbs {
		verbs[i] = Verb(v)
	}
	return &Caller{
		Kind: ByToken, Name: t.Name, Grants: []Grant{{Queues: t.Queues, Verbs: verbs}}, ExpiresAt: t.ExpiresAt, proof: token,
	}, nil
}
