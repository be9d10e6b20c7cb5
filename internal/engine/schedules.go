package engine

import (
	"context"
	"encoding/json"
	"time"
)

// Schedule enqueues a job again and again.
type Schedule struct {
	Name      string          `json:"name"`
	Queue     string          `json:"queue"`
	Cron      *string         `json:"cron" doc:"Minute, hour, day, month, day of the week; null: by every_ms."`
	Every     *Millis         `json:"every_ms" doc:"How often; null: by cron."`
	TimeZone  string          `json:"time_zone" doc:"In which cron is meant."`
	Missed    string          `json:"missed" doc:"What becomes of due times that were missed: skip, once or all."`
	Kind      string          `json:"kind" doc:"What handles its jobs."`
	Args      json.RawMessage `json:"args"`
	Key       *string         `json:"key"`
	Headers   json.RawMessage `json:"headers"`
	Priority  *int            `json:"priority"`
	IsUnique  bool            `json:"is_unique" doc:"None is enqueued while one like it is not finished."`
	Tracked   bool            `json:"tracked"`
	Paused    bool            `json:"paused"`
	NextAt    time.Time       `json:"next_at"`
	LastAt    *time.Time      `json:"last_at"`
	LastID    *int64          `json:"last_id"`
	Error     *string         `json:"error" doc:"Why it could not be fired last."`
	CreatedAt time.Time       `json:"created_at"`
}

const (
	sqlSchedule = `select weir.schedule($1, $2, $3, coalesce($4::jsonb, '{}'), cron => $5, every => $6, time_zone => $7,
		missed => $8, key => $9, headers => $10, priority => $11, is_unique => $12, tracked => $13)`
	sqlUnschedule     = `select weir.unschedule($1)`
	sqlPauseSchedule  = `select weir.pause_schedule($1)`
	sqlResumeSchedule = `select weir.resume_schedule($1)`
	sqlListSchedules  = `select name, queue_name, cron, every, time_zone, missed, kind, args, key, headers, priority,
		is_unique, tracked, paused, next_at, last_at, last_id, error, created_at from weir.list_schedules() order by name`
	sqlNextTimes = `select weir.next_times($1, $2, after => $3, n => $4)`
)

// Schedule creates a schedule, or replaces the one of its name, and returns when it is due next. What it has besides
// the arguments of weir.schedule counts for nothing.
func (c *Client) Schedule(ctx context.Context, s Schedule) (time.Time, error) {
	if s.TimeZone == "" {
		s.TimeZone = "UTC"
	}
	if s.Missed == "" {
		s.Missed = "skip"
	}
	at, err := one[time.Time](ctx, c, "create schedule", sqlSchedule, s.Name, s.Queue, s.Kind, s.Args, s.Cron, s.Every,
		s.TimeZone, s.Missed, s.Key, s.Headers, s.Priority, s.IsUnique, s.Tracked)
	return at.UTC(), err
}

// Unschedule drops a schedule and reports whether it was there.
func (c *Client) Unschedule(ctx context.Context, name string) (bool, error) {
	return one[bool](ctx, c, "drop schedule", sqlUnschedule, name)
}

// PauseSchedule stops a schedule.
func (c *Client) PauseSchedule(ctx context.Context, name string) error {
	return c.exec(ctx, "pause schedule", sqlPauseSchedule, name)
}

// ResumeSchedule ends the pause of a schedule.
func (c *Client) ResumeSchedule(ctx context.Context, name string) error {
	return c.exec(ctx, "resume schedule", sqlResumeSchedule, name)
}

// ListSchedules returns all schedules by name.
func (c *Client) ListSchedules(ctx context.Context) ([]Schedule, error) {
	return collect(ctx, c, "list schedules", sqlListSchedules, func(s *Schedule) []any {
		return []any{
			&s.Name, &s.Queue, &s.Cron, &s.Every, &s.TimeZone, &s.Missed, &s.Kind, &s.Args, &s.Key, &s.Headers, &s.Priority,
			&s.IsUnique, &s.Tracked, &s.Paused, (*utc)(&s.NextAt), &s.LastAt, &s.LastID, &s.Error, (*utc)(&s.CreatedAt),
		}
	})
}

// NextTimes returns when a cron expression is due after a time, nil for now.
func (c *Client) NextTimes(
	ctx context.Context, cron, timeZone string, after *time.Time, n int,
) ([]time.Time, error) {
	return collect(ctx, c, "ask for due times", sqlNextTimes, func(t *time.Time) []any { return []any{(*utc)(t)} },
		cron, timeZone, after, n)
}
