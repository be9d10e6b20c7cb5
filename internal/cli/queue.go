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
	"github.com/weirmq/weir/internal/top"
)

// queue is the parent of the commands on queues.
func (a *app) queue() *cobra.Command {
	return parent("queue", "Create, configure, list, show, pause, purge, rename, move and drop queues",
		a.queueCreate(), a.queueConfigure(), a.queueList(), a.queueShow(),
		a.queuePause(), a.queueResume(), a.queuePurge(), a.queueRename(), a.queueMove(), a.queueDrop())
}

// queueFlags adds the flags of what create and configure can set; the function it returns reads those that were used.
func queueFlags(flags *pflag.FlagSet) func() engine.QueueSettings {
	var lanes, bytesMax int
	var backlog int64
	var aging, ttl, window, jobs time.Duration
	flags.IntVar(&lanes, "lanes", 16, "in so many parts messages with keys are shared out")
	flags.IntVar(&bytesMax, "message-bytes-max", 1<<20, "the largest message, as stored")
	flags.DurationVar(&aging, "aging", time.Minute,
		"how much longer a message must wait to go before one of the next higher priority")
	flags.DurationVar(&ttl, "ttl", 0, "what was sent longer ago is not delivered any more; 0 is for ever")
	flags.DurationVar(&window, "dedup-window", 5*time.Minute, "how long a dedup key counts; 0: none is taken")
	flags.DurationVar(&jobs, "job-retention", 24*time.Hour,
		"how long what happened to tracked jobs is kept after they ended")
	flags.Int64Var(&backlog, "backlog-max", 0,
		"how many messages the slowest group may be behind before sends are refused; 0 is no limit")
	return func() engine.QueueSettings {
		return engine.QueueSettings{
			Lanes:           given(flags.Changed("lanes"), &lanes),
			MessageBytesMax: given(flags.Changed("message-bytes-max"), &bytesMax),
			Aging:           givenSpan(flags, "aging", aging),
			TTL:             givenSpan(flags, "ttl", ttl),
			DedupWindow:     givenSpan(flags, "dedup-window", window),
			BacklogMax:      given(flags.Changed("backlog-max"), &backlog),
			JobRetention:    givenSpan(flags, "job-retention", jobs),
		}
	}
}

func (a *app) queueCreate() *cobra.Command {
	var log string
	var priorities int
	var ordered bool
	var settings func() engine.QueueSettings
	var flags *pflag.FlagSet
	c := a.onQueue("create", "Create a queue with the group default, unless it is there with these settings", "is there",
		func(ctx context.Context, client *engine.Client, queue string) error {
			_, err := client.CreateQueue(ctx, queue, engine.QueueOptions{
				Ordered: given(flags.Changed("ordered"), &ordered), Log: given(flags.Changed("log"), &log),
				Priorities: given(flags.Changed("priorities"), &priorities), QueueSettings: settings(),
			})
			return err
		})
	flags = c.Flags()
	flags.BoolVar(&ordered, "ordered", false, "the group default delivers messages of one key in order")
	flags.StringVar(&log, "log", "main", "what keeps its messages; made when it is not there")
	flags.IntVar(&priorities, "priorities", 1, "levels of priority of messages without keys")
	settings = queueFlags(flags)
	return c
}

func (a *app) queueConfigure() *cobra.Command {
	var settings func() engine.QueueSettings
	c := a.onQueue("configure", "Change settings of a queue in use; what is not named stays", "is configured",
		func(ctx context.Context, client *engine.Client, queue string) error {
			if settings() == (engine.QueueSettings{}) {
				return usagef("name a setting to change")
			}
			return client.ConfigureQueue(ctx, queue, settings())
		})
	settings = queueFlags(c.Flags())
	return withoutDefaults(c)
}

// withoutDefaults keeps the help of a command that changes settings from showing what a new thing would get.
func withoutDefaults(c *cobra.Command) *cobra.Command {
	c.Flags().VisitAll(func(f *pflag.Flag) { f.DefValue = "" })
	return c
}

func (a *app) queueList() *cobra.Command {
	return leaf("list", "List the queues", cobra.NoArgs, func(ctx context.Context, _ []string) error {
		return a.with(ctx, func(client *engine.Client) error {
			list, err := client.ListQueues(ctx)
			if err != nil {
				return err
			}
			return a.emit(list, func(w io.Writer) { queueTable(w, list) })
		})
	})
}

