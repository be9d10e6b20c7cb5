package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// Job is a job to enqueue: what handles it and its arguments.
type Job struct {
	Kind      string          `json:"kind" doc:"What handles it."`
	Args      json.RawMessage `json:"args,omitempty" doc:"Any JSON value; {} unless given."`
	Key       *string         `json:"key,omitempty" doc:"Jobs with one key stay in order in an ordered group."`
	Headers   json.RawMessage `json:"headers,omitempty" doc:"A JSON object beside the arguments."`
	RunAt     *time.Time      `json:"run_at,omitempty" doc:"Deliver no earlier than this."`
	UniqueKey *string         `json:"unique_key,omitempty" doc:"Enqueue it only if no job with this key is there."`
}

// JobOptions are what the jobs of one call share.
type JobOptions struct {
	Delay     *time.Duration // of those without RunAt
	Priority  *int
	UniqueFor *time.Duration // how long unique keys count; nil: until the job is finished
	IsUnique  bool           // those without UniqueKey are unique by kind and arguments
	Tracked   bool           // what happens to them can be asked
}

// Enqueued is what became of a job: its id, or that of the one that is there already.
type Enqueued struct {
	ID       int64 `json:"id"`
	Repeated bool  `json:"repeated" doc:"It was not enqueued: the id is that of the job that is there."`
}

// JobStatus is how a tracked job stands.
type JobStatus struct {
	ID          int64           `json:"id"`
	Kind        string          `json:"kind"`
	State       string          `json:"state" doc:"waiting, running, done, failed or cancelled."`
	Attempt     int             `json:"attempt" doc:"Deliveries so far."`
	Progress    json.RawMessage `json:"progress" doc:"What its worker told last."`
	Result      json.RawMessage `json:"result"`
	Error       *string         `json:"error" doc:"Why the last try failed, or why it was cancelled."`
	EnqueuedAt  time.Time       `json:"enqueued_at"`
	RunAt       *time.Time      `json:"run_at"`
	ProgressAt  *time.Time      `json:"progress_at"`
	FinishedAt  *time.Time      `json:"finished_at"`
	CancelledAt *time.Time      `json:"cancelled_at"`
}

const (
	sqlEnqueueBatch = `select id, repeated from weir.enqueue_batch($1, $2, delay => $3, priority => $4, unique_for => $5,
		is_unique => $6, tracked => $7)`
	sqlFinish   = `select weir.finish($1, $2, $3, $4)`
	sqlProgress = `select weir.progress($1, $2, $3, $4, $5)`
	sqlSnooze   = `select weir.snooze($1, $2, ids => $3, delay => $4)`
	sqlCancel   = `select weir.cancel($1, $2, reason => $3)`
	sqlJob      = `select id, kind, state, attempt, progress, result, error, enqueued_at, run_at, progress_at, finished_at,
		cancelled_at from weir.job($1, $2)`
	sqlListJobs = `select id, kind, state, attempt, progress, result, error, enqueued_at, run_at, progress_at, finished_at,
		cancelled_at from weir.list_jobs($1, state => $2, kind => $3, max => $4, after => $5)`
	sqlCancelled = `select id from weir.cancelled($1, $2) order by id`
)

// EnqueueBatch enqueues jobs in their order, all or none.
func (c *Client) EnqueueBatch(ctx context.Context, queue string, jobs []Job, opt JobOptions) ([]Enqueued, error) {
	list := make([]json.RawMessage, len(jobs))
	for i, job := range jobs {
		text, err := job.text()
		if err != nil {
			return nil, wrap("enqueue jobs", err)
		}
		list[i] = text
	}
	return collect(ctx, c, "enqueue jobs", sqlEnqueueBatch, func(e *Enqueued) []any { return []any{&e.ID, &e.Repeated} },
		queue, list, opt.Delay, opt.Priority, opt.UniqueFor, opt.IsUnique, opt.Tracked)
}

