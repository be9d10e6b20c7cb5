package cli

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/weirmq/weir/internal/engine"
)

// group is the parent of the commands on groups.
func (a *app) group() *cobra.Command {
	return parent("group", "Create, configure, list, show, seek, pause, purge and drop consumer groups",
		a.groupCreate(), a.groupConfigure(), a.groupList(), a.groupShow(), a.groupSeek(),
		a.groupPause(), a.groupResume(), a.groupPurge(), a.groupDrop())
}

// groupFlags adds the flags of what create and configure can set; the function it returns reads those that were used.
func groupFlags(flags *pflag.FlagSet) func() engine.GroupSettings {
	var maxAttempts, concurrencyMax, rateMax, keyConcurrency int
	var fair bool
	var backoffMin, backoffMax, ratePeriod time.Duration
	flags.IntVar(&maxAttempts, "max-attempts", engine.DefaultMaxAttempts, "deliveries before a message is dead")
	flags.DurationVar(&backoffMin, "backoff-min", engine.DefaultBackoffMin, "delay before the second attempt")
	flags.DurationVar(&backoffMax, "backoff-max", engine.DefaultBackoffMax, "the longest delay between attempts")
	flags.IntVar(&concurrencyMax, "concurrency-max", 0, "messages claimed and unfinished at once; 0 is no limit")
	flags.IntVar(&rateMax, "rate-max", 0, "deliveries in a rate period; 0 is no limit")
	flags.DurationVar(&ratePeriod, "rate-period", engine.DefaultRatePeriod, "what rate-max counts for")
	flags.IntVar(&keyConcurrency, "key-concurrency-max", 0,
		"messages of one key claimed and unfinished at once; 0 is no limit")
	flags.BoolVar(&fair, "fair", false, "let keys take turns, as with a key-concurrency-max")
	return func() engine.GroupSettings {
		return engine.GroupSettings{
			MaxAttempts:       given(flags.Changed("max-attempts"), &maxAttempts),
			BackoffMin:        givenSpan(flags, "backoff-min", backoffMin),
			BackoffMax:        givenSpan(flags, "backoff-max", backoffMax),
			ConcurrencyMax:    given(flags.Changed("concurrency-max"), &concurrencyMax),
			RateMax:           given(flags.Changed("rate-max"), &rateMax),
			RatePeriod:        givenSpan(flags, "rate-period", ratePeriod),
			KeyConcurrencyMax: given(flags.Changed("key-concurrency-max"), &keyConcurrency),
			Fair:              given(flags.Changed("fair"), &fair),
		}
	}
}

// givenSpan returns a pointer to a flag's duration when the flag was used.
func givenSpan(flags *pflag.FlagSet, name string, value time.Duration) *engine.Millis {
	return given(flags.Changed(name), (*engine.Millis)(&value))
}

func (a *app) groupCreate() *cobra.Command {
	var opt engine.GroupOptions
	var ordered bool
	var start string
	var settings func() engine.GroupSettings
	c := a.onGroup("create", "Create a consumer group", "is there",
		func(ctx context.Context, client *engine.Client, queue, group string) error {
			opt.Ordered, opt.Start, opt.GroupSettings = &ordered, &start, settings()
			return client.CreateGroup(ctx, queue, group, opt)
		})
	c.Flags().BoolVar(&ordered, "ordered", false, "deliver messages of one key in order")
	c.Flags().StringVar(&start, "start", engine.DefaultStart, "where to begin: start, end or a time")
	settings = groupFlags(c.Flags())
	return c
}

func (a *app) groupConfigure() *cobra.Command {
	var settings func() engine.GroupSettings
	c := a.onGroup("configure", "Change settings of a group in use; what is not named stays", "is configured",
		func(ctx context.Context, client *engine.Client, queue, group string) error {
			if settings() == (engine.GroupSettings{}) {
				return usagef("name a setting to change")
			}
			return client.ConfigureGroup(ctx, queue, group, settings())
		})
	settings = groupFlags(c.Flags())
	return withoutDefaults(c)
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
	columns(w, "QUEUE", "GROUP", "ORDERED", "ATTEMPTS", "BACKOFF", "UP TO", "AT ONCE", "RATE",
		"OF A KEY", "FAIR", "PAUSED", "CREATED")
	for _, g := range list {
		atOnce, rate, ofKey := "-", "-", "-"
		if g.ConcurrencyMax > 0 {
			atOnce = strconv.Itoa(g.ConcurrencyMax)
		}
		if g.RateMax > 0 {
			rate = fmt.Sprintf("%d in %s", g.RateMax, g.RatePeriod)
		}
		if g.KeyConcurrencyMax > 0 {
			ofKey = strconv.Itoa(g.KeyConcurrencyMax)
		}
		columns(w, g.Queue, g.Name, g.Ordered, g.MaxAttempts, g.BackoffMin, g.BackoffMax, atOnce, rate,
			ofKey, g.Fair, g.Paused, g.CreatedAt)
	}
}

func (a *app) groupSeek() *cobra.Command {
	c := leaf("seek QUEUE GROUP POSITION", "Move a group to another place in the log", cobra.ExactArgs(3),
		func(ctx context.Context, args []string) error {
			return a.with(ctx, func(client *engine.Client) error {
				if err := client.Seek(ctx, args[0], args[1], args[2]); err != nil {
					return err
				}
				return a.sayGroup(args, "is at "+args[2])
			})
		})
	c.Long = c.Short + `.

POSITION is start, the oldest message kept; end, what comes from now on; a time, what was sent since; or a message's
id. Going back, the group is delivered again what is still kept (see the log's retention). What the group held,
claimed or to be tried again, comes again when the new place lies before it and not otherwise.`
	return c
}

func (a *app) groupDrop() *cobra.Command {
	var yes bool
	c := leaf("drop QUEUE GROUP", "Remove a group; other groups keep their messages", cobra.ExactArgs(2),
		func(ctx context.Context, args []string) error {
			queue, group := args[0], args[1]
			return a.with(ctx, func(client *engine.Client) error {
				gone, err := a.consent(ctx, client, yes, queue, group, func(l loss) string {
					return fmt.Sprintf("group %s of queue %s goes%s,", group, queue, l.suffix())
				})
				if err != nil {
					return err
				}
				if err := client.DropGroup(ctx, queue, group); err != nil {
					return err
				}
				return a.say(struct {
					Queue string `json:"queue"`
					Group string `json:"group"`
					loss
				}{queue, group, gone}, "group %s of queue %s is gone%s", group, queue, gone.suffix())
			})
		})
	return yesFlag(c, &yes)
}
