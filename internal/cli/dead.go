package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/weirmq/weir/internal/engine"
)

// dead is the parent of the commands on dead letters.
func (a *app) dead() *cobra.Command {
	var group string
	c := parent("dead", "List, show, redrive and discard dead letters",
		a.deadList(&group), a.deadShow(&group), a.deadRedrive(&group), a.deadDiscard(&group))
	c.PersistentFlags().StringVar(&group, "group", engine.DefaultGroup, "consumer group")
	return c
}

func (a *app) deadList(group *string) *cobra.Command {
	var limit int
	var after int64
	c := leaf("list QUEUE", "List dead letters", cobra.ExactArgs(1), func(ctx context.Context, args []string) error {
		return a.with(ctx, func(client *engine.Client) error {
			list, err := client.DeadLetters(ctx, args[0], *group, limit, after)
			if err != nil {
				return err
			}
			return a.emit(list, func(w io.Writer) {
				columns(w, "ID", "KEY", "ATTEMPTS", "DIED", "REASON", "PAYLOAD")
				for _, d := range list {
					columns(w, d.ID, d.Key, d.Attempts, d.DiedAt, d.Reason, d.Payload)
				}
			})
		})
	})
	c.Flags().IntVar(&limit, "max", 100, "at most this many")
	c.Flags().Int64Var(&after, "after", 0, "only ids above this one: the last of the page before")
	return c
}

func (a *app) deadShow(group *string) *cobra.Command {
	show := func(ctx context.Context, args []string) error {
		ids, err := idArgs(args[1:])
		if err != nil {
			return err
		}
		return a.with(ctx, func(client *engine.Client) error {
			d, err := client.DeadLetter(ctx, args[0], *group, ids[0])
			if err != nil {
				return err
			}
			return a.emit(d, func(w io.Writer) {
				fmt.Fprintf(w, "id\t%d\nkey\t%s\nattempts\t%d\nenqueued\t%s\ndied\t%s\nheaders\t%s\npayload\t%s\n",
					d.ID, whole(d.Key), d.Attempts, cell(d.EnqueuedAt), cell(d.DiedAt), whole(d.Headers), d.Payload)
				writeText(w, "reason", d.Reason)
			})
		})
	}
	return leaf("show QUEUE ID", "Show one dead letter", cobra.ExactArgs(2), show)
}

func (a *app) deadRedrive(group *string) *cobra.Command {
	return a.deadAction(group, "redrive", "Send dead letters back to their group", "sent back",
		(*engine.Client).Redrive, (*engine.Client).RedriveAll)
}

func (a *app) deadDiscard(group *string) *cobra.Command {
	var yes bool
	c := a.deadAction(group, "discard", "Remove dead letters for good", "discarded", (*engine.Client).Discard,
		func(client *engine.Client, ctx context.Context, queue, group string) (int64, error) {
			_, err := a.consent(ctx, client, yes, queue, group, func(l loss) string {
				return fmt.Sprintf("%s%s of group %s of queue %s go", l.about, plural(l.Dead, "dead letter"), group, queue)
			})
			if err != nil {
				return 0, err
			}
			return client.DiscardAll(ctx, queue, group)
		})
	return yesFlag(c, &yes)
}

// deadAction is a command on the dead letters named by ids, or on all of them when that is asked for in so many
// words.
func (a *app) deadAction(
	group *string, verb, short, done string,
	some func(*engine.Client, context.Context, string, string, []int64) (int64, error),
	every func(*engine.Client, context.Context, string, string) (int64, error),
) *cobra.Command {
	var all bool
	c := leaf(verb+" QUEUE (ID... | --all)", short, cobra.MinimumNArgs(1), func(ctx context.Context, args []string) error {
		ids, err := idArgs(args[1:])
		if err != nil {
			return err
		}
		if all == (len(ids) > 0) {
			return usagef("name the dead letters by id, or say --all for all of group %s", *group)
		}
		return a.with(ctx, func(client *engine.Client) error {
			var n int64
			if all {
				n, err = every(client, ctx, args[0], *group)
			} else {
				n, err = some(client, ctx, args[0], *group, ids)
			}
			if err != nil {
				return err
			}
			return a.say(map[string]int64{"count": n}, "%s %s", done, plural(n, "dead letter"))
		})
	})
	c.Flags().BoolVar(&all, "all", false, "all dead letters of the group")
	return c
}
