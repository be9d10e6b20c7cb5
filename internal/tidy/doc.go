// Package tidy checks the rules of this house that a machine can check: where DDL, query text and pgx may stand, what
// the header of a SQL file says, how long things may get, how they are named and documented.
//
// Its test runs every rule over the repository, so `go test ./internal/tidy` is the whole use of it. A rule that does
// not fit one place has a line in exceptions.go, by name and with a reason; an exception that is not needed any more
// fails. Each rule is seen to fail on a bad sample in samples_test.go.
package tidy
