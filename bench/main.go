// Command weir-bench measures Weir beside other queues, and with the workload of an application. METHODOLOGY.md says
// how and why.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/weirmq/weir/bench/adapter"
	"github.com/weirmq/weir/bench/app"
	"github.com/weirmq/weir/bench/builtin"
	"github.com/weirmq/weir/bench/load"
	"github.com/weirmq/weir/bench/shootout"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	root := &cobra.Command{
		Use: "weir-bench", Short: "Measure Weir beside other queues, and with the workload of an application",
		SilenceErrors: true, SilenceUsage: true,
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.AddCommand(shootoutCommand(), reportCommand(), compareCommand(), appCommand(), adapterCommand(), loadCommand())
	err := root.ExecuteContext(ctx)
	stop()
	if err == nil {
		return
	}
	fmt.Fprintln(os.Stderr, "weir-bench: "+told(err))
	os.Exit(1)
}

// told words what ended a command.
func told(err error) string {
	var interrupted *shootout.InterruptedError
	if errors.As(err, &interrupted) {
		return fmt.Sprintf("%v\nhint: The same command goes on from there. `weir-bench report %s` writes the reports of "+
			"what there is.", err, interrupted.Raw)
	}
	return err.Error()
}

// adapterCommand is the process that a shootout starts for the queues whose adapters are built in.
func adapterCommand() *cobra.Command {
	return &cobra.Command{
		Use: "adapter SYSTEM", Hidden: true, Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			sys, ok := builtin.Systems()[args[0]]
			if !ok {
				return fmt.Errorf("%w: no adapter %s", shootout.ErrOptions, args[0])
			}
			return adapter.Run(c.Context(), sys, os.Stdin, os.Stdout)
		},
	}
}

// loadCommand is the process that the application benchmark starts.
func loadCommand() *cobra.Command {
	return &cobra.Command{
		Use: app.LoadArgument, Hidden: true, Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return load.Run(c.Context()) },
	}
}

// logger tells what is going on.
func logger() *slog.Logger { return slog.New(slog.NewTextHandler(os.Stderr, nil)) }

// table prints what a function writes with a tab between columns.
func table(write func(w io.Writer)) error {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	write(w)
	if err := w.Flush(); err != nil {
		return fmt.Errorf("write table: %w", err)
	}
	return nil
}
