package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/weirmq/weir/internal/engine"
)

// ack finishes messages of a claim.
func (a *app) ack() *cobra.Command {
	return leaf("ack QUEUE CLAIM_ID [ID...]", "Finish messages of a claim, all of it when no id is given",
		cobra.MinimumNArgs(2), func(ctx context.Context, args []string) error {
			claim, ids, err := claimArgs(args[1:])
			if err != nil {
				return err
			}
			return a.with(ctx, func(client *engine.Client) error {
				n, err := client.Ack(ctx, args[0], claim, ids)
				if err != nil {
					return err
				}
				return a.say(map[string]int{"finished": n}, "finished %s", plural(int64(n), "message"))
			})
		})
}
