package app

import (
	"errors"
	"fmt"
)

var (
	// ErrOptions says that a run was asked for that cannot be done.
	ErrOptions = errors.New("invalid benchmark options")
	// ErrLoad says that the load failed or ended before its time.
	ErrLoad = errors.New("load failed")
	// ErrWrong says that a message was lost, invented, out of order or not accounted for. The report says which.
	ErrWrong = errors.New("the run broke a promise")
)

func optionf(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrOptions, fmt.Sprintf(format, args...))
}
