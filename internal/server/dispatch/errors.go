package dispatch

import (
	"errors"

	"github.com/weirmq/weir/internal/engine"
)

var (
	// ErrBusy says that so many requests wait already that another one would only wait in vain.
	ErrBusy = errors.New("too many requests are waiting")
	// ErrAlone says that a request cannot be done together with others, and was not done.
	ErrAlone = errors.New("the request needs a call of its own")
)

// refused reports whether an error is the engine's answer to what was asked, so that nothing of it was done.
func refused(err error) bool {
	var e *engine.Error
	return errors.As(err, &e) && !e.Unreachable() && !e.Retryable
}

// crossed reports whether a call ended for the sake of another transaction that is sending the same dedup keys.
func crossed(err error) bool {
	switch engine.Code(err) {
	case "55P03", "40P01", "40001":
		return true
	}
	return false
}

// concernsOne reports whether an error is about a message in a batch and not about the queue or the database, so that
// the others may go through without it.
func concernsOne(err error) bool {
	var e *engine.Error
	if !errors.As(err, &e) {
		return false
	}
	switch e.Code {
	case engine.CodeInvalidArgument, engine.CodeNullPayload, engine.CodeMessageTooLarge, "54000":
		return true
	}
	return e.Class() == "22"
}
