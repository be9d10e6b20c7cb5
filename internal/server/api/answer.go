package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"runtime/debug"
	"strconv"
	"sync"
)

// lateWriter holds the status of an answer back until its first byte, so that what fails before it can still say so.
type lateWriter struct {
	http.ResponseWriter

	status int // 0: none was given
	begun  bool
}

// WriteHeader notes the status.
func (w *lateWriter) WriteHeader(status int) {
	if status < http.StatusOK {
		w.ResponseWriter.WriteHeader(status)
		return
	}
	w.status = status
}

// Write sends the status before the first byte.
func (w *lateWriter) Write(text []byte) (int, error) {
	w.begin()
	return w.ResponseWriter.Write(text) //nolint:wrapcheck // it is a writer
}

// FlushError sends what there is; http.ResponseController asks for it.
func (w *lateWriter) FlushError() error {
	w.begin()
	return http.NewResponseController(w.ResponseWriter).Flush() //nolint:wrapcheck // it stands in between
}

// Unwrap lets http.ResponseController reach the connection.
func (w *lateWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// begin sends the status.
func (w *lateWriter) begin() {
	if !w.begun && w.status != 0 {
		w.ResponseWriter.WriteHeader(w.status)
	}
	w.begun = true
}

// recovered turns a panic of a handler into a problem, so that one broken request ends nothing else. An answer that has
// begun cannot become one any more: its connection is cut, so that nobody takes it for whole.
func (a *api) recovered(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		late := &lateWriter{ResponseWriter: w}
		defer func() {
			cause := recover()
			if cause == nil {
				late.begin()
				return
			}
			if err, ok := cause.(error); !ok || !errors.Is(err, http.ErrAbortHandler) {
				a.opt.Log.ErrorContext(r.Context(), "request failed", "method", r.Method, "path", r.URL.Path, "panic", cause,
					"stack", string(debug.Stack()))
				if !late.begun {
					w.Header().Del("Content-Length") // of the answer that failed
					writeProblem(w, newProblem(http.StatusInternalServerError, "the server failed on this request", ""))
					return
				}
			}
			panic(http.ErrAbortHandler)
		}()
		next.ServeHTTP(late, r)
	})
}

// buffers are for answers.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// encoded gives a value as JSON to whoever writes it: whole, so that what cannot be written has not begun an answer.
func encoded(value any, write func(text []byte)) {
	text, _ := buffers.Get().(*bytes.Buffer) // nothing else is put there
	text.Reset()
	encoder := json.NewEncoder(text)
	encoder.SetEscapeHTML(false)
	var err error
	switch list := value.(type) {
	case messagesOutput:
		err = list.encode(text, encoder)
	case *messagesOutput:
		err = list.encode(text, encoder)
	default:
		err = encoder.Encode(value)
	}
	if err != nil {
		panic(err) // answers are made of what JSON knows; recovered says so and logs it
	}
	write(text.Bytes())
	if text.Cap() <= 1<<20 {
		buffers.Put(text)
	}
}

// marshal writes an answer for huma, which would add to one that failed, and so begin it.
func marshal(w io.Writer, value any) error {
	encoded(value, func(text []byte) { _, _ = w.Write(text) }) // fails when the client has gone
	return nil
}

// writeJSON writes an answer as huma does.
func writeJSON(w http.ResponseWriter, status int, value any) {
	encoded(value, func(text []byte) {
		w.Header().Set("Content-Type", typeJSON)
		w.Header().Set("Content-Length", strconv.Itoa(len(text)))
		w.WriteHeader(status)
		_, _ = w.Write(text) // fails when the client has gone
	})
}
