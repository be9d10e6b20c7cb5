package bench

import (
	"errors"
	"fmt"
)

var (
	// ErrOptions says that a benchmark was asked for that cannot be run.
	ErrOptions = errors.New("invalid benchmark options")
	// ErrLoad says that what was to be measured did not start.
	ErrLoad = errors.New("load failed")
)

func optionf(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrOptions, fmt.Sprintf(format, args...))
}
