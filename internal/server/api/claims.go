package api

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/weirmq/weir/internal/engine"
	"github.com/weirmq/weir/internal/server/dispatch"
	"github.com/weirmq/weir/internal/server/tracing"
)

type ackInput struct {
	GroupPath
	Body ackBody
}

func (in *ackInput) into() any { return &in.Body }

type ackBody struct {
	Acks []ackItem `json:"acks" minItems:"1"`
}

type ackItem struct {
	ClaimID int64   `json:"claim_id"`
	IDs     []int64 `json:"ids,omitempty" doc:"Messages of the claim; all of it unless given."`
}

type finished struct {
	ClaimID  int64 `json:"claim_id"`
	Finished int   `json:"finished" doc:"How many messages this call finished; 0 when they were finished before."`
}

type acksOutput struct {
	Acks []finished `json:"acks"`
}

// ack finishes the messages of one or more claims, all or none.
func (a *api) ack(ctx context.Context, in *ackInput) (*output[acksOutput], error) {
	parts := make([]engine.ClaimPart, len(in.Body.Acks))
	for i, item := range in.Body.Acks {
		if err := someIDs("acks", i, item.IDs); err != nil {
			return nil, err
		}
		parts[i] = engine.ClaimPart{Claim: item.ClaimID, IDs: item.IDs}
	}
	tracing.Settled(ctx, len(parts))
	list, err := together(parts, func() ([]finished, error) {
		counts, err := a.dispatch.Ack(in.Queue, parts)
		return pair(parts, counts, func(claim int64, n int) finished { return finished{claim, n} }), err
	})
	if errors.Is(err, dispatch.ErrAlone) {
		list, err = each(ctx, a, in.Queue, "acks", in.Body.Acks, func(
			tx *engine.Client, _ int, item ackItem,
		) (finished, error) {
			n, err := tx.Ack(ctx, in.Queue, item.ClaimID, item.IDs)
			return finished{ClaimID: item.ClaimID, Finished: n}, err
		})
	}
	a.holders.settled(in.Queue, list)
	return reply(acksOutput{Acks: list}, err)
}

type nackInput struct {
	GroupPath
	Body nackBody
}

func (in *nackInput) into() any { return &in.Body }

type nackBody struct {
	Nacks []nackItem `json:"nacks" minItems:"1"`
}

type nackItem struct {
	ClaimID int64   `json:"claim_id"`
	IDs     []int64 `json:"ids,omitempty" doc:"Messages of the claim; all of it unless given."`
	DelayMS *int64  `json:"delay_ms,omitempty" doc:"When to deliver again; by the group's backoff unless given."`
	Reason  *string `json:"reason,omitempty" doc:"Kept with the dead letter if it becomes one."`
}

type nacksOutput struct {
	Nacks []finished `json:"nacks"`
}

// nack gives the messages of one or more claims back, all or none.
func (a *api) nack(ctx context.Context, in *nackInput) (*output[nacksOutput], error) {
	parts := make([]engine.ClaimPart, len(in.Body.Nacks))
	for i, item := range in.Body.Nacks {
		if err := someIDs("nacks", i, item.IDs); err != nil {
			return nil, err
		}
		delay, err := optionalSpan(fmt.Sprintf("body.nacks[%d].delay_ms", i), item.DelayMS)
		if err != nil {
			return nil, err
		}
		parts[i] = engine.ClaimPart{
			Verb: engine.VerbNack, Claim: item.ClaimID, IDs: item.IDs, Delay: delay, Reason: item.Reason,
		}
	}
	list, err := a.settle(ctx, in.Queue, "nacks", parts)
	return reply(nacksOutput{Nacks: list}, err)
}

type releaseInput struct {
	GroupPath
	Body releaseBody
}

func (in *releaseInput) into() any { return &in.Body }

type releaseBody struct {
	Releases []releaseItem `json:"releases" minItems:"1"`
}

type releaseItem struct {
	ClaimID int64   `json:"claim_id"`
	IDs     []int64 `json:"ids,omitempty" doc:"Messages of the claim; all of it unless given."`
}

type releasesOutput struct {
	Releases []finished `json:"releases"`
}

// release gives the messages of one or more claims back unused, all or none.
func (a *api) release(ctx context.Context, in *releaseInput) (*output[releasesOutput], error) {
	parts := make([]engine.ClaimPart, len(in.Body.Releases))
	for i, item := range in.Body.Releases {
		if err := someIDs("releases", i, item.IDs); err != nil {
			return nil, err
		}
		parts[i] = engine.ClaimPart{Verb: engine.VerbRelease, Claim: item.ClaimID, IDs: item.IDs}
	}
	list, err := a.settle(ctx, in.Queue, "releases", parts)
	return reply(releasesOutput{Releases: list}, err)
}

type rejectInput struct {
	GroupPath
	Body rejectBody
}

func (in *rejectInput) into() any { return &in.Body }

type rejectBody struct {
	Rejects []rejectItem `json:"rejects" minItems:"1"`
}

type rejectItem struct {
	ClaimID int64   `json:"claim_id"`
	IDs     []int64 `json:"ids,omitempty" doc:"Messages of the claim; all of it unless given."`
	Reason  *string `json:"reason,omitempty" doc:"Kept with the dead letter."`
}

type rejectsOutput struct {
	Rejects []finished `json:"rejects"`
}

