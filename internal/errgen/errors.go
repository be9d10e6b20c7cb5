package main

import "errors"

var (
	// errStale says that a generated file is not what errors.csv says.
	errStale = errors.New("not up to date, run `make generate`")
	// errList says that errors.csv itself breaks a rule.
	errList = errors.New("bad errors.csv")
)
