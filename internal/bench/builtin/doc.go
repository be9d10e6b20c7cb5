// Package builtin holds the adapters of the shootout that need no client library: the queues that are called by SQL
// (Weir, PGMQ, PgQ, a plain table) and those that are spoken to over HTTP (Weir's server, Queen). Statements stand in
// bench/adapters/<system>.
package builtin
