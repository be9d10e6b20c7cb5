package test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	weir "github.com/weirmq/weir/sdk/go"
)

// arguments are those of a call in a case. Times are in milliseconds.
type arguments struct {
	Queue           string          `json:"queue"`
	Group           string          `json:"group"`
	Payload         json.RawMessage `json:"payload"`
	DedupKey        string          `json:"dedup_key"`
	Priority        *int            `json:"priority"`
	Position        string          `json:"position"`
	Topic           string          `json:"topic"`
	Pattern         string          `json:"pattern"`
	NewName         string          `json:"new_name"`
	ID              int64           `json:"id"`
	Lanes           *int            `json:"lanes"`
	Priorities      int             `json:"priorities"`
	SegmentBytes    *int64          `json:"segment_bytes"`
	AgingMS         *int64          `json:"aging_ms"`
	TTLMS           *int64          `json:"ttl_ms"`
	RetentionMS     *int64          `json:"retention_ms"`
	DedupWindowMS   *int64          `json:"dedup_window_ms"`
	BacklogMax      *int64          `json:"backlog_max"`
	Key             string          `json:"key"`
	Headers         json.RawMessage `json:"headers"`
	DelayMS         *int64          `json:"delay_ms"`
	Messages        json.RawMessage `json:"messages"`
	Message         json.RawMessage `json:"message"`
	Log             string          `json:"log"`
	Unlogged        bool            `json:"unlogged"`
	ClaimsBytes     *int64          `json:"claims_bytes"`
	ClaimID         int64           `json:"claim_id"`
	IDs             []int64         `json:"ids"`
	Reason          string          `json:"reason"`
	Max             *int            `json:"max"`
	After           int64           `json:"after"`
	LeaseMS         *int64          `json:"lease_ms"`
	WaitMS          int64           `json:"wait_ms"`
	MessageBytesMax *int            `json:"message_bytes_max"`
	Ordered         bool            `json:"ordered"`
	Start           string          `json:"start"`
	MaxAttempts     *int            `json:"max_attempts"`
	BackoffMinMS    *int64          `json:"backoff_min_ms"`
	BackoffMaxMS    *int64          `json:"backoff_max_ms"`
	ConcurrencyMax  *int            `json:"concurrency_max"`
	RateMax         *int            `json:"rate_max"`
	RatePeriodMS    *int64          `json:"rate_period_ms"`
	JobRetentionMS  *int64          `json:"job_retention_ms"`
	jobArguments

	KeyConcurrencyMax *int  `json:"key_concurrency_max"`
	Fair              *bool `json:"fair"`
}

// ref is a claimed message, of which the calls need no more than its numbers.
type ref struct {
	ID      int64  `json:"id"`
	ClaimID int64  `json:"claim_id"`
	Group   string `json:"group"`
}

func (r ref) of() weir.Ref { return weir.Ref{ClaimID: r.ClaimID, ID: r.ID, Group: r.Group} }

// claimed are the claimed messages that a step names: one, or a list.
func (a arguments) claimed() (weir.Claimed, error) {
	if a.Message != nil || bytes.HasPrefix(a.Messages, []byte("{")) {
		var one ref
		err := json.Unmarshal(append(a.Message, a.Messages...), &one)
		return one.of(), err
	}
	var list []ref
	err := json.Unmarshal(a.Messages, &list)
	refs := weir.Refs{}
	for _, r := range list {
		refs = append(refs, r.of())
	}
	return refs, err
}

type outgoing struct {
	Payload json.RawMessage `json:"payload"`
	Key     string          `json:"key"`
	Headers map[string]any  `json:"headers"`

	DedupKey string `json:"dedup_key"`
}

