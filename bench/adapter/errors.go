package adapter

import "errors"

var (
	// ErrCannot says that a system has no such thing as it was asked for. It is reported and is no failure.
	ErrCannot = errors.New("the system has no such thing")
	// ErrCommand says that the driver sent what an adapter does not understand.
	ErrCommand = errors.New("bad command")
)
