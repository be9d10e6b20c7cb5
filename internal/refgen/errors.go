package main

import "errors"

var (
	// errStale says that a generated file is not what it would be now.
	errStale = errors.New("not up to date, run `make generate`")
	// errHeader says that an SQL file lacks a part of the header that the reference is made of.
	errHeader = errors.New("bad header")
	// errServer says that the HTTP server did not give its description.
	errServer = errors.New("no OpenAPI document")
	// errHelp says that the command line did not give its help.
	errHelp = errors.New("no help")
)
