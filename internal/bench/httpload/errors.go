package httpload

import "errors"

var (
	// ErrAnswer says that the server answered something else than what a load expects.
	ErrAnswer = errors.New("unexpected answer")
	// ErrConflict says that a claim had ended: an answer of 409.
	ErrConflict = errors.New("claim had ended")
	// ErrServer says that the server could not do what it was asked: an answer of 500 or more.
	ErrServer = errors.New("server failed")
)
