package auth

import (
	"errors"
	"fmt"
	"time"

	"github.com/weirmq/weir/internal/engine"
)

const tokenHint = "Send the header Authorization: Bearer with a token; `weir token create` makes one."

// Why a request is not let in.
var (
	errNoToken = engine.NewError(engine.CodeUnauthenticated, "the request has no token", tokenHint)
	errUnknown = engine.NewError(engine.CodeUnauthenticated, "the token is unknown, was revoked or has expired",
		tokenHint)
	errManyTokens = engine.NewError(engine.CodeUnauthenticated, "the request has more than one header Authorization",
		"Send one.")
	errJWT = engine.NewError(engine.CodeUnauthenticated, "the JWT is not one that this server takes",
		"It must be signed by a key of the issuer, made out for this server's audience, and not expired.")
)

// ErrReadOnly refuses what is not looking on a server that was started so.
var ErrReadOnly = engine.NewError(engine.CodeNotAllowed, "this server only lets look",
	"It was started with --read-only; ask another server.")

var (
	// ErrKeys says that the keys of an identity provider cannot be had.
	ErrKeys = errors.New("no keys to check JWTs with")
	// errJustAsked says that the keys were fetched a moment ago.
	errJustAsked = errors.New("the keys were fetched a moment ago")
)

// NotAllowed is the refusal of what a caller may not do; the queue is "" when he would have to be allowed all of them.
func NotAllowed(c *Caller, verb Verb, queue string) error {
	what, pattern := fmt.Sprintf("queue %q", queue), queue
	if queue == "" {
		what, pattern = "every queue", "'*'"
	}
	return engine.NewError(engine.CodeNotAllowed, fmt.Sprintf("%s %q may not %s %s", c.Kind, c.Name, words[verb], what),
		fmt.Sprintf("It needs the verb %s on the queues %s.", verb, pattern))
}

var words = map[Verb]string{
	Produce: "send to", Consume: "consume from", Admin: "administer", Read: "look at",
}

// TooMany is the refusal of a caller who sends too many requests.
type TooMany struct {
	After time.Duration // when to try again
	err   error
}

// Error says so.
func (e *TooMany) Error() string { return e.err.Error() }

// Unwrap returns the error with its code.
func (e *TooMany) Unwrap() error { return e.err }

func tooMany(after time.Duration) error {
	return &TooMany{After: after, err: engine.NewError(engine.CodeTooManyRequests,
		"more requests than this server takes from one caller",
		"Wait as long as Retry-After says; send more messages in fewer requests.")}
}
