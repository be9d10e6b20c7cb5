package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/weirmq/weir/internal/engine"
	"github.com/weirmq/weir/internal/server/auth"
	"github.com/weirmq/weir/internal/server/dispatch"
)

// errUndone ends the transaction of a preview, which must leave nothing behind.
var errUndone = errors.New("undone")

// Problem is the body of every error, as RFC 9457 describes it.
type Problem struct {
	Type      string  `json:"type" doc:"urn:weir:error: and the name."`
	Title     string  `json:"title" doc:"The HTTP status in words."`
	Status    int     `json:"status"`
	Detail    string  `json:"detail" doc:"What happened, with the values."`
	SQLState  string  `json:"sqlstate" doc:"The code to look at in programs: class WR is Weir's own."`
	Name      string  `json:"name" doc:"The SQLSTATE in words."`
	Hint      string  `json:"hint,omitempty" doc:"The cure."`
	Retryable bool    `json:"retryable" doc:"The same request may succeed later."`
	Errors    []Fault `json:"errors,omitempty" doc:"Where in the request it is wrong."`

	retryAfter time.Duration
}

// Fault is one wrong place in a request.
type Fault struct {
	Location string `json:"location" doc:"Such as body.acks[2] or query.max."`
	Message  string `json:"message"`
}

// Error returns the detail.
func (p *Problem) Error() string { return p.Detail }

// GetStatus returns the HTTP status; huma asks for it.
func (p *Problem) GetStatus() int { return p.Status }

// ContentType names the media type of problems; huma asks for it.
func (p *Problem) ContentType(string) string { return problemType }

const problemType = "application/problem+json"

// retryAfter is how many seconds a client should wait that was answered 503, or 429 without a time of its own.
const retryAfter = "1"

// init makes huma report what it finds itself, such as a query parameter that is no number, as a Problem too. A
// package variable is the only place where huma takes that from.
func init() {
	huma.NewError = func(status int, message string, errs ...error) huma.StatusError {
		if status == http.StatusUnprocessableEntity {
			status = http.StatusBadRequest // invalid_argument is 400 in errors.csv, wherever it is found
		}
		p := newProblem(status, message, "")
		for _, err := range errs {
			if fault, ok := faultOf(err); ok {
				p.Errors = append(p.Errors, fault)
				p.Detail = strings.TrimPrefix(fault.Location+": ", ": ") + fault.Message
			}
		}
		return p
	}
}

// faultOf keeps the place and the reason of a fault that huma found and drops the value, which may be a whole body.
func faultOf(err error) (Fault, bool) {
	if err == nil {
		return Fault{}, false
	}
	var detailer huma.ErrorDetailer
	if !errors.As(err, &detailer) {
		return Fault{Message: err.Error()}, true
	}
	d := detailer.ErrorDetail()
	return Fault{Location: d.Location, Message: d.Message}, true
}

// newProblem describes a failure that no SQL function reported.
func newProblem(status int, detail, hint string) *Problem {
	code, name := engine.CodeInvalidArgument, "invalid_argument"
	switch {
	case status == http.StatusRequestEntityTooLarge:
		code, name = engine.CodeMessageTooLarge, "message_too_large"
	case status == http.StatusServiceUnavailable:
		code, name = "57P03", "cannot_connect_now"
	case status >= 500:
		code, name = "XX000", "internal_error"
	}
	return &Problem{
		Type: "urn:weir:error:" + name, Title: http.StatusText(status), Status: status, Detail: detail,
		SQLState: code, Name: name, Hint: hint, Retryable: status == http.StatusServiceUnavailable,
	}
}

// problemOf describes what the engine or the connection to it reported.
func problemOf(err error) *Problem {
	var ready *Problem
	if errors.As(err, &ready) {
		return ready
	}
	if errors.Is(err, dispatch.ErrBusy) {
		p := newProblem(http.StatusServiceUnavailable, "the server has as many requests waiting as it takes",
			"Try again a little later, with fewer requests at a time.")
		p.Type, p.SQLState, p.Name = "urn:weir:error:insufficient_resources", "53000", "insufficient_resources"
		return p
	}
	var e *engine.Error
	if errors.As(err, &e) {
		e = e.Public()
		p := &Problem{
			Type: "urn:weir:error:" + e.Name, Title: http.StatusText(e.Status), Status: e.Status, Detail: e.Message,
			SQLState: e.Code, Name: e.Name, Hint: e.Hint, Retryable: e.Retryable,
		}
		if e.Detail != "" {
			p.Detail += ". " + e.Detail
		}
		var many *auth.TooMany
		if errors.As(err, &many) {
			p.retryAfter = many.After
		}
		var at *itemError
		if errors.As(err, &at) {
			p.Errors = []Fault{{Location: at.location(), Message: e.Message}}
		}
		return p
	}
	if errors.Is(err, auth.ErrKeys) {
		return newProblem(http.StatusServiceUnavailable, "the keys to check JWTs with cannot be had", "")
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return newProblem(http.StatusServiceUnavailable, "the database did not answer in time", "")
	}
	return newProblem(http.StatusInternalServerError, "the server failed on this request", "Its log says more.")
}

// header says what a client that reads no bodies must know: how to be let in, and when to try again.
func (p *Problem) header() http.Header {
	switch {
	case p.Status == http.StatusUnauthorized:
		return http.Header{"Www-Authenticate": {`Bearer realm="weir"`}}
	case p.retryAfter > 0:
		return http.Header{"Retry-After": {strconv.Itoa(int(math.Ceil(p.retryAfter.Seconds())))}}
	case p.Status == http.StatusServiceUnavailable, p.Status == http.StatusTooManyRequests:
		return http.Header{"Retry-After": {retryAfter}}
	}
	return nil
}

// writeProblem answers a request that reached no route.
func writeProblem(w http.ResponseWriter, p *Problem) {
	w.Header().Set("Content-Type", problemType)
	maps.Copy(w.Header(), p.header())
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p)
}

// unreadTimeout is how long the body of a refused request may take to arrive: nobody reads it, but net/http waits for
// it before it answers.
const unreadTimeout = time.Second

// Refuse answers a request whose body has not been read.
func Refuse(w http.ResponseWriter, p *Problem) {
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(unreadTimeout)) // not every writer has deadlines
	writeProblem(w, p)
}

// itemError says which item of a list in the body failed.
type itemError struct {
	list  string
	index int
	err   error
}

func (e *itemError) location() string { return fmt.Sprintf("body.%s[%d]", e.list, e.index) }
func (e *itemError) Error() string    { return e.location() + ": " + e.err.Error() }
func (e *itemError) Unwrap() error    { return e.err }

// invalid is a request that is wrong in itself.
func invalid(location, message, hint string) *Problem {
	p := newProblem(http.StatusBadRequest, location+": "+message, hint)
	p.Errors = []Fault{{Location: location, Message: message}}
	return p
}

// span reads milliseconds; whether the engine takes that long is for it to say.
func span(location string, ms int64) (time.Duration, error) {
	if limit := int64(math.MaxInt64 / time.Millisecond); ms > limit || ms < -limit {
		return 0, invalid(location, fmt.Sprintf("%d milliseconds are more than any clock counts", ms), "")
	}
	return time.Duration(ms) * time.Millisecond, nil
}

// optionalSpan reads milliseconds that may be left out.
func optionalSpan(location string, ms *int64) (*time.Duration, error) {
	if ms == nil {
		return nil, nil
	}
	d, err := span(location, *ms)
	return &d, err
}
