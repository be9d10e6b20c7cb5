package api

import (
	"context"

	"github.com/weirmq/weir/internal/engine"
)

// lookRoutes are those that show people what a group is at.
func (a *api) lookRoutes() {
	route(a, toRead, get, groupPath+"/claims", "claims", "List claims in flight, and who holds them", a.claims)
	route(a, toRead, get, groupPath+"/parked_keys", "parked_keys", "List keys whose messages wait in a line", a.parkedKeys)
	route(a, toRead, get, groupPath+"/delayed", "delayed", "List messages that are not due: delayed ones, retries",
		a.delayed)
	route(a, toRead, get, queuePath+"/jobs", "list_jobs", "List the tracked jobs of a queue", a.listJobs)
	route(a, toRead, get, queuePath+"/workflows", "list_workflows", "List the workflows of a queue", a.listWorkflows)
}

type claimsInput struct {
	GroupPath
	Max   int   `query:"max" default:"100" doc:"At most this many, up to 1,000."`
	After int64 `query:"after" doc:"Only claims above this one: the last of the page before."`
}

type claimsOutput struct {
	Claims []claimOutput `json:"claims" doc:"The oldest first."`
}

type claimOutput struct {
	engine.Claim

	Client *string `json:"client" doc:"Address of the client that this server handed it to; null: not by this server."`
	Caller *string `json:"caller" doc:"That client's token, or the subject of its JWT."`
}

// claims lists the claims of a group that are not finished.
func (a *api) claims(ctx context.Context, in *claimsInput) (*output[claimsOutput], error) {
	list, err := a.engine.Claims(ctx, in.Queue, in.Group, in.Max, in.After)
	out := make([]claimOutput, len(list))
	for i, c := range list {
		out[i].Claim = c
		out[i].Client, out[i].Caller = a.holders.of(in.Queue, c.ClaimID)
	}
	return reply(claimsOutput{Claims: out}, err)
}

type parkedKeysInput struct {
	GroupPath
	Max       int    `query:"max" default:"100" doc:"At most this many, up to 1,000."`
	After     string `query:"after" doc:"Only keys above this one: the last of the page before."`
	AfterLane int    `query:"after_lane" default:"-1" doc:"When that ended without a key: the lane of its last line."`
}

type parkedKeysOutput struct {
	ParkedKeys []engine.ParkedKey `json:"parked_keys" doc:"In the order of keys."`
}

// parkedKeys lists the keys of a group whose messages wait in a line.
func (a *api) parkedKeys(ctx context.Context, in *parkedKeysInput) (*output[parkedKeysOutput], error) {
	var after engine.LineEnd
	if in.After != "" {
		after.Key = &in.After
	}
	if in.AfterLane >= 0 {
		after.Lane = &in.AfterLane
	}
	list, err := a.engine.ParkedKeys(ctx, in.Queue, in.Group, in.Max, after)
	return reply(parkedKeysOutput{ParkedKeys: list}, err)
}

type delayedInput struct {
	GroupPath
	Max   int   `query:"max" default:"100" doc:"At most this many, up to 1,000."`
	After int64 `query:"after" doc:"Only what comes after this message: the last of the page before."`
}

type delayedOutput struct {
	Messages []engine.Delayed `json:"messages" doc:"The next due first."`
}

// delayed lists the messages of a group that are not due.
func (a *api) delayed(ctx context.Context, in *delayedInput) (*output[delayedOutput], error) {
	list, err := a.engine.Delayed(ctx, in.Queue, in.Group, in.Max, in.After)
	return reply(delayedOutput{Messages: list}, err)
}

type listWorkflowsInput struct {
	QueuePath
	Max    int   `query:"max" default:"100" doc:"At most this many, up to 1,000."`
	Before int64 `query:"before" doc:"Only workflows below this one: the last of the page before."`
}

type workflowsOutput struct {
	Workflows []engine.Workflow `json:"workflows" doc:"The newest first."`
}

// listWorkflows lists the workflows of a queue.
func (a *api) listWorkflows(ctx context.Context, in *listWorkflowsInput) (*output[workflowsOutput], error) {
	var before *int64
	if in.Before != 0 {
		before = &in.Before
	}
	list, err := a.engine.ListWorkflows(ctx, in.Queue, in.Max, before)
	return reply(workflowsOutput{Workflows: list}, err)
}

type listJobsInput struct {
	QueuePath
	State string `query:"state" doc:"Only those that are waiting, running, done, failed or cancelled."`
	Kind  string `query:"kind" doc:"Only those of this kind."`
	Max   int    `query:"max" default:"100" doc:"At most this many, up to 1,000."`
	After int64  `query:"after" doc:"Only jobs above this one: the last of the page before."`
}

type jobsOutput struct {
	Jobs []engine.JobStatus `json:"jobs" doc:"In the order of their ids."`
}

// listJobs lists the tracked jobs of a queue.
func (a *api) listJobs(ctx context.Context, in *listJobsInput) (*output[jobsOutput], error) {
	list, err := a.engine.ListJobs(ctx, in.Queue, in.State, in.Kind, in.Max, in.After)
	return reply(jobsOutput{Jobs: list}, err)
}
