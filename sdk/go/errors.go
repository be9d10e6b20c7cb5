package weir

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// Errors that the SDK itself makes; those of the engine are in errors_generated.go.
var (
	// ErrOutcomeUnknown says that a commit failed in a way that leaves open whether it happened.
	ErrOutcomeUnknown = errors.New("the commit failed and its outcome is unknown")
	// ErrClaimLost is the cause with which a handler is cancelled whose claim ended before it did.
	ErrClaimLost = errors.New("the claim was lost: its lease ended, and the message goes to another worker")
	// ErrStopped is the cause with which a handler is cancelled that did not end before the worker's stop.
	ErrStopped = errors.New("the worker stopped before the handler ended")
	// ErrTimeout is the cause with which a handler is cancelled that took longer than WorkerOptions.Timeout.
	ErrTimeout = errors.New("the handler took too long")
	// ErrNotInTransaction says that a call has no place in a transaction, or that the client has none.
	ErrNotInTransaction = errors.New("not possible in this transaction")
	// ErrHandlerPanic is what a handler that panicked failed with; the error's text has the value and the place.
	ErrHandlerPanic = errors.New("the handler panicked")
	// ErrUnknownKind is what a job fails with when its worker has no handler for its kind.
	ErrUnknownKind = errors.New("no handler for jobs of the kind")
	// ErrJobCancelled is the cause with which a handler is cancelled whose job was.
	ErrJobCancelled = errors.New("the job was cancelled")
	// ErrPayload says that a payload does not fit its Go type.
	ErrPayload = errors.New("the payload does not fit its type")
	// ErrRunning says that a worker was told to run while it runs, or after it was stopped.
	ErrRunning = errors.New("a worker runs once")

	errPooler    = errors.New("a pooler stands between, which may hand out another session at any time")
	errRecord    = errors.New("a record's parts do not fit together")
	errBadAnswer = errors.New("the server's answer cannot be read")

	errFinishedBefore = errors.New("the job was finished before")

	errHook = errors.New("a hook has to pass on as many messages as it got")

	errSendAlone = errors.New("a message could not be sent together with others")
)

// SQLSTATEs of a connection that cannot be made, of one that broke, of a payload that is no JSON or no text, and of
// what is not there to be called.
const (
	codeCannotConnect     = "08001"
	codeBroken            = "08006"
	codeNotText           = "22021"
	codeNotJSON           = "22P02"
	codeUndefinedColumn   = "42703"
	codeUndefinedFunction = "42883"
	codeUndefinedSchema   = "3F000"
)

// hintOlder is the cure for what the other side does not know.
const hintOlder = "It is older than this SDK, or the engine is not installed: upgrade it with `weir install`."

// Error is a failure that the engine, PostgreSQL or the connection to it reported. Programs look at Code, or ask
// errors.Is(err, weir.ErrQueueNotFound), and never at the text.
type Error struct {
	Code      string // SQLSTATE; class WR is the engine's own
	Name      string // the code in words, such as queue_not_found; empty when the SDK does not know it
	Message   string // what happened, with the values
	Detail    string // more of it, may be empty
	Hint      string // the cure, may be empty
	Retryable bool   // the same call may succeed later

	cause    error
	reported bool // the database itself answered, so that nothing was done
}

// Error returns the message with its SQLSTATE, and the cure where there is one.
func (e *Error) Error() string {
	text := e.Message
	if text == "" {
		text = e.Name
	}
	text += " (SQLSTATE " + e.Code + ")"
	if e.Hint != "" {
		text += ": " + e.Hint
	}
	return text
}

// Unwrap returns the error of the driver.
func (e *Error) Unwrap() error { return e.cause }

// Is reports whether target has the same SQLSTATE.
func (e *Error) Is(target error) bool {
	other, ok := target.(*Error)
	return ok && other.Code == e.Code
}

// RetryAfter returns an error with which a handler has its message delivered again after d.
func RetryAfter(d time.Duration, err error) error { return &outcome{delay: &d, err: err} }

// Reject returns an error with which a handler makes its message a dead letter.
func Reject(err error) error { return &outcome{reject: true, err: err} }

// Snooze returns an error with which a handler has its message delivered again after d, without counting the attempt.
func Snooze(d time.Duration) error { return &outcome{delay: &d, snooze: true} }

