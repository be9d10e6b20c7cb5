package test

// runChild is for the processes that tests start.
func runChild() {}
