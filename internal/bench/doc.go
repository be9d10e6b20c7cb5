// Package bench measures Weir on a server of its own or on the user's, each run in a fresh database, by clients that
// call its functions as the SDKs do. bench/METHODOLOGY.md says how and why; the module bench measures Weir beside other
// systems.
package bench
