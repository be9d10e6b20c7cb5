// Package adapter is the adapter's side of the shootout's protocol for adapters written in Go: it reads the command,
// generates the messages, keeps the pace, and writes the ledger of what was received. bench/adapters/README.md
// describes the protocol. An adapter has to know its system only: see System.
package adapter
