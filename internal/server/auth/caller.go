package auth

import (
	"context"
	"slices"
	"strings"
	"time"
)

// Verb is a kind of thing that a caller may do with a queue.
type Verb string

// The verbs. Who may consume from a queue or administer it may look at it, too, as with rights in SQL.
const (
	Produce Verb = "produce"
	Consume Verb = "consume"
	Admin   Verb = "admin"
	Read    Verb = "read"
)

// all is every verb.
var all = []Verb{Produce, Consume, Admin, Read}

// Grant allows verbs on the queues that a pattern covers.
type Grant struct {
	Queues []string `json:"queues" doc:"Patterns of queue names; * stands for any characters."`
	Verbs  []Verb   `json:"verbs" doc:"Of produce, consume, admin and read."`
}

// Kind tells how a caller proved himself.
type Kind string

// The kinds of callers.
const (
	Anybody Kind = "anybody" // nobody was asked
	ByToken Kind = "token"
	ByJWT   Kind = "jwt"
)

// Caller is who a request is from.
type Caller struct {
	Kind      Kind
	Name      string // the token's name, or the subject of the JWT
	Grants    []Grant
	ExpiresAt *time.Time

	proof string // what he proved himself with, to be looked at again
}

// anybody is the caller where nobody is asked who he is: he may do everything.
var anybody = &Caller{Kind: Anybody, Grants: []Grant{{Queues: []string{"*"}, Verbs: all}}}

// May reports whether the caller may do something with a queue.
func (c *Caller) May(verb Verb, queue string) bool {
	return c.some(verb, func(pattern string) bool { return covers(pattern, queue) })
}

// MayEverywhere reports whether the caller may do something with every queue, those that are not there yet included.
func (c *Caller) MayEverywhere(verb Verb) bool {
	return c.some(verb, func(pattern string) bool { return pattern != "" && strings.Trim(pattern, "*") == "" })
}

// MaySomewhere reports whether there can be a queue with which the caller may do something.
func (c *Caller) MaySomewhere(verb Verb) bool {
	return c.some(verb, func(string) bool { return true })
}

// some reports whether a pattern of a grant of the verb fits.
func (c *Caller) some(verb Verb, fits func(pattern string) bool) bool {
	return slices.ContainsFunc(c.Grants, func(g Grant) bool {
		return g.has(verb) && slices.ContainsFunc(g.Queues, fits)
	})
}

func (g Grant) has(verb Verb) bool {
	return slices.ContainsFunc(g.Verbs, func(v Verb) bool {
		return v == verb || verb == Read && (v == Consume || v == Admin)
	})
}

// covers reports whether a pattern stands for a name. It takes time in proportion to the name times the pattern.
func covers(pattern, name string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == name
	}
	rest, ok := strings.CutPrefix(name, parts[0])
	if !ok {
		return false
	}
	last := len(parts) - 1
	for _, part := range parts[1:last] {
		i := strings.Index(rest, part)
		if i < 0 {
			return false
		}
		rest = rest[i+len(part):]
	}
	return strings.HasSuffix(rest, parts[last])
}

type callerKey struct{}

// With returns a context that carries a caller.
func With(ctx context.Context, c *Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// From returns the caller that a context carries; without one it is a caller who may do nothing.
func From(ctx context.Context) *Caller {
	if c, ok := ctx.Value(callerKey{}).(*Caller); ok {
		return c
	}
	return &Caller{}
}
