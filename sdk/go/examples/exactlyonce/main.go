// Command exactlyonce turns orders into invoices: the invoice's row, the message to the printer and the ack of the
// order are one transaction.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	weir "github.com/weirmq/weir/sdk/go"
)

// Order is a message of the queue orders.
type Order struct {
	ID    int `json:"id"`
	Total int `json:"total"`
}

// Invoice is a message of the queue invoices.
type Invoice struct {
	Order int `json:"order"`
}

func main() {
	if err := run(context.Background()); err != nil {
		slog.Error("exactlyonce failed", "error", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	pool, err := pgxpool.New(ctx, os.Getenv("WEIR_DSN"))
	if err != nil {
		return err
	}
	defer pool.Close()
	client := weir.New(pool)
	defer client.Close()
	for _, queue := range []string{"orders", "invoices"} {
		if _, err := client.CreateQueue(ctx, queue, weir.QueueOptions{}); err != nil {
			return err
		}
	}
	if _, err := client.Send(ctx, "orders", Order{ID: 7, Total: 12}); err != nil {
		return err
	}

	invoices := weir.NewProducer[Invoice](client, "invoices")
	done := make(chan struct{})
	worker := weir.NewWorker(client, "orders", func(ctx context.Context, m *weir.Message[Order]) error {
		err := m.ExactlyOnce(ctx, func(tx pgx.Tx) error {
			_, err := tx.Exec(ctx, `insert into invoice (order_id, total) values ($1, $2)`, m.Payload.ID, m.Payload.Total)
			if err != nil {
				return err
			}
			_, err = invoices.In(tx).Send(ctx, Invoice{Order: m.Payload.ID})
			return err
		})
		if err == nil {
			close(done)
		}
		return err
	})
	go func() {
		<-done
		_ = worker.Stop(ctx) // always nil
	}()
	if err := worker.Run(ctx); err != nil {
		return err
	}
	sent, err := client.Pop(ctx, "invoices")
	if err != nil {
		return err
	}
	for _, m := range sent {
		fmt.Println("invoice", string(m.Payload))
	}
	return nil
}
