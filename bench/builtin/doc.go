// Package builtin holds the adapters of the shootout in Go: the queues that are called by SQL (Weir, PGMQ, PgQ, a plain
// table), those that are spoken to over HTTP (Weir's server, Queen), and those with a client library in Go (Weir's SDK,
// River). Statements stand in bench/adapters/<system>.
package builtin
