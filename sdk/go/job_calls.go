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
	enqueue(ctx context.Context, queue string, job jsonJob, o jobOptions) (int64, error)
	enqueueBatch(ctx context.Context, queue string, jobs []jsonJob, o jobOptions) ([]Enqueued, error)
	job(ctx context.Context, queue string, id int64) (*JobStatus, error)
	progress(ctx context.Context, queue string, job Ref, value json.RawMessage) (bool, error)
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
	Headers   json.RawMessage `json:"headers,omitempty"` // nil is none
	RunAt     *time.Time      `json:"run_at,omitempty"`
	UniqueKey string          `json:"unique_key,omitempty"`
}

// jobJSON writes a job as the message that it becomes.
func jobJSON(job OutgoingJob, m Outgoing) (jsonJob, error) {
	if job.Args == nil {
		return jsonJob{}, fmt.Errorf("write job: %w: it has no arguments", ErrPayload)
	}
	text, err := json.Marshal(m.Payload)
	if err != nil {
		return jsonJob{}, fmt.Errorf("write arguments: %w: %w", ErrPayload, err)
	}
	headers, err := headersJSON(m.Headers)
	if err != nil {
		return jsonJob{}, err
	}
	out := jsonJob{Kind: job.Args.Kind(), Args: text, Key: m.Key, Headers: headers, UniqueKey: job.UniqueKey}
	if !job.RunAt.IsZero() {
		out.RunAt = &job.RunAt
	}
	return out, nil
}

// Enqueue enqueues a job and returns its id, or that of the job that is there when it is to be unique.
func (c *Client) Enqueue(ctx context.Context, queue string, args Args, opts ...JobOption) (id int64, err error) {
	o := collectJob(opts)
	job := o.job(args)
	enqueue := func(ctx context.Context, jobs []Outgoing) ([]int64, error) {
		text, err := jobJSON(job, jobs[0])
		if err != nil {
			return nil, err
		}
		id, err = retry(ctx, c.tries, o.once(), func() (int64, error) { return c.enqueueText(ctx, queue, text, o) })
		return []int64{id}, err
	}
	_, err = c.sending(ctx, queue, []Outgoing{job.message()}, enqueue)
	return id, err
}

// enqueueText makes the call for a job, or has a coalescer make it.
func (c *Client) enqueueText(ctx context.Context, queue string, job jsonJob, o jobOptions) (int64, error) {
	if c.enqueues == nil || o.once() || job.RunAt != nil {
		return c.b.enqueue(ctx, queue, job, o)
	}
	to := aim{queue: queue, delay: optionalOf(o.delay), priority: optionalOf(o.priority), tracked: o.tracked}
	ids, err := c.enqueues.send(ctx, to, []jsonJob{job}, len(job.Args)+len(job.Key)+len(job.Headers))
	if err != nil {
		return 0, err
	}
	return ids[0], nil
}

// EnqueueBatch enqueues jobs, all or none, and returns what became of each, in their order. Of the options, With's Key
// and Headers and RunAt are for jobs that have none of their own, the others for all; a UniqueKey is each job's own.
func (c *Client) EnqueueBatch(
	ctx context.Context, queue string, batch []OutgoingJob, opts ...JobOption,
) (enqueued []Enqueued, err error) {
	o := collectJob(opts)
	if o.uniqueKey != "" {
		return nil, fmt.Errorf("enqueue jobs: %w: one unique key for all: give each job its own", ErrNotSupported)
	}
	if len(batch) == 0 {
		return nil, nil
	}
	full, messages, once := make([]OutgoingJob, len(batch)), make([]Outgoing, len(batch)), true
	for i, job := range batch {
		full[i] = o.complete(job)
		messages[i] = full[i].message()
		once = once && (o.once() || job.UniqueKey != "")
	}
	enqueue := func(ctx context.Context, passed []Outgoing) ([]int64, error) {
		texts, ids := make([]jsonJob, len(full)), make([]int64, len(full))
		for i, job := range full {
			var err error
			if texts[i], err = jobJSON(job, passed[i]); err != nil {
				return nil, err
			}
		}
		enqueued, err = retry(ctx, c.tries, once, func() ([]Enqueued, error) {
			return c.b.enqueueBatch(ctx, queue, texts, o)
		})
		for i, e := range enqueued {
			ids[i] = e.ID
		}
		return ids, err
	}
	_, err = c.sending(ctx, queue, messages, enqueue)
	return enqueued, err
}

// Job tells how a tracked job stands: nil when it is not tracked, or ended longer ago than the queue keeps it.
func (c *Client) Job(ctx context.Context, queue string, id int64) (*JobStatus, error) {
	return retry(ctx, c.tries, true, func() (*JobStatus, error) { return c.b.job(ctx, queue, id) })
}

// Progress tells how far a job is, one claimed message; nil tells nothing. It reports whether the job shall go on: it
// shall not when it was cancelled.
func (c *Client) Progress(ctx context.Context, queue string, job Claimed, value any) (bool, error) {
	text, err := orNothing(value)
	if err != nil {
		return false, fmt.Errorf("write progress: %w", err)
	}
	r, err := single(job)
	if err != nil {
		return false, fmt.Errorf("tell progress: %w", err)
	}
	return retry(ctx, c.tries, true, func() (bool, error) { return c.b.progress(ctx, queue, r, text) })
}

// Finish finishes a job, one claimed message, as Ack does, with a result, nil for none. It returns 0 when it was
// finished before.
func (c *Client) Finish(ctx context.Context, queue string, job Claimed, result any) (int, error) {
	text, err := orNothing(result)
	if err != nil {
		return 0, fmt.Errorf("write result: %w", err)
	}
	if _, err := single(job); err != nil {
		return 0, fmt.Errorf("finish job: %w", err)
	}
	return c.settle(ctx, queue, settlement{verb: finish, result: text}.of(job))
}

// Cancel has a job never run again: "cancelled" when it will not run, "running" when it does and its worker is told,
// "ended" when nothing is left to be cancelled.
func (c *Client) Cancel(ctx context.Context, queue string, id int64, reason string) (string, error) {
	return retry(ctx, c.tries, true, func() (string, error) { return c.b.cancel(ctx, queue, id, reason) })
}

func collectJob(opts []JobOption) (o jobOptions) {
	for _, set := range opts {
		set(&o)
	}
	return o
}

// headersJSON writes headers; nil for none.
func headersJSON(headers map[string]any) (json.RawMessage, error) {
	if headers == nil {
		return nil, nil
	}
	text, err := json.Marshal(headers)
	if err != nil {
		return nil, fmt.Errorf("write headers: %w", err)
	}
	return text, nil
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
