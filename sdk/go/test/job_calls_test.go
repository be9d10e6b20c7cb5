package test

import (
	"context"
	"encoding/json"
	"time"

	weir "github.com/weirmq/weir/sdk/go"
)

// jobArguments are the arguments of calls about jobs.
type jobArguments struct {
	caseJob

	Jobs        []caseStep      `json:"jobs"`
	Steps       []caseStep      `json:"steps"`
	Callback    caseStep        `json:"callback"`
	RunAt       *time.Time      `json:"run_at"`
	Unique      bool            `json:"unique"`
	UniqueKey   string          `json:"unique_key"`
	UniqueForMS *int64          `json:"unique_for_ms"`
	Tracked     bool            `json:"tracked"`
	Progress    json.RawMessage `json:"progress"`
	Result      json.RawMessage `json:"result"`
	Name        string          `json:"name"`
	Cron        string          `json:"cron"`
	EveryMS     int64           `json:"every_ms"`
	TimeZone    string          `json:"time_zone"`
	Missed      string          `json:"missed"`
	N           int             `json:"n"`
}

// caseJob are arguments of the kind that a case names.
type caseJob struct {
	JobKind string          `json:"kind"`
	Args    json.RawMessage `json:"args"`
}

func (j caseJob) Kind() string { return j.JobKind }

func (j caseJob) MarshalJSON() ([]byte, error) {
	if j.Args == nil {
		return []byte("{}"), nil
	}
	return j.Args, nil
}

// caseStep is a job of a batch, or a step of a workflow.
type caseStep struct {
	JobKind   string          `json:"kind"`
	Args      json.RawMessage `json:"args"`
	Key       string          `json:"key"`
	Headers   map[string]any  `json:"headers"`
	UniqueKey string          `json:"unique_key"`
	Name      string          `json:"name"`
	After     []string        `json:"after"`
	AfterAll  bool            `json:"after_all"`
}

func (s caseStep) step() weir.Step {
	return weir.Step{
		Name: s.Name, Args: caseJob{s.JobKind, s.Args}, Key: s.Key, Headers: s.Headers, After: s.After,
		AfterAll: s.AfterAll,
	}
}

func stepsOf(list []caseStep) []weir.Step {
	steps := make([]weir.Step, len(list))
	for i, s := range list {
		steps[i] = s.step()
	}
	return steps
}

func (a arguments) jobOptions() ([]weir.JobOption, error) {
	send, err := a.sendOptions()
	opts := []weir.JobOption{weir.With(send...), weir.UniqueKey(a.UniqueKey)}
	if a.RunAt != nil {
		opts = append(opts, weir.RunAt(*a.RunAt))
	}
	if a.Unique {
		opts = append(opts, weir.Unique())
	}
	if a.UniqueForMS != nil {
		opts = append(opts, weir.UniqueFor(ms(*a.UniqueForMS)))
	}
	if a.Tracked {
		opts = append(opts, weir.Tracked())
	}
	return opts, err
}

var jobCalls = map[string]func(context.Context, *weir.Client, arguments) (any, error){
	"enqueue": func(ctx context.Context, c *weir.Client, a arguments) (any, error) {
		opts, err := a.jobOptions()
		if err != nil {
			return nil, err
		}
		return c.Enqueue(ctx, a.Queue, a.caseJob, opts...)
	},
	"enqueue_batch": func(ctx context.Context, c *weir.Client, a arguments) (any, error) {
		opts, err := a.jobOptions()
		if err != nil {
			return nil, err
		}
		batch := make([]weir.OutgoingJob, len(a.Jobs))
		for i, job := range a.Jobs {
			batch[i] = weir.OutgoingJob{
				Args: caseJob{job.JobKind, job.Args}, Key: job.Key, Headers: job.Headers, UniqueKey: job.UniqueKey,
			}
		}
		return c.EnqueueBatch(ctx, a.Queue, batch, opts...)
	},
	"job": func(ctx context.Context, c *weir.Client, a arguments) (any, error) { return c.Job(ctx, a.Queue, a.ID) },
	"progress": about(func(ctx context.Context, c *weir.Client, m weir.Claimed, a arguments) (any, error) {
		return c.Progress(ctx, a.Queue, m, orNil(a.Progress))
	}),
	"finish": about(func(ctx context.Context, c *weir.Client, m weir.Claimed, a arguments) (any, error) {
		return c.Finish(ctx, a.Queue, m, orNil(a.Result))
	}),
	"snooze": about(func(ctx context.Context, c *weir.Client, m weir.Claimed, a arguments) (any, error) {
		return c.Snooze(ctx, a.Queue, m, ms(*a.DelayMS))
	}),
	"cancel": func(ctx context.Context, c *weir.Client, a arguments) (any, error) {
		return c.Cancel(ctx, a.Queue, a.ID, a.Reason)
	},
	"schedule": func(ctx context.Context, c *weir.Client, a arguments) (any, error) {
		return c.Schedule(ctx, a.Name, a.Queue, a.caseJob, weir.ScheduleOptions{
			Cron: a.Cron, Every: ms(a.EveryMS), TimeZone: a.TimeZone, Missed: a.Missed, Key: a.Key, Priority: a.Priority,
			Unique: a.Unique, Tracked: a.Tracked,
		})
	},
	"unschedule": func(ctx context.Context, c *weir.Client, a arguments) (any, error) { return c.Unschedule(ctx, a.Name) },
	"pause_schedule": func(ctx context.Context, c *weir.Client, a arguments) (any, error) {
		return nil, c.PauseSchedule(ctx, a.Name)
	},
	"resume_schedule": func(ctx context.Context, c *weir.Client, a arguments) (any, error) {
		return nil, c.ResumeSchedule(ctx, a.Name)
	},
	"list_schedules": func(ctx context.Context, c *weir.Client, a arguments) (any, error) {
		type schedule struct {
			weir.Schedule

			Cron    *string `json:"cron"`
			EveryMS *int64  `json:"every_ms"`
		}
		schedules, err := c.ListSchedules(ctx, a.Queue)
		list := []schedule{}
		for _, s := range schedules {
			shown := schedule{Schedule: s}
			if s.Cron != "" {
				shown.Cron = &s.Cron
			} else {
				shown.EveryMS = new(s.Every.Milliseconds())
			}
			list = append(list, shown)
		}
		return list, err
	},
	"next_times": func(ctx context.Context, c *weir.Client, a arguments) (any, error) {
		return c.NextTimes(ctx, a.Cron, a.TimeZone, a.N)
	},
	"start_workflow": func(ctx context.Context, c *weir.Client, a arguments) (any, error) {
		return c.StartWorkflow(ctx, a.Queue, stepsOf(a.Steps), a.Name)
	},
	"start_chain": func(ctx context.Context, c *weir.Client, a arguments) (any, error) {
		return c.StartChain(ctx, a.Queue, stepsOf(a.Jobs), a.Name)
	},
	"start_batch": func(ctx context.Context, c *weir.Client, a arguments) (any, error) {
		return c.StartBatch(ctx, a.Queue, stepsOf(a.Jobs), a.Callback.step(), a.Name)
	},
	"workflow": func(ctx context.Context, c *weir.Client, a arguments) (any, error) {
		steps, err := c.Workflow(ctx, a.Queue, a.ID)
		if steps == nil {
			steps = []weir.WorkflowStep{}
		}
		return steps, err
	},
}

// orNil is nil for what is absent.
func orNil(raw json.RawMessage) any {
	if raw == nil {
		return nil
	}
	return raw
}