func ms(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

// msOf is ms of what may be absent.
func msOf(n *int64) *time.Duration {
	if n == nil {
		return nil
	}
	return new(ms(*n))
}

// valueOf is the zero value for what is absent.
func valueOf[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// call makes the call of a step.
func call(ctx context.Context, c *weir.Client, name string, args map[string]any) (any, error) {
	text, err := json.Marshal(args)
	if err != nil {
		return nil, err
	}
	var a arguments
	strict := json.NewDecoder(bytes.NewReader(text))
	strict.DisallowUnknownFields()
	if err := strict.Decode(&a); err != nil {
		return nil, fmt.Errorf("arguments of %s: %w", name, err)
	}
	do, ok := calls[name]
	if !ok {
		do, ok = jobCalls[name]
	}
	if !ok {
		return nil, fmt.Errorf("there is no call %q", name)
	}
	return do(ctx, c, a)
}

var calls = map[string]func(context.Context, *weir.Client, arguments) (any, error){
	"send": func(ctx context.Context, c *weir.Client, a arguments) (any, error) {
		opts, err := a.sendOptions()
		if err != nil {
			return nil, err
		}
		return c.Send(ctx, a.Queue, a.Payload, opts...)
	},
	"send_batch": func(ctx context.Context, c *weir.Client, a arguments) (any, error) {
		opts, err := a.sendOptions()
		if err != nil {
			return nil, err
		}
		var messages []outgoing
		if err := json.Unmarshal(a.Messages, &messages); err != nil {
			return nil, err
		}
		batch := make([]weir.Outgoing, len(messages))
		for i, m := range messages {
			batch[i] = weir.Outgoing{Payload: m.Payload, Key: m.Key, Headers: m.Headers, DedupKey: m.DedupKey}
		}
		return c.SendBatch(ctx, a.Queue, batch, opts...)
	},
	"receive": func(ctx context.Context, c *weir.Client, a arguments) (any, error) {
		return received(c.Receive(ctx, a.Queue, a.receiveOptions()...))
	},
	"pop": func(ctx context.Context, c *weir.Client, a arguments) (any, error) {
		return received(c.Pop(ctx, a.Queue, a.receiveOptions()...))
	},
	"peek": func(ctx context.Context, c *weir.Client, a arguments) (any, error) {
		return received(c.Peek(ctx, a.Queue, a.receiveOptions()...))
	},
	"ack": about(func(ctx context.Context, c *weir.Client, m weir.Claimed, a arguments) (any, error) {
		return c.Ack(ctx, a.Queue, m)
	}),
	"ack_all": func(ctx context.Context, c *weir.Client, a arguments) (any, error) {
		return c.AckAll(ctx, a.Queue, a.ClaimID)
	},
	"nack": about(func(ctx context.Context, c *weir.Client, m weir.Claimed, a arguments) (any, error) {
		opts := []weir.NackOption{weir.Reason(a.Reason)}
		if a.DelayMS != nil {
			opts = append(opts, weir.After(ms(*a.DelayMS)))
		}
		return c.Nack(ctx, a.Queue, m, opts...)
	}),
	"reject": about(func(ctx context.Context, c *weir.Client, m weir.Claimed, a arguments) (any, error) {
		return c.Reject(ctx, a.Queue, m, a.Reason)
	}),
	"release": about(func(ctx context.Context, c *weir.Client, m weir.Claimed, a arguments) (any, error) {
		return c.Release(ctx, a.Queue, m)
	}),
	"extend": about(func(ctx context.Context, c *weir.Client, m weir.Claimed, a arguments) (any, error) {
		return c.Extend(ctx, a.Queue, m, ms(*a.LeaseMS))
	}),
	"dead_letters": func(ctx context.Context, c *weir.Client, a arguments) (any, error) {
		return c.DeadLetters(ctx, a.Queue, a.receiveOptions()...)
	},
	"redrive": func(ctx context.Context, c *weir.Client, a arguments) (any, error) {
		return c.Redrive(ctx, a.Queue, a.receiveOptions()...)
	},
	"discard": func(ctx context.Context, c *weir.Client, a arguments) (any, error) {
		return c.Discard(ctx, a.Queue, a.receiveOptions()...)
	},
	"create_queue": func(ctx context.Context, c *weir.Client, a arguments) (any, error) {
		return c.CreateQueue(ctx, a.Queue, weir.QueueOptions{
			Ordered: a.Ordered, Log: a.Log, Lanes: valueOf(a.Lanes), Priorities: a.Priorities,
			MessageBytesMax: valueOf(a.MessageBytesMax), Aging: valueOf(msOf(a.AgingMS)), TTL: valueOf(msOf(a.TTLMS)),
			DedupWindow: valueOf(msOf(a.DedupWindowMS)), BacklogMax: valueOf(a.BacklogMax),
			JobRetention: valueOf(msOf(a.JobRetentionMS)),
		})
	},
	"configure_queue": func(ctx context.Context, c *weir.Client, a arguments) (any, error) {
		return nil, c.ConfigureQueue(ctx, a.Queue, weir.QueueSettings{
			Lanes: a.Lanes, MessageBytesMax: a.MessageBytesMax, Aging: msOf(a.AgingMS), TTL: msOf(a.TTLMS),
			DedupWindow: msOf(a.DedupWindowMS), BacklogMax: a.BacklogMax, JobRetention: msOf(a.JobRetentionMS),
		})
	},
	"create_log": func(ctx context.Context, c *weir.Client, a arguments) (any, error) {
		return c.CreateLog(ctx, a.Log, weir.LogOptions{
			Unlogged: a.Unlogged, SegmentBytes: valueOf(a.SegmentBytes), ClaimsBytes: valueOf(a.ClaimsBytes),
			Retention: valueOf(msOf(a.RetentionMS)),
		})
	},
	"configure_log": func(ctx context.Context, c *weir.Client, a arguments) (any, error) {
		return nil, c.ConfigureLog(ctx, a.Log, weir.LogSettings{
			SegmentBytes: a.SegmentBytes, ClaimsBytes: a.ClaimsBytes, Retention: msOf(a.RetentionMS),
		})
	},
	"list_logs": func(ctx context.Context, c *weir.Client, _ arguments) (any, error) {
		logs, err := c.ListLogs(ctx)
		list := []map[string]any{}
		for _, l := range logs {
			list = append(list, map[string]any{
				"log": l.Log, "unlogged": l.Unlogged, "segment_bytes": l.SegmentBytes, "claims_bytes": l.ClaimsBytes,
				"retention_ms": l.Retention.Milliseconds(), "queues": l.Queues, "bytes": l.Bytes, "created_at": l.CreatedAt,
			})
		}
		return list, err
	},
	"drop_log": func(ctx context.Context, c *weir.Client, a arguments) (any, error) {
		return nil, c.DropLog(ctx, a.Log)
	},
	"rename_queue": func(ctx context.Context, c *weir.Client, a arguments) (any, error) {
		return nil, c.RenameQueue(ctx, a.Queue, a.NewName)
	},
	"move_queue": func(ctx context.Context, c *weir.Client, a arguments) (any, error) {
		return nil, c.MoveQueue(ctx, a.Queue, a.Log)
	},
	"list_queues": func(ctx context.Context, c *weir.Client, _ arguments) (any, error) {
		queues, err := c.ListQueues(ctx)
		list := []map[string]any{}
		for _, q := range queues {
			list = append(list, map[string]any{
				"queue": q.Queue, "log": q.Log, "moving_from": q.MovingFrom, "lanes": q.Lanes, "priorities": q.Priorities,
				"message_bytes_max": q.MessageBytesMax, "aging_ms": q.Aging.Milliseconds(), "ttl_ms": q.TTL.Milliseconds(),
				"backlog_max": q.BacklogMax, "dedup_window_ms": q.DedupWindow.Milliseconds(), "paused": q.Paused,
				"created_at": q.CreatedAt, "job_retention_ms": q.JobRetention.Milliseconds(),
			})
		}
		return list, err
	},
	"get": func(ctx context.Context, c *weir.Client, a arguments) (any, error) { return c.Get(ctx, a.Queue, a.ID) },
	"get_many": func(ctx context.Context, c *weir.Client, a arguments) (any, error) {
		return c.GetMany(ctx, a.Queue, a.IDs...)
	},
	"drop_queue": func(ctx context.Context, c *weir.Client, a arguments) (any, error) {
		return nil, c.DropQueue(ctx, a.Queue)
	},
	"create_group": func(ctx context.Context, c *weir.Client, a arguments) (any, error) {
		return nil, c.CreateGroup(ctx, a.Queue, a.Group, weir.GroupOptions{
			Ordered: a.Ordered, Start: a.Start, MaxAttempts: valueOf(a.MaxAttempts),
			BackoffMin: valueOf(msOf(a.BackoffMinMS)), BackoffMax: valueOf(msOf(a.BackoffMaxMS)),
			ConcurrencyMax: valueOf(a.ConcurrencyMax), RateMax: valueOf(a.RateMax), RatePeriod: valueOf(msOf(a.RatePeriodMS)),
			KeyConcurrencyMax: valueOf(a.KeyConcurrencyMax), Fair: valueOf(a.Fair),
		})
	},
	"configure_group": func(ctx context.Context, c *weir.Client, a arguments) (any, error) {
		return nil, c.ConfigureGroup(ctx, a.Queue, a.Group, weir.GroupSettings{
			MaxAttempts: a.MaxAttempts, BackoffMin: msOf(a.BackoffMinMS), BackoffMax: msOf(a.BackoffMaxMS),
			ConcurrencyMax: a.ConcurrencyMax, RateMax: a.RateMax, RatePeriod: msOf(a.RatePeriodMS),
			KeyConcurrencyMax: a.KeyConcurrencyMax, Fair: a.Fair,
		})
	},
	"drop_group": func(ctx context.Context, c *weir.Client, a arguments) (any, error) {
		return nil, c.DropGroup(ctx, a.Queue, a.Group)
	},
	"list_groups": func(ctx context.Context, c *weir.Client, a arguments) (any, error) {
		groups, err := c.ListGroups(ctx, a.Queue)
		list := []map[string]any{}
		for _, g := range groups {
			list = append(list, map[string]any{
				"group": g.Group, "ordered": g.Ordered, "max_attempts": g.MaxAttempts, "paused": g.Paused,
				"backoff_min_ms": g.BackoffMin.Milliseconds(), "backoff_max_ms": g.BackoffMax.Milliseconds(),
				"created_at": g.CreatedAt, "concurrency_max": g.ConcurrencyMax, "rate_max": g.RateMax,
				"rate_period_ms":      g.RatePeriod.Milliseconds(),
				"key_concurrency_max": g.KeyConcurrencyMax, "fair": g.Fair,
			})
		}
		return list, err
	},
	"publish": func(ctx context.Context, c *weir.Client, a arguments) (any, error) {
		opts, err := a.sendOptions()
		if err != nil {
			return nil, err
		}
		return c.Publish(ctx, a.Topic, a.Payload, opts...)
	},
	"bind": func(ctx context.Context, c *weir.Client, a arguments) (any, error) {
		return nil, c.Bind(ctx, a.Pattern, a.Queue)
	},
	"unbind": func(ctx context.Context, c *weir.Client, a arguments) (any, error) {
		return c.Unbind(ctx, a.Pattern, a.Queue)
	},
	"route": func(ctx context.Context, c *weir.Client, a arguments) (any, error) { return c.Route(ctx, a.Topic) },
	"list_bindings": func(ctx context.Context, c *weir.Client, _ arguments) (any, error) {
		return c.ListBindings(ctx)
	},
	"doctor": func(ctx context.Context, c *weir.Client, _ arguments) (any, error) { return c.Doctor(ctx) },
	"seek": func(ctx context.Context, c *weir.Client, a arguments) (any, error) {
		return nil, c.Seek(ctx, a.Queue, a.Group, a.Position)
	},
	"pause": func(ctx context.Context, c *weir.Client, a arguments) (any, error) {
		return nil, c.Pause(ctx, a.Queue, a.Group)
	},
	"resume": func(ctx context.Context, c *weir.Client, a arguments) (any, error) {
		return nil, c.Resume(ctx, a.Queue, a.Group)
	},
	"purge": func(ctx context.Context, c *weir.Client, a arguments) (any, error) {
		return c.Purge(ctx, a.Queue, a.Group)
	},
	"stats": func(ctx context.Context, c *weir.Client, a arguments) (any, error) {
		return c.Stats(ctx, a.Queue)
	},
	"maintain": func(ctx context.Context, c *weir.Client, _ arguments) (any, error) { return c.Maintain(ctx, 0) },
	"version":  func(ctx context.Context, c *weir.Client, _ arguments) (any, error) { return c.Version(ctx) },
}

// about is a call about claimed messages.
func about(
	do func(context.Context, *weir.Client, weir.Claimed, arguments) (any, error),
) func(context.Context, *weir.Client, arguments) (any, error) {
	return func(ctx context.Context, c *weir.Client, a arguments) (any, error) {
		messages, err := a.claimed()
		if err != nil {
			return nil, err
		}
		return do(ctx, c, messages, a)
	}
}

func (a arguments) sendOptions() ([]weir.SendOption, error) {
	opts := []weir.SendOption{weir.Key(a.Key), weir.DedupKey(a.DedupKey)}
	if a.Priority != nil {
		opts = append(opts, weir.Priority(*a.Priority))
	}
	if a.DelayMS != nil {
		opts = append(opts, weir.Delay(ms(*a.DelayMS)))
	}
	if a.Headers != nil {
		var headers map[string]any
		if err := json.Unmarshal(a.Headers, &headers); err != nil {
			return nil, err
		}
		opts = append(opts, weir.Headers(headers))
	}
	return opts, nil
}

func (a arguments) receiveOptions() []weir.ReceiveOption {
	opts := []weir.ReceiveOption{weir.Wait(ms(a.WaitMS)), weir.AfterID(a.After), weir.OnlyIDs(a.IDs...)}
	if a.Group != "" {
		opts = append(opts, weir.InGroup(a.Group))
	}
	if a.Max != nil {
		opts = append(opts, weir.Max(*a.Max))
	}
	if a.LeaseMS != nil {
		opts = append(opts, weir.Lease(ms(*a.LeaseMS)))
	}
	return opts
}

// received gives messages the form in which cases expect them.
func received(messages []*weir.RawMessage, err error) (any, error) {
	list := []map[string]any{}
	for _, m := range messages {
		object := map[string]any{
			"id": m.ID, "claim_id": m.ClaimID, "attempt": m.Attempt, "key": nil, "payload": m.Payload,
			"headers": m.Headers, "enqueued_at": m.EnqueuedAt, "queue": m.Queue, "group": m.Group,
		}
		if m.Key != "" {
			object["key"] = m.Key
		}
		list = append(list, object)
	}
	return list, err
}

// toPlain turns a result into what JSON has.
func toPlain(t *testing.T, v any) (plain any) {
	t.Helper()
	decodeNumbers(t, get(json.Marshal(v))(t), &plain)
	return plain
}

// decodeNumbers reads JSON and keeps numbers as they are written: ids do not fit a float.
func decodeNumbers(t *testing.T, text []byte, into any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	must(t, d.Decode(into))
}
