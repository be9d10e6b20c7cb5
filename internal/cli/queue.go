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
	return parent("queue", "Create, configure, list, show, pause, purge, rename and drop queues",
		a.queueCreate(), a.queueConfigure(), a.queueList(), a.queueShow(),
		a.queuePause(), a.queueResume(), a.queuePurge(), a.queueRename(), a.queueDrop())
}

// queueFlags adds the flags of what create and configure can set; the function it returns reads those that were used.
func queueFlags(flags *pflag.FlagSet) func() engine.QueueSettings {
	var bytesMax int
	var segment, claims int64
	var backlog int64
	var aging, ttl, retention, window, jobs time.Duration
	flags.IntVar(&bytesMax, "message-bytes-max", engine.DefaultMessageBytesMax, "the largest message, as stored")
	flags.Int64Var(&segment, "segment-bytes", engine.DefaultSegmentBytes, "size at which a segment of the log is closed")
	flags.Int64Var(&claims, "claims-bytes", engine.DefaultClaimsBytes, "size at which a table of the claim log is left")
	flags.DurationVar(&aging, "aging", engine.DefaultAging,
		"how much longer a message must wait to go before one of the next higher priority")
	flags.DurationVar(&ttl, "ttl", 0, "what was sent longer ago is not delivered any more; 0 is for ever")
	flags.DurationVar(&retention, "retention", 0, "how long what all groups have finished is kept, to seek back to")
	flags.DurationVar(&window, "dedup-window", engine.DefaultDedupWindow, "how long a dedup key counts")
	flags.DurationVar(&jobs, "job-retention", engine.DefaultJobRetention,
		"how long what happened to tracked jobs is kept after they ended")
	flags.Int64Var(&backlog, "backlog-max", 0,
		"how many messages the slowest group may be behind before sends are refused; 0 is no limit")
	return func() engine.QueueSettings {
		return engine.QueueSettings{
			MessageBytesMax: given(flags.Changed("message-bytes-max"), &bytesMax),
			SegmentBytes:    given(flags.Changed("segment-bytes"), &segment),
			ClaimsBytes:     given(flags.Changed("claims-bytes"), &claims),
			Aging:           givenSpan(flags, "aging", aging),
			TTL:             givenSpan(flags, "ttl", ttl),
			DedupWindow:     givenSpan(flags, "dedup-window", window),
			BacklogMax:      given(flags.Changed("backlog-max"), &backlog),
			Retention:       givenSpan(flags, "retention", retention),
			JobRetention:    givenSpan(flags, "job-retention", jobs),
		}
	}
}

func (a *app) queueCreate() *cobra.Command {
	var opt engine.QueueOptions
	var lanes, priorities int
	var settings func() engine.QueueSettings
	c := a.onQueue("create", "Create a queue with the group default", "is there",
		func(ctx context.Context, client *engine.Client, queue string) error {
			opt.Lanes, opt.Priorities, opt.QueueSettings = &lanes, &priorities, settings()
			return client.CreateQueue(ctx, queue, opt)
		})
	c.Flags().IntVar(&lanes, "lanes", engine.DefaultLanes, "how many lanes; 1 gives a total order")
	c.Flags().IntVar(&priorities, "priorities", engine.DefaultPriorities, "levels of priority, each with so many lanes")
	settings = queueFlags(c.Flags())
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
	columns(w, "QUEUE", "LANES", "PRIORITIES", "AGING", "TTL", "RETENTION", "DEDUP", "BACKLOG MAX", "MESSAGE MAX",
		"SEGMENT", "CLAIMS", "PAUSED", "CREATED")
	for _, q := range list {
		columns(w, q.Name, q.Lanes, q.Priorities, q.Aging, q.TTL, q.Retention, q.DedupWindow, q.BacklogMax,
			bytesOf(q.MessageBytesMax), bytesOf(q.SegmentBytes), bytesOf(q.ClaimsBytes), q.Paused, q.CreatedAt)
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
	columns(w, "QUEUE", "GROUP", "WAITING", "CLAIMED", "DELAYED", "PARKED", "DEAD", "OLDEST", "SEGMENTS", "BYTES")
	for _, g := range groups {
		about := ""
		if !g.Exact {
			about = "~"
		}
		number := func(n int64) string { return about + strconv.FormatInt(n, 10) }
		columns(w, g.Queue, g.Group, number(g.Waiting), g.Claimed, number(g.Delayed), number(g.Parked), number(g.Dead),
			top.Age(g.OldestAge), g.Segments, bytesOf(g.Bytes))
	}
	told := map[string]bool{}
	for _, g := range groups {
		if g.BlockedBy != nil && !told[g.Queue] {
			told[g.Queue] = true
			fmt.Fprintf(w, "\n%s keeps its oldest segment: %s\n", g.Queue, blocker(g))
		}
		if g.HeldBy != nil {
			fmt.Fprintf(w, "\n%s of %s is held back by its own limit: %s\n", g.Group, g.Queue, *g.HeldBy)
		}
	}
}

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
