package weir

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

func (h *httpBackend) deadLetters(ctx context.Context, queue string, o receiveOptions) ([]DeadLetter, error) {
	var out struct {
		DeadLetters []DeadLetter `json:"dead_letters"`
	}
	query := url.Values{"max": {strconv.Itoa(o.max)}, "after": {strconv.FormatInt(o.after, 10)}}
	err := h.call(ctx, http.MethodGet, groupPath(queue, o.group)+"/dead_letters?"+query.Encode(), nil, &out)
	return out.DeadLetters, err
}

// httpIDs names dead letters, or all.
type httpIDs struct {
	IDs []int64 `json:"ids,omitempty"`
	All bool    `json:"all,omitempty"`
}

func idsOrAll(ids []int64) httpIDs { return httpIDs{IDs: ids, All: len(ids) == 0} }

func (h *httpBackend) redrive(ctx context.Context, queue string, o receiveOptions) (int64, error) {
	var out struct{ Redriven int64 }
	err := h.call(ctx, http.MethodPost, groupPath(queue, o.group)+"/redrive", idsOrAll(o.ids), &out)
	return out.Redriven, err
}

func (h *httpBackend) discard(ctx context.Context, queue string, o receiveOptions) (int64, error) {
	var out struct{ Discarded int64 }
	err := h.call(ctx, http.MethodPost, groupPath(queue, o.group)+"/discard", idsOrAll(o.ids), &out)
	return out.Discarded, err
}

func (h *httpBackend) createQueue(ctx context.Context, queue string, o QueueOptions) (bool, error) {
	in := map[string]any{}
	given(in, "ordered", o.Ordered)
	given(in, "log", o.Log)
	given(in, "lanes", o.Lanes)
	given(in, "priorities", o.Priorities)
	given(in, "message_bytes_max", o.MessageBytesMax)
	given(in, "aging_ms", *millis(&o.Aging))
	given(in, "ttl_ms", *millis(&o.TTL))
	given(in, "dedup_window_ms", *millis(&o.DedupWindow))
	given(in, "backlog_max", o.BacklogMax)
	given(in, "job_retention_ms", *millis(&o.JobRetention))
	return h.create(ctx, queuePath(queue), in)
}

func (h *httpBackend) configureQueue(ctx context.Context, queue string, s QueueSettings) error {
	return h.call(ctx, http.MethodPatch, queuePath(queue), struct {
		Lanes           *int   `json:"lanes,omitempty"`
		MessageBytesMax *int   `json:"message_bytes_max,omitempty"`
		AgingMS         *int64 `json:"aging_ms,omitempty"`
		TTLMS           *int64 `json:"ttl_ms,omitempty"`
		DedupWindowMS   *int64 `json:"dedup_window_ms,omitempty"`
		BacklogMax      *int64 `json:"backlog_max,omitempty"`
		JobRetentionMS  *int64 `json:"job_retention_ms,omitempty"`
	}{
		s.Lanes, s.MessageBytesMax, millis(s.Aging), millis(s.TTL), millis(s.DedupWindow), s.BacklogMax,
		millis(s.JobRetention),
	}, nil)
}

func logPath(log string) string { return "/v1/logs/" + url.PathEscape(log) }

func (h *httpBackend) createLog(ctx context.Context, log string, o LogOptions) (bool, error) {
	in := map[string]any{}
	given(in, "unlogged", o.Unlogged)
	given(in, "segment_bytes", o.SegmentBytes)
	given(in, "claims_bytes", o.ClaimsBytes)
	given(in, "retention_ms", *millis(&o.Retention))
	return h.create(ctx, logPath(log), in)
}

func (h *httpBackend) configureLog(ctx context.Context, log string, s LogSettings) error {
	return h.call(ctx, http.MethodPatch, logPath(log), struct {
		SegmentBytes *int64 `json:"segment_bytes,omitempty"`
		ClaimsBytes  *int64 `json:"claims_bytes,omitempty"`
		RetentionMS  *int64 `json:"retention_ms,omitempty"`
	}{s.SegmentBytes, s.ClaimsBytes, millis(s.Retention)}, nil)
}

