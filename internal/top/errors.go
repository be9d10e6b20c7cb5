package top

import "errors"

// ErrServer says that a server over HTTP did not give its figures.
var ErrServer = errors.New("cannot read statistics")
