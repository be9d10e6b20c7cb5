package weir

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// jobBackend is what PostgreSQL and HTTP both do with jobs, schedules and workflows.
type jobBackend interface {
	enqueue(ctx context.Context, queue string, jobs []jsonJob, o jobOptions) ([]Enqueued, error)
	job(ctx context.Context, queue string, id int64) (*JobStatus, error)
	progress(ctx context.Context, queue string, claim, id int64, value json.RawMessage) (bool, error)
	cancel(ctx context.Context, queue string, id int64, reason string) (string, error)
	cancelled(ctx context.Context, queue, group string, claims []int64) ([]int64, error)
	schedule(ctx context.Context, name, queue string, job jsonJob, o ScheduleOptions) (time.Time, error)
	unschedule(ctx context.Context, name string) (bool, error)
	pauseSchedule(ctx context.Context, name string) error
	resumeSchedule(ctx context.Context, name string) error
	listSchedules(ctx context.Context, queue string) ([]Schedule, error)
	nextTimes(ctx context.Context, cron, timeZone string, n int) ([]time.Time, error)
	startWorkflow(ctx context.Context, queue string, w jsonWorkflow) (int64, error)
	workflow(ctx context.Context, queue string, id int64) ([]WorkflowStep, error)
}

// jsonJob is a job as the engine and the server take it.
type jsonJob struct {
	Kind      string          `json:"kind"`
	Args      json.RawMessage `json:"args"`
	Key       string          `json:"key,omitempty"`
	Headers   map[string]any  `json:"headers,omitempty"`
	RunAt     *time.Time      `json:"run_at,omitempty"`
	UniqueKey string          `json:"unique_key,omitempty"`
}

// jobJSON writes the arguments of a job.
func jobJSON(args Args, o jobOptions) (jsonJob, error) {
	text, err := json.Marshal(args)
	if err != nil {
		return jsonJob{}, fmt.Errorf("write arguments: %w: %w", ErrPayload, err)
	}
	return jsonJob{
		Kind: args.Kind(), Args: text, Key: o.key, Headers: o.headers, RunAt: o.runAt, UniqueKey: o.uniqueKey,
	}, nil
}

// Enqueue enqueues a job and returns its id, or that of the job that is there when it is to be unique.
func (c *Client) Enqueue(ctx context.Context, queue string, args Args, opts ...JobOption) (int64, error) {
	o := collectJob(opts)
	enqueue := func(ctx context.Context, batch []Outgoing) ([]int64, error) {
		o.headers = batch[0].Headers
		job, err := jobJSON(args, o)
		if err != nil {
			return nil, err
		}
		enqueued, err := retry(ctx, c.tries, o.once(), func() ([]Enqueued, error) {
			return c.b.enqueue(ctx, queue, []jsonJob{job}, o)
		})
		if err != nil || len(enqueued) == 0 {
			return nil, err
		}
		return []int64{enqueued[0].ID}, nil
	}
	ids, err := c.sending(ctx, queue, []Outgoing{{Payload: args, Key: o.key, Headers: o.headers}}, enqueue)
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	return ids[0], nil
}

// EnqueueBatch enqueues jobs, all or none, and returns what became of each, in their order. The options are for all of
// them; UniqueKey would be the same for all, so it is refused: use Unique.
func (c *Client) EnqueueBatch(ctx context.Context, queue string, batch []Args, opts ...JobOption) ([]Enqueued, error) {
	o := collectJob(opts)
	if o.uniqueKey != "" {
		return nil, fmt.Errorf("enqueue jobs: %w: one unique key for all of a batch", ErrNotSupported)
	}
	if len(batch) == 0 {
		return nil, nil
	}
	jobs := make([]jsonJob, len(batch))
	for i, args := range batch {
		var err error
		if jobs[i], err = jobJSON(args, o); err != nil {
			return nil, err
		}
	}
	return retry(ctx, c.tries, o.once(), func() ([]Enqueued, error) { return c.b.enqueue(ctx, queue, jobs, o) })
}

// Job tells how a tracked job stands: nil when it is not tracked, or ended longer ago than the queue keeps it.
func (c *Client) Job(ctx context.Context, queue string, id int64) (*JobStatus, error) {
	return retry(ctx, c.tries, true, func() (*JobStatus, error) { return c.b.job(ctx, queue, id) })
}

// Progress tells how far a job of a claim is, nil tells nothing, and reports whether it shall go on: it shall not when
// it was cancelled.
func (c *Client) Progress(ctx context.Context, queue string, claim, id int64, value any) (bool, error) {
	text, err := orNothing(value)
	if err != nil {
		return false, fmt.Errorf("write progress: %w", err)
	}
	return retry(ctx, c.tries, true, func() (bool, error) { return c.b.progress(ctx, queue, claim, id, text) })
}

// Finish finishes a job of a claim, as Ack does, with a result, nil for none. It returns 0 when it was finished
// before.
func (c *Client) Finish(ctx context.Context, queue string, claim, id int64, result any) (int, error) {
	text, err := orNothing(result)
	if err != nil {
		return 0, fmt.Errorf("write result: %w", err)
	}
	return c.settle(ctx, finish, queue, settlement{claim: claim, ids: []int64{id}, result: text})
}

// Cancel has a job never run again: "cancelled" when it will not run, "running" when it does and its worker is told,
// "ended" when nothing is left to be cancelled.
func (c *Client) Cancel(ctx context.Context, queue string, id int64, reason string) (string, error) {
	return retry(ctx, c.tries, true, func() (string, error) { return c.b.cancel(ctx, queue, id, reason) })
}

// Snooze gives messages of a claim back for later, all that are left when no ids are given, without counting the
// attempt, and returns how many.
func (c *Client) Snooze(
	ctx context.Context, queue string, claim int64, delay time.Duration, ids ...int64,
) (int, error) {
	return c.settle(ctx, snooze, queue, settlement{claim: claim, ids: ids, delay: &delay})
}

func collectJob(opts []JobOption) (o jobOptions) {
	for _, set := range opts {
		set(&o)
	}
	return o
}

// orNothing writes JSON; nothing for nil.
func orNothing(value any) (json.RawMessage, error) {
	if value == nil {
		return nil, nil
	}
	return json.Marshal(value)
}

// notFound makes nothing of what HTTP reports as an error.
func notFound[T any](found *T, err error) (*T, error) {
	if errors.Is(err, ErrMessageNotFound) {
		return nil, nil //nolint:nilnil // as Job says
	}
	return found, err
}
