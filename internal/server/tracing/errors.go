package tracing

import "errors"

// ErrSetting says that an OTEL_ variable asks for what there is not.
var ErrSetting = errors.New("cannot trace")
