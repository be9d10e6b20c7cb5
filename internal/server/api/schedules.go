package api

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/weirmq/weir/internal/engine"
	"github.com/weirmq/weir/internal/server/auth"
)

// SchedulePath is the path of a schedule. It is exported because huma fills in embedded structs only then.
type SchedulePath struct {
	Schedule string `path:"schedule" example:"nightly-report"`
}

type listSchedulesInput struct {
	Queue string `query:"queue" doc:"Only those of this queue."`
}

type schedulesOutput struct {
	Schedules []engine.Schedule `json:"schedules"`
}

// listSchedules lists the schedules of the queues that the caller may look at.
func (a *api) listSchedules(ctx context.Context, in *listSchedulesInput) (*output[schedulesOutput], error) {
	list, err := a.engine.ListSchedules(ctx)
	list = visible(ctx, list, func(s engine.Schedule) string { return s.Queue })
	if in.Queue != "" {
		list = slices.DeleteFunc(list, func(s engine.Schedule) bool { return s.Queue != in.Queue })
	}
	return reply(schedulesOutput{Schedules: list}, err)
}

type scheduleInput struct {
	SchedulePath
	Body scheduleBody
}

type scheduleBody struct {
	Queue    string          `json:"queue" doc:"The queue of its jobs."`
	Kind     string          `json:"kind" doc:"What handles its jobs."`
	Cron     *string         `json:"cron,omitempty" doc:"Minute, hour, day, month, day of the week. It or every_ms."`
	Every    *engine.Millis  `json:"every_ms,omitempty" doc:"How often, from now on. It or cron."`
	TimeZone string          `json:"time_zone,omitempty" doc:"In which cron is meant; UTC unless given."`
	Missed   string          `json:"missed,omitempty" doc:"Of missed times: skip, the default, once or all."`
	Args     json.RawMessage `json:"args,omitempty" doc:"Any JSON value; {} unless given."`
	Key      *string         `json:"key,omitempty"`
	Headers  json.RawMessage `json:"headers,omitempty" doc:"A JSON object beside the arguments."`
	Priority *int            `json:"priority,omitempty"`
	IsUnique bool            `json:"is_unique,omitempty" doc:"Enqueue none while one like it is not finished."`
	Tracked  bool            `json:"tracked,omitempty" doc:"What happens to its jobs can be asked."`
}

type scheduleOutput struct {
	NextAt time.Time `json:"next_at" doc:"The next due time."`
}

// schedule creates a schedule, or replaces the one of its name.
func (a *api) schedule(ctx context.Context, in *scheduleInput) (*output[scheduleOutput], error) {
	b := in.Body
	if err := a.allow(ctx, auth.Admin, b.Queue); err != nil {
		return nil, err
	}
	at, err := a.engine.Schedule(ctx, engine.Schedule{
		Name: in.Schedule, Queue: b.Queue, Cron: b.Cron, Every: b.Every, TimeZone: b.TimeZone, Missed: b.Missed,
		Kind: b.Kind, Args: b.Args, Key: b.Key, Headers: nullable(b.Headers), Priority: b.Priority,
		IsUnique: b.IsUnique, Tracked: b.Tracked,
	})
	return reply(scheduleOutput{NextAt: at}, err)
}

type unscheduleOutput struct {
	Unscheduled bool `json:"unscheduled" doc:"Whether there was such a schedule."`
}

// unschedule drops a schedule.
func (a *api) unschedule(ctx context.Context, in *SchedulePath) (*output[unscheduleOutput], error) {
	if err := a.allowSchedule(ctx, in.Schedule); err != nil {
		return nil, err
	}
	was, err := a.engine.Unschedule(ctx, in.Schedule)
	return reply(unscheduleOutput{Unscheduled: was}, err)
}

// pauseSchedule stops a schedule.
func (a *api) pauseSchedule(ctx context.Context, in *SchedulePath) (*struct{}, error) {
	if err := a.allowSchedule(ctx, in.Schedule); err != nil {
		return nil, err
	}
	return nil, a.engine.PauseSchedule(ctx, in.Schedule)
}

// resumeSchedule ends the pause of a schedule.
func (a *api) resumeSchedule(ctx context.Context, in *SchedulePath) (*struct{}, error) {
	if err := a.allowSchedule(ctx, in.Schedule); err != nil {
		return nil, err
	}
	return nil, a.engine.ResumeSchedule(ctx, in.Schedule)
}

// allowSchedule refuses a caller who may not administer the queue of a schedule. One that is not there is for the
// engine to tell of. A schedule of a name stays with its queue as long as it is there.
func (a *api) allowSchedule(ctx context.Context, name string) error {
	if auth.From(ctx).MayEverywhere(auth.Admin) {
		return nil
	}
	list, err := a.engine.ListSchedules(ctx)
	if err != nil {
		return err //nolint:wrapcheck // it says what was being done
	}
	i := slices.IndexFunc(list, func(s engine.Schedule) bool { return s.Name == name })
	if i < 0 {
		return engine.NewError(engine.CodeScheduleNotFound, fmt.Sprintf("there is no schedule %q", name),
			"GET /v1/schedules lists them.")
	}
	return a.allow(ctx, auth.Admin, list[i].Queue)
}

// yearMax is the last year that a time in JSON has.
const yearMax = 9999

type nextTimesInput struct {
	Cron     string    `query:"cron" required:"true" example:"*/15 8-17 * * MON-FRI"`
	TimeZone string    `query:"time_zone" default:"UTC"`
	After    time.Time `query:"after" doc:"Now unless given."`
	N        int       `query:"n" default:"10" minimum:"1" maximum:"100" doc:"How many times, 1 to 100."`
}

type nextTimesOutput struct {
	Times []time.Time `json:"times" doc:"Fewer when there are no more within nine years, or before the year 10000."`
}

// nextTimes shows when a cron expression would be due.
func (a *api) nextTimes(ctx context.Context, in *nextTimesInput) (*output[nextTimesOutput], error) {
	var after *time.Time
	if !in.After.IsZero() {
		after = &in.After
	}
	times, err := a.engine.NextTimes(ctx, in.Cron, in.TimeZone, after, in.N)
	times = slices.DeleteFunc(times, func(t time.Time) bool { return t.Year() > yearMax })
	return reply(nextTimesOutput{Times: times}, err)
}
