package weir

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

const (
	sqlEnqueue = `select weir.enqueue($1::text, $2::text, $3::text::json, key => $4::text, headers => $5::text::jsonb,
		delay => $6::text::interval, run_at => $7::text::timestamptz, priority => $8::int, unique_key => $9::text,
		unique_for => $10::text::interval, is_unique => $11::text::boolean, tracked => $12::text::boolean)`
	sqlEnqueueBatch = `select id, repeated from weir.enqueue_batch($1::text, $2::text[]::json[],
		delay => $3::text::interval, priority => $4::int, unique_for => $5::text::interval,
		is_unique => $6::text::boolean, tracked => $7::text::boolean)`
	sqlJob = `select id, kind, state, attempt, progress::text, result::text, error, enqueued_at, run_at, progress_at,
		finished_at, cancelled_at from weir.job($1::text, $2::bigint)`
	sqlProgress   = `select weir.progress($1::text, $2::bigint, $3::bigint, $4::text::jsonb)`
	sqlFinish     = `select weir.finish($1::text, $2::bigint, $3::bigint, $4::text::jsonb)`
	sqlFinishMany = `select unnest(weir.finish_many($1::text, $2::bigint[], $3::bigint[], $4::text[]::jsonb[]))`
	sqlCancel     = `select weir.cancel($1::text, $2::bigint, $3::text)`
	sqlCancelled  = `select distinct id from weir.cancelled($1::text, $2::bigint[])`
	sqlSnooze     = `select weir.snooze($1::text, c, ids => i::bigint[], delay => d::interval)
		from unnest($2::bigint[], $3::text[], $4::text[]) as t (c, i, d)`

	sqlSchedule = `select weir.schedule($1::text, $2::text, $3::text, $4::text::jsonb, cron => $5::text,
		every => $6::text::interval, time_zone => coalesce($7::text, 'UTC'), missed => coalesce($8::text, 'skip'),
		key => $9::text, headers => $10::text::jsonb, priority => $11::int, is_unique => $12::text::boolean,
		tracked => $13::text::boolean)`
	sqlUnschedule     = `select weir.unschedule($1::text)`
	sqlPauseSchedule  = `select from weir.pause_schedule($1::text)`
	sqlResumeSchedule = `select from weir.resume_schedule($1::text)`
	sqlListSchedules  = `select name, queue_name, cron, (extract(epoch from every) * 1000)::bigint, time_zone, missed,
			kind, args::text, paused, next_at, last_at, last_id, error, created_at
		from weir.list_schedules($1::text)`
	sqlNextTimes = `select weir.next_times($1::text, coalesce($2::text, 'UTC'), n => $3::int)`

	sqlStartWorkflow = `select weir.start_workflow($1::text, $2::text[]::jsonb[], name => $3::text)`
	sqlStartChain    = `select weir.start_chain($1::text, $2::text[]::jsonb[], name => $3::text)`
	sqlStartBatch    = `select weir.start_batch($1::text, $2::text[]::jsonb[], name => $3::text,
		callback => $4::text::jsonb)`
	sqlWorkflow = `select no, name, kind, to_json(after)::text, state, id, result::text, ended_at
		from weir.workflow($1::text, $2::bigint) order by no`
)

func (p *postgres) enqueue(ctx context.Context, queue string, job jsonJob, o jobOptions) (int64, error) {
	return one[int64](ctx, p, "enqueue job", sqlEnqueue, queue, job.Kind, string(job.Args), orNull(job.Key),
		textOf(job.Headers), interval(o.delay), instant(job.RunAt), o.priority, orNull(job.UniqueKey),
		interval(o.uniqueFor), flag(o.unique), flag(o.tracked))
}

func (p *postgres) enqueueBatch(
	ctx context.Context, queue string, jobs []jsonJob, o jobOptions,
) ([]Enqueued, error) {
	texts := make([]string, len(jobs))
	for i, job := range jobs {
		text, err := json.Marshal(job)
		if err != nil {
			return nil, fmt.Errorf("write job: %w", err)
		}
		texts[i] = string(text)
	}
	return collect(ctx, p, "enqueue jobs", sqlEnqueueBatch,
		func(e *Enqueued) []any { return []any{&e.ID, &e.Repeated} },
		queue, texts, interval(o.delay), o.priority, interval(o.uniqueFor), flag(o.unique), flag(o.tracked))
}

// enqueuePlain enqueues jobs none of which is unique, and returns their ids.
func (p *postgres) enqueuePlain(ctx context.Context, queue string, jobs []jsonJob, o jobOptions) ([]int64, error) {
	if len(jobs) == 1 {
		id, err := p.enqueue(ctx, queue, jobs[0], o)
		return []int64{id}, err
	}
	enqueued, err := p.enqueueBatch(ctx, queue, jobs, o)
	ids := make([]int64, len(enqueued))
	for i, e := range enqueued {
		ids[i] = e.ID
	}
	return ids, err
}

func (p *postgres) job(ctx context.Context, queue string, id int64) (*JobStatus, error) {
	type row struct {
		JobStatus

		progress, result *string
	}
	rows, err := collect(ctx, p, "show job", sqlJob, func(r *row) []any {
		return []any{
			&r.ID, &r.Kind, &r.State, &r.Attempt, &r.progress, &r.result, &r.Error, &r.EnqueuedAt, &r.RunAt,
			&r.ProgressAt, &r.FinishedAt, &r.CancelledAt,
		}
	}, queue, id)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	r := rows[0]
	r.Progress, r.Result = rawOf(r.progress), rawOf(r.result)
	return &r.JobStatus, nil
}

