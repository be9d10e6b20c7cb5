// Command jobs enqueues a job with arguments, runs it with the handler of its kind, and asks for its result.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"

	weir "github.com/weirmq/weir/sdk/go"
)

// Sum are the arguments of a job.
type Sum struct {
	Numbers []int `json:"numbers"`
}

// Kind names what handles the job.
func (Sum) Kind() string { return "sum" }

func main() {
	if err := run(); err != nil {
		slog.Error("jobs failed", "error", err)
		os.Exit(1)
	}
}

func run() error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	client, err := weir.Connect(ctx, os.Getenv("WEIR_DSN"))
	if err != nil {
		return err
	}
	defer client.Close()
	if _, err := client.CreateQueue(ctx, "jobs", weir.QueueOptions{}); err != nil {
		return err
	}
	id, err := client.Enqueue(ctx, "jobs", Sum{Numbers: []int{1, 2, 3}}, weir.Tracked())
	if err != nil {
		return err
	}

	handlers := weir.NewHandlers()
	weir.Handle(handlers, func(_ context.Context, job *weir.Job[Sum]) error {
		defer stop() // this example has seen enough
		sum := 0
		for _, n := range job.Args.Numbers {
			sum += n
		}
		return job.SetResult(sum)
	})
	if err := weir.NewJobWorker(client, "jobs", handlers).Run(ctx); err != nil {
		return err
	}

	job, err := client.Job(context.WithoutCancel(ctx), "jobs", id)
	if err != nil || job == nil {
		return err
	}
	fmt.Printf("%s, %s: %s\n", job.Kind, job.State, job.Result)
	return nil
}
