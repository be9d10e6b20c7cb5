package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weirmq/weir/internal/bench/adapter"
	"github.com/weirmq/weir/internal/bench/builtin"
	"github.com/weirmq/weir/internal/bench/shootout"
)

// shootout measures Weir and other queues side by side.
func (a *app) shootout() *cobra.Command {
	opts := shootout.DefaultOptions()
	reports := ""
	c := leaf("shootout", "Measure Weir and other queues side by side and write a report", cobra.NoArgs, nil)
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		run, dir := opts, reports
		run.DSN = a.dsn
		run.Log = slog.New(slog.NewTextHandler(a.stderr, &slog.HandlerOptions{Level: slog.LevelInfo}))
		if run.Small && !cmd.Flags().Changed("reports") {
			dir = filepath.Join("build", "bench", "small")
		}
		got, err := shootout.Run(cmd.Context(), run)
		if err != nil {
			return a.endOfShootout(err)
		}
		return a.reportShootout(cmd.Context(), got, dir)
	}
	c.Long = "Runs the code of each system in fresh databases, on a PostgreSQL of its own or on the one that --dsn\n" +
		"names, and writes a page, a table and a drawing. Called again, it goes on where it stopped. It works from\n" +
		"a checkout of the repository, with Go; what Python, Node or apt cannot install of the others is left out\n" +
		"and said. bench/METHODOLOGY.md says how it measures, why, and what each workload is."
	flags := c.Flags()
	flags.StringVar(&opts.Root, "root", "", "the checkout of the repository (default: the one around)")
	flags.StringVar(&opts.Bin, "server", "", "folder with initdb and postgres to use (default: PostgreSQL 18, fetched)")
	flags.StringSliceVar(&opts.Systems, "systems", nil, "only these, such as weir,pgmq: folders in bench/adapters")
	flags.StringSliceVar(&opts.Workloads, "workloads", nil, "only these, such as send-100,cycle-1")
	flags.BoolVar(&opts.Quick, "quick", false, "the workloads that tell most, and once some of each other kind")
	flags.BoolVar(&opts.Small, "small", false, "few messages, short ramps: to see that all works; into build/bench/small")
	flags.StringVar(&opts.Setting, "setting", opts.Setting, "each system's best, default, or both")
	flags.IntVar(&opts.Repetitions, "repetitions", opts.Repetitions, "runs of each system")
	flags.Float64Var(&opts.Seconds, "seconds", opts.Seconds, "length of a run that goes by time")
	flags.DurationVar(&opts.Budget, "budget", 0, "begin no run after so long; the next call goes on (default: no end)")
	flags.StringVar(&reports, "reports", "bench/results", "folder for shootout.md, .svg, .png and .html")
	flags.StringVar(&opts.Raw, "raw", "", "file of results (default bench/results/raw/shootout.jsonl)")
	return c
}

// endOfShootout words what ended one.
func (a *app) endOfShootout(err error) error {
	var interrupted *shootout.InterruptedError
	if errors.As(err, &interrupted) {
		return &hinted{err: err, hint: fmt.Sprintf("The same command goes on from there. `%s bench report %s` "+
			"writes the reports of what there is.", a.name, shellWord(interrupted.Raw))}
	}
	return usage(err, shootout.ErrOptions)
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

// reportShootout writes the reports and says where they are, or prints the results.
func (a *app) reportShootout(ctx context.Context, got *shootout.Shootout, dir string) error {
	paths, err := got.WriteReports(dir)
	if err != nil {
		return err
	}
	picture, err := got.Photograph(ctx, dir)
	if err != nil {
		return err
	}
	if picture != "" {
		paths = append(paths, picture)
	}
	return a.say(got, "%d runs: %s", len(got.Results), strings.Join(paths, ", "))
}

// readShootout reads a raw file.
func readShootout(path string) (*shootout.Shootout, error) {
	s, err := shootout.Read(path)
	return s, usage(err, shootout.ErrOptions)
}

// benchReport writes the reports of what was measured before.
func (a *app) benchReport() *cobra.Command {
	dir := ""
	c := leaf("report RAW...", "Write the reports of raw files of shootouts, together", cobra.MinimumNArgs(1),
		func(ctx context.Context, paths []string) error {
			all, err := readShootout(paths[0])
			if err != nil {
				return err
			}
			for _, path := range paths[1:] {
				more, err := readShootout(path)
				if err != nil {
					return err
				}
				if err := all.Join(path, more); err != nil {
					return usage(err, shootout.ErrOptions)
				}
			}
			return a.reportShootout(ctx, all, dir)
		})
	c.Flags().StringVar(&dir, "reports", "bench/results", "folder for shootout.md, .svg, .png and .html")
	return c
}

// benchCompare says which figures of two shootouts differ.
func (a *app) benchCompare() *cobra.Command {
	c := leaf("compare BEFORE AFTER", "Compare the raw files of two shootouts", cobra.ExactArgs(2),
		func(_ context.Context, args []string) error {
			before, err := readShootout(args[0])
			if err != nil {
				return err
			}
			after, err := readShootout(args[1])
			if err != nil {
				return err
			}
			all, err := shootout.Compare(before, after)
			if err != nil {
				return usage(err, shootout.ErrOptions)
			}
			return a.emit(all, func(w io.Writer) { shootout.WriteComparisons(w, before, after, all) })
		})
	c.Long = "Says of each figure that both have by how much it differs, where that is more than chance: of each\n" +
		"workload by the Mann-Whitney U test, which needs 4 runs on each side (--repetitions of weir bench shootout),\n" +
		"and of all workloads together by that test's sum over them, for which 3 are enough.\n" +
		"Raw files are those that weir bench shootout --raw names."
	return c
}
