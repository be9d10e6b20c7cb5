package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/weirmq/weir/internal/engine"
)

const doctorHelp = `Look for what is wrong, or will be, and say what to do about it.

The exit code is 1 when there is an error, that is when messages wait or may get lost, and 0 otherwise.`

// doctor looks for what is wrong.
func (a *app) doctor() *cobra.Command {
	c := leaf("doctor", "Look for what is wrong, and say what to do", cobra.NoArgs,
		func(ctx context.Context, _ []string) error {
			return a.with(ctx, func(client *engine.Client) error {
				list, err := client.Doctor(ctx)
				if err != nil {
					return err
				}
				if err := a.emit(list, func(w io.Writer) { findings(w, list) }); err != nil {
					return err
				}
				if len(list) > 0 && list[0].Severity == "error" {
					return errFound
				}
				return nil
			})
		})
	c.Long = doctorHelp
	return c
}

// findings writes each finding with its cure.
func findings(w io.Writer, list []engine.Finding) {
	if len(list) == 0 {
		fmt.Fprintln(w, "nothing is wrong")
	}
	for _, f := range list {
		about := f.Finding
		if f.Queue != nil {
			about += ", queue " + *f.Queue
		}
		if f.Group != nil {
			about += ", group " + *f.Group
		}
		fmt.Fprintf(w, "%s: %s: %s\n", f.Severity, about, f.Message)
		if f.Cure != "" {
			fmt.Fprintf(w, "  cure: %s\n", f.Cure)
		}
	}
}

// adopt makes queues usable that came in a dump.
func (a *app) adopt() *cobra.Command {
	return leaf("adopt [LOG]", "Make queues usable that came into this database by pg_dump and restore",
		cobra.MaximumNArgs(1), func(ctx context.Context, args []string) error {
			return a.with(ctx, func(client *engine.Client) error {
				log := ""
				if len(args) > 0 {
					log = args[0]
				}
				n, err := client.Adopt(ctx, log)
				if err != nil {
					return err
				}
				return a.say(map[string]int{"adopted": n}, "adopted %s", plural(int64(n), "queue"))
			})
		})
}
