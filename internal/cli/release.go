package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/weirmq/weir/internal/engine"
)

// release gives messages of a claim back unused.
func (a *app) release() *cobra.Command {
	return leaf("release QUEUE CLAIM_ID [ID...]",
		"Give messages of a claim back unused, all of it when no id is given; the attempt is not counted",
		cobra.MinimumNArgs(2), func(ctx context.Context, args []string) error {
			claim, ids, err := claimArgs(args[1:])
			if err != nil {
				return err
			}
			return a.with(ctx, func(client *engine.Client) error {
				n, err := client.Release(ctx, args[0], claim, ids)
				if err != nil {
					return err
				}
				return a.say(map[string]int{"finished": n}, "gave back %s", plural(int64(n), "message"))
			})
		})
}
