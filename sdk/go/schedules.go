package weir

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// ScheduleOptions say when a schedule is due and how its jobs are enqueued: by Cron or by Every, one of the two.
type ScheduleOptions struct {
	Cron     string         // minute, hour, day of the month, month, day of the week; or "@daily" and the like
	Every    time.Duration  // how often, from now on
	TimeZone string         // in which Cron is meant: UTC
	Missed   string         // what becomes of due times when nobody was there: "skip" unless given, "once" or "all"
	Key      string         // as for Enqueue, as are those that follow
	Headers  map[string]any //
	Priority *int
	Unique   bool
	Tracked  bool
}

// Schedule is a schedule as ListSchedules shows it.
type Schedule struct {
	Name      string          `json:"name"`
	Queue     string          `json:"queue"`
	Cron      string          `json:"cron"` // "": by Every
	Every     time.Duration   `json:"-"`
	TimeZone  string          `json:"time_zone"`
	Missed    string          `json:"missed"`
	Kind      string          `json:"kind"`
	Args      json.RawMessage `json:"args"`
	Paused    bool            `json:"paused"`
	NextAt    *time.Time      `json:"next_at"`
	LastAt    *time.Time      `json:"last_at"`
	LastID    *int64          `json:"last_id"`
	Error     *string         `json:"error"` // why it could not be fired last
	CreatedAt time.Time       `json:"created_at"`
}

// Schedule enqueues a job again and again: it creates a schedule or replaces the one of that name, and returns when it
// is due next. Programs call it whenever they start; as long as the times are the same it changes none of them. Workers
// fire schedules, each due time once, however many there are.
func (c *Client) Schedule(
	ctx context.Context, name, queue string, args Args, o ScheduleOptions,
) (time.Time, error) {
	text, err := json.Marshal(args)
	if err != nil {
		return time.Time{}, fmt.Errorf("write arguments: %w: %w", ErrPayload, err)
	}
	headers, err := headersJSON(o.Headers)
	if err != nil {
		return time.Time{}, err
	}
	p, err := c.postgres("schedule job")
	if err != nil {
		return time.Time{}, err
	}
	return retry(ctx, c.tries, true, func() (time.Time, error) {
		return one[time.Time](ctx, p, "schedule job", sqlSchedule, name, orNull(o.Cron), queue, args.Kind(), string(text),
			orNull(o.TimeZone), orNull(o.Missed), interval(zeroNull(o.Every)), orNull(o.Key), headers, o.Priority,
			flag(o.Unique), flag(o.Tracked))
	})
}

// Unschedule removes a schedule and reports whether it was there. Jobs that it has enqueued stay.
func (c *Client) Unschedule(ctx context.Context, name string) (bool, error) {
	p, err := c.postgres("unschedule job")
	if err != nil {
		return false, err
	}
	return retry(ctx, c.tries, false, func() (bool, error) {
		return one[bool](ctx, p, "unschedule job", sqlUnschedule, name)
	})
}

// PauseSchedule has a schedule not fired until ResumeSchedule.
func (c *Client) PauseSchedule(ctx context.Context, name string) error {
	p, err := c.postgres("pause schedule")
	if err != nil {
		return err
	}
	return c.do(ctx, true, func() error { return p.do(ctx, "pause schedule", sqlPauseSchedule, name) })
}

// ResumeSchedule ends the pause of a schedule.
func (c *Client) ResumeSchedule(ctx context.Context, name string) error {
	p, err := c.postgres("resume schedule")
	if err != nil {
		return err
	}
	return c.do(ctx, true, func() error { return p.do(ctx, "resume schedule", sqlResumeSchedule, name) })
}

// ListSchedules lists the schedules of a queue, those of all queues when queue is "".
func (c *Client) ListSchedules(ctx context.Context, queue string) ([]Schedule, error) {
	type row struct {
		Schedule

		cron  *string
		every *int64
		args  string
	}
	p, err := c.postgres("list schedules")
	if err != nil {
		return nil, err
	}
	rows, err := retry(ctx, c.tries, true, func() ([]row, error) {
		return collect(ctx, p, "list schedules", sqlListSchedules, func(r *row) []any {
			return []any{
				&r.Name, &r.Queue, &r.cron, &r.every, &r.TimeZone, &r.Missed, &r.Kind, &r.args, &r.Paused, &r.NextAt,
				&r.LastAt, &r.LastID, &r.Error, &r.CreatedAt,
			}
		}, orNull(queue))
	})
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

// NextTimes tells when a cron expression would be due, the next n times after now; the time zone is UTC when it is "".
func (c *Client) NextTimes(ctx context.Context, cron, timeZone string, n int) ([]time.Time, error) {
	p, err := c.postgres("ask for next times")
	if err != nil {
		return nil, err
	}
	return retry(ctx, c.tries, true, func() ([]time.Time, error) {
		return list[time.Time](ctx, p, "ask for next times", sqlNextTimes, cron, orNull(timeZone), n)
	})
}

const (
	sqlSchedule = `select weir.schedule($1::text, $2::text, $3::text, $4::text, $5::text::jsonb,
		time_zone => coalesce($6::text, 'UTC'), missed => coalesce($7::text, 'skip'), every => $8::text::interval,
		key => $9::text, headers => $10::text::jsonb, priority => $11::int, is_unique => $12::text::boolean,
		tracked => $13::text::boolean)`
	sqlUnschedule     = `select weir.unschedule($1::text)`
	sqlPauseSchedule  = `select from weir.pause_schedule($1::text)`
	sqlResumeSchedule = `select from weir.resume_schedule($1::text)`
	sqlListSchedules  = `select name, queue_name, cron, (extract(epoch from every) * 1000)::bigint, time_zone, missed,
			kind, args::text, paused, next_at, last_at, last_id, error, created_at
		from weir.list_schedules($1::text)`
	sqlNextTimes = `select weir.next_times($1::text, coalesce($2::text, 'UTC'), n => $3::int)`
)
