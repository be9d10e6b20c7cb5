// Package bench measures Weir beside other queues: on one server, in turns, each run in a fresh database. It fetches an
// -O2 build of PostgreSQL and the other system's own SQL, drives them with pgbench, and takes its counts from the
// database. bench/METHODOLOGY.md says how and why; the SQL stands in bench/adapters.
package bench
