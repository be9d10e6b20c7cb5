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

type deadInput struct {
	GroupPath
	Body deadBody
}

type deadBody struct {
	IDs []int64 `json:"ids,omitempty" doc:"These dead letters."`
	All bool    `json:"all,omitempty" doc:"Instead of ids: all dead letters of the group."`
}

// take does one thing to the dead letters that a body names. All of them must be asked for in so many words.
func (b *deadBody) take(some func([]int64) (int64, error), every func() (int64, error)) (int64, error) {
	if b.All == (len(b.IDs) > 0) {
		return 0, invalid("body", "it names no dead letters, or some and all", `Send {"ids":[...]} or {"all":true}.`)
	}
	if b.All {
		return every()
	}
	return some(b.IDs)
}

type redriveOutput struct {
	Redriven int64 `json:"redriven"`
}

// redrive sends dead letters back to their own group.
func (a *api) redrive(ctx context.Context, in *deadInput) (*output[redriveOutput], error) {
	n, err := in.Body.take(
		func(ids []int64) (int64, error) { return a.engine.Redrive(ctx, in.Queue, in.Group, ids) },
		func() (int64, error) { return a.engine.RedriveAll(ctx, in.Queue, in.Group) })
	return reply(redriveOutput{Redriven: n}, err)
}

type discardOutput struct {
	Discarded int64 `json:"discarded"`
}

// discard removes dead letters for good.
func (a *api) discard(ctx context.Context, in *deadInput) (*output[discardOutput], error) {
	n, err := in.Body.take(
		func(ids []int64) (int64, error) { return a.engine.Discard(ctx, in.Queue, in.Group, ids) },
		func() (int64, error) { return a.engine.DiscardAll(ctx, in.Queue, in.Group) })
	return reply(discardOutput{Discarded: n}, err)
}
