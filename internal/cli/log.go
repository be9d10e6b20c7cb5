package cli

import (
	"context"
	"io"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/weirmq/weir/internal/engine"
)

// log is the parent of the commands on logs.
func (a *app) log() *cobra.Command {
	return parent("log", "Create, configure, list and drop logs, which keep the messages of queues",
		a.logCreate(), a.logConfigure(), a.logList(), a.logDrop())
}

// logFlags adds the flags of what create and configure can set; the function it returns reads those that were used.
func logFlags(flags *pflag.FlagSet) func() engine.LogSettings {
	var segment, claims int64
	var retention time.Duration
	flags.Int64Var(&segment, "segment-bytes", engine.DefaultSegmentBytes, "size at which a segment is closed")
	flags.Int64Var(&claims, "claims-bytes", engine.DefaultClaimsBytes, "size at which a table of the claim log is left")
	flags.DurationVar(&retention, "retention", 0, "how long what all groups have finished is kept, to seek back to")
	return func() engine.LogSettings {
		return engine.LogSettings{
			SegmentBytes: given(flags.Changed("segment-bytes"), &segment),
			ClaimsBytes:  given(flags.Changed("claims-bytes"), &claims),
			Retention:    givenSpan(flags, "retention", retention),
		}
	}
}

// onLog is a command that does one thing to the log it names.
func (a *app) onLog(
	verb, short, done string, do func(ctx context.Context, client *engine.Client, log string) error,
) *cobra.Command {
	return leaf(verb+" LOG", short, cobra.ExactArgs(1), func(ctx context.Context, args []string) error {
		return a.with(ctx, func(client *engine.Client) error {
			if err := do(ctx, client, args[0]); err != nil {
				return err
			}
			return a.say(map[string]string{"log": args[0]}, "log %s %s", args[0], done)
		})
	})
}

func (a *app) logCreate() *cobra.Command {
	var unlogged bool
	var settings func() engine.LogSettings
	c := a.onLog("create", "Create a log, unless it is there with these settings", "is there",
		func(ctx context.Context, client *engine.Client, log string) error {
			_, err := client.CreateLog(ctx, log, engine.LogOptions{Unlogged: &unlogged, LogSettings: settings()})
			return err
		})
	c.Flags().BoolVar(&unlogged, "unlogged", false, "its messages are lost when PostgreSQL crashes; sending costs less")
	settings = logFlags(c.Flags())
	return c
}

func (a *app) logConfigure() *cobra.Command {
	var settings func() engine.LogSettings
	c := a.onLog("configure", "Change settings of a log in use; what is not named stays", "is configured",
		func(ctx context.Context, client *engine.Client, log string) error {
			if settings() == (engine.LogSettings{}) {
				return usagef("name a setting to change")
			}
			return client.ConfigureLog(ctx, log, settings())
		})
	settings = logFlags(c.Flags())
	return withoutDefaults(c)
}

func (a *app) logList() *cobra.Command {
	return leaf("list", "List the logs", cobra.NoArgs, func(ctx context.Context, _ []string) error {
		return a.with(ctx, func(client *engine.Client) error {
			list, err := client.ListLogs(ctx)
			if err != nil {
				return err
			}
			return a.emit(list, func(w io.Writer) {
				columns(w, "LOG", "UNLOGGED", "SEGMENT", "CLAIMS", "RETENTION", "QUEUES", "BYTES", "CREATED")
				for _, l := range list {
					columns(w, l.Name, l.Unlogged, bytesOf(l.SegmentBytes), bytesOf(l.ClaimsBytes), l.Retention, l.Queues,
						bytesOf(l.Bytes), l.CreatedAt)
				}
			})
		})
	})
}

func (a *app) logDrop() *cobra.Command {
	return a.onLog("drop", "Remove a log that no queue uses", "is gone",
		func(ctx context.Context, client *engine.Client, log string) error { return client.DropLog(ctx, log) })
}
