package builtin

import "errors"

// errEnded says that a program that serves clients is gone before they are.
var errEnded = errors.New("program ended")
