package httpload

import "errors"

var (
	// ErrAnswer says that the server answered something else than what a load expects.
	ErrAnswer = errors.New("unexpected answer")
	// ErrServer says that the server could not do what it was asked: an answer of 500 or more.
	ErrServer = errors.New("server failed")
)
