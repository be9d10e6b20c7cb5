// Command quickstart sends three e-mails' worth of messages and works them off.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"

	weir "github.com/weirmq/weir/sdk/go"
)

// Email is the payload of a message.
type Email struct {
	To string `json:"to"`
}

func main() {
	if err := run(); err != nil {
		slog.Error("quickstart failed", "error", err)
		os.Exit(1)
	}
}

func run() error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	client, err := weir.Connect(ctx, os.Getenv("WEIR_DSN")) // or the URL of a `weir serve`
	if err != nil {
		return err
	}
	defer client.Close()
	if _, err := client.CreateQueue(ctx, "emails", weir.QueueOptions{}); err != nil {
		return err
	}

	emails := weir.NewProducer[Email](client, "emails")
	for _, to := range []string{"ann", "bob", "cy"} {
		if _, err := emails.Send(ctx, Email{To: to}); err != nil {
			return err
		}
	}

	worker := weir.NewWorker(client, "emails", func(_ context.Context, m *weir.Message[Email]) error {
		fmt.Println("to", m.Payload.To)
		if m.Payload.To == "cy" {
			stop() // this example has seen enough
		}
		return nil
	}, weir.WorkerOptions{Concurrency: 1})
	return worker.Run(ctx)
}
