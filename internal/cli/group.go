package cli

import (
	"context"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/weirmq/weir/internal/engine"
)

// group is the parent of the commands on groups.
func (a *app) group() *cobra.Command {
	return parent("group", "Create, list, show and drop consumer groups",
		a.groupCreate(), a.groupList(), a.groupShow(), a.groupDrop())
}

func (a *app) groupCreate() *cobra.Command {
	var ordered bool
	var start string
	var maxAttempts int
	var backoffMin, backoffMax time.Duration
	c := &cobra.Command{Use: "create QUEUE GROUP", Short: "Create a consumer group", Args: usageArgs(cobra.ExactArgs(2))}
	flags := c.Flags()
	flags.BoolVar(&ordered, "ordered", false, "deliver messages of one key in order")
	flags.StringVar(&start, "start", engine.DefaultStart, "where to begin: start, end or a time")
	flags.IntVar(&maxAttempts, "max-attempts", engine.DefaultMaxAttempts, "deliveries before a message is dead")
	flags.DurationVar(&backoffMin, "backoff-min", engine.DefaultBackoffMin, "delay before the second attempt")
	flags.DurationVar(&backoffMax, "backoff-max", engine.DefaultBackoffMax, "the longest delay between attempts")
	c.RunE = func(c *cobra.Command, args []string) error {
		opt := engine.GroupOptions{
			Ordered: ordered, Start: start, MaxAttempts: &maxAttempts, BackoffMin: &backoffMin, BackoffMax: &backoffMax,
		}
		return a.with(c.Context(), func(client *engine.Client) error {
			if err := client.CreateGroup(c.Context(), args[0], args[1], opt); err != nil {
				return err
			}
			return a.sayGroup(args, "group %s of queue %s is there")
		})
	}
	return c
}

func (a *app) groupList() *cobra.Command {
	return leaf("list QUEUE", "List the groups of a queue", cobra.ExactArgs(1),
		func(ctx context.Context, args []string) error {
			return a.with(ctx, func(client *engine.Client) error {
				list, err := client.ListGroups(ctx, args[0])
				if err != nil {
					return err
				}
				return a.emit(list, func(w io.Writer) { groupTable(w, list) })
			})
		})
}

func (a *app) groupShow() *cobra.Command {
	return leaf("show QUEUE GROUP", "Show a group", cobra.ExactArgs(2), func(ctx context.Context, args []string) error {
		return a.with(ctx, func(client *engine.Client) error {
			g, err := client.Group(ctx, args[0], args[1])
			if err != nil {
				return err
			}
			return a.emit(g, func(w io.Writer) { groupTable(w, []engine.Group{g}) })
		})
	})
}

func groupTable(w io.Writer, list []engine.Group) {
	columns(w, "QUEUE", "GROUP", "ORDERED", "ATTEMPTS", "BACKOFF", "UP TO", "CREATED")
	for _, g := range list {
		columns(w, g.Queue, g.Name, g.Ordered, g.MaxAttempts, g.BackoffMin, g.BackoffMax, g.CreatedAt)
	}
}

func (a *app) groupDrop() *cobra.Command {
	return leaf("drop QUEUE GROUP", "Remove a group; other groups keep their messages", cobra.ExactArgs(2),
		func(ctx context.Context, args []string) error {
			return a.with(ctx, func(client *engine.Client) error {
				if err := client.DropGroup(ctx, args[0], args[1]); err != nil {
					return err
				}
				return a.sayGroup(args, "group %s of queue %s is gone")
			})
		})
}

// sayGroup names the group that the arguments QUEUE GROUP name.
func (a *app) sayGroup(args []string, format string) error {
	return a.say(map[string]string{"queue": args[0], "group": args[1]}, format, args[1], args[0])
}
