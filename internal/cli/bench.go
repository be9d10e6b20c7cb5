package cli

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/weirmq/weir/internal/bench"
	"github.com/weirmq/weir/internal/bench/size"
)

// bench measures Weir.
func (a *app) bench() *cobra.Command {
	opts := bench.DefaultOptions()
	about := map[string]string{
		"send":      "Measure sends: batches and single messages",
		"consume":   "Measure receives and acks from a backlog: records, rows, single messages, depth",
		"cycle":     "Measure clients that send, receive and acknowledge",
		"latency":   "Measure the time from send to receive at a steady rate",
		"http":      "Measure a server with HTTP clients: single messages, batches, and a low steady rate",
		"held-xmin": "Measure the cycle while a transaction is held open",
		"ordered":   "Compare an ordered group with one that is not",
		"fan-out":   "Compare ten groups with one",
		"queues":    "Compare a queue among many with the only one, and tell what the many cost",
		"pending":   "Compare a queue with many delayed messages and dead letters with one without",
		"soak":      "Run the cycle for long and watch the rate and the storage",
	}
	below := make([]*cobra.Command, 0, len(about))
	for _, name := range bench.Workloads() {
		c := leaf(name, about[name], cobra.NoArgs, func(ctx context.Context, _ []string) error {
			run := opts
			run.Workload, run.DSN = name, a.dsn
			return a.runBench(ctx, run)
		})
		benchFlags(c.Flags(), &opts)
		below = append(below, c)
	}
	below = append(below, a.benchSize())
	c := parent("bench", "Measure Weir", below...)
	c.Long = "Starts a PostgreSQL of its own, or makes scratch databases on the one that --dsn names, and measures.\n" +
		"Nothing that is there already is touched. bench/METHODOLOGY.md says how it measures and why."
	return c
}

// benchFlags are those of the measurements with a workload of their own.
func benchFlags(flags *pflag.FlagSet, o *bench.Options) {
	flags.IntVar(&o.Clients, "clients", o.Clients, "connections")
	flags.IntVar(&o.Batch, "batch", o.Batch, "messages a batch")
	flags.IntVar(&o.PayloadBytes, "payload-bytes", o.PayloadBytes, "length of a message's JSON text")
	flags.DurationVar(&o.Duration, "duration", 0, "time of one run (default 5s to 20s, as the workload needs)")
	flags.IntVar(&o.Repetitions, "repetitions", o.Repetitions, "runs of each system")
	flags.IntVar(&o.Backlog, "backlog", o.Backlog, "messages that wait before a consume")
	flags.IntVar(&o.Deep, "deep", o.Deep, "the backlog that is compared with one of 1,000")
	flags.IntVar(&o.Rate, "rate", o.Rate, "messages a second for latency and for http's open loop")
	flags.IntVar(&o.Producers, "producers", o.Producers, "connections of http that send")
	flags.IntVar(&o.Consumers, "consumers", o.Consumers, "connections of http that receive and acknowledge")
	flags.IntVar(&o.Queues, "queues", o.Queues, "queues that are compared with one")
}

func (a *app) runBench(ctx context.Context, opts bench.Options) error {
	opts.Log = slog.New(slog.NewTextHandler(a.stderr, &slog.HandlerOptions{Level: slog.LevelInfo}))
	report, err := bench.Run(ctx, opts)
	if errors.Is(err, bench.ErrOptions) {
		return &usageError{err: err}
	}
	if err != nil {
		return err
	}
	return a.emit(report, func(w io.Writer) { report.WriteTable(w) })
}

// benchSize turns a target into what PostgreSQL needs.
func (a *app) benchSize() *cobra.Command {
	target := size.Target{FanOut: 1, Payload: 256, Batch: 100, Keep: 60}
	file := ""
	c := leaf("size", "Estimate what PostgreSQL needs, by a model fitted to a shootout", cobra.NoArgs,
		func(context.Context, []string) error {
			model, err := sizeModel(file)
			if err != nil {
				return err
			}
			estimate, err := model.Estimate(target)
			if err != nil {
				return &usageError{err: err}
			}
			return a.emit(estimate, estimate.WriteTable)
		})
	c.Long = "Says how many vCPUs, how much WAL, disk and memory a PostgreSQL takes for the target, by a model that\n" +
		"was fitted to what a shootout measured of Weir over SQL, and how far the model is from the measurements.\n" +
		"The program brings that of the project; a shootout on your machine writes size.json, for --model."
	flags := c.Flags()
	flags.Float64Var(&target.Rate, "rate", 1000, "messages sent a second")
	flags.IntVar(&target.FanOut, "fanout", target.FanOut, "groups that receive each message")
	flags.IntVar(&target.Payload, "payload", target.Payload, "bytes of a payload's JSON text")
	flags.IntVar(&target.Batch, "batch", target.Batch, "messages a send and a receive")
	flags.Float64Var(&target.Keep, "keep", target.Keep, "seconds that messages stay: backlog and retention")
	flags.StringVar(&file, "model", "", "file of the model (default: the project's)")
	return c
}

// sizeModel reads a model, or returns that which the program brings.
func sizeModel(file string) (*size.Model, error) {
	if file == "" {
		return size.Project()
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, usagef("%v", err)
	}
	return size.Read(text)
}
