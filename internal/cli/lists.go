package cli

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/weirmq/weir/internal/engine"
)

// looking are the flags of the commands that show what a group is at.
type looking struct {
	group string
	max   int
}

// list is such a command, for a queue: it reads a page and prints it.
func (l *looking) list(use, short string, read func(ctx context.Context, queue string) error) *cobra.Command {
	c := leaf(use+" QUEUE", short, cobra.ExactArgs(1), func(ctx context.Context, args []string) error {
		return read(ctx, args[0])
	})
	c.Flags().StringVar(&l.group, "group", engine.DefaultGroup, "consumer group")
	c.Flags().IntVar(&l.max, "max", 100, "at most this many, up to 1,000")
	return c
}

func (a *app) claims() *cobra.Command {
	var l looking
	var after int64
	c := l.list("claims", "List claims that are not finished, and who holds them",
		func(ctx context.Context, queue string) error {
			return a.with(ctx, func(client *engine.Client) error {
				list, err := client.Claims(ctx, queue, l.group, l.max, after)
				if err != nil {
					return err
				}
				return a.emit(list, func(w io.Writer) {
					columns(w, "CLAIM", "MESSAGES", "FIRST ID", "ATTEMPT", "CLAIMED", "LEASE ENDS", "PID", "SESSION", "ROLE")
					for _, c := range list {
						columns(w, c.ClaimID, c.Messages, c.FirstID, c.Attempt, c.ClaimedAt, c.Deadline, c.PID,
							c.Application, c.Role)
					}
				})
			})
		})
	c.Flags().Int64Var(&after, "after", 0, "only claims above this one: the last of the page before")
	return c
}

func (a *app) delayed() *cobra.Command {
	var l looking
	var after int64
	c := l.list("delayed", "List messages that are not due: delayed ones, and retries with their last error",
		func(ctx context.Context, queue string) error {
			return a.with(ctx, func(client *engine.Client) error {
				list, err := client.Delayed(ctx, queue, l.group, l.max, after)
				if err != nil {
					return err
				}
				return a.emit(list, func(w io.Writer) {
					columns(w, "ID", "DUE", "ATTEMPTS", "REASON", "KEY", "PAYLOAD")
					for _, m := range list {
						columns(w, m.ID, m.DueAt, m.Attempts, m.Reason, m.Key, m.Payload)
					}
				})
			})
		})
	c.Flags().Int64Var(&after, "after", 0, "only what comes after this message: the last of the page before")
	return c
}

func (a *app) parkedKeys() *cobra.Command {
	var l looking
	var key string
	var lane int
	var c *cobra.Command
	c = l.list("parked-keys", "List keys whose messages wait in a line, and what for",
		func(ctx context.Context, queue string) error {
			var after engine.LineEnd
			if c.Flags().Changed("after") {
				after.Key = &key
			}
			if c.Flags().Changed("after-lane") {
				after.Lane = &lane
			}
			return a.with(ctx, func(client *engine.Client) error {
				list, err := client.ParkedKeys(ctx, queue, l.group, l.max, after)
				if err != nil {
					return err
				}
				return a.emit(list, func(w io.Writer) {
					columns(w, "KEY", "LANE", "MESSAGES", "FIRST ID", "ATTEMPTS", "WAITS FOR", "DUE", "REASON")
					for _, k := range list {
						columns(w, k.Key, k.Lane, k.Messages, k.FirstID, k.Attempts, k.WaitsFor, k.DueAt, k.Reason)
					}
				})
			})
		})
	c.Flags().StringVar(&key, "after", "", "only keys above this one: the last of the page before")
	c.Flags().IntVar(&lane, "after-lane", 0, "when that page ended with messages without a key: their lane, instead")
	return c
}
