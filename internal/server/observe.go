package server

import (
	"cmp"
	"context"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strconv"
	"time"
)

// requestIDHeader names the header in which a request's id comes, and goes back with the answer.
const requestIDHeader = "X-Request-Id"

// requestIDPat is what a client's id may be: one that cannot break a line of the log, nor fill it.
var requestIDPat = regexp.MustCompile(`^[A-Za-z0-9._:-]{1,64}$`)

// call is what is known of a request while it is served.
type call struct {
	id           string
	route        string // its template, such as POST /v1/queues/{queue}/messages; empty when there is none
	queue, group string // as the path names them; for a topic, its name
	traceID      string
}

type callKey struct{}

// callOf returns the call that a context belongs to, nil when it belongs to none.
func callOf(ctx context.Context) *call {
	c, _ := ctx.Value(callKey{}).(*call)
	return c
}

// observe gives every request an id, and counts, traces and logs it. Neither bodies, headers nor queries are logged.
func (s *Server) observe(m *metrics, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		c := &call{id: r.Header.Get(requestIDHeader)}
		if !requestIDPat.MatchString(c.id) {
			c.id = strconv.FormatUint(rand.Uint64()|1<<60, 16)
		}
		w.Header().Set(requestIDHeader, c.id)
		ctx := context.WithValue(r.Context(), callKey{}, c)
		ctx, span := s.opt.Tracer.Request(ctx, r)
		c.traceID = span.TraceID()
		seen := &statusWriter{ResponseWriter: w, status: http.StatusOK, began: began}
		m.inFlight.Inc()
		answered := false
		defer func() {
			if !answered { // a panic cuts the connection, whatever was written
				seen.status = http.StatusInternalServerError
			}
			took := time.Since(began)
			m.inFlight.Dec()
			m.observe(r, c, seen.status, took)
			span.End(c.route, c.queue, c.group, seen.status)
			s.opt.Log.DebugContext(ctx, "request", "method", r.Method, "path", r.URL.Path, "route", c.route,
				"client", hostOf(r.RemoteAddr), "status", seen.status, "ms", float64(took.Microseconds())/1000)
		}()
		next.ServeHTTP(seen, r.WithContext(ctx))
		answered = true
	})
}

// noteRoute stands next to the routes and notes which one served a request.
func noteRoute(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			if c := callOf(r.Context()); c != nil && r.Pattern != "/" {
				c.route, c.queue, c.group = r.Pattern, cmp.Or(r.PathValue("queue"), r.PathValue("topic")), r.PathValue("group")
			}
		}()
		next.ServeHTTP(w, r)
	})
}

// statusWriter remembers the status of an answer.
type statusWriter struct {
	http.ResponseWriter

	status int
	began  time.Time
}

// WriteHeader notes the status, and says how long it took to find the answer: the page asks the seldomer for it.
func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	took := strconv.FormatFloat(float64(time.Since(w.began).Microseconds())/1000, 'f', 1, 64)
	w.Header().Set("Server-Timing", "total;dur="+took)
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// requestLog adds to every line about a request its id, and that of its trace.
type requestLog struct{ slog.Handler }

// Handle implements slog.Handler.
func (h requestLog) Handle(ctx context.Context, line slog.Record) error {
	if c := callOf(ctx); c != nil {
		line.AddAttrs(slog.String("request_id", c.id))
		if c.traceID != "" {
			line.AddAttrs(slog.String("trace_id", c.traceID))
		}
	}
	return h.Handler.Handle(ctx, line) //nolint:wrapcheck // slog looks at no error
}

// WithAttrs implements slog.Handler.
func (h requestLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	return requestLog{h.Handler.WithAttrs(attrs)}
}

// WithGroup implements slog.Handler.
func (h requestLog) WithGroup(name string) slog.Handler { return requestLog{h.Handler.WithGroup(name)} }
