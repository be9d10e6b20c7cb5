package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/weirmq/weir/internal/engine"
)

// extend gives a claim a new deadline.
func (a *app) extend() *cobra.Command {
	var lease time.Duration
	c := leaf("extend QUEUE CLAIM_ID", "Give a claim a new deadline, a lease from now", cobra.ExactArgs(2),
		func(ctx context.Context, args []string) error {
			claim, _, err := claimArgs(args[1:])
			if err != nil {
				return err
			}
			return a.with(ctx, func(client *engine.Client) error {
				deadline, err := client.Extend(ctx, args[0], claim, lease)
				if err != nil {
					return err
				}
				return a.say(map[string]time.Time{"deadline": deadline}, "claim %d lasts until %s", claim, cell(deadline))
			})
		})
	c.Flags().DurationVar(&lease, "lease", engine.DefaultLease, "how long from now")
	return c
}
