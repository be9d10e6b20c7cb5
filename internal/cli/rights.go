package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/weirmq/weir/internal/engine"
)

// grant gives a role a right on a queue.
func (a *app) grant() *cobra.Command {
	return a.changeRight("grant", "Give a role a right on a queue", "role %s may now %s queue %s", (*engine.Client).Grant)
}

// revoke takes a right on a queue from a role.
func (a *app) revoke() *cobra.Command {
	return a.changeRight("revoke", "Take a right on a queue from a role", "role %s was denied to %s queue %s",
		(*engine.Client).Revoke)
}

func (a *app) changeRight(
	verb, short, done string, change func(*engine.Client, context.Context, engine.Right, string, string) error,
) *cobra.Command {
	return leaf(verb+" (produce | consume | admin) QUEUE ROLE", short, cobra.ExactArgs(3),
		func(ctx context.Context, args []string) error {
			return a.with(ctx, func(client *engine.Client) error {
				if err := change(client, ctx, engine.Right(args[0]), args[1], args[2]); err != nil {
					return err
				}
				view := map[string]string{"right": args[0], "queue": args[1], "role": args[2]}
				words := map[string]string{"produce": "send to", "consume": "consume from", "admin": "administer"}
				return a.say(view, done, args[2], words[args[0]], args[1])
			})
		})
}
