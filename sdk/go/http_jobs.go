package weir

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

func (h *httpBackend) enqueue(ctx context.Context, queue string, job jsonJob, o jobOptions) (int64, error) {
	enqueued, err := h.enqueueBatch(ctx, queue, []jsonJob{job}, o)
	if err != nil || len(enqueued) == 0 {
		return 0, err
	}
	return enqueued[0].ID, nil
}

func (h *httpBackend) enqueueBatch(
	ctx context.Context, queue string, jobs []jsonJob, o jobOptions,
) ([]Enqueued, error) {
	var out struct{ Jobs []Enqueued }
	in := map[string]any{"jobs": jobs}
	given(in, "delay_ms", millis(o.delay))
	given(in, "priority", o.priority)
	given(in, "unique_for_ms", millis(o.uniqueFor))
	given(in, "is_unique", o.unique)
	given(in, "tracked", o.tracked)
	err := h.call(ctx, http.MethodPost, queuePath(queue)+"/jobs", in, &out)
	return out.Jobs, err
}

func jobPath(queue string, id int64) string {
	return queuePath(queue) + "/jobs/" + strconv.FormatInt(id, 10)
}

func (h *httpBackend) job(ctx context.Context, queue string, id int64) (*JobStatus, error) {
	var out JobStatus
	job, err := notFound(&out, h.call(ctx, http.MethodGet, jobPath(queue, id), nil, &out))
	out.Progress, out.Result = withoutNull(out.Progress), withoutNull(out.Result)
	return job, err
}

func (h *httpBackend) cancel(ctx context.Context, queue string, id int64, reason string) (string, error) {
	var out struct{ State string }
	in := map[string]any{}
	given(in, "reason", reason)
	err := h.call(ctx, http.MethodPost, jobPath(queue, id)+"/cancel", in, &out)
	return out.State, err
}

func (h *httpBackend) cancelled(ctx context.Context, queue, group string, claims []int64) ([]int64, error) {
	var out struct{ IDs []int64 }
	in := map[string]any{"claim_ids": claims}
	err := h.call(ctx, http.MethodPost, groupPath(queue, group)+"/cancelled", in, &out)
	return out.IDs, err
}

// httpJob is a job of a claim.
type httpJob struct {
	Queue    string          `json:"queue,omitempty"` // in a transaction
	ClaimID  int64           `json:"claim_id"`
	ID       int64           `json:"id"`
	Progress json.RawMessage `json:"progress,omitempty"` // of progress
	Result   json.RawMessage `json:"result,omitempty"`   // of finish
}

func (h *httpBackend) progress(
	ctx context.Context, queue string, job Ref, value json.RawMessage,
) (bool, error) {
	var out struct {
		GoOn bool `json:"go_on"`
	}
	in := httpJob{ClaimID: job.ClaimID, ID: job.ID, Progress: value}
	path := groupPath(queue, cmp.Or(job.Group, DefaultGroup)) + "/progress"
	err := h.call(ctx, http.MethodPost, path, in, &out)
	return out.GoOn, err
}

// finish finishes jobs with their results, all or none.
func (h *httpBackend) finish(ctx context.Context, queue string, items []settlement) ([]int, error) {
	jobs := make([]httpJob, len(items))
	for i, item := range items {
		jobs[i] = httpJob{ClaimID: item.claim, ID: item.ids[0], Result: item.result}
	}
	var out struct{ Jobs []struct{ Finished int } }
	in := map[string]any{"jobs": jobs}
	path := groupPath(queue, cmp.Or(items[0].group, DefaultGroup)) + "/finish"
	err := h.call(ctx, http.MethodPost, path, in, &out)
	counts := make([]int, len(out.Jobs))
	for i, job := range out.Jobs {
		counts[i] = job.Finished
	}
	return counts, err
}