func (h *httpBackend) listLogs(ctx context.Context) ([]Log, error) {
	var out struct{ Logs []logRow }
	err := h.call(ctx, http.MethodGet, "/v1/logs", nil, &out)
	return logsOf(out.Logs, err)
}

func (h *httpBackend) dropLog(ctx context.Context, log string) error {
	return h.call(ctx, http.MethodDelete, logPath(log), nil, nil)
}

func (h *httpBackend) renameQueue(ctx context.Context, queue, name string) error {
	return h.call(ctx, http.MethodPost, queuePath(queue)+"/rename", map[string]string{"new_name": name}, nil)
}

func (h *httpBackend) moveQueue(ctx context.Context, queue, log string) error {
	return h.call(ctx, http.MethodPost, queuePath(queue)+"/move", map[string]string{"log": log}, nil)
}

func (h *httpBackend) listQueues(ctx context.Context) ([]Queue, error) {
	var out struct{ Queues []queueRow }
	err := h.call(ctx, http.MethodGet, "/v1/queues", nil, &out)
	return queuesOf(out.Queues, err)
}

func (h *httpBackend) get(ctx context.Context, queue string, id int64) (*StoredMessage, error) {
	var out StoredMessage
	path := queuePath(queue) + "/messages/" + strconv.FormatInt(id, 10)
	return notFound(&out, h.call(ctx, http.MethodGet, path, nil, &out))
}

func (h *httpBackend) getMany(ctx context.Context, queue string, ids []int64) ([]StoredMessage, error) {
	var out struct{ Messages []StoredMessage }
	query := url.Values{}
	for _, id := range ids {
		query.Add("id", strconv.FormatInt(id, 10))
	}
	err := h.call(ctx, http.MethodGet, queuePath(queue)+"/messages?"+query.Encode(), nil, &out)
	return out.Messages, err
}

func (h *httpBackend) dropQueue(ctx context.Context, queue string) error {
	return h.call(ctx, http.MethodDelete, queuePath(queue), nil, nil)
}

func (h *httpBackend) createGroup(ctx context.Context, queue, group string, o GroupOptions) error {
	in := map[string]any{}
	given(in, "ordered", o.Ordered)
	given(in, "start", o.Start)
	given(in, "max_attempts", o.MaxAttempts)
	given(in, "backoff_min_ms", *millis(&o.BackoffMin))
	given(in, "backoff_max_ms", *millis(&o.BackoffMax))
	given(in, "concurrency_max", o.ConcurrencyMax)
	given(in, "rate_max", o.RateMax)
	given(in, "rate_period_ms", *millis(&o.RatePeriod))
	given(in, "key_concurrency_max", o.KeyConcurrencyMax)
	given(in, "fair", o.Fair)
	return h.call(ctx, http.MethodPut, groupPath(queue, group), in, nil)
}

// given sets a field that is not left to the engine.
func given[T comparable](in map[string]any, name string, v T) {
	var zero T
	if v != zero {
		in[name] = v
	}
}

func (h *httpBackend) configureGroup(ctx context.Context, queue, group string, s GroupSettings) error {
	return h.call(ctx, http.MethodPatch, groupPath(queue, group), struct {
		MaxAttempts  *int   `json:"max_attempts,omitempty"`
		BackoffMinMS *int64 `json:"backoff_min_ms,omitempty"`
		BackoffMaxMS *int64 `json:"backoff_max_ms,omitempty"`

		ConcurrencyMax *int   `json:"concurrency_max,omitempty"`
		RateMax        *int   `json:"rate_max,omitempty"`
		RatePeriodMS   *int64 `json:"rate_period_ms,omitempty"`

		KeyConcurrencyMax *int  `json:"key_concurrency_max,omitempty"`
		Fair              *bool `json:"fair,omitempty"`
	}{
		s.MaxAttempts, millis(s.BackoffMin), millis(s.BackoffMax), s.ConcurrencyMax, s.RateMax, millis(s.RatePeriod),
		s.KeyConcurrencyMax, s.Fair,
	}, nil)
}

