package engine

import (
	"context"
	"encoding/json"
	"time"
)

// Step is one job of a workflow, a chain or a batch.
type Step struct {
	Kind     string          `json:"kind" doc:"What handles the job."`
	Name     *string         `json:"name,omitempty" doc:"Unique within the workflow; the step's number unless given."`
	Args     json.RawMessage `json:"args,omitempty" doc:"Any JSON value; {} unless given."`
	Key      *string         `json:"key,omitempty" doc:"Jobs with one key stay in order in an ordered group."`
	Headers  json.RawMessage `json:"headers,omitempty" doc:"A JSON object beside the arguments."`
	After    []string        `json:"after,omitempty" doc:"Steps before it in the list that must be done first."`
	AfterAll bool            `json:"after_all,omitempty" doc:"It comes when all others have ended, however they did."`
}

// WorkflowStep is how a step of a workflow stands.
type WorkflowStep struct {
	No      int             `json:"no" doc:"From 1 on, in the order in which they were given."`
	Name    string          `json:"name"`
	Kind    string          `json:"kind"`
	After   []string        `json:"after" doc:"The steps it comes after; null: none, or all."`
	State   string          `json:"state" doc:"planned (no job yet), enqueued, done, failed or cancelled."`
	ID      *int64          `json:"id" doc:"Its job; null: planned."`
	Result  json.RawMessage `json:"result"`
	EndedAt *time.Time      `json:"ended_at"`
}

const (
	sqlStartWorkflow = `select weir.start_workflow($1, $2, name => $3)`
	sqlStartChain    = `select weir.start_chain($1, $2, name => $3)`
	sqlStartBatch    = `select weir.start_batch($1, $2, callback => $4, name => $3)`
	sqlWorkflow      = `select no, name, kind, after, state, id, result, ended_at from weir.workflow($1, $2) order by no`
)

// StartWorkflow starts jobs of which some come after others and returns the workflow; that of the name, if there is
// one.
func (c *Client) StartWorkflow(ctx context.Context, queue string, steps []Step, name *string) (int64, error) {
	return c.start(ctx, "start workflow", sqlStartWorkflow, queue, steps, name)
}

// StartChain is StartWorkflow of jobs that come one after the other.
func (c *Client) StartChain(ctx context.Context, queue string, jobs []Step, name *string) (int64, error) {
	return c.start(ctx, "start chain", sqlStartChain, queue, jobs, name)
}

// StartBatch is StartWorkflow of jobs, and of one, the callback, that is enqueued when all of them have ended.
func (c *Client) StartBatch(
	ctx context.Context, queue string, jobs []Step, callback Step, name *string,
) (int64, error) {
	text, err := json.Marshal(callback)
	if err != nil {
		return 0, wrap("start batch", err)
	}
	return c.start(ctx, "start batch", sqlStartBatch, queue, jobs, name, json.RawMessage(text))
}

func (c *Client) start(
	ctx context.Context, doing, sql, queue string, steps []Step, name *string, more ...any,
) (int64, error) {
	list := make([]json.RawMessage, len(steps))
	for i, step := range steps {
		text, err := json.Marshal(step)
		if err != nil {
			return 0, wrap(doing, err)
		}
		list[i] = text
	}
	return one[int64](ctx, c, doing, sql, append([]any{queue, list, name}, more...)...)
}

// Workflow returns how the steps of a workflow stand: none when the queue has no such workflow, or when it ended longer
// ago than the queue's job_retention.
func (c *Client) Workflow(ctx context.Context, queue string, workflow int64) ([]WorkflowStep, error) {
	return collect(ctx, c, "show workflow", sqlWorkflow, func(s *WorkflowStep) []any {
		return []any{&s.No, &s.Name, &s.Kind, &s.After, &s.State, &s.ID, &s.Result, &s.EndedAt}
	}, queue, workflow)
}