func queueTable(w io.Writer, list []engine.Queue) {
	columns(w, "QUEUE", "LOG", "LANES", "PRIORITIES", "AGING", "TTL", "DEDUP", "BACKLOG MAX", "MESSAGE MAX",
		"PAUSED", "CREATED")
	for _, q := range list {
		columns(w, q.Name, q.Log, q.Lanes, q.Priorities, q.Aging, q.TTL, q.DedupWindow, q.BacklogMax,
			bytesOf(q.MessageBytesMax), q.Paused, q.CreatedAt)
	}
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
				queueTable(w, []engine.Queue{q})
				fmt.Fprintln(w)
				groupStats(w, groups)
			})
		})
	}
	return leaf("show QUEUE", "Show a queue and its groups", cobra.ExactArgs(1), show)
}

// groupStats writes the table of `queue show` and `status`, and what keeps queues from giving space back.
func groupStats(w io.Writer, groups []engine.GroupStats) {
	columns(w, "QUEUE", "GROUP", "WAITING", "CLAIMED", "DELAYED", "PARKED", "DEAD", "OLDEST", "IN/S", "OUT/S")
	for _, g := range groups {
		about := ""
		if !g.Exact {
			about = "~"
		}
		number := func(n int64) string { return about + strconv.FormatInt(n, 10) }
		columns(w, g.Queue, g.Group, number(g.Waiting), g.Claimed, number(g.Delayed), number(g.Parked), number(g.Dead),
			top.Age(g.OldestAge), perSecond(g.SentRate), perSecond(g.DeliveredRate))
	}
	told := map[string]bool{}
	for _, g := range groups {
		if g.Expired > 0 {
			fmt.Fprintf(w, "\n%d waiting for %s of %s were in the hands of consumers whose lease has ended\n",
				g.Expired, g.Group, g.Queue)
		}
		if g.BlockedBy != nil && !told[g.Log] {
			told[g.Log] = true
			fmt.Fprintf(w, "\nthe log %s keeps its oldest segment: %s\n", g.Log, blocker(g))
		}
		if g.HeldBy != nil {
			fmt.Fprintf(w, "\n%s of %s is held back by its own limit: %s\n", g.Group, g.Queue, *g.HeldBy)
		}
	}
}

// perSecond words a rate.
func perSecond(rate float64) string { return strconv.FormatFloat(rate, 'f', 1, 64) }

// blocker words what keeps a segment.
func blocker(g engine.GroupStats) string {
	text := *g.BlockedBy
	if g.BlockerAge != nil {
		text += ", open for " + top.Age(*g.BlockerAge)
	}
	if g.BlockerQuery != nil {
		text += ": " + cell(*g.BlockerQuery)
	}
	return text
}

func (a *app) queueRename() *cobra.Command {
	return leaf("rename QUEUE NEW_NAME", "Give a queue another name; all else stays", cobra.ExactArgs(2),
		func(ctx context.Context, args []string) error {
			return a.with(ctx, func(client *engine.Client) error {
				if err := client.RenameQueue(ctx, args[0], args[1]); err != nil {
					return err
				}
				return a.sayQueue(args[1:], "is the new name")
			})
		})
}

func (a *app) queueMove() *cobra.Command {
	return leaf("move QUEUE LOG", "Move a queue in use to another log; each group finishes the old one first",
		cobra.ExactArgs(2),
		func(ctx context.Context, args []string) error {
			return a.with(ctx, func(client *engine.Client) error {
				if err := client.MoveQueue(ctx, args[0], args[1]); err != nil {
					return err
				}
				return a.sayQueue(args[:1], "sends to log "+args[1])
			})
		})
}

func (a *app) queueDrop() *cobra.Command {
	var yes bool
	c := leaf("drop QUEUE", "Remove a queue with all its messages", cobra.ExactArgs(1),
		func(ctx context.Context, args []string) error {
			return a.with(ctx, func(client *engine.Client) error {
				gone, err := a.consent(ctx, client, yes, args[0], "", func(l loss) string {
					return fmt.Sprintf("queue %s goes%s,", args[0], l.suffix())
				})
				if err != nil {
					return err
				}
				if err := client.DropQueue(ctx, args[0]); err != nil {
					return err
				}
				return a.say(struct {
					Queue string `json:"queue"`
					loss
				}{args[0], gone}, "queue %s is gone%s", args[0], gone.suffix())
			})
		})
	return yesFlag(c, &yes)
}
