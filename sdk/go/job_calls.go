package weir

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// Enqueue enqueues a job and returns its id, or that of the job that is there when it is to be unique.
func (c *Client) Enqueue(ctx context.Context, queue string, args Args, opts ...JobOption) (int64, error) {
	o := collectJob(opts)
	text, err := json.Marshal(args)
	if err != nil {
		return 0, fmt.Errorf("write arguments: %w: %w", ErrPayload, err)
	}
	headers, err := headersJSON(o.headers)
	if err != nil {
		return 0, err
	}
	p, err := c.postgres("enqueue job")
	if err != nil {
		return 0, err
	}
	return retry(ctx, c.tries, o.once(), func() (int64, error) {
		return one[int64](ctx, p, "enqueue job", sqlEnqueue, queue, args.Kind(), string(text), orNull(o.key), headers,
			interval(o.delay), instant(o.runAt), o.priority, orNull(o.uniqueKey), interval(o.uniqueFor), flag(o.unique),
			flag(o.tracked))
	})
}

// EnqueueBatch enqueues jobs, all or none, and returns what became of each, in their order. The options are for all of
// them; UniqueKey would be the same for all, so it is refused: use Unique.
func (c *Client) EnqueueBatch(ctx context.Context, queue string, batch []Args, opts ...JobOption) ([]Enqueued, error) {
	o := collectJob(opts)
	if o.uniqueKey != "" {
		return nil, fmt.Errorf("enqueue jobs: %w: one unique key for all of a batch", ErrNotSupported)
	}
	jobs := make([]string, len(batch))
	for i, args := range batch {
		text, err := json.Marshal(struct {
			Kind    string         `json:"kind"`
			Args    Args           `json:"args"`
			Key     string         `json:"key,omitempty"`
			Headers map[string]any `json:"headers,omitempty"`
			RunAt   *time.Time     `json:"run_at,omitempty"`
		}{args.Kind(), args, o.key, o.headers, o.runAt})
		if err != nil {
			return nil, fmt.Errorf("write arguments: %w: %w", ErrPayload, err)
		}
		jobs[i] = string(text)
	}
	p, err := c.postgres("enqueue jobs")
	if err != nil || len(batch) == 0 {
		return nil, err
	}
	return retry(ctx, c.tries, o.once(), func() ([]Enqueued, error) {
		return collect(ctx, p, "enqueue jobs", sqlEnqueueBatch,
			func(e *Enqueued) []any { return []any{&e.ID, &e.Repeated} },
			queue, jobs, interval(o.delay), o.priority, interval(o.uniqueFor), flag(o.unique), flag(o.tracked))
	})
}

// Job tells how a tracked job stands: nil when it is not tracked, or ended longer ago than the queue keeps it.
func (c *Client) Job(ctx context.Context, queue string, id int64) (*JobStatus, error) {
	type row struct {
		JobStatus

		progress, result *string
	}
	p, err := c.postgres("show job")
	if err != nil {
		return nil, err
	}
	rows, err := retry(ctx, c.tries, true, func() ([]row, error) {
		return collect(ctx, p, "show job", sqlJob, func(r *row) []any {
			return []any{
				&r.ID, &r.Kind, &r.State, &r.Attempt, &r.progress, &r.result, &r.Error, &r.EnqueuedAt, &r.RunAt,
				&r.ProgressAt, &r.FinishedAt, &r.CancelledAt,
			}
		}, queue, id)
	})
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	r := rows[0]
	if r.progress != nil {
		r.Progress = json.RawMessage(*r.progress)
	}
	if r.result != nil {
		r.Result = json.RawMessage(*r.result)
	}
	return &r.JobStatus, nil
}

// Progress tells how far a job of a claim is, nil tells nothing, and reports whether it shall go on: it shall not when
// it was cancelled.
func (c *Client) Progress(ctx context.Context, queue string, claim, id int64, value any) (bool, error) {
	text, err := orNothing(value)
	if err != nil {
		return false, fmt.Errorf("write progress: %w", err)
	}
	p, err := c.postgres("tell progress")
	if err != nil {
		return false, err
	}
	return retry(ctx, c.tries, true, func() (bool, error) {
		return one[bool](ctx, p, "tell progress", sqlProgress, queue, claim, id, text)
	})
}

// Finish finishes a job of a claim, as Ack does, with a result, nil for none. It returns 0 when it was finished
// before.
func (c *Client) Finish(ctx context.Context, queue string, claim, id int64, result any) (int, error) {
	text, err := orNothing(result)
	if err != nil {
		return 0, fmt.Errorf("write result: %w", err)
	}
	p, err := c.postgres("finish job")
	if err != nil {
		return 0, err
	}
	return retry(ctx, c.tries, true, func() (int, error) {
		return one[int](ctx, p, "finish job", sqlFinish, queue, claim, id, text)
	})
}

