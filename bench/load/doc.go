// Package load is the load of the application benchmark: producers and consumers that use the Go SDK as an application
// does, and check what they are delivered. It runs in a process of its own, reads an app.Command from standard input
// and writes app.Events.
package load
