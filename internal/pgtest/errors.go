package pgtest

import "errors"

// errEnded says that PgBouncer did not start, as when somebody else took its port between the look and the use.
var errEnded = errors.New("PgBouncer ended")
