package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/weirmq/weir/internal/engine"
)

// queue is the parent of the commands on queues.
func (a *app) queue() *cobra.Command {
	return parent("queue", "Create, list, show and drop queues",
		a.queueCreate(), a.queueList(), a.queueShow(), a.queueDrop())
}

func (a *app) queueCreate() *cobra.Command {
	var lanes, bytesMax int
	c := &cobra.Command{
		Use: "create QUEUE", Short: "Create a queue with the group default", Args: usageArgs(cobra.ExactArgs(1)),
	}
	flags := c.Flags()
	flags.IntVar(&lanes, "lanes", engine.DefaultLanes, "how many lanes; 1 gives a total order")
	flags.IntVar(&bytesMax, "message-bytes-max", engine.DefaultMessageBytesMax, "the largest message, as stored")
	c.RunE = func(c *cobra.Command, args []string) error {
		opt := engine.QueueOptions{Lanes: &lanes, MessageBytesMax: &bytesMax}
		return a.with(c.Context(), func(client *engine.Client) error {
			if err := client.CreateQueue(c.Context(), args[0], opt); err != nil {
				return err
			}
			return a.say(map[string]string{"queue": args[0]}, "queue %s is there", args[0])
		})
	}
	return c
}

func (a *app) queueList() *cobra.Command {
	return leaf("list", "List the queues", cobra.NoArgs, func(ctx context.Context, _ []string) error {
		return a.with(ctx, func(client *engine.Client) error {
			list, err := client.ListQueues(ctx)
			if err != nil {
				return err
			}
			return a.emit(list, func(w io.Writer) {
				columns(w, "QUEUE", "LANES", "CREATED")
				for _, q := range list {
					columns(w, q.Name, q.Lanes, q.CreatedAt)
				}
			})
		})
	})
}

// queueView is a queue with what its groups have before them.
type queueView struct {
	engine.Queue
	Groups []engine.GroupStats `json:"groups"`
}

func (a *app) queueShow() *cobra.Command {
	show := func(ctx context.Context, args []string) error {
		return a.with(ctx, func(client *engine.Client) error {
			q, err := client.Queue(ctx, args[0])
			if err != nil {
				return err
			}
			groups, err := client.Stats(ctx, args[0])
			if err != nil {
				return err
			}
			return a.emit(queueView{Queue: q, Groups: groups}, func(w io.Writer) {
				columns(w, "QUEUE", "LANES", "CREATED")
				columns(w, q.Name, q.Lanes, q.CreatedAt)
				fmt.Fprintln(w)
				groupStats(w, groups)
			})
		})
	}
	return leaf("show QUEUE", "Show a queue and its groups", cobra.ExactArgs(1), show)
}

// groupStats writes the table of `queue show` and `status`.
func groupStats(w io.Writer, groups []engine.GroupStats) {
	columns(w, "QUEUE", "GROUP", "WAITING", "CLAIMED", "DELAYED", "DEAD", "OLDEST", "SEGMENTS", "BYTES")
	for _, g := range groups {
		oldest := "-"
		if g.OldestAge > 0 {
			oldest = fmt.Sprintf("%.1fs", g.OldestAge)
		}
		columns(w, g.Queue, g.Group, g.Waiting, g.Claimed, g.Delayed, g.Dead, oldest, g.Segments, g.Bytes)
	}
}

func (a *app) queueDrop() *cobra.Command {
	return leaf("drop QUEUE", "Remove a queue with all its messages", cobra.ExactArgs(1),
		func(ctx context.Context, args []string) error {
			return a.with(ctx, func(client *engine.Client) error {
				if err := client.DropQueue(ctx, args[0]); err != nil {
					return err
				}
				return a.say(map[string]string{"queue": args[0]}, "queue %s is gone", args[0])
			})
		})
}
