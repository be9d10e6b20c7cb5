package load

import "errors"

// errTransient is how a handler fails that is made to.
var errTransient = errors.New("made to fail")
