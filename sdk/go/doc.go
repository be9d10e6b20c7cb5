// Package weir is the Go SDK of Weir, a message queue inside PostgreSQL.
//
//	client, err := weir.Connect(ctx, os.Getenv("DATABASE_URL"))
//	...
//	emails := weir.NewProducer[Email](client, "emails")
//	_, err = emails.In(tx).Send(ctx, Email{To: "ann@example.org"}) // with your own rows, or not at all
//	...
//	worker := weir.NewWorker(client, "emails", func(ctx context.Context, m *weir.Message[Email]) error {
//		return deliver(ctx, m.Payload)
//	})
//	err = worker.Run(ctx)
//
// A [Client] calls the engine's SQL functions, over PostgreSQL with pgx or database/sql, or over HTTP; all three look
// the same. A [Producer] sends payloads of one type to one queue, a [Consumer] receives them for a loop of your own,
// and a [Worker] is that loop. Errors are told apart with [errors.Is] and the Err values, by SQLSTATE.
//
// # A worker inside
//
//	            receive                      one handler a unit
//	queue ──────────────► claims ──► units ──────────────────► results ──► settle: nack, reject, ack
//	         fetch           │                                               │ gathered while the call
//	                         └── renew: extend each third of the lease       │ before is under way
//	                                                                         ▼
//	                                                          a claim that has nothing left is forgotten
//
// A unit is what must run in turn: in an ordered group the messages of one claim and key, else one message. A claim is
// alive until an extension or a settlement learns that it is not, or its deadline passes with no extension; then it is
// lost: its handlers are cancelled with [ErrClaimLost], and their results are dropped.
//
// The worker's lock guards claims and counts; no call is made while it is held.
package weir
