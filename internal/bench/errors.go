package bench

import (
	"errors"
	"fmt"
)

var (
	// ErrOptions says that a benchmark was asked for that cannot be run.
	ErrOptions = errors.New("invalid benchmark options")
	// ErrLoad says that pgbench failed or did not report what it did.
	ErrLoad = errors.New("load failed")
	// ErrCounts says that the database's counts contradict each other or the load.
	ErrCounts = errors.New("counts are inconsistent")
)

func optionf(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrOptions, fmt.Sprintf(format, args...))
}
