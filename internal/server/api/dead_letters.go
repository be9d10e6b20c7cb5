package api

import (
	"context"

	"github.com/weirmq/weir/internal/engine"
)

type deadLettersInput struct {
	GroupPath
	Max   int   `query:"max" default:"100" doc:"At most this many."`
	After int64 `query:"after" doc:"Only ids above this one: the last of the page before."`
}

type deadLettersOutput struct {
	DeadLetters []engine.DeadLetter `json:"dead_letters"`
}

// deadLetters lists the dead letters of a group, a page at a time.
func (a *api) deadLetters(ctx context.Context, in *deadLettersInput) (*output[deadLettersOutput], error) {
	list, err := a.engine.DeadLetters(ctx, in.Queue, in.Group, in.Max, in.After)
	return reply(deadLettersOutput{DeadLetters: list}, err)
}

type idsInput struct {
	GroupPath
	Body *idsBody
}

type idsBody struct {
	IDs []int64 `json:"ids,omitempty" doc:"These dead letters; all of the group unless given."`
}

func (b *idsBody) list() []int64 {
	if b == nil {
		return nil
	}
	return b.IDs
}

type redriveOutput struct {
	Redriven int64 `json:"redriven"`
}

// redrive sends dead letters back to their own group.
func (a *api) redrive(ctx context.Context, in *idsInput) (*output[redriveOutput], error) {
	n, err := a.engine.Redrive(ctx, in.Queue, in.Group, in.Body.list())
	return reply(redriveOutput{Redriven: n}, err)
}

type discardOutput struct {
	Discarded int64 `json:"discarded"`
}

// discard removes dead letters for good.
func (a *api) discard(ctx context.Context, in *idsInput) (*output[discardOutput], error) {
	n, err := a.engine.Discard(ctx, in.Queue, in.Group, in.Body.list())
	return reply(discardOutput{Discarded: n}, err)
}
