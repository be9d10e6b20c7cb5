// Package app measures Weir with a workload like that of an application: producers with sessions of their own, two
// groups that are each delivered everything in the order of its key, handlers that take time, fail and forward, dead
// letters, a second queue. It starts the load, which is a process of its own and uses the Go SDK as a user does,
// checks every delivery while it runs, asks the database at the end, and writes a report. bench/METHODOLOGY.md says how
// and why.
package app
