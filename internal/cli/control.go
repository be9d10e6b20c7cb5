package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/weirmq/weir/internal/engine"
)

// onQueue is a command that does one thing to the queue it names.
func (a *app) onQueue(
	verb, short, done string, do func(ctx context.Context, client *engine.Client, queue string) error,
) *cobra.Command {
	return leaf(verb+" QUEUE", short, cobra.ExactArgs(1), func(ctx context.Context, args []string) error {
		return a.with(ctx, func(client *engine.Client) error {
			if err := do(ctx, client, args[0]); err != nil {
				return err
			}
			return a.sayQueue(args, done)
		})
	})
}

// sayQueue says what became of the queue that the arguments begin with.
func (a *app) sayQueue(args []string, done string) error {
	return a.say(map[string]string{"queue": args[0]}, "queue %s %s", args[0], done)
}

// onGroup is a command that does one thing to the group it names.
func (a *app) onGroup(
	verb, short, done string, do func(ctx context.Context, client *engine.Client, queue, group string) error,
) *cobra.Command {
	return leaf(verb+" QUEUE GROUP", short, cobra.ExactArgs(2), func(ctx context.Context, args []string) error {
		return a.with(ctx, func(client *engine.Client) error {
			if err := do(ctx, client, args[0], args[1]); err != nil {
				return err
			}
			return a.sayGroup(args, done)
		})
	})
}

// sayGroup says what became of the group that the arguments QUEUE GROUP name.
func (a *app) sayGroup(args []string, done string) error {
	return a.say(map[string]string{"queue": args[0], "group": args[1]}, "group %s of queue %s %s", args[1], args[0], done)
}

func (a *app) queuePause() *cobra.Command {
	return a.onQueue("pause", "Stop delivery to all groups of a queue; sending goes on", "is paused",
		func(ctx context.Context, client *engine.Client, queue string) error {
			return client.Pause(ctx, queue, "")
		})
}

func (a *app) queueResume() *cobra.Command {
	return a.onQueue("resume", "End the pause of a queue", "is no longer paused",
		func(ctx context.Context, client *engine.Client, queue string) error {
			return client.Resume(ctx, queue, "")
		})
}

func (a *app) groupPause() *cobra.Command {
	return a.onGroup("pause", "Stop delivery to a group; sending and the other groups go on", "is paused",
		func(ctx context.Context, client *engine.Client, queue, group string) error {
			return client.Pause(ctx, queue, group)
		})
}

func (a *app) groupResume() *cobra.Command {
	return a.onGroup("resume", "End the pause of a group", "is no longer paused",
		func(ctx context.Context, client *engine.Client, queue, group string) error {
			return client.Resume(ctx, queue, group)
		})
}

func (a *app) queuePurge() *cobra.Command {
	var yes bool
	c := leaf("purge QUEUE", "Drop what the groups have not finished; dead letters stay", cobra.ExactArgs(1),
		func(ctx context.Context, args []string) error { return a.runPurge(ctx, yes, args[0], "") })
	return yesFlag(c, &yes)
}

func (a *app) groupPurge() *cobra.Command {
	var yes bool
	c := leaf("purge QUEUE GROUP", "Drop what a group has not finished; dead letters stay", cobra.ExactArgs(2),
		func(ctx context.Context, args []string) error { return a.runPurge(ctx, yes, args[0], args[1]) })
	return yesFlag(c, &yes)
}

func (a *app) runPurge(ctx context.Context, yes bool, queue, group string) error {
	return a.with(ctx, func(client *engine.Client) error {
		_, err := a.consent(ctx, client, yes, queue, group, func(l loss) string {
			of := "queue " + queue
			if group != "" {
				of = "group " + group + " of " + of
			}
			return fmt.Sprintf("%s%s of %s go", l.about, plural(l.Messages, "message"), of)
		})
		if err != nil {
			return err
		}
		n, err := client.Purge(ctx, queue, group)
		if err != nil {
			return err
		}
		return a.say(map[string]int64{"purged": n}, "purged %s", plural(n, "message"))
	})
}
