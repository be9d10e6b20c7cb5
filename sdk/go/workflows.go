package weir

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
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

// jsonWorkflow is a workflow as the engine and the server take it.
type jsonWorkflow struct {
	form     string // workflow, chain or batch
	name     string
	steps    []json.RawMessage
	callback json.RawMessage // of a batch
}

// StartWorkflow starts jobs of which some come after others, and returns the workflow's id. A step's job is enqueued in
// the transaction that finishes the last of those before it; its header "job" has their results. A step that is done is
// not run again, whatever is restarted. With a name that the queue has a workflow of, nothing is started, and the id is
// that one's; the name may be "".
func (c *Client) StartWorkflow(ctx context.Context, queue string, steps []Step, name string) (int64, error) {
	return c.startWorkflow(ctx, queue, steps, jsonWorkflow{form: "workflow", name: name})
}

// StartChain is StartWorkflow of jobs that come one after the other.
func (c *Client) StartChain(ctx context.Context, queue string, jobs []Step, name string) (int64, error) {
	return c.startWorkflow(ctx, queue, jobs, jsonWorkflow{form: "chain", name: name})
}

// StartBatch is StartWorkflow of jobs that are all enqueued at once, and of one, the callback, that is enqueued when
// all of them have ended, however they did: exactly once.
func (c *Client) StartBatch(ctx context.Context, queue string, jobs []Step, callback Step, name string) (int64, error) {
	return c.startWorkflow(ctx, queue, append(slices.Clone(jobs), callback), jsonWorkflow{form: "batch", name: name})
}

// Workflow tells how the steps of a workflow stand: none when the queue has no such workflow, or when it ended longer
// ago than the queue keeps it.
func (c *Client) Workflow(ctx context.Context, queue string, workflow int64) ([]WorkflowStep, error) {
	return retry(ctx, c.tries, true, func() ([]WorkflowStep, error) { return c.b.workflow(ctx, queue, workflow) })
}

// startWorkflow starts a workflow of steps, of a batch with the callback last.
func (c *Client) startWorkflow(
	ctx context.Context, queue string, steps []Step, w jsonWorkflow,
) (id int64, err error) {
	messages := make([]Outgoing, len(steps))
	for i, s := range steps {
		messages[i] = Outgoing{Payload: s.Args, Key: s.Key, Headers: s.Headers}
	}
	start := func(ctx context.Context, passed []Outgoing) ([]int64, error) {
		texts := make([]json.RawMessage, len(steps))
		for i, s := range steps {
			var err error
			if texts[i], err = stepJSON(s, passed[i]); err != nil {
				return nil, err
			}
		}
		w.steps = texts
		if last := len(texts) - 1; w.form == "batch" {
			w.steps, w.callback = texts[:last], texts[last]
		}
		id, err = retry(ctx, c.tries, w.name != "", func() (int64, error) { return c.b.startWorkflow(ctx, queue, w) })
		return nil, err
	}
	_, err = c.sending(ctx, queue, messages, start)
	return id, err
}

// stepJSON writes a step as the message that it becomes.
func stepJSON(s Step, m Outgoing) (json.RawMessage, error) {
	if s.Args == nil {
		return nil, fmt.Errorf("write step %q: %w: it has no arguments", s.Name, ErrPayload)
	}
	text, err := json.Marshal(struct {
		Name     string         `json:"name,omitempty"`
		Kind     string         `json:"kind"`
		Args     any            `json:"args"`
		Key      string         `json:"key,omitempty"`
		Headers  map[string]any `json:"headers,omitempty"`
		After    []string       `json:"after,omitempty"`
		AfterAll bool           `json:"after_all,omitempty"`
	}{s.Name, s.Args.Kind(), m.Payload, m.Key, m.Headers, s.After, s.AfterAll})
	if err != nil {
		return nil, fmt.Errorf("write step %q: %w: %w", s.Name, ErrPayload, err)
	}
	return text, nil
}
