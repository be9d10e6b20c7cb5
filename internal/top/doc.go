// Package top shows in a terminal how the queues stand, again and again: what `weir top` runs.
//
// A Source gives what weir.stats() returns, over SQL or HTTP. rows.go makes rows of two such answers, one for each
// queue or each group of a queue; table.go lays them out for a width; model.go is the program, which changes by
// messages alone, so that a test can drive it without a terminal or a clock.
package top
