package cli

import (
	"github.com/spf13/cobra"

	"github.com/weirmq/weir/internal/engine"
)

// reject moves messages of a claim to the dead letters.
func (a *app) reject() *cobra.Command {
	var reason string
	c := &cobra.Command{
		Use:   "reject QUEUE CLAIM_ID [ID...]",
		Short: "Move messages of a claim to the dead letters, all of it when no id is given",
		Args:  usageArgs(cobra.MinimumNArgs(2)),
	}
	c.Flags().StringVar(&reason, "reason", "", "why, kept with the dead letter")
	c.RunE = func(c *cobra.Command, args []string) error {
		claim, ids, err := claimArgs(args[1:])
		if err != nil {
			return err
		}
		why := given(c.Flags().Changed("reason"), &reason)
		return a.with(c.Context(), func(client *engine.Client) error {
			n, err := client.Reject(c.Context(), args[0], claim, ids, why)
			if err != nil {
				return err
			}
			return a.say(map[string]int{"finished": n}, "rejected %s", plural(int64(n), "message"))
		})
	}
	return c
}
