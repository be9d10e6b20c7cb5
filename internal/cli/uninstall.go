package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/weirmq/weir/internal/migrate"
)

// uninstall removes the engine from a database.
func (a *app) uninstall() *cobra.Command {
	var yes bool
	c := leaf("uninstall --yes", "Remove the engine, with all queues and messages, from a database", cobra.NoArgs,
		func(ctx context.Context, _ []string) error {
			if !yes {
				return usagef("all queues and messages would be gone: say --yes to do it")
			}
			dsn, _, err := a.findDSN()
			if err != nil {
				return err
			}
			if err := migrate.UninstallDSN(ctx, dsn); err != nil {
				return err
			}
			return a.say(map[string]bool{"uninstalled": true}, "the engine is gone, with all its queues")
		})
	c.Long = c.Short + ".\n\nIt drops a queue at a time, then the schemas weir and weir_internal; when it is " +
		"interrupted, run it again.\nWhile views or functions of others need the engine it refuses and names them."
	c.Flags().BoolVar(&yes, "yes", false, "really do it")
	return c
}
