package main

import (
	"context"
	"errors"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/weirmq/weir/bench/app"
)

// appCommand measures Weir with the workload of an application.
func appCommand() *cobra.Command {
	opts := app.DefaultOptions(app.Balanced)
	reports := ""
	c := &cobra.Command{
		Use: "app", Short: "Measure Weir with the workload of an application, and check every delivery", Args: cobra.NoArgs,
		Long: "Producers, two groups that are delivered each session's messages in order, handlers that take time, fail\n" +
			"and forward, dead letters, a second queue: Queen's application benchmark, scaled from its 32 cores to this\n" +
			"machine. Starts a PostgreSQL of its own, or makes a database on the one that --dsn names. ^C ends the run\n" +
			"with the report of what there is. bench/METHODOLOGY.md says how it measures and why.",
		RunE: func(c *cobra.Command, _ []string) error {
			if !c.Flags().Changed("duration") {
				opts.Duration = app.DefaultOptions(opts.Mode).Duration
			}
			opts.Live, opts.Log = os.Stderr, logger()
			return runApp(c.Context(), opts, reports)
		},
	}
	c.Flags().StringVar(&reports, "reports", "", "folder for app.html and app.json (default: none is written)")
	c.Flags().StringVar(&opts.DSN, "dsn", "", "URL of the server to use (default: one is started)")
	appLoadFlags(c.Flags(), &opts)
	appTakeFlags(c.Flags(), &opts)
	return c
}

// appLoadFlags are those of the run as a whole and of what is sent.
func appLoadFlags(flags *pflag.FlagSet, o *app.Options) {
	flags.StringVar(&o.Mode, "mode", o.Mode, "balanced, overload (send more than consumers can take) or soak (an hour)")
	flags.StringVar(&o.Via, "via", o.Via, "sql, or http: a weir serve of the checkout")
	flags.StringVar(&o.Acks, "acks", o.Acks, "gathered, by the SDK's worker, or each, a call a message")
	flags.Float64Var(&o.Scale, "scale", 0, "of the original's rate, producers, sessions, consumers (default cores / 32)")
	flags.IntVar(&o.Rate, "rate", 0, "messages sent a second (default 12,000 scaled, twice that to overload)")
	flags.Int64Var(&o.Ahead, "ahead", 0, "producers wait while a group is so many messages behind; without --rate they\n"+
		"send as fast as that lets them (default: they never wait)")
	flags.IntVar(&o.Producers, "producers", 0, "producers (default 300 scaled)")
	flags.IntVar(&o.Sessions, "sessions", 0, "sessions: keys, each of one producer (default 5,000 scaled)")
	flags.Float64Var(&o.Skew, "skew", o.Skew, "exponent of the Zipf law by which a producer chooses its sessions")
	flags.IntVar(&o.PushBatch, "push-batch", o.PushBatch, "messages a send, all of one session")
	flags.IntVar(&o.BytesMin, "payload-bytes-min", o.BytesMin, "smallest payload")
	flags.IntVar(&o.BytesMax, "payload-bytes-max", o.BytesMax, "largest payload")
	flags.DurationVar(&o.Duration, "duration", 0, "time of sending (default 1m0s, of a soak 1h0m0s)")
	flags.Int64Var(&o.Messages, "messages", 0, "send so many and no more")
	flags.DurationVar(&o.Drain, "drain", o.Drain, "time for the consumers to finish what was sent")
	flags.IntVar(&o.Connections, "connections", o.Connections, "connections of the producers, and of the consumers")
	flags.Uint64Var(&o.Seed, "seed", o.Seed, "of all that is by chance")
	flags.DurationVar(&o.KillPostgres, "kill-postgres", 0, "kill PostgreSQL by SIGKILL so often while messages are\n"+
		"sent, and start it again; only without --dsn (default: never)")
	flags.StringVar(&o.Root, "root", "", "the checkout of the repository (default: the one around)")
}

// appTakeFlags are those of the queues and of what is done with messages.
func appTakeFlags(flags *pflag.FlagSet, o *app.Options) {
	flags.IntVar(&o.Groups, "groups", o.Groups, "groups, each of which is delivered everything")
	flags.IntVar(&o.Consumers, "consumers", 0, "handlers of a group that run at once (default 400 scaled)")
	flags.IntVar(&o.ReceiveBatch, "receive-batch", 0, "messages a receive, with gathered acks those that a worker holds\n"+
		"(default 100, with gathered acks 100 for each of its consumers)")
	flags.DurationVar(&o.Wait, "wait", o.Wait, "how long a receive waits for messages, with --acks each")
	flags.DurationVar(&o.Lease, "lease", o.Lease, "of a claim")
	flags.DurationVar(&o.Work, "work", o.Work, "what a handler takes")
	flags.Float64Var(&o.Jitter, "jitter", o.Jitter, "by how much of it that differs, both ways")
	flags.Float64Var(&o.SlowPercent, "slow-percent", o.SlowPercent, "messages that take longer")
	flags.DurationVar(&o.SlowWork, "slow-work", o.SlowWork, "what those take")
	flags.Float64Var(&o.FailPercent, "fail-percent", o.FailPercent, "deliveries that fail")
	flags.Float64Var(&o.PoisonPercent, "poison-percent", o.PoisonPercent, "messages whose every delivery fails")
	flags.IntVar(&o.MaxAttempts, "max-attempts", o.MaxAttempts, "deliveries before a message is a dead letter")
	flags.DurationVar(&o.BackoffMin, "backoff-min", o.BackoffMin, "wait before the second delivery, doubled for each more")
	flags.DurationVar(&o.BackoffMax, "backoff-max", o.BackoffMax, "longest wait before a delivery")
	flags.Float64Var(&o.ForwardPercent, "forward-percent", o.ForwardPercent,
		"messages that the first group acks and sends on in one transaction")
	flags.IntVar(&o.SecondConsumers, "second-consumers", 0, "handlers of the second queue (default 80 scaled)")
	flags.DurationVar(&o.SecondWork, "second-work", o.SecondWork, "what those take")
	flags.DurationVar(&o.Retention, "retention", o.Retention, "how long finished messages are kept")
	flags.DurationVar(&o.TTL, "ttl", o.TTL, "how long messages wait to be taken")
}

// runApp does a run and reports it, also when a promise was broken.
func runApp(ctx context.Context, opts app.Options, dir string) error {
	if dir != "" {
		if err := app.CheckFolder(dir); err != nil {
			return err
		}
	}
	report, err := app.Run(ctx, opts)
	if report == nil {
		return err
	}
	err = errors.Join(err, table(report.WriteTable))
	if dir != "" {
		err = errors.Join(err, report.WriteFiles(dir))
	}
	return err
}