// text is the job as JSON, with its arguments as they are.
func (j Job) text() (json.RawMessage, error) {
	args := j.Args
	if json.Valid(args) {
		j.Args = nil
	}
	text, err := json.Marshal(j)
	if err != nil || j.Args != nil || args == nil {
		return text, err //nolint:wrapcheck // the caller says what it does
	}
	return slices.Concat([]byte(`{"args":`), args, []byte(","), text[1:]), nil
}

// Finish finishes a job with its result, nil for none, and returns 1, or 0 when it was finished before.
func (c *Client) Finish(ctx context.Context, queue string, claim, id int64, result json.RawMessage) (int, error) {
	return one[int](ctx, c, "finish job", sqlFinish, queue, claim, id, result)
}

// FinishUnfinished is Finish for work that must not be done twice: when the job was finished before, it is an error.
func (c *Client) FinishUnfinished(
	ctx context.Context, queue string, claim, id int64, result json.RawMessage,
) (int, error) {
	n, err := c.Finish(ctx, queue, claim, id, result)
	if err == nil && n == 0 {
		return 0, finishedBefore(fmt.Sprintf("job %d of queue %q", id, queue))
	}
	return n, err
}

// Progress tells how far a job is, and reports whether to go on: not when it was cancelled. With a lease it gives the
// claim more time as well.
func (c *Client) Progress(
	ctx context.Context, queue string, claim, id int64, progress json.RawMessage, lease *time.Duration,
) (bool, error) {
	return one[bool](ctx, c, "tell progress", sqlProgress, queue, claim, id, progress, lease)
}

// Snooze gives messages of a claim back for later, all of them when ids is nil, without counting the delivery.
func (c *Client) Snooze(ctx context.Context, queue string, claim int64, ids []int64, delay time.Duration) (int, error) {
	return one[int](ctx, c, "snooze messages", sqlSnooze, queue, claim, ids, delay)
}

// Cancel cancels a job and tells how it was: cancelled (it will not run), running or ended.
func (c *Client) Cancel(ctx context.Context, queue string, id int64, reason *string) (string, error) {
	return one[string](ctx, c, "cancel job", sqlCancel, queue, id, reason)
}

// Cancelled returns the jobs under claims that were cancelled since.
func (c *Client) Cancelled(ctx context.Context, queue string, claims []int64) ([]int64, error) {
	return collect(ctx, c, "ask for cancelled jobs", sqlCancelled, func(id *int64) []any { return []any{id} },
		queue, claims)
}

// Job returns how a tracked job stands; an error of CodeMessageNotFound when it is not tracked, or was forgotten.
func (c *Client) Job(ctx context.Context, queue string, id int64) (JobStatus, error) {
	list, err := collect(ctx, c, "show job", sqlJob, (*JobStatus).fields, queue, id)
	if err != nil {
		return JobStatus{}, err
	}
	if len(list) == 0 {
		return JobStatus{}, NewError(CodeMessageNotFound, "there is no tracked job of this id in queue "+queue,
			"Enqueue it with tracked, and ask before the queue's job_retention has passed since its end.")
	}
	return list[0], nil
}

// ListJobs returns up to n tracked jobs with ids above after, in the order of their ids; of one state or one kind only
// unless that is empty.
func (c *Client) ListJobs(ctx context.Context, queue, state, kind string, n int, after int64) ([]JobStatus, error) {
	return collect(ctx, c, "list jobs", sqlListJobs, (*JobStatus).fields, queue, nonEmpty(state), nonEmpty(kind), n, after)
}

// fields are the places for the columns of a weir.job_status.
func (j *JobStatus) fields() []any {
	return []any{
		&j.ID, &j.Kind, &j.State, &j.Attempt, &j.Progress, &j.Result, &j.Error, (*utc)(&j.EnqueuedAt), &j.RunAt,
		&j.ProgressAt, &j.FinishedAt, &j.CancelledAt,
	}
}
