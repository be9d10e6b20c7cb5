package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/weirmq/weir/internal/engine"
)

// ack finishes messages of a claim.
func (a *app) ack() *cobra.Command {
	c := a.settleCommand("ack", "Finish messages", "finished", true,
		func(ctx context.Context, client *engine.Client, queue string, p engine.ClaimPart) (int, error) {
			return client.AckPart(ctx, queue, p)
		})
	c.Example = `  weir ack orders 1 1000 1001
  weir ack orders 1 --all
  weir receive orders --max 10 | tee work.ndjson; ...; weir ack orders < work.ndjson`
	return c
}
