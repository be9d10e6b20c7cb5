package cli

import (
	"context"
	"crypto/rand"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weirmq/weir/internal/engine"
)

const tailHelp = `Write the messages of a queue as they come, each as a line of JSON, as receive does.

It follows as a group of its own, which it makes and drops again, so no other group misses a message. While it runs
the queue keeps what it has not written yet. When it is killed, so that it cannot drop the group, a group of the name
tail-... is left: ` + "`weir group drop`" + ` removes it. Making a group takes the right to administer the queue.`

// tail follows a queue and takes nothing away from its groups.
func (a *app) tail() *cobra.Command {
	opt := receiveOptions{lease: engine.DefaultLease, ack: true, follow: true}
	var start string
	c := &cobra.Command{
		Use: "tail QUEUE", Short: "Follow a queue without taking its messages away from anyone", Long: tailHelp,
		Args: usageArgs(cobra.ExactArgs(1)),
	}
	c.Flags().StringVar(&start, "start", "end", "where to begin: start, end or a time")
	c.Flags().IntVar(&opt.limit, "max", 0, "end after this many messages (default: no limit)")
	c.RunE = func(c *cobra.Command, args []string) error {
		if opt.limit < 0 {
			return usagef("--max %d: at least 1", opt.limit)
		}
		opt.group = "tail-" + strings.ToLower(rand.Text()[:12])
		return a.with(c.Context(), func(client *engine.Client) error {
			return a.runTail(c.Context(), client, args[0], start, opt)
		})
	}
	return c
}

// runTail receives with a group that lives as long as it does.
func (a *app) runTail(
	ctx context.Context, client *engine.Client, queue, start string, opt receiveOptions,
) (err error) {
	if err := client.CreateGroup(ctx, queue, opt.group, engine.GroupOptions{Start: &start}); err != nil {
		return err
	}
	defer func() {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTimeout)
		defer cancel()
		if dropErr := client.DropGroup(last, queue, opt.group); err == nil {
			err = dropErr
		}
	}()
	r := &receiving{app: a, client: client, queue: queue, opt: opt}
	return r.run(ctx)
}