func (h *httpBackend) dropGroup(ctx context.Context, queue, group string) error {
	return h.call(ctx, http.MethodDelete, groupPath(queue, group), nil, nil)
}

func (h *httpBackend) listGroups(ctx context.Context, queue string) ([]Group, error) {
	var out struct{ Groups []groupRow }
	err := h.call(ctx, http.MethodGet, queuePath(queue)+"/groups", nil, &out)
	return groupsOf(out.Groups, err)
}

func (h *httpBackend) seek(ctx context.Context, queue, group, position string) error {
	in := map[string]string{"position": position}
	return h.call(ctx, http.MethodPost, groupPath(queue, group)+"/seek", in, nil)
}

func (h *httpBackend) pause(ctx context.Context, queue, group string) error {
	return h.call(ctx, http.MethodPost, anyGroupPath(queue, group)+"/pause", nil, nil)
}

func (h *httpBackend) resume(ctx context.Context, queue, group string) error {
	return h.call(ctx, http.MethodPost, anyGroupPath(queue, group)+"/resume", nil, nil)
}

func (h *httpBackend) purge(ctx context.Context, queue, group string) (int64, error) {
	var out struct{ Purged int64 }
	err := h.call(ctx, http.MethodPost, anyGroupPath(queue, group)+"/purge", nil, &out)
	return out.Purged, err
}

// anyGroupPath is the path of a group, or of the queue when group is "".
func anyGroupPath(queue, group string) string {
	if group == "" {
		return queuePath(queue)
	}
	return groupPath(queue, group)
}

func bindingPath(pattern, queue string) string {
	return topicPath(pattern) + "/queues/" + url.PathEscape(queue)
}

func (h *httpBackend) bind(ctx context.Context, pattern, queue string) error {
	return h.call(ctx, http.MethodPut, bindingPath(pattern, queue), nil, nil)
}

func (h *httpBackend) unbind(ctx context.Context, pattern, queue string) (bool, error) {
	var out struct{ Unbound bool }
	err := h.call(ctx, http.MethodDelete, bindingPath(pattern, queue), nil, &out)
	return out.Unbound, err
}

func (h *httpBackend) route(ctx context.Context, topic string) ([]string, error) {
	var out struct{ Queues []string }
	err := h.call(ctx, http.MethodGet, topicPath(topic)+"/route", nil, &out)
	return out.Queues, err
}

func (h *httpBackend) listBindings(ctx context.Context) ([]Binding, error) {
	var out struct{ Bindings []Binding }
	err := h.call(ctx, http.MethodGet, "/v1/topics", nil, &out)
	return out.Bindings, err
}

func (h *httpBackend) doctor(ctx context.Context) ([]Finding, error) {
	var out struct{ Findings []Finding }
	err := h.call(ctx, http.MethodGet, "/v1/doctor", nil, &out)
	return out.Findings, err
}

func (h *httpBackend) stats(ctx context.Context, queue string) ([]GroupStats, error) {
	var out struct{ Groups []statsRow }
	path := "/v1/stats"
	if queue != "" {
		path += "?queue=" + url.QueryEscape(queue)
	}
	err := h.call(ctx, http.MethodGet, path, nil, &out)
	return statsOf(out.Groups, err)
}

// maintain does nothing: the server does it.
func (h *httpBackend) maintain(context.Context, time.Duration) (int, error) { return 0, nil }

func (h *httpBackend) version(ctx context.Context) (string, error) {
	var out struct{ Engine string }
	err := h.call(ctx, http.MethodGet, "/v1/version", nil, &out)
	return out.Engine, err
}
