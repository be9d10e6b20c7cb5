package migrate

import "errors"

// ErrNoFace says that there is no face of that name.
var ErrNoFace = errors.New("no such face")