// Cancel has a job never run again: "cancelled" when it will not run, "running" when it does and its worker is told,
// "ended" when nothing is left to be cancelled.
func (c *Client) Cancel(ctx context.Context, queue string, id int64, reason string) (string, error) {
	p, err := c.postgres("cancel job")
	if err != nil {
		return "", err
	}
	return retry(ctx, c.tries, true, func() (string, error) {
		return one[string](ctx, p, "cancel job", sqlCancel, queue, id, orNull(reason))
	})
}

// Snooze gives messages of a claim back for later, all that are left when no ids are given, without counting the
// attempt, and returns how many.
func (c *Client) Snooze(
	ctx context.Context, queue string, claim int64, delay time.Duration, ids ...int64,
) (int, error) {
	return c.settle(ctx, snooze, queue, settlement{claim: claim, ids: ids, delay: &delay})
}

// cancelledJob is a job that was cancelled while a worker has it.
type cancelledJob struct{ claim, id int64 }

// cancelled tells which of the jobs of some claims were cancelled.
func (p *postgres) cancelled(ctx context.Context, queue string, claims []int64) ([]cancelledJob, error) {
	return collect(ctx, p, "look for cancelled jobs", sqlCancelled,
		func(j *cancelledJob) []any { return []any{&j.claim, &j.id} }, queue, claims)
}

// finishMany finishes jobs with their results. One that cannot be finished fails all, so that each is tried alone.
func (p *postgres) finishMany(ctx context.Context, queue string, items []settlement) ([]int, error) {
	claims, ids, results := make([]int64, len(items)), make([]int64, len(items)), make([]string, len(items))
	for i, item := range items {
		claims[i], ids[i], results[i] = item.claim, item.ids[0], string(item.result)
	}
	if len(items) == 1 {
		return list[int](ctx, p, "finish job", sqlFinish, queue, claims[0], ids[0], results[0])
	}
	counts, err := list[*int](ctx, p, "finish jobs", sqlFinishMany, queue, claims, ids, results)
	if err != nil {
		return nil, err
	}
	finished := make([]int, len(counts))
	for i, n := range counts {
		if n == nil {
			return nil, errFinishAlone
		}
		finished[i] = *n
	}
	return finished, nil
}

// postgres returns the connection to the database, for calls that a server does not take.
func (c *Client) postgres(doing string) (*postgres, error) {
	if p, ok := c.b.(*postgres); ok {
		return p, nil
	}
	return nil, fmt.Errorf("%s: %w: jobs need a client that is connected to PostgreSQL", doing, ErrNotSupported)
}

func collectJob(opts []JobOption) (o jobOptions) {
	for _, set := range opts {
		set(&o)
	}
	return o
}

// orNothing writes JSON; null for nil.
func orNothing(value any) (*string, error) {
	if value == nil {
		return nil, nil //nolint:nilnil // null is what is meant
	}
	text, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	return new(string(text)), nil
}

// headersJSON writes headers; null for none.
func headersJSON(headers map[string]any) (*string, error) {
	if headers == nil {
		return nil, nil //nolint:nilnil // null is what is meant
	}
	text, err := orNothing(headers)
	if err != nil {
		return nil, fmt.Errorf("write headers: %w", err)
	}
	return text, nil
}

// instant writes a time so that PostgreSQL reads it exactly; null when there is none.
func instant(t *time.Time) *string {
	if t == nil {
		return nil
	}
	return new(t.Format(time.RFC3339Nano))
}

// flag writes a boolean in a way that every driver passes.
func flag(set bool) string {
	if set {
		return "true"
	}
	return "false"
}

const (
	sqlEnqueue = `select weir.enqueue($1::text, $2::text, $3::text::jsonb, key => $4::text, headers => $5::text::jsonb,
		delay => $6::text::interval, run_at => $7::text::timestamptz, priority => $8::int, unique_key => $9::text,
		unique_for => $10::text::interval, is_unique => $11::text::boolean, tracked => $12::text::boolean)`
	sqlEnqueueBatch = `select id, repeated from weir.enqueue_batch($1::text, $2::text[]::jsonb[],
		delay => $3::text::interval, priority => $4::int, unique_for => $5::text::interval,
		is_unique => $6::text::boolean, tracked => $7::text::boolean)`
	sqlJob = `select id, kind, state, attempt, progress::text, result::text, error, enqueued_at, run_at, progress_at,
		finished_at, cancelled_at from weir.job($1::text, $2::bigint)`
	sqlProgress   = `select weir.progress($1::text, $2::bigint, $3::bigint, $4::text::jsonb)`
	sqlFinish     = `select weir.finish($1::text, $2::bigint, $3::bigint, $4::text::jsonb)`
	sqlFinishMany = `select unnest(weir.finish_many($1::text, $2::bigint[], $3::bigint[], $4::text[]::jsonb[]))`
	sqlCancel     = `select weir.cancel($1::text, $2::bigint, $3::text)`
	sqlCancelled  = `select claim_id, id from weir.cancelled($1::text, $2::bigint[])`
	sqlSnooze     = `select weir.snooze($1::text, c, ids => i::bigint[], delay => d::interval)
		from unnest($2::bigint[], $3::text[], $4::text[]) as t (c, i, d)`
)
