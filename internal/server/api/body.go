package api

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
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
