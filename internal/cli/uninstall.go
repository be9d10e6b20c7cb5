package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/weirmq/weir/internal/engine"
	"github.com/weirmq/weir/internal/migrate"
)

// uninstall removes the engine from a database.
func (a *app) uninstall() *cobra.Command {
	var yes bool
	c := leaf("uninstall", "Remove the engine, with all queues and messages, from a database", cobra.NoArgs,
		func(ctx context.Context, _ []string) error {
			dsn, _, err := a.findDSN()
			if err != nil {
				return err
			}
			if !yes {
				if err := a.with(ctx, func(client *engine.Client) error { return a.confirmAll(ctx, client) }); err != nil {
					return err
				}
			}
			if err := migrate.UninstallDSN(ctx, dsn); err != nil {
				return err
			}
			return a.say(map[string]bool{"uninstalled": true}, "the engine is gone, with all its queues")
		})
	c.Long = c.Short + ".\n\nIt drops a queue at a time, then the schemas weir and weir_internal; when it is " +
		"interrupted, run it again.\nWhile views or functions of others need the engine it refuses and names them."
	return yesFlag(c, &yes)
}

// confirmAll asks whether the engine may go with everything.
func (a *app) confirmAll(ctx context.Context, client *engine.Client) error {
	queues, err := client.ListQueues(ctx)
	if err != nil {
		return err
	}
	l, err := lossOf(ctx, client, "", "")
	if err != nil {
		return err
	}
	what := fmt.Sprintf("the engine goes, with %s, %s,", plural(int64(len(queues)), "queue"), l)
	return a.confirm(ctx, what)
}
