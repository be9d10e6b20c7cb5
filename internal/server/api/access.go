package api

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/weirmq/weir/internal/server/auth"
)

// need is what a route asks of its caller: one of some verbs, and where he must be allowed it.
type need struct {
	verbs []auth.Verb
	where place
}

// place is with which queues a caller must be allowed a verb.
type place int

const (
	onPath     place = iota // the queue that the path names
	everywhere              // every queue, those that are not there yet included
	somewhere               // any queue: the route itself looks at each that it touches
	nowhere                 // none: whoever has a token
	open                    // none, without a token
)

// What routes need.
var (
	toProduce = need{[]auth.Verb{auth.Produce}, onPath}
	toConsume = need{[]auth.Verb{auth.Consume}, onPath}
	toAdmin   = need{[]auth.Verb{auth.Admin}, onPath}
	toRead    = need{[]auth.Verb{auth.Read}, onPath}

	toAdminAll = need{[]auth.Verb{auth.Admin}, everywhere}
	toReadAll  = need{[]auth.Verb{auth.Read}, everywhere}

	toProduceSome = need{[]auth.Verb{auth.Produce}, somewhere}
	toReadSome    = need{[]auth.Verb{auth.Read}, somewhere}
	toAdminSome   = need{[]auth.Verb{auth.Admin}, somewhere}
	toLookOrSend  = need{[]auth.Verb{auth.Read, auth.Produce}, somewhere}
	toHandOver    = need{[]auth.Verb{auth.Consume, auth.Produce}, somewhere}

	needsToken   = need{where: nowhere}
	needsNothing = need{where: open}
)

// changes reports whether a route does more than look.
func (n need) changes() bool {
	return len(n.verbs) > 0 && !slices.Contains(n.verbs, auth.Read)
}

// security is the need as the OpenAPI document says it.
func (n need) security() []map[string][]string {
	if n.where == open {
		return []map[string][]string{}
	}
	roles := []string{}
	for _, verb := range n.verbs {
		roles = append(roles, string(verb))
	}
	return []map[string][]string{{securityScheme: roles}}
}

// securityScheme is the name of the one there is.
const securityScheme = "token"

// check refuses a caller who may not do what a route needs.
func (n need) check(gate *auth.Gate, caller *auth.Caller, queue string) error {
	if n.where == nowhere {
		return nil
	}
	if n.changes() && gate.ReadOnly() {
		return auth.ErrReadOnly
	}
	for _, verb := range n.verbs {
		var allowed bool
		switch n.where {
		case onPath:
			allowed = caller.May(verb, queue)
		case everywhere:
			allowed = caller.MayEverywhere(verb)
		default:
			allowed = caller.MaySomewhere(verb)
		}
		if allowed {
			return nil
		}
	}
	return auth.NotAllowed(caller, n.verbs[0], queue)
}

// Guarded is for what a server answers beside the API: it lets callers pass who may look at every queue.
func Guarded(gate *auth.Gate, next http.Handler) http.Handler {
	return guarded(gate, toReadAll, next.ServeHTTP)
}

// guarded lets requests pass that the gate lets in and whose caller has what a route needs.
func guarded(gate *auth.Gate, n need, next http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n.where == open {
			next(w, r)
			return
		}
		if r.Method == http.MethodHead && n.changes() { // a mux takes HEAD for GET, whatever that does
			w.Header().Set("Allow", http.MethodGet)
			Refuse(w, newProblem(http.StatusMethodNotAllowed, "HEAD would change what it only asks about", ""))
			return
		}
		caller, err := gate.Enter(r)
		if err == nil {
			err = n.check(gate, caller, r.PathValue("queue"))
		}
		if err != nil {
			Refuse(w, problemOf(err))
			return
		}
		next(w, r.WithContext(auth.With(r.Context(), caller)))
	})
}

// allow refuses what the caller of a route may not do with a queue that the route's path does not name.
func (a *api) allow(ctx context.Context, verb auth.Verb, queue string) error {
	if caller := auth.From(ctx); !caller.May(verb, queue) {
		return auth.NotAllowed(caller, verb, queue)
	}
	return nil
}

// still refuses a caller who was let in before a wait and would not be now.
func (a *api) still(ctx context.Context, verb auth.Verb, queue string) error {
	caller, err := a.opt.Gate.Again(ctx, auth.From(ctx))
	if err != nil {
		return err //nolint:wrapcheck // it says why
	}
	return a.allow(auth.With(ctx, caller), verb, queue)
}

// visible keeps of a list what is about queues that the caller may look at.
func visible[T any](ctx context.Context, list []T, queue func(T) string) []T {
	caller := auth.From(ctx)
	return slices.DeleteFunc(list, func(item T) bool { return !caller.May(auth.Read, queue(item)) })
}

type whoamiOutput struct {
	Kind      auth.Kind    `json:"kind" enum:"anybody,token,jwt" doc:"anybody where the server asks for no token."`
	Name      string       `json:"name" doc:"Of the token, or the subject of the JWT."`
	Grants    []auth.Grant `json:"grants" doc:"What the caller may do with which queues; consume and admin include read."`
	ReadOnly  bool         `json:"read_only" doc:"The server only lets look, whatever the grants say."`
	ExpiresAt *time.Time   `json:"expires_at" doc:"When the token ends, if it does."`
}

// whoami tells a caller what he may do.
func (a *api) whoami(ctx context.Context, _ *struct{}) (*output[whoamiOutput], error) {
	c := auth.From(ctx)
	return reply(whoamiOutput{
		Kind: c.Kind, Name: c.Name, Grants: c.Grants, ReadOnly: a.opt.Gate.ReadOnly(), ExpiresAt: c.ExpiresAt,
	}, nil)
}
