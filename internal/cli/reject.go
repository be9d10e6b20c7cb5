package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/weirmq/weir/internal/engine"
)

// reject moves messages of a claim to the dead letters.
func (a *app) reject() *cobra.Command {
	var reason string
	var c *cobra.Command
	c = a.settleCommand("reject", "Move messages to the dead letters", "rejected", false,
		func(ctx context.Context, client *engine.Client, queue string, p engine.ClaimPart) (int, error) {
			return client.Reject(ctx, queue, p.Claim, p.IDs, given(c.Flags().Changed("reason"), &reason))
		})
	c.Flags().StringVar(&reason, "reason", "", "why, kept with the dead letter")
	return c
}
