package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/weirmq/weir/internal/engine"
)

// schedule is the parent of the commands on schedules.
func (a *app) schedule() *cobra.Command {
	return parent("schedule", "Run jobs on a schedule",
		a.scheduleList(), a.scheduleCreate(), a.scheduleDrop(), a.schedulePause(), a.scheduleResume())
}

func (a *app) scheduleList() *cobra.Command {
	return leaf("list", "List the schedules", cobra.NoArgs, func(ctx context.Context, _ []string) error {
		return a.with(ctx, func(client *engine.Client) error {
			list, err := client.ListSchedules(ctx)
			if err != nil {
				return err
			}
			return a.emit(list, func(w io.Writer) {
				columns(w, "NAME", "QUEUE", "KIND", "WHEN", "TIME ZONE", "NEXT", "PAUSED", "ERROR")
				for _, s := range list {
					when, failed := "", ""
					if s.Cron != nil {
						when = *s.Cron
					} else if s.Every != nil {
						when = "every " + s.Every.String()
					}
					if s.Error != nil {
						failed = *s.Error
					}
					columns(w, s.Name, s.Queue, s.Kind, when, s.TimeZone, s.NextAt, s.Paused, failed)
				}
			})
		})
	})
}

func (a *app) scheduleCreate() *cobra.Command {
	var s engine.Schedule
	var cron, key string
	var every time.Duration
	c := leaf("create NAME QUEUE KIND [ARGS]", "Create a schedule, or replace the one of that name", cobra.RangeArgs(3, 4),
		func(ctx context.Context, args []string) error {
			s.Name, s.Queue, s.Kind = args[0], args[1], args[2]
			if len(args) == 4 {
				s.Args = json.RawMessage(args[3])
				if !json.Valid(s.Args) {
					return fmt.Errorf("the arguments are not JSON: %s", args[3])
				}
			}
			if cron != "" {
				s.Cron = &cron
			}
			if every != 0 {
				m := engine.Millis(every)
				s.Every = &m
			}
			if key != "" {
				s.Key = &key
			}
			return a.with(ctx, func(client *engine.Client) error {
				next, err := client.Schedule(ctx, s)
				if err != nil {
					return err
				}
				return a.say(map[string]any{"name": s.Name, "next_at": next}, "schedule %s is due next at %s", s.Name,
					next.Format(time.RFC3339))
			})
		})
	f := c.Flags()
	f.StringVar(&cron, "cron", "", "minute, hour, day of the month, month, day of the week")
	f.DurationVar(&every, "every", 0, "how often, instead of --cron")
	f.StringVar(&s.TimeZone, "time-zone", "UTC", "in which --cron is meant")
	f.StringVar(&s.Missed, "missed", "skip", "what becomes of due times that were missed: skip, once or all")
	f.StringVar(&key, "key", "", "key of its jobs")
	f.BoolVar(&s.IsUnique, "unique", false, "enqueue none while one like it is not finished")
	f.BoolVar(&s.Tracked, "tracked", false, "keep what happens to its jobs, for weir job show")
	return c
}

// onSchedule is a command that does one thing to the schedule it names.
func (a *app) onSchedule(
	verb, short, done string, do func(ctx context.Context, client *engine.Client, name string) error,
) *cobra.Command {
	return leaf(verb+" NAME", short, cobra.ExactArgs(1), func(ctx context.Context, args []string) error {
		return a.with(ctx, func(client *engine.Client) error {
			if err := do(ctx, client, args[0]); err != nil {
				return err
			}
			return a.say(map[string]string{"name": args[0]}, "schedule %s %s", args[0], done)
		})
	})
}

func (a *app) scheduleDrop() *cobra.Command {
	return a.onSchedule("drop", "Remove a schedule", "is gone",
		func(ctx context.Context, client *engine.Client, name string) error {
			_, err := client.Unschedule(ctx, name)
			return err
		})
}

func (a *app) schedulePause() *cobra.Command {
	return a.onSchedule("pause", "Stop a schedule", "is paused",
		func(ctx context.Context, client *engine.Client, name string) error {
			return client.PauseSchedule(ctx, name)
		})
}

func (a *app) scheduleResume() *cobra.Command {
	return a.onSchedule("resume", "End the pause of a schedule", "goes on",
		func(ctx context.Context, client *engine.Client, name string) error {
			return client.ResumeSchedule(ctx, name)
		})
}
