package bench

import (
	"errors"
	"fmt"
)

var (
	// ErrOptions says that a benchmark was asked for that cannot be run.
	ErrOptions = errors.New("invalid benchmark options")
	// ErrChecksum says that a download is not the file whose checksum is pinned.
	ErrChecksum = errors.New("checksum differs from the pinned one")
	// ErrNoWheel says that a package could not be fetched.
	ErrNoWheel = errors.New("package cannot be fetched")
	// ErrLoad says that pgbench failed or did not report what it did.
	ErrLoad = errors.New("load failed")
	// ErrCounts says that the database's counts contradict each other or the load.
	ErrCounts = errors.New("counts are inconsistent")
)

func optionf(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrOptions, fmt.Sprintf(format, args...))
}
