package httpload

import "errors"

// ErrAnswer says that the server answered something else than what a load expects.
var ErrAnswer = errors.New("unexpected answer")
