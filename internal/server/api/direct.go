package api

import (
	"bytes"
	"context"
	"net/http"
)

// directInput is the input of a route that is answered directly.
type directInput[I any] interface {
	*I
	locate(r *http.Request) // reads the path
	into() any              // where the body goes
}

func (p *QueuePath) locate(r *http.Request) { p.Queue = r.PathValue("queue") }
func (p *GroupPath) locate(r *http.Request) {
	p.Queue, p.Group = r.PathValue("queue"), r.PathValue("group")
}

// direct registers an operation that every message goes through. Huma describes it as it does all others, and answers
// what is out of the ordinary: a request with a query, or whose body is missing or cannot be read. All else is answered
// here, without reflecting on parameters.
func direct[I, B any, In directInput[I]](
	a *api, needs need, method, path, name, summary string, handle func(context.Context, *I) (*output[B], error),
) {
	status := statusOf(name)
	a.mux.direct[method+" "+path] = func(w http.ResponseWriter, r *http.Request) bool {
		body, read := r.Body.(*body)
		if !read || r.URL.RawQuery != "" {
			return false
		}
		in := new(I)
		if decodeStrict(body.text, In(in).into()) != nil {
			return false
		}
		In(in).locate(r)
		out, err := handle(r.Context(), in)
		if err != nil {
			writeProblem(w, a.problem(r.Context(), name, err))
			return true
		}
		writeJSON(w, status, &out.Body)
		return true
	}
	route(a, needs, method, path, name, summary, handle)
}

// body is the body of a request, read whole.
type body struct {
	bytes.Reader

	text []byte
}

func newBody(text []byte) *body {
	b := &body{text: text}
	b.Reset(text)
	return b
}

// Close implements io.Closer.
func (b *body) Close() error { return nil }
