package shootout

import (
	"errors"
	"fmt"
)

var (
	// ErrOptions says that something was asked for that cannot be run.
	ErrOptions = errors.New("invalid shootout options")
	// ErrAdapter says that an adapter failed or did not keep to the protocol.
	ErrAdapter = errors.New("adapter failed")
	// errCannot says that a system has no such thing as a workload needs.
	errCannot = errors.New("cannot")
)

func optionf(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrOptions, fmt.Sprintf(format, args...))
}

// InterruptedError says what a shootout was at when it was told to end, and what is kept of it.
type InterruptedError struct {
	At   string // what it was doing
	Raw  string // file of results
	Kept int    // results in it
	Err  error
}

// Error implements error.
func (e *InterruptedError) Error() string {
	return fmt.Sprintf("interrupted %s; %s has the %d results before: %v", e.At, e.Raw, e.Kept, e.Err)
}

// Unwrap returns what ended it.
func (e *InterruptedError) Unwrap() error { return e.Err }
