package api

import (
	"net/http"

	"github.com/weirmq/weir/internal/server/auth"
)

// gatedMux registers no route without what it needs, and lets nobody past who has it not. The path is taken apart by
// the mux before, so the queue that is checked is the queue that is used.
type gatedMux struct {
	*http.ServeMux

	gate   *auth.Gate
	needs  map[string]need                                          // by pattern
	direct map[string]func(http.ResponseWriter, *http.Request) bool // by pattern; false: it is for huma
	known  *http.ServeMux                                           // the routes without the one for all else
	wrap   func(http.Handler) http.Handler
}

func newGatedMux(gate *auth.Gate, wrap func(http.Handler) http.Handler) *gatedMux {
	m := &gatedMux{
		ServeMux: http.NewServeMux(), gate: gate, needs: map[string]need{}, known: http.NewServeMux(), wrap: wrap,
		direct: map[string]func(http.ResponseWriter, *http.Request) bool{},
	}
	m.ServeMux.HandleFunc("/", m.unrouted)
	return m
}

// HandleFunc registers a route of huma's, in front of which there may be a direct one.
func (m *gatedMux) HandleFunc(pattern string, handle func(http.ResponseWriter, *http.Request)) {
	n, stated := m.needs[pattern]
	if !stated {
		panic("route without a need: " + pattern)
	}
	m.known.HandleFunc(pattern, handle)
	answer := handle
	if direct := m.direct[pattern]; direct != nil {
		answer = func(w http.ResponseWriter, r *http.Request) {
			if !direct(w, r) {
				handle(w, r)
			}
		}
	}
	m.ServeMux.Handle(pattern, guarded(m.gate, n, m.wrap(http.HandlerFunc(answer)).ServeHTTP))
}

// unrouted answers a path or a method that no route has with a problem instead of a line of text.
func (m *gatedMux) unrouted(w http.ResponseWriter, r *http.Request) {
	handler, _ := m.known.Handler(r)
	probe := &headerProbe{header: http.Header{}}
	handler.ServeHTTP(probe, r)
	if probe.status == http.StatusMethodNotAllowed {
		w.Header().Set("Allow", probe.header.Get("Allow"))
		Refuse(w, newProblem(http.StatusMethodNotAllowed,
			r.Method+" is not a method of "+r.URL.Path, "It has "+probe.header.Get("Allow")+"."))
		return
	}
	Refuse(w, newProblem(http.StatusNotFound, "there is nothing at "+r.URL.Path, "/openapi.json lists the routes."))
}

// headerProbe runs a handler for its status and headers only.
type headerProbe struct {
	header http.Header
	status int
}

func (p *headerProbe) Header() http.Header         { return p.header }
func (p *headerProbe) Write(b []byte) (int, error) { return len(b), nil }
func (p *headerProbe) WriteHeader(status int)      { p.status = status }