// Snoozed reports whether err is that of Snooze, which is no failure.
func Snoozed(err error) bool {
	var o *outcome
	return errors.As(err, &o) && o.snooze
}

// outcome is an error that says what shall become of the message.
type outcome struct {
	delay  *time.Duration
	reject bool
	snooze bool
	err    error
}

func (o *outcome) Error() string {
	if o.err == nil {
		return "no reason given"
	}
	return o.err.Error()
}

func (o *outcome) Unwrap() error { return o.err }

// Code returns the SQLSTATE of err, or "" when it has none.
func Code(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// Retryable reports whether the call that gave err may succeed when it is made again later.
func Retryable(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Retryable
}

// harmless reports whether a call that gave err is known to have done nothing.
func harmless(err error) bool {
	var e *Error
	return errors.As(err, &e) && (e.reported || e.Code == codeCannotConnect || pgconn.SafeToRetry(err))
}

// lost reports whether err says that a claim is not ours any more.
func lost(err error) bool {
	return errors.Is(err, ErrClaimExpired) || errors.Is(err, ErrClaimNotFound)
}

// codes are the errors of class WR by SQLSTATE.
var codes = map[string]*Error{}

// known makes the error that stands for a SQLSTATE in errors.Is.
func known(code, name string, retryable bool) *Error {
	e := &Error{Code: code, Name: name, Retryable: retryable}
	codes[code] = e
	return e
}

// sqlState is what the database itself gave as SQLSTATE of err; "" when it gave none.
func sqlState(err error) string {
	var reported interface{ SQLState() string }
	if errors.As(err, &reported) {
		return reported.SQLState()
	}
	return ""
}

// wrap turns a driver's error into an *Error and says what was being done.
func wrap(doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", doing, convert(err))
}

// convert makes an *Error of what a driver returned. What is none of the database's stays as it is.
func convert(err error) error {
	var ready *Error
	if errors.As(err, &ready) {
		return err
	}
	if state := sqlState(err); state != "" {
		return fromServer(state, err)
	}
	var connect *pgconn.ConnectError
	if errors.As(err, &connect) {
		text := strings.ReplaceAll(connect.Unwrap().Error(), "\n", "; ")
		return unconnected("cannot connect to the database: "+text, "Is PostgreSQL running at that address?", err)
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	var network net.Error
	if errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, net.ErrClosed) || pgconn.SafeToRetry(err) {
		return broken("the connection broke: "+err.Error(), err)
	}
	return err
}

// unconnected is a connection that could not be made. One whose TLS cannot be agreed upon cannot be made later either.
func unconnected(message, hint string, err error) *Error {
	e := &Error{Code: codeCannotConnect, Name: "cannot_connect", Message: message, Hint: hint, Retryable: true, cause: err}
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	if errors.As(err, &certificate) || errors.As(err, &record) || errors.Is(err, http.ErrSchemeMismatch) {
		e.Retryable, e.Hint = false, "Correct the certificate, or what the DSN or the URL says of TLS."
	}
	return e
}

// broken is a connection that ended in the middle of a call.
func broken(message string, err error) *Error {
	return &Error{Code: codeBroken, Name: "connection_failure", Message: message, Retryable: true, cause: err}
}

// fromServer keeps what the database said and adds what the SDK knows of its SQLSTATE.
func fromServer(code string, err error) *Error {
	e := &Error{Code: code, Message: err.Error(), Retryable: passing(code), cause: err, reported: true}
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		e.Message, e.Detail, e.Hint = pg.Message, pg.Detail, pg.Hint
	}
	switch code {
	case codeUndefinedFunction, codeUndefinedColumn, codeUndefinedSchema: // the statement is the SDK's, not the user's
		e.Code, e.Hint = ErrNotSupported.Code, hintOlder
	}
	if ours, ok := codes[e.Code]; ok {
		e.Name, e.Retryable = ours.Name, ours.Retryable
	}
	return e
}

// passing reports whether what one of PostgreSQL's own SQLSTATEs stands for may pass by itself.
func passing(code string) bool {
	if len(code) != 5 {
		return false
	}
	switch code[:2] {
	case "08", "40", "53", "57":
		return true
	}
	return code == "25006" || code == "55P03" // read only, as a server is that is being replaced; a lock was not free
}
