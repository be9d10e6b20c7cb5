// Package builtin holds the adapters of the shootout that need no other program: the queues that are called by SQL
// (Weir, PGMQ, a plain table), whose statements stand in bench/adapters/<system>, and Weir's server.
package builtin
