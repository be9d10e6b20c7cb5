package cli

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/weirmq/weir/internal/engine"
)

// peek looks at messages without claiming them.
func (a *app) peek() *cobra.Command {
	var group string
	var limit int
	c := leaf("peek QUEUE", "Look at the next messages without claiming them", cobra.ExactArgs(1),
		func(ctx context.Context, args []string) error {
			return a.with(ctx, func(client *engine.Client) error {
				list, err := client.Peek(ctx, args[0], group, limit)
				if err != nil {
					return err
				}
				return a.emit(list, func(w io.Writer) {
					columns(w, "ID", "KEY", "ENQUEUED", "PAYLOAD")
					for _, m := range list {
						columns(w, m.ID, m.Key, m.EnqueuedAt, m.Payload)
					}
				})
			})
		})
	c.Flags().StringVar(&group, "group", engine.DefaultGroup, "consumer group")
	c.Flags().IntVar(&limit, "max", 10, "at most this many")
	return c
}
