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

// ClaimItem names messages of a claim, or all that is left of it: never one by leaving out the other. It is exported
// because huma fills in embedded structs only then.
type ClaimItem struct {
	ClaimID int64   `json:"claim_id"`
	IDs     []int64 `json:"ids,omitempty" doc:"Messages of the claim."`
	All     bool    `json:"all,omitempty" doc:"In place of ids: all of the claim that is not finished."`
}

// part reads item i of a list.
func (c ClaimItem) part(list string, i int) (engine.ClaimPart, error) {
	if c.All == (len(c.IDs) > 0) {
		return engine.ClaimPart{}, invalid(fmt.Sprintf("body.%s[%d]", list, i), "it needs either ids or all",
			`Give "ids":[...] with the messages that are meant, or "all":true for what is left of the claim.`)
	}
	if c.All {
		return engine.ClaimPart{Claim: c.ClaimID}, nil
	}
	return engine.ClaimPart{Claim: c.ClaimID, IDs: c.IDs}, nil
}

// settleItem is an item of a list of those that settle claims.
type settleItem interface {
	part(list string, i int) (engine.ClaimPart, error)
}

// partsOf reads a list.
func partsOf[I settleItem](list string, items []I) ([]engine.ClaimPart, error) {
	parts := make([]engine.ClaimPart, len(items))
	for i, item := range items {
		var err error
		if parts[i], err = item.part(list, i); err != nil {
			return nil, err
		}
	}
	return parts, nil
}

type ackInput struct {
	GroupPath
	Body ackBody
}

func (in *ackInput) into() any { return &in.Body }

type ackBody struct {
	Acks []ClaimItem `json:"acks" minItems:"1"`
}

type finished struct {
	ClaimID  int64 `json:"claim_id"`
	Finished int   `json:"finished" doc:"How many messages this call finished; 0 when they were finished before."`
}

type acksOutput struct {
	Acks []finished `json:"acks"`
}

// ack finishes messages of one or more claims, all or none.
func (a *api) ack(ctx context.Context, in *ackInput) (*output[acksOutput], error) {
	parts, err := partsOf("acks", in.Body.Acks)
	if err != nil {
		return nil, err
	}
	tracing.Settled(ctx, len(parts))
	list, err := together(parts, func() ([]finished, error) {
		counts, err := a.dispatch.Ack(in.Queue, parts)
		return pair(parts, counts, func(claim int64, n int) finished { return finished{claim, n} }), err
	})
	if errors.Is(err, dispatch.ErrAlone) {
		list, err = each(ctx, a, in.Queue, "acks", parts, func(
			tx *engine.Client, _ int, p engine.ClaimPart,
		) (finished, error) {
			n, err := tx.AckPart(ctx, in.Queue, p)
			return finished{ClaimID: p.Claim, Finished: n}, err
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
	Nacks []NackItem `json:"nacks" minItems:"1"`
}

// NackItem is messages to give back; it and those below are exported as ClaimItem is.
type NackItem struct {
	ClaimItem

	DelayMS *int64  `json:"delay_ms,omitempty" doc:"When to deliver again; by the group's backoff unless given."`
	Reason  *string `json:"reason,omitempty" doc:"Kept with the dead letter if it becomes one."`
}

func (n NackItem) part(list string, i int) (engine.ClaimPart, error) {
	p, err := n.ClaimItem.part(list, i)
	if err == nil {
		p.Delay, err = optionalSpan(fmt.Sprintf("body.%s[%d].delay_ms", list, i), n.DelayMS)
	}
	p.Verb, p.Reason = engine.VerbNack, n.Reason
	return p, err
}

type nacksOutput struct {
	Nacks []finished `json:"nacks"`
}

// nack gives messages of one or more claims back, all or none.
func (a *api) nack(ctx context.Context, in *nackInput) (*output[nacksOutput], error) {
	list, err := settle(ctx, a, in.Queue, "nacks", in.Body.Nacks)
	return reply(nacksOutput{Nacks: list}, err)
}

type releaseInput struct {
	GroupPath
	Body releaseBody
}

func (in *releaseInput) into() any { return &in.Body }

type releaseBody struct {
	Releases []ReleaseItem `json:"releases" minItems:"1"`
}

// ReleaseItem is messages to give back unused.
type ReleaseItem struct {
	ClaimItem
}

func (r ReleaseItem) part(list string, i int) (engine.ClaimPart, error) {
	p, err := r.ClaimItem.part(list, i)
	p.Verb = engine.VerbRelease
	return p, err
}

type releasesOutput struct {
	Releases []finished `json:"releases"`
}

// release gives messages of one or more claims back unused, all or none.
func (a *api) release(ctx context.Context, in *releaseInput) (*output[releasesOutput], error) {
	list, err := settle(ctx, a, in.Queue, "releases", in.Body.Releases)
	return reply(releasesOutput{Releases: list}, err)
}

type rejectInput struct {
	GroupPath
	Body rejectBody
}

func (in *rejectInput) into() any { return &in.Body }

type rejectBody struct {
	Rejects []RejectItem `json:"rejects" minItems:"1"`
}

// RejectItem is messages to make dead letters of.
type RejectItem struct {
	ClaimID int64   `json:"claim_id"`
	IDs     []int64 `json:"ids" minItems:"1" doc:"Messages of the claim."`
	Reason  *string `json:"reason,omitempty" doc:"Kept with the dead letter."`
}

func (r RejectItem) part(list string, i int) (engine.ClaimPart, error) {
	if len(r.IDs) == 0 {
		return engine.ClaimPart{}, invalid(fmt.Sprintf("body.%s[%d].ids", list, i), "the list is empty",
			"Name the messages that are to be dead letters.")
	}
	return engine.ClaimPart{Verb: engine.VerbReject, Claim: r.ClaimID, IDs: r.IDs, Reason: r.Reason}, nil
}

type rejectsOutput struct {
	Rejects []finished `json:"rejects"`
}

// reject moves messages of one or more claims to the dead letters, all or none.
func (a *api) reject(ctx context.Context, in *rejectInput) (*output[rejectsOutput], error) {
	list, err := settle(ctx, a, in.Queue, "rejects", in.Body.Rejects)
	return reply(rejectsOutput{Rejects: list}, err)
}

// settle gives back or rejects parts of claims, all or none, together with those of other requests; what cannot be done
// so goes alone.
func settle[I settleItem](ctx context.Context, a *api, queue, listName string, items []I) ([]finished, error) {
	parts, err := partsOf(listName, items)
	if err != nil {
		return nil, err
	}
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
		return nil, invalid("body."+list, "the list is empty", fmt.Sprintf(`Send {%q:[{"claim_id":...,"ids":[...]}]}.`, list))
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
