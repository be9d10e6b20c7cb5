package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weirmq/weir/bench/shootout"
)

// shootoutCommand measures Weir and other queues side by side.
func shootoutCommand() *cobra.Command {
	opts := shootout.DefaultOptions()
	reports := ""
	c := &cobra.Command{
		Use: "shootout", Short: "Measure Weir and other queues side by side and write a report", Args: cobra.NoArgs,
		Long: "Runs the code of each system in fresh databases, on a PostgreSQL of its own or on the one that --dsn\n" +
			"names, and writes a page, a table and a drawing. Called again, it goes on where it stopped. It works from\n" +
			"a checkout of the repository, with Go; what Python, Node or apt cannot install of the others is left out\n" +
			"and said. bench/METHODOLOGY.md says how it measures, why, and what each workload is.",
		RunE: func(c *cobra.Command, _ []string) error {
			opts.Log = logger()
			if opts.Small && !c.Flags().Changed("reports") {
				reports = filepath.Join("build", "bench", "small")
			}
			got, err := shootout.Run(c.Context(), opts)
			if err != nil {
				return err
			}
			return writeReports(c.Context(), got, reports)
		},
	}
	flags := c.Flags()
	flags.StringVar(&opts.DSN, "dsn", "", "URL of the server to use (default: one is started)")
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
	reportsFlag(c, &reports)
	flags.StringVar(&opts.Raw, "raw", "", "file of results (default bench/results/raw/shootout.jsonl)")
	return c
}

func reportsFlag(c *cobra.Command, dir *string) {
	c.Flags().StringVar(dir, "reports", "bench/results", "folder for shootout.md, .svg, .png and .html")
}

// writeReports writes the reports and says where they are.
func writeReports(ctx context.Context, got *shootout.Shootout, dir string) error {
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
	return table(func(w io.Writer) { fmt.Fprintf(w, "%d runs: %s\n", len(got.Results), strings.Join(paths, ", ")) })
}

// reportCommand writes the reports of what was measured before.
func reportCommand() *cobra.Command {
	dir := ""
	c := &cobra.Command{
		Use: "report RAW...", Short: "Write the reports of raw files of shootouts, together", Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, paths []string) error {
			all, err := shootout.Read(paths[0])
			if err != nil {
				return err
			}
			for _, path := range paths[1:] {
				more, err := shootout.Read(path)
				if err != nil {
					return err
				}
				if err := all.Join(path, more); err != nil {
					return err
				}
			}
			return writeReports(c.Context(), all, dir)
		},
	}
	reportsFlag(c, &dir)
	return c
}

// compareCommand says which figures of two shootouts differ.
func compareCommand() *cobra.Command {
	return &cobra.Command{
		Use: "compare BEFORE AFTER", Short: "Compare the raw files of two shootouts", Args: cobra.ExactArgs(2),
		Long: "Says of each figure that both have by how much it differs, where that is more than chance: of each\n" +
			"workload by the Mann-Whitney U test, which needs 4 runs on each side (--repetitions of the shootout),\n" +
			"and of all workloads together by that test's sum over them, for which 3 are enough.\n" +
			"Raw files are those that shootout --raw names.",
		RunE: func(_ *cobra.Command, args []string) error {
			before, err := shootout.Read(args[0])
			if err != nil {
				return err
			}
			after, err := shootout.Read(args[1])
			if err != nil {
				return err
			}
			all, err := shootout.Compare(before, after)
			if err != nil {
				return err
			}
			return table(func(w io.Writer) { shootout.WriteComparisons(w, before, after, all) })
		},
	}
}
