package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/weirmq/weir/internal/server/dispatch"
)

// withBody reads the body before the route runs, and makes JSON of it. Reading it here, with a deadline that ends with
// it, leaves the connection free of deadlines while a receive waits: one that passed then would look like a client that
// went away.
func (a *api) withBody(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		read := formatOf(r)
		if r.Body == http.NoBody && r.Header.Get("Ce-Specversion") == "" { // such an event may have no data
			next.ServeHTTP(w, r)
			return
		}
		if read == nil {
			Refuse(w, newProblem(http.StatusUnsupportedMediaType,
				"the body is "+r.Header.Get("Content-Type")+", not "+typeJSON,
				"Send JSON; messages also as "+typeNDJSON+" and as CloudEvents."))
			return
		}
		control := http.NewResponseController(w)
		_ = control.SetReadDeadline(time.Now().Add(bodyTimeout))
		held := &heldReader{from: http.MaxBytesReader(w, r.Body, a.opt.BodyMax), held: &a.held, max: a.opt.BodiesMax}
		defer held.release()
		body, err := io.ReadAll(held)
		_ = control.SetReadDeadline(time.Time{})
		if err != nil {
			Refuse(w, bodyProblem(err))
			return
		}
		if body, err = read(r.Header, body); err != nil {
			writeProblem(w, problemOf(err))
			return
		}
		r.Header.Set("Content-Type", typeJSON)
		r.Body = newBody(body)
		next.ServeHTTP(w, r)
	})
}

// bodyProblem says why a body could not be read.
func bodyProblem(err error) *Problem {
	var tooLarge *http.MaxBytesError
	switch {
	case errors.Is(err, dispatch.ErrBusy):
		return problemOf(err)
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
		reason := fmt.Sprintf("a JSON %s cannot be read as %s", kind.Value, kind.Type)
		return errors.New(strings.TrimPrefix(kind.Field+": "+reason, ": "))
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return errors.New("not JSON: it ends too early")
	}
	return errors.New(strings.TrimPrefix(err.Error(), "json: "))
}
