package cli

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/weirmq/weir/internal/engine"
)

// get shows one message and how each group stands to it.
func (a *app) get() *cobra.Command {
	return leaf("get QUEUE ID", "Show a message and how each group stands to it", cobra.ExactArgs(2),
		func(ctx context.Context, args []string) error {
			ids, err := idArgs(args[1:])
			if err != nil {
				return err
			}
			return a.with(ctx, func(client *engine.Client) error {
				m, err := client.Get(ctx, args[0], ids[0])
				if err != nil {
					return err
				}
				return a.emit(m, func(w io.Writer) {
					fmt.Fprintf(w, "id\t%d\nkey\t%s\nenqueued\t%s\nheaders\t%s\npayload\t%s\n",
						m.ID, whole(m.Key), cell(m.EnqueuedAt), whole(m.Headers), m.Payload)
					for _, group := range slices.Sorted(maps.Keys(m.States)) {
						columns(w, "group "+group, m.States[group])
					}
				})
			})
		})
}