func (p *postgres) progress(ctx context.Context, queue string, job Ref, value json.RawMessage) (bool, error) {
	return one[bool](ctx, p, "tell progress", sqlProgress, queue, job.ClaimID, job.ID, textOf(value))
}

func (p *postgres) cancel(ctx context.Context, queue string, id int64, reason string) (string, error) {
	return one[string](ctx, p, "cancel job", sqlCancel, queue, id, orNull(reason))
}

func (p *postgres) cancelled(ctx context.Context, queue, _ string, claims []int64) ([]int64, error) {
	return list[int64](ctx, p, "look for cancelled jobs", sqlCancelled, queue, claims)
}

// finishEach finishes jobs with their results, each whether or not another can be.
func (p *postgres) finishEach(ctx context.Context, queue string, items []settlement) ([]*int, error) {
	claims, ids, results := make([]int64, len(items)), make([]int64, len(items)), make([]*string, len(items))
	for i, item := range items {
		claims[i], ids[i], results[i] = item.claim, item.ids[0], textOf(item.result)
	}
	return list[*int](ctx, p, "finish jobs", sqlFinishMany, queue, claims, ids, results)
}

func (p *postgres) schedule(
	ctx context.Context, name, queue string, job jsonJob, o ScheduleOptions,
) (time.Time, error) {
	return one[time.Time](ctx, p, "schedule job", sqlSchedule, name, queue, job.Kind, string(job.Args),
		orNull(o.Cron), interval(zeroNull(o.Every)), orNull(o.TimeZone), orNull(o.Missed), orNull(job.Key),
		textOf(job.Headers), o.Priority, flag(o.Unique), flag(o.Tracked))
}

func (p *postgres) unschedule(ctx context.Context, name string) (bool, error) {
	return one[bool](ctx, p, "unschedule job", sqlUnschedule, name)
}

func (p *postgres) pauseSchedule(ctx context.Context, name string) error {
	return p.do(ctx, "pause schedule", sqlPauseSchedule, name)
}

func (p *postgres) resumeSchedule(ctx context.Context, name string) error {
	return p.do(ctx, "resume schedule", sqlResumeSchedule, name)
}

func (p *postgres) listSchedules(ctx context.Context, queue string) ([]Schedule, error) {
	type row struct {
		Schedule

		cron  *string
		every *int64
		args  string
	}
	rows, err := collect(ctx, p, "list schedules", sqlListSchedules, func(r *row) []any {
		return []any{
			&r.Name, &r.Queue, &r.cron, &r.every, &r.TimeZone, &r.Missed, &r.Kind, &r.args, &r.Paused, &r.NextAt,
			&r.LastAt, &r.LastID, &r.Error, &r.CreatedAt,
		}
	}, orNull(queue))
	schedules := make([]Schedule, len(rows))
	for i, r := range rows {
		s := r.Schedule
		s.Args = json.RawMessage(r.args)
		if r.cron != nil {
			s.Cron = *r.cron
		}
		if r.every != nil {
			s.Every = duration(*r.every)
		}
		schedules[i] = s
	}
	return schedules, err
}

func (p *postgres) nextTimes(ctx context.Context, cron, timeZone string, n int) ([]time.Time, error) {
	return list[time.Time](ctx, p, "ask for next times", sqlNextTimes, cron, orNull(timeZone), n)
}

func (p *postgres) startWorkflow(ctx context.Context, queue string, w jsonWorkflow) (int64, error) {
	texts := make([]string, len(w.steps))
	for i, step := range w.steps {
		texts[i] = string(step)
	}
	args := []any{queue, texts, orNull(w.name)}
	switch w.form {
	case "chain":
		return one[int64](ctx, p, "start chain", sqlStartChain, args...)
	case "batch":
		return one[int64](ctx, p, "start batch", sqlStartBatch, append(args, string(w.callback))...)
	}
	return one[int64](ctx, p, "start workflow", sqlStartWorkflow, args...)
}

func (p *postgres) workflow(ctx context.Context, queue string, id int64) ([]WorkflowStep, error) {
	type row struct {
		WorkflowStep

		after, result *string
	}
	rows, err := collect(ctx, p, "show workflow", sqlWorkflow, func(r *row) []any {
		return []any{&r.No, &r.Name, &r.Kind, &r.after, &r.State, &r.ID, &r.result, &r.EndedAt}
	}, queue, id)
	steps := make([]WorkflowStep, len(rows))
	for i, r := range rows {
		if r.after != nil {
			if err := json.Unmarshal([]byte(*r.after), &r.After); err != nil {
				return nil, fmt.Errorf("read workflow: %w: %w", errBadAnswer, err)
			}
		}
		r.Result = rawOf(r.result)
		steps[i] = r.WorkflowStep
	}
	return steps, err
}

// rawOf is the JSON of a column, nil of null.
func rawOf(text *string) json.RawMessage {
	if text == nil {
		return nil
	}
	return json.RawMessage(*text)
}

// textOf is rawOf the other way round.
func textOf(raw json.RawMessage) *string {
	if raw == nil {
		return nil
	}
	return new(string(raw))
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
