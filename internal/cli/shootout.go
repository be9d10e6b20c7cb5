package cli

import (
	"context"
	"errors"
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"github.com/weirmq/weir/internal/bench/adapter"
	"github.com/weirmq/weir/internal/bench/builtin"
	"github.com/weirmq/weir/internal/bench/shootout"
)

// shootout measures Weir and other queues side by side.
func (a *app) shootout() *cobra.Command {
	opts := shootout.DefaultOptions()
	c := leaf("shootout", "Measure Weir and other queues side by side and write a report", cobra.NoArgs,
		func(ctx context.Context, _ []string) error {
			run := opts
			run.DSN = a.dsn
			run.Log = slog.New(slog.NewTextHandler(a.stderr, &slog.HandlerOptions{Level: slog.LevelInfo}))
			_, err := shootout.Run(ctx, run)
			return usage(err, shootout.ErrOptions)
		})
	flags := c.Flags()
	flags.StringVar(&opts.Root, "root", "", "the checkout of the repository (default: the one around)")
	flags.StringSliceVar(&opts.Systems, "systems", nil, "only these: the names of folders in bench/adapters")
	flags.StringSliceVar(&opts.Workloads, "workloads", nil, "only these")
	flags.StringVar(&opts.Setting, "setting", opts.Setting, "each system's best, default, or both")
	flags.IntVar(&opts.Repetitions, "rounds", opts.Repetitions, "repetitions")
	flags.Float64Var(&opts.Seconds, "seconds", opts.Seconds, "length of a run that goes by time")
	flags.DurationVar(&opts.Budget, "budget", 0, "begin no run after so long; the next call goes on (default: no end)")
	flags.StringVar(&opts.Raw, "raw", "", "file of results (default bench/results/raw/shootout.jsonl)")
	return c
}

// benchAdapter is the process that `weir bench shootout` starts for the queues that are built in.
func (a *app) benchAdapter() *cobra.Command {
	c := leaf("adapter SYSTEM", "Speak the protocol of bench/adapters", cobra.ExactArgs(1),
		func(ctx context.Context, args []string) error {
			sys, ok := builtin.Systems()[args[0]]
			if !ok {
				return &usageError{err: errors.New("no adapter " + args[0])}
			}
			return adapter.Run(ctx, sys, os.Stdin, a.stdout)
		})
	c.Hidden = true
	return c
}

// usage makes an error of usage of one that says so.
func usage(err, kind error) error {
	if errors.Is(err, kind) {
		return &usageError{err: err}
	}
	return err
}
