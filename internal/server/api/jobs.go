package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/weirmq/weir/internal/engine"
	"github.com/weirmq/weir/internal/server/dispatch"
	"github.com/weirmq/weir/internal/server/tracing"
)

type enqueueInput struct {
	QueuePath
	Body enqueueBody
}

type enqueueBody struct {
	Jobs        []engine.Job `json:"jobs" minItems:"1"`
	DelayMS     *int64       `json:"delay_ms,omitempty" doc:"Deliver those without run_at no earlier than after this."`
	Priority    *int         `json:"priority,omitempty"`
	UniqueForMS *int64       `json:"unique_for_ms,omitempty" doc:"How long keys count; until finished unless given."`
	IsUnique    bool         `json:"is_unique,omitempty" doc:"Those without unique_key are unique by kind and arguments."`
	Tracked     bool         `json:"tracked,omitempty" doc:"What happens to them can be asked."`
}

type enqueueOutput struct {
	Jobs []engine.Enqueued `json:"jobs" doc:"One for each job, in the order of the request."`
}

// enqueue enqueues jobs, all or none.
func (a *api) enqueue(ctx context.Context, in *enqueueInput) (*output[enqueueOutput], error) {
	delay, err := optionalSpan("body.delay_ms", in.Body.DelayMS)
	if err != nil {
		return nil, err
	}
	uniqueFor, err := optionalSpan("body.unique_for_ms", in.Body.UniqueForMS)
	if err != nil {
		return nil, err
	}
	list, err := a.engine.EnqueueBatch(ctx, in.Queue, in.Body.Jobs, engine.JobOptions{
		Delay: delay, Priority: in.Body.Priority, UniqueFor: uniqueFor,
		IsUnique: in.Body.IsUnique, Tracked: in.Body.Tracked,
	})
	return reply(enqueueOutput{Jobs: list}, err)
}

// JobPath is the path of a job. It is exported because huma fills in embedded structs only then.
type JobPath struct {
	Queue string `path:"queue" example:"jobs"`
	ID    int64  `path:"id" example:"1"`
}

func (p *JobPath) queue() string { return p.Queue }

// job shows how a tracked job stands.
func (a *api) job(ctx context.Context, in *JobPath) (*output[engine.JobStatus], error) {
	return reply(a.engine.Job(ctx, in.Queue, in.ID))
}

type cancelInput struct {
	JobPath
	Body cancelBody
}

type cancelBody struct {
	Reason *string `json:"reason,omitempty"`
}

type cancelOutput struct {
	State string `json:"state" doc:"cancelled: it will not run; running: its worker is told; ended: nothing changed."`
}

// cancel cancels a job.
func (a *api) cancel(ctx context.Context, in *cancelInput) (*output[cancelOutput], error) {
	state, err := a.engine.Cancel(ctx, in.Queue, in.ID, in.Body.Reason)
	return reply(cancelOutput{State: state}, err)
}

type finishInput struct {
	GroupPath
	Body finishBody
}

type finishBody struct {
	Jobs []finishItem `json:"jobs" minItems:"1"`
}

type finishItem struct {
	ClaimID int64           `json:"claim_id"`
	ID      int64           `json:"id"`
	Result  json.RawMessage `json:"result,omitempty" doc:"Any JSON value; kept of a tracked job."`
}

type finishOutput struct {
	Jobs []finished `json:"jobs"`
}

// finish finishes claimed jobs with their results, all or none.
func (a *api) finish(ctx context.Context, in *finishInput) (*output[finishOutput], error) {
	if len(in.Body.Jobs) == 1 {
		item := in.Body.Jobs[0]
		tracing.Settled(ctx, 1)
		n, err := a.dispatch.Finish(in.Queue, engine.JobEnd{Claim: item.ClaimID, ID: item.ID, Result: item.Result})
		if !errors.Is(err, dispatch.ErrAlone) {
			list := []finished{{ClaimID: item.ClaimID, Finished: n}}
			a.holders.settled(in.Queue, list)
			return reply(finishOutput{Jobs: list}, err)
		}
	}
	list, err := each(ctx, a, in.Queue, "jobs", in.Body.Jobs, func(
		tx *engine.Client, _ int, item finishItem,
	) (finished, error) {
		n, err := tx.Finish(ctx, in.Queue, item.ClaimID, item.ID, item.Result)
		return finished{ClaimID: item.ClaimID, Finished: n}, err
	})
	a.holders.settled(in.Queue, list)
	return reply(finishOutput{Jobs: list}, err)
}

type progressInput struct {
	GroupPath
	Body progressBody
}

type progressBody struct {
	ClaimID  int64           `json:"claim_id"`
	ID       int64           `json:"id"`
	Progress json.RawMessage `json:"progress,omitempty" doc:"Any JSON value; kept of a tracked job."`
	LeaseMS  *int64          `json:"lease_ms,omitempty" doc:"Gives the claim more time too, from now."`
}

type progressOutput struct {
	GoOn bool `json:"go_on" doc:"False: the job was cancelled."`
}

// progress tells how far a job is.
func (a *api) progress(ctx context.Context, in *progressInput) (*output[progressOutput], error) {
	b := in.Body
	lease, err := optionalSpan("body.lease_ms", b.LeaseMS)
	if err != nil {
		return nil, err
	}
	goOn, err := a.engine.Progress(ctx, in.Queue, b.ClaimID, b.ID, b.Progress, lease)
	return reply(progressOutput{GoOn: goOn}, err)
}

type snoozeInput struct {
	GroupPath
	Body snoozeBody
}

type snoozeBody struct {
	Snoozes []snoozeItem `json:"snoozes" minItems:"1"`
}

type snoozeItem struct {
	ClaimItem

	DelayMS int64 `json:"delay_ms" doc:"Wait before the next delivery."`
}

func (s snoozeItem) part(list string, i int) (engine.ClaimPart, error) {
	p, err := s.ClaimItem.part(list, i)
	if err == nil {
		p.Delay, err = optionalSpan(fmt.Sprintf("body.%s[%d].delay_ms", list, i), &s.DelayMS)
	}
	p.Verb = engine.VerbSnooze
	return p, err
}

type snoozed struct {
	ClaimID int64 `json:"claim_id"`
	Snoozed int   `json:"snoozed" doc:"How many messages were given back."`
}

type snoozeOutput struct {
	Snoozes []snoozed `json:"snoozes"`
}

// snooze gives claimed messages back for later, without counting the delivery.
func (a *api) snooze(ctx context.Context, in *snoozeInput) (*output[snoozeOutput], error) {
	done, err := settle(ctx, a, in.Queue, "snoozes", in.Body.Snoozes)
	list := make([]snoozed, len(done))
	for i, f := range done {
		list[i] = snoozed{ClaimID: f.ClaimID, Snoozed: f.Finished}
	}
	return reply(snoozeOutput{Snoozes: list}, err)
}

type cancelledInput struct {
	GroupPath
	Body cancelledBody
}

type cancelledBody struct {
	ClaimIDs []int64 `json:"claim_ids" minItems:"1"`
}

type cancelledOutput struct {
	IDs []int64 `json:"ids" doc:"Jobs under these claims that were cancelled since."`
}

// cancelled tells which claimed jobs were cancelled.
func (a *api) cancelled(ctx context.Context, in *cancelledInput) (*output[cancelledOutput], error) {
	ids, err := a.engine.Cancelled(ctx, in.Queue, in.Body.ClaimIDs)
	return reply(cancelledOutput{IDs: ids}, err)
}
