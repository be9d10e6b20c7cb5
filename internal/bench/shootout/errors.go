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
