package wheel

import "errors"

var (
	// ErrChecksum says that a download is not the file whose checksum is pinned.
	ErrChecksum = errors.New("checksum differs from the pinned one")
	// ErrNoWheel says that a package could not be fetched.
	ErrNoWheel = errors.New("package cannot be fetched")
)
