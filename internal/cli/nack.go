package cli

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/weirmq/weir/internal/engine"
)

// nack gives messages of a claim back.
func (a *app) nack() *cobra.Command {
	var delay time.Duration
	var reason string
	c := &cobra.Command{
		Use:   "nack QUEUE CLAIM_ID [ID...]",
		Short: "Give messages of a claim back for another attempt, all of it when no id is given",
		Args:  usageArgs(cobra.MinimumNArgs(2)),
	}
	c.Flags().DurationVar(&delay, "delay", 0, "when to deliver again (default: by the group's backoff)")
	c.Flags().StringVar(&reason, "reason", "", "why, kept with the dead letter if it becomes one")
	c.RunE = func(c *cobra.Command, args []string) error {
		claim, ids, err := claimArgs(args[1:])
		if err != nil {
			return err
		}
		later := given(c.Flags().Changed("delay"), &delay)
		why := given(c.Flags().Changed("reason"), &reason)
		return a.with(c.Context(), func(client *engine.Client) error {
			n, err := client.Nack(c.Context(), args[0], claim, ids, later, why)
			if err != nil {
				return err
			}
			return a.say(map[string]int{"finished": n}, "gave back %s", plural(int64(n), "message"))
		})
	}
	return c
}