// reject moves the messages of one or more claims to the dead letters, all or none.
func (a *api) reject(ctx context.Context, in *rejectInput) (*output[rejectsOutput], error) {
	parts := make([]engine.ClaimPart, len(in.Body.Rejects))
	for i, item := range in.Body.Rejects {
		if err := someIDs("rejects", i, item.IDs); err != nil {
			return nil, err
		}
		parts[i] = engine.ClaimPart{Verb: engine.VerbReject, Claim: item.ClaimID, IDs: item.IDs, Reason: item.Reason}
	}
	list, err := a.settle(ctx, in.Queue, "rejects", parts)
	return reply(rejectsOutput{Rejects: list}, err)
}

// someIDs refuses a list of ids that is there and empty: nothing would be done, and the answer would be that of work
// that was finished before.
func someIDs(list string, i int, ids []int64) error {
	if ids == nil || len(ids) > 0 {
		return nil
	}
	return invalid(fmt.Sprintf("body.%s[%d].ids", list, i), "the list is empty", "Leave it out to mean the whole claim.")
}

// settle gives back or rejects parts of claims, all or none, together with those of other requests; what cannot be done
// so goes alone.
func (a *api) settle(ctx context.Context, queue, listName string, parts []engine.ClaimPart) ([]finished, error) {
	list, err := together(parts, func() ([]finished, error) {
		counts, err := a.dispatch.Settle(queue, parts)
		return pair(parts, counts, func(claim int64, n int) finished { return finished{claim, n} }), err
	})
	if errors.Is(err, dispatch.ErrAlone) {
		list, err = each(ctx, a, queue, listName, parts, func(
			tx *engine.Client, _ int, p engine.ClaimPart,
		) (finished, error) {
			n, err := tx.Settle(ctx, queue, p)
			return finished{ClaimID: p.Claim, Finished: n}, err
		})
	}
	a.holders.settled(queue, list)
	return list, err
}

type extendInput struct {
	GroupPath
	Body extendBody
}

func (in *extendInput) into() any { return &in.Body }

type extendBody struct {
	Extends []extendItem `json:"extends" minItems:"1"`
}

type extendItem struct {
	ClaimID int64  `json:"claim_id"`
	LeaseMS *int64 `json:"lease_ms,omitempty" doc:"How long from now; 30000 unless given."`
}

type extended struct {
	ClaimID  int64     `json:"claim_id"`
	Deadline time.Time `json:"deadline"`
}

type extendsOutput struct {
	Extends []extended `json:"extends"`
}

// extend gives one or more claims a new deadline, all or none.
func (a *api) extend(ctx context.Context, in *extendInput) (*output[extendsOutput], error) {
	parts := make([]engine.ClaimPart, len(in.Body.Extends))
	for i, item := range in.Body.Extends {
		parts[i] = engine.ClaimPart{Claim: item.ClaimID, Lease: engine.DefaultLease}
		if item.LeaseMS != nil {
			lease, err := span(fmt.Sprintf("body.extends[%d].lease_ms", i), *item.LeaseMS)
			if err != nil {
				return nil, err
			}
			parts[i].Lease = lease
		}
	}
	list, err := together(parts, func() ([]extended, error) {
		deadlines, err := a.dispatch.Extend(in.Queue, parts)
		return pair(parts, deadlines, func(claim int64, t time.Time) extended { return extended{claim, t.UTC()} }), err
	})
	if !errors.Is(err, dispatch.ErrAlone) {
		return reply(extendsOutput{Extends: list}, err)
	}
	list, err = each(ctx, a, in.Queue, "extends", parts, func(
		tx *engine.Client, _ int, p engine.ClaimPart,
	) (extended, error) {
		deadline, err := tx.Extend(ctx, in.Queue, p.Claim, p.Lease)
		return extended{ClaimID: p.Claim, Deadline: deadline}, err
	})
	return reply(extendsOutput{Extends: list}, err)
}

// together has a request carried out with those of others. An empty one goes alone, to be told that it is.
func together[R any](parts []engine.ClaimPart, call func() ([]R, error)) ([]R, error) {
	if len(parts) == 0 {
		return nil, dispatch.ErrAlone
	}
	return call()
}

// pair puts each claim beside its result.
func pair[V, R any](parts []engine.ClaimPart, values []V, of func(claim int64, value V) R) []R {
	list := make([]R, len(values))
	for i, v := range values {
		list[i] = of(parts[i].Claim, v)
	}
	return list
}

// each does one call for every item of a list, in one transaction when there are several, and says which item failed.
// It waits for its turn among what the queue has done alone.
func each[I, R any](
	ctx context.Context, a *api, queue, list string, items []I, call func(*engine.Client, int, I) (R, error),
) ([]R, error) {
	if len(items) == 0 {
		return nil, invalid("body."+list, "the list is empty", fmt.Sprintf(`Send {%q:[{"claim_id":...}]}.`, list))
	}
	tracing.Settled(ctx, len(items))
	leave, err := a.dispatch.Alone(ctx, queue)
	if err != nil {
		return nil, err
	}
	defer leave()
	if len(items) == 1 {
		return inOrder(list, items, func(i int, item I) (R, error) { return call(a.engine, i, item) })
	}
	var results []R
	err = a.engine.InTx(ctx, func(tx *engine.Client) (err error) {
		results, err = inOrder(list, items, func(i int, item I) (R, error) { return call(tx, i, item) })
		return err
	})
	return results, err
}

// inOrder does one call for every item of a list and says which item failed.
func inOrder[I, R any](list string, items []I, call func(int, I) (R, error)) ([]R, error) {
	results := make([]R, 0, len(items))
	for i, item := range items {
		result, err := call(i, item)
		if err != nil {
			return nil, &itemError{list: list, index: i, err: err}
		}
		results = append(results, result)
	}
	return results, nil
}
