package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/weirmq/weir/internal/engine"
)

// job is the parent of the commands on jobs.
func (a *app) job() *cobra.Command {
	return parent("job", "Enqueue, list, show and cancel jobs", a.jobEnqueue(), a.jobList(), a.jobShow(), a.jobCancel())
}

func (a *app) jobEnqueue() *cobra.Command {
	var key, uniqueKey string
	var delay, uniqueFor time.Duration
	var opt engine.JobOptions
	c := leaf("enqueue QUEUE KIND [ARGS]", "Enqueue a job", cobra.RangeArgs(2, 3),
		func(ctx context.Context, args []string) error {
			job := engine.Job{Kind: args[1]}
			if len(args) == 3 {
				job.Args = json.RawMessage(args[2])
				if !json.Valid(job.Args) {
					return fmt.Errorf("the arguments are not JSON: %s", args[2])
				}
			}
			if key != "" {
				job.Key = &key
			}
			if uniqueKey != "" {
				job.UniqueKey = &uniqueKey
			}
			if delay != 0 {
				opt.Delay = &delay
			}
			if uniqueFor != 0 {
				opt.UniqueFor = &uniqueFor
			}
			return a.with(ctx, func(client *engine.Client) error {
				list, err := client.EnqueueBatch(ctx, args[0], []engine.Job{job}, opt)
				if err != nil {
					return err
				}
				text := "job %d of queue %s is enqueued"
				if list[0].Repeated {
					text = "job %d of queue %s is there already"
				}
				return a.say(list[0], text, list[0].ID, args[0])
			})
		})
	f := c.Flags()
	f.StringVar(&key, "key", "", "jobs with one key stay in order in an ordered group")
	f.DurationVar(&delay, "delay", 0, "deliver no earlier than after this")
	f.StringVar(&uniqueKey, "unique-key", "", "enqueue it only if no job with this key is there")
	f.BoolVar(&opt.IsUnique, "unique", false, "enqueue it only if no job of this kind and arguments is there")
	f.DurationVar(&uniqueFor, "unique-for", 0, "how long it is unique; until it is finished unless given")
	f.BoolVar(&opt.Tracked, "tracked", false, "keep what happens to it, for weir job show")
	return c
}

func (a *app) jobList() *cobra.Command {
	var state, kind string
	var limit int
	var after int64
	c := leaf("list QUEUE", "List tracked jobs", cobra.ExactArgs(1), func(ctx context.Context, args []string) error {
		return a.with(ctx, func(client *engine.Client) error {
			list, err := client.ListJobs(ctx, args[0], state, kind, limit, after)
			if err != nil {
				return err
			}
			return a.emit(list, func(w io.Writer) {
				columns(w, "ID", "KIND", "STATE", "ATTEMPT", "ENQUEUED", "ENDED", "ERROR")
				for _, j := range list {
					columns(w, j.ID, j.Kind, j.State, j.Attempt, j.EnqueuedAt, j.FinishedAt, j.Error)
				}
			})
		})
	})
	f := c.Flags()
	f.StringVar(&state, "state", "", "only waiting, running, done, failed or cancelled ones")
	f.StringVar(&kind, "kind", "", "only those of this kind")
	f.IntVar(&limit, "max", 100, "at most this many, up to 1,000")
	f.Int64Var(&after, "after", 0, "only ids above this one: the last of the page before")
	return c
}

func (a *app) jobShow() *cobra.Command {
	return leaf("show QUEUE ID", "Show how a tracked job stands", cobra.ExactArgs(2),
		func(ctx context.Context, args []string) error {
			id, err := strconv.ParseInt(args[1], 10, 64)
			if err != nil {
				return fmt.Errorf("%s is not the id of a job", args[1])
			}
			return a.with(ctx, func(client *engine.Client) error {
				j, err := client.Job(ctx, args[0], id)
				if err != nil {
					return err
				}
				return a.emit(j, func(w io.Writer) {
					columns(w, "ID", "KIND", "STATE", "ATTEMPT", "PROGRESS", "RESULT", "ENQUEUED")
					columns(w, j.ID, j.Kind, j.State, j.Attempt, string(j.Progress), string(j.Result), j.EnqueuedAt)
				})
			})
		})
}

func (a *app) jobCancel() *cobra.Command {
	var reason string
	c := leaf("cancel QUEUE ID", "Cancel a job", cobra.ExactArgs(2), func(ctx context.Context, args []string) error {
		id, err := strconv.ParseInt(args[1], 10, 64)
		if err != nil {
			return fmt.Errorf("%s is not the id of a job", args[1])
		}
		return a.with(ctx, func(client *engine.Client) error {
			state, err := client.Cancel(ctx, args[0], id, &reason)
			if err != nil {
				return err
			}
			text := map[string]string{
				"cancelled": "job %d will not run", "running": "job %d is running, and its worker is told",
				"ended": "job %d has ended, or was never there",
			}[state]
			return a.say(map[string]string{"state": state}, text, id)
		})
	})
	c.Flags().StringVar(&reason, "reason", "", "why")
	return c
}
