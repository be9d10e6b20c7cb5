// Package shootout measures queues side by side: each system's real code, driven through its adapter, in a fresh
// database on one server, in rotation. It takes its counts from the database and its times from ledgers that every
// adapter keeps in the same form. bench/METHODOLOGY.md says how and why, bench/adapters/README.md how to add a system.
package shootout
