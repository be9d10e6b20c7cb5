package weir

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// Step is one job of a workflow, a chain or a batch.
type Step struct {
	Name     string // unique within the workflow; "" = its number, from 1 on
	Args     Args
	Key      string
	Headers  map[string]any
	After    []string // names of steps that stand before it in the list, which must be done; not in a chain
	AfterAll bool     // when all others have ended, however they did
}

// WorkflowStep is how a step of a workflow stands.
type WorkflowStep struct {
	No      int             `json:"no"` // from 1 on, in the order in which they were given
	Name    string          `json:"name"`
	Kind    string          `json:"kind"`
	After   []string        `json:"after"`
	State   string          `json:"state"` // planned (no job yet), enqueued, done, failed or cancelled
	ID      *int64          `json:"id"`    // of its job
	Result  json.RawMessage `json:"result"`
	EndedAt *time.Time      `json:"ended_at"`
}

// StartWorkflow starts jobs of which some come after others, and returns the workflow's id. A step's job is enqueued in
// the transaction that finishes the last of those before it; its header "job" has their results. A step that is done is
// not run again, whatever is restarted. With a name that the queue has a workflow of, nothing is started, and the id is
// that one's; the name may be "".
func (c *Client) StartWorkflow(ctx context.Context, queue string, steps []Step, name string) (int64, error) {
	return c.startWorkflow(ctx, "start workflow", sqlStartWorkflow, queue, steps, name)
}

// StartChain is StartWorkflow of steps that come one after the other.
func (c *Client) StartChain(ctx context.Context, queue string, steps []Step, name string) (int64, error) {
	return c.startWorkflow(ctx, "start chain", sqlStartChain, queue, steps, name)
}

// StartBatch is StartWorkflow of jobs that are all enqueued at once, and of one, the callback, that is enqueued when
// all of them have ended, however they did: exactly once.
func (c *Client) StartBatch(ctx context.Context, queue string, jobs []Step, callback Step, name string) (int64, error) {
	text, err := stepJSON(callback)
	if err != nil {
		return 0, err
	}
	return c.startWorkflow(ctx, "start batch", sqlStartBatch, queue, jobs, name, text)
}

// Workflow tells how the steps of a workflow stand: none when the queue has no such workflow, or when it ended longer
// ago than the queue keeps it.
func (c *Client) Workflow(ctx context.Context, queue string, workflow int64) ([]WorkflowStep, error) {
	type row struct {
		WorkflowStep

		after, result *string
	}
	p, err := c.postgres("show workflow")
	if err != nil {
		return nil, err
	}
	rows, err := retry(ctx, c.tries, true, func() ([]row, error) {
		return collect(ctx, p, "show workflow", sqlWorkflow, func(r *row) []any {
			return []any{&r.No, &r.Name, &r.Kind, &r.after, &r.State, &r.ID, &r.result, &r.EndedAt}
		}, queue, workflow)
	})
	steps := make([]WorkflowStep, len(rows))
	for i, r := range rows {
		if r.after != nil {
			if err := json.Unmarshal([]byte(*r.after), &r.After); err != nil {
				return nil, fmt.Errorf("read workflow: %w", err)
			}
		}
		if r.result != nil {
			r.Result = json.RawMessage(*r.result)
		}
		steps[i] = r.WorkflowStep
	}
	return steps, err
}

// startWorkflow calls one of the functions that start a workflow; more is what it takes after queue, steps and name.
func (c *Client) startWorkflow(
	ctx context.Context, doing, sql, queue string, steps []Step, name string, more ...any,
) (int64, error) {
	texts := make([]string, len(steps))
	for i, step := range steps {
		var err error
		if texts[i], err = stepJSON(step); err != nil {
			return 0, err
		}
	}
	p, err := c.postgres(doing)
	if err != nil {
		return 0, err
	}
	return retry(ctx, c.tries, name != "", func() (int64, error) {
		return one[int64](ctx, p, doing, sql, append([]any{queue, texts, orNull(name)}, more...)...)
	})
}

// stepJSON writes a step as the engine takes it.
func stepJSON(s Step) (string, error) {
	if s.Args == nil {
		return "", fmt.Errorf("write step %q: %w: it has no arguments", s.Name, ErrPayload)
	}
	text, err := json.Marshal(struct {
		Name     string         `json:"name,omitempty"`
		Kind     string         `json:"kind"`
		Args     Args           `json:"args"`
		Key      string         `json:"key,omitempty"`
		Headers  map[string]any `json:"headers,omitempty"`
		After    []string       `json:"after,omitempty"`
		AfterAll bool           `json:"after_all,omitempty"`
	}{s.Name, s.Args.Kind(), s.Args, s.Key, s.Headers, s.After, s.AfterAll})
	if err != nil {
		return "", fmt.Errorf("write step %q: %w: %w", s.Name, ErrPayload, err)
	}
	return string(text), nil
}

const (
	sqlStartWorkflow = `select weir.start_workflow($1::text, $2::text[]::jsonb[], name => $3::text)`
	sqlStartChain    = `select weir.start_chain($1::text, $2::text[]::jsonb[], name => $3::text)`
	sqlStartBatch    = `select weir.start_batch($1::text, $2::text[]::jsonb[], name => $3::text,
		callback => $4::text::jsonb)`
	sqlWorkflow = `select no, name, kind, to_json(after)::text, state, id, result::text, ended_at
		from weir.workflow($1::text, $2::bigint) order by no`
)
