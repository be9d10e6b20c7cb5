package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/weirmq/weir/internal/engine"
)

// release gives messages of a claim back unused.
func (a *app) release() *cobra.Command {
	return a.settleCommand("release", "Give messages back unused; the attempt is not counted", "gave back", true,
		func(ctx context.Context, client *engine.Client, queue string, p engine.ClaimPart) (int, error) {
			return client.Release(ctx, queue, p.Claim, p.IDs)
		})
}
