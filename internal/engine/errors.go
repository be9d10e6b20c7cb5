package engine

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// ErrOutcomeUnknown says that a commit failed in a way that leaves open whether it happened.
var ErrOutcomeUnknown = errors.New("the commit failed and its outcome is unknown")

// Why a connection cannot listen.
var (
	errSharedSession = errors.New("a pooler gives the session to others between transactions")
	errNothingHeard  = errors.New("a notification that was sent as a test did not arrive")
)

// SQLSTATEs that PostgreSQL, and not the engine, gives and that callers ask for by name.
const (
	codeBadDSN       = "08001"
	codeConnection   = "08006"
	codeNoSchema     = "3F000"
	codeNoFunction   = "42883"
	codeNoPermission = "42501"
	codeCanceled     = "57014"
	codeAborted      = "25P02"
)

// Error is a failure that PostgreSQL or the connection to it reported. Clients look at Code, never at Message.
type Error struct {
	Code      string // SQLSTATE; class WR is the engine's own, listed in errors.csv
	Name      string // the code in words, such as queue_not_found
	Message   string // what happened, with the values
	Detail    string // more of it, may be empty
	Hint      string // the cure, may be empty
	Status    int    // the HTTP status that says the same
	Retryable bool   // the same call may succeed later
	reason    string // why there is no connection, with addresses; may be empty
	err       error
}

// Error returns the message with its SQLSTATE.
func (e *Error) Error() string {
	text := e.Message
	if e.reason != "" {
		text += ": " + e.reason
	}
	return text + " (SQLSTATE " + e.Code + ")"
}

// Public is the error for clients that have no business with the database itself: it tells neither where that is nor
// who logs in there.
func (e *Error) Public() *Error {
	if !e.Unreachable() {
		return e
	}
	p := *e
	if p.Detail = ""; e.Code != codeConnection || e.reason == "" { // otherwise the words are this package's
		p.Message, p.Hint = "the database cannot be reached", "Try again later. The server's log says more."
	}
	p.reason = ""
	return &p
}

// Unwrap returns the error of the driver.
func (e *Error) Unwrap() error { return e.err }

// Class returns the first two characters of the SQLSTATE.
func (e *Error) Class() string {
	if len(e.Code) < 2 {
		return ""
	}
	return e.Code[:2]
}

// Unreachable reports whether the database could not be reached or let nobody in.
func (e *Error) Unreachable() bool {
	switch e.Class() {
	case "08", "28", "3D":
		return true
	}
	return e.Code == "53300" || strings.HasPrefix(e.Code, "57P")
}

// passing reports whether err may be gone soon.
func passing(err error) bool {
	var e *Error
	return errors.As(err, &e) && (e.Retryable || e.Unreachable())
}

// Code returns the SQLSTATE of err, or "" when err carries none.
func Code(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// Wrap turns a driver's error into an *Error for the packages that talk to PostgreSQL themselves.
func Wrap(doing string, err error) error { return wrap(doing, err) }

// wrap turns a driver's error into an *Error and says what was being done.
func wrap(doing string, err error) error {
	if err == nil {
		return nil
	}
	return &opError{doing: doing, err: convert(err)}
}

// opError is `verb noun: reason`; a type of its own keeps the reason reachable without the prefix.
type opError struct {
	doing string
	err   error
}

func (e *opError) Error() string { return e.doing + ": " + e.err.Error() }
func (e *opError) Unwrap() error { return e.err }

// convert makes an *Error of whatever the driver returned; a context's own error stays as it is.
func convert(err error) error {
	var known *Error
	if errors.As(err, &known) {
		return err
	}
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return fromPg(pg, err)
	}
	var connect *pgconn.ConnectError
	if errors.As(err, &connect) {
		return &Error{
			Code: codeBadDSN, Name: "cannot_connect", Message: "cannot connect to the database",
			Hint:   "Is PostgreSQL running at that address? `weir up` starts one; --dsn or WEIR_DSN names another.",
			Status: http.StatusServiceUnavailable, Retryable: true, reason: connectReason(connect), err: err,
		}
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	var netErr net.Error
	if errors.As(err, &netErr) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, net.ErrClosed) || pgconn.SafeToRetry(err) {
		return &Error{
			Code: codeConnection, Name: "connection_failure", Message: "the connection to the database broke",
			Hint: "Try again when the database is back.", Status: http.StatusServiceUnavailable, Retryable: true,
			reason: err.Error(), err: err,
		}
	}
	return err
}

// connectReason gives the causes of a failed connection, each once, without user and password.
func connectReason(err *pgconn.ConnectError) string {
	cause := errors.Unwrap(err)
	if cause == nil {
		return err.Error()
	}
	var reasons []string
	for reason := range strings.Lines(cause.Error()) {
		reason = strings.TrimSpace(reason)
		if reason != "" && !slices.Contains(reasons, reason) {
			reasons = append(reasons, reason)
		}
	}
	return strings.Join(reasons, "; ")
}

// NewError is an error of the engine's own list that is found before the engine is asked.
func NewError(code, message, hint string) *Error {
	e := &Error{Code: code, Message: message, Hint: hint}
	if known, ok := lookup(code); ok {
		e.Name, e.Status, e.Retryable = known.Name, known.Status, known.Retryable
	}
	return e
}

// fromPg keeps what the server said and adds name, status and whether to retry.
func fromPg(pg *pgconn.PgError, err error) *Error {
	e := &Error{Code: pg.Code, Message: pg.Message, Detail: pg.Detail, Hint: pg.Hint, err: err}
	if known, ok := lookup(pg.Code); ok {
		e.Name, e.Status, e.Retryable = known.Name, known.Status, known.Retryable
		return e
	}
	e.Name, e.Status, e.Retryable = foreign(pg.Code)
	if e.Hint == "" && notInstalled(pg) {
		e.Name, e.Status = "engine_not_installed", http.StatusServiceUnavailable
		e.Hint = "The engine is not in this database, or an older one is: run `weir install` against it."
	}
	return e
}

// notInstalled reports whether the engine's schema is missing, or a function that a statement of this package calls:
// one that is missing further down has a context.
func notInstalled(pg *pgconn.PgError) bool {
	return pg.Code == codeNoSchema || pg.Code == codeNoFunction && pg.Where == ""
}

// foreign classifies the SQLSTATEs that PostgreSQL itself gives.
func foreign(code string) (name string, status int, retryable bool) {
	switch code {
	case codeNoPermission:
		return "insufficient_privilege", http.StatusForbidden, false
	case codeCanceled:
		return "query_canceled", http.StatusServiceUnavailable, true
	case "25006":
		return "read_only_sql_transaction", http.StatusServiceUnavailable, true
	case "55P03":
		return "lock_not_available", http.StatusServiceUnavailable, true
	case "54000":
		return "program_limit_exceeded", http.StatusRequestEntityTooLarge, false
	}
	if len(code) < 2 {
		return "error", http.StatusInternalServerError, false
	}
	switch code[:2] {
	case "08":
		return "connection_failure", http.StatusServiceUnavailable, true
	case "22":
		return "data_exception", http.StatusBadRequest, false
	case "28", "3D":
		return "cannot_connect", http.StatusServiceUnavailable, false
	case "40":
		return "transaction_rollback", http.StatusServiceUnavailable, true
	case "53":
		return "insufficient_resources", http.StatusServiceUnavailable, true
	case "57":
		return "operator_intervention", http.StatusServiceUnavailable, true
	}
	return "database_error", http.StatusInternalServerError, false
}
