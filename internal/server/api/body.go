package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"strings"
	"time"
)

// withBody reads the body before the route runs. Reading it here, with a deadline that ends with it, leaves the
// connection free of deadlines while a receive waits: one that passed then would look like a client that went away.
func (a *api) withBody(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body == nil || r.Body == http.NoBody {
			next.ServeHTTP(w, r)
			return
		}
		if p := jsonType(r); p != nil {
			writeProblem(w, p)
			return
		}
		control := http.NewResponseController(w)
		_ = control.SetReadDeadline(time.Now().Add(bodyTimeout))
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, a.opt.BodyMax))
		_ = control.SetReadDeadline(time.Time{})
		if err != nil {
			writeProblem(w, bodyProblem(err))
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r)
	})
}

// jsonType accepts JSON, and what curl says when it is told nothing; browsers cannot use that from another site,
// which the server's cross-origin check sees to.
func jsonType(r *http.Request) *Problem {
	given := r.Header.Get("Content-Type")
	kind, _, err := mime.ParseMediaType(given)
	if given == "" || kind == "application/x-www-form-urlencoded" || kind == "application/json" ||
		err == nil && strings.HasSuffix(kind, "+json") {
		r.Header.Set("Content-Type", "application/json")
		return nil
	}
	return newProblem(http.StatusUnsupportedMediaType, "the body is "+given+", not application/json",
		"Send JSON with Content-Type: application/json.")
}

// bodyProblem says why a body could not be read.
func bodyProblem(err error) *Problem {
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return newProblem(http.StatusRequestEntityTooLarge,
			fmt.Sprintf("the body is larger than %d bytes", tooLarge.Limit), "Send fewer or smaller messages at once.")
	case errors.Is(err, os.ErrDeadlineExceeded):
		return newProblem(http.StatusRequestTimeout, "the body did not arrive within "+bodyTimeout.String(), "")
	}
	return newProblem(http.StatusBadRequest, "cannot read the body: "+err.Error(), "")
}

// decodeStrict reads one JSON value and nothing else; a field that no route knows is more likely a typing error than
// a wish to have it ignored.
func decodeStrict(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return jsonReason(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("there is something after the JSON value, at byte %d", d.InputOffset())
	}
	return nil
}

// jsonReason says in plain words what is wrong with a JSON text.
func jsonReason(err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return fmt.Errorf("not JSON: %s, at byte %d", syntax.Error(), syntax.Offset)
	case errors.As(err, &kind):
		return fmt.Errorf("%s: a JSON %s cannot be read as %s", kind.Field, kind.Value, kind.Type)
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return errors.New("not JSON: it ends too early")
	}
	return errors.New(strings.TrimPrefix(err.Error(), "json: "))
}
