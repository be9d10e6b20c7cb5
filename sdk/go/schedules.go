package weir

import (
	"context"
	"encoding/json"
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
	fired := OutgoingJob{Args: args, Key: o.Key, Headers: o.Headers}
	job, err := jobJSON(fired, fired.message())
	if err != nil {
		return time.Time{}, err
	}
	return retry(ctx, c.tries, true, func() (time.Time, error) { return c.b.schedule(ctx, name, queue, job, o) })
}

// Unschedule removes a schedule and reports whether it was there. Jobs that it has enqueued stay.
func (c *Client) Unschedule(ctx context.Context, name string) (bool, error) {
	return retry(ctx, c.tries, false, func() (bool, error) { return c.b.unschedule(ctx, name) })
}

// PauseSchedule has a schedule not fired until ResumeSchedule.
func (c *Client) PauseSchedule(ctx context.Context, name string) error {
	return c.do(ctx, true, func() error { return c.b.pauseSchedule(ctx, name) })
}

// ResumeSchedule ends the pause of a schedule.
func (c *Client) ResumeSchedule(ctx context.Context, name string) error {
	return c.do(ctx, true, func() error { return c.b.resumeSchedule(ctx, name) })
}

// ListSchedules lists the schedules of a queue, those of all queues when queue is "".
func (c *Client) ListSchedules(ctx context.Context, queue string) ([]Schedule, error) {
	return retry(ctx, c.tries, true, func() ([]Schedule, error) { return c.b.listSchedules(ctx, queue) })
}

// NextTimes tells when a cron expression would be due, the next n times after now; the time zone is UTC when it is "".
func (c *Client) NextTimes(ctx context.Context, cron, timeZone string, n int) ([]time.Time, error) {
	return retry(ctx, c.tries, true, func() ([]time.Time, error) { return c.b.nextTimes(ctx, cron, timeZone, n) })
}
