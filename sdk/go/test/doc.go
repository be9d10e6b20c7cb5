// Package test tries the Go SDK on a real PostgreSQL. It is a module of its own, because what starts that server and
// the program under test are Weir's, which users of the SDK do not need.
package test