// withoutNull makes nothing of null, as PostgreSQL's columns have it.
func withoutNull(raw json.RawMessage) json.RawMessage {
	if string(raw) == "null" {
		return nil
	}
	return raw
}

func schedulePath(name string) string { return "/v1/schedules/" + url.PathEscape(name) }

func (h *httpBackend) schedule(
	ctx context.Context, name, queue string, job jsonJob, o ScheduleOptions,
) (time.Time, error) {
	var out struct {
		NextAt time.Time `json:"next_at"`
	}
	in := map[string]any{"queue": queue, "kind": job.Kind, "args": job.Args}
	given(in, "cron", o.Cron)
	given(in, "every_ms", millis(zeroNull(o.Every)))
	given(in, "time_zone", o.TimeZone)
	given(in, "missed", o.Missed)
	given(in, "key", job.Key)
	if job.Headers != nil {
		in["headers"] = job.Headers
	}
	given(in, "priority", o.Priority)
	given(in, "is_unique", o.Unique)
	given(in, "tracked", o.Tracked)
	err := h.call(ctx, http.MethodPut, schedulePath(name), in, &out)
	return out.NextAt, err
}

func (h *httpBackend) unschedule(ctx context.Context, name string) (bool, error) {
	var out struct{ Unscheduled bool }
	err := h.call(ctx, http.MethodDelete, schedulePath(name), nil, &out)
	return out.Unscheduled, err
}

func (h *httpBackend) pauseSchedule(ctx context.Context, name string) error {
	return h.call(ctx, http.MethodPost, schedulePath(name)+"/pause", nil, nil)
}

func (h *httpBackend) resumeSchedule(ctx context.Context, name string) error {
	return h.call(ctx, http.MethodPost, schedulePath(name)+"/resume", nil, nil)
}

func (h *httpBackend) listSchedules(ctx context.Context, queue string) ([]Schedule, error) {
	var out struct {
		Schedules []struct {
			Schedule

			EveryMS int64 `json:"every_ms"`
		}
	}
	path := "/v1/schedules"
	if queue != "" {
		path += "?queue=" + url.QueryEscape(queue)
	}
	err := h.call(ctx, http.MethodGet, path, nil, &out)
	schedules := make([]Schedule, len(out.Schedules))
	for i, s := range out.Schedules {
		schedules[i] = s.Schedule
		schedules[i].Every = duration(s.EveryMS)
	}
	return schedules, err
}

func (h *httpBackend) nextTimes(ctx context.Context, cron, timeZone string, n int) ([]time.Time, error) {
	var out struct{ Times []time.Time }
	query := url.Values{"cron": {cron}, "n": {strconv.Itoa(n)}}
	if timeZone != "" {
		query.Set("time_zone", timeZone)
	}
	err := h.call(ctx, http.MethodGet, "/v1/next_times?"+query.Encode(), nil, &out)
	return out.Times, err
}

func (h *httpBackend) startWorkflow(ctx context.Context, queue string, w jsonWorkflow) (int64, error) {
	var out struct{ Workflow int64 }
	in := map[string]any{"jobs": w.steps}
	path := queuePath(queue) + "/chains"
	switch w.form {
	case "workflow":
		in, path = map[string]any{"steps": w.steps}, queuePath(queue)+"/workflows"
	case "batch":
		path = queuePath(queue) + "/batches"
		in["callback"] = w.callback
	}
	given(in, "name", w.name)
	err := h.call(ctx, http.MethodPost, path, in, &out)
	return out.Workflow, err
}

func (h *httpBackend) workflow(ctx context.Context, queue string, id int64) ([]WorkflowStep, error) {
	var out struct{ Steps []WorkflowStep }
	err := h.call(ctx, http.MethodGet, queuePath(queue)+"/workflows/"+strconv.FormatInt(id, 10), nil, &out)
	for i := range out.Steps {
		out.Steps[i].Result = withoutNull(out.Steps[i].Result)
	}
	return out.Steps, err
}
