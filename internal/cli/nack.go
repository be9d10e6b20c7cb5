package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/weirmq/weir/internal/engine"
)

// nack gives messages of a claim back.
func (a *app) nack() *cobra.Command {
	var delay time.Duration
	var reason string
	var c *cobra.Command
	c = a.settleCommand("nack", "Give messages back for another attempt", "gave back", true,
		func(ctx context.Context, client *engine.Client, queue string, p engine.ClaimPart) (int, error) {
			return client.Nack(ctx, queue, p.Claim, p.IDs, given(c.Flags().Changed("delay"), &delay),
				given(c.Flags().Changed("reason"), &reason))
		})
	c.Flags().DurationVar(&delay, "delay", 0, "when to deliver again (default: by the group's backoff)")
	c.Flags().StringVar(&reason, "reason", "", "why, kept with the dead letter if it becomes one")
	return c
}
