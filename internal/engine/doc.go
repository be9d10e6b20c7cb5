// Package engine is the Go face of the SQL functions of schema weir: one method a function, typed results, typed
// errors.
//
// The package decides nothing. Every rule about queues, claims and attempts lives in sql/; a method here passes its
// arguments, reads the rows and turns a PostgreSQL error into an *Error. No other package of the program sends SQL
// to a queue's database (internal/migrate installs the engine; the tests and the benchmark driver have connections
// of their own).
//
// # Behind a pooler
//
// Every call is one statement, or a transaction that InTx opens and ends, and nothing is kept in the session, so a
// transaction-mode pooler may stand between. The default way to run statements (cache_describe) names no prepared
// statement on the server, because a named one is gone when the pooler hands out another backend. A caller who knows
// that the connection is direct asks for Options.Direct, which saves the parsing and planning of each call.
//
// # Waiting
//
// A consumer that received nothing waits with a Waiter and receives again. It goes through these states:
//
//	breath    2 ms, unmarked: where messages flow, the next are there by then and no send has to notify
//	armed     the queue is marked and the Listener hears its channel; receive once more, for what came before the mark
//	stepping  until the notification, or for 2 ms, 4 ms, 8 ms ... 250 ms: a send that was under way when the mark was
//	          set may not have seen it, and what becomes due notifies nobody
//	deaf      the same steps, unmarked, while the Listener has no connection that hears
//
// Found messages and notifications lead back to the breath; a Listener that comes to hear leads from deaf to armed.
package engine
