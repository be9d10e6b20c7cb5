package size

import "errors"

// ErrTarget says that a target cannot be estimated.
var ErrTarget = errors.New("invalid target")
