package api

import (
	"context"

	"github.com/weirmq/weir/internal/engine"
)

type startWorkflowInput struct {
	QueuePath
	Body startWorkflowBody
}

type startWorkflowBody struct {
	Steps []engine.Step `json:"steps" minItems:"1"`
	Name  *string       `json:"name,omitempty" doc:"Nothing is started when the queue has a workflow of this name."`
}

type startedOutput struct {
	Workflow int64 `json:"workflow" doc:"The workflow; that of the name, if there was one."`
}

// startWorkflow starts jobs of which some come after others.
func (a *api) startWorkflow(ctx context.Context, in *startWorkflowInput) (*output[startedOutput], error) {
	no, err := a.engine.StartWorkflow(ctx, in.Queue, in.Body.Steps, in.Body.Name)
	return reply(startedOutput{Workflow: no}, err)
}

type startChainInput struct {
	QueuePath
	Body startChainBody
}

type startChainBody struct {
	Jobs []engine.Step `json:"jobs" minItems:"1"`
	Name *string       `json:"name,omitempty" doc:"Nothing is started when the queue has a workflow of this name."`
}

// startChain starts jobs that come one after the other.
func (a *api) startChain(ctx context.Context, in *startChainInput) (*output[startedOutput], error) {
	no, err := a.engine.StartChain(ctx, in.Queue, in.Body.Jobs, in.Body.Name)
	return reply(startedOutput{Workflow: no}, err)
}

type startBatchInput struct {
	QueuePath
	Body startBatchBody
}

type startBatchBody struct {
	Jobs     []engine.Step `json:"jobs" minItems:"1"`
	Callback engine.Step   `json:"callback" doc:"The job that comes when all of them have ended, however they did."`
	Name     *string       `json:"name,omitempty" doc:"Nothing is started when the queue has a workflow of this name."`
}

// startBatch starts jobs, and one that comes when all of them have ended.
func (a *api) startBatch(ctx context.Context, in *startBatchInput) (*output[startedOutput], error) {
	no, err := a.engine.StartBatch(ctx, in.Queue, in.Body.Jobs, in.Body.Callback, in.Body.Name)
	return reply(startedOutput{Workflow: no}, err)
}

// WorkflowPath is the path of a workflow. It is exported because huma fills in embedded structs only then.
type WorkflowPath struct {
	Queue    string `path:"queue" example:"jobs"`
	Workflow int64  `path:"workflow" example:"1"`
}

func (p *WorkflowPath) queue() string { return p.Queue }

type workflowOutput struct {
	Steps []engine.WorkflowStep `json:"steps" doc:"None when there is no such workflow, or not any more."`
}

// workflow shows how the steps of a workflow stand.
func (a *api) workflow(ctx context.Context, in *WorkflowPath) (*output[workflowOutput], error) {
	steps, err := a.engine.Workflow(ctx, in.Queue, in.Workflow)
	return reply(workflowOutput{Steps: steps}, err)
}
