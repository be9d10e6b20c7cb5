package api

import (
	"context"
	"net/http"

	"github.com/weirmq/weir/internal/engine"
)

type groupsOutput struct {
	Groups []engine.Group `json:"groups"`
}

// listGroups lists the groups of a queue.
func (a *api) listGroups(ctx context.Context, in *QueuePath) (*output[groupsOutput], error) {
	list, err := a.engine.ListGroups(ctx, in.Queue)
	return reply(groupsOutput{Groups: list}, err)
}

// showGroup shows a group.
func (a *api) showGroup(ctx context.Context, in *GroupPath) (*output[engine.Group], error) {
	return reply(a.engine.Group(ctx, in.Queue, in.Group))
}

type createGroupInput struct {
	GroupPath
	Body *createGroupBody
}

type createGroupBody struct {
	Ordered      bool   `json:"ordered,omitempty" doc:"Deliver messages of one key in order."`
	Start        string `json:"start,omitempty" doc:"start, end or a time; start unless given."`
	MaxAttempts  *int   `json:"max_attempts,omitempty" doc:"Deliveries before a message is dead; 5 unless given."`
	BackoffMinMS *int64 `json:"backoff_min_ms,omitempty" doc:"Delay before the second attempt; 1000 unless given."`
	BackoffMaxMS *int64 `json:"backoff_max_ms,omitempty" doc:"The longest delay; 600000 unless given."`
}

// options reads the body, which may be left out.
func (b *createGroupBody) options() (engine.GroupOptions, error) {
	if b == nil {
		return engine.GroupOptions{}, nil
	}
	opt := engine.GroupOptions{Ordered: b.Ordered, Start: b.Start, MaxAttempts: b.MaxAttempts}
	least, err := optionalSpan("body.backoff_min_ms", b.BackoffMinMS)
	if err != nil {
		return opt, err
	}
	most, err := optionalSpan("body.backoff_max_ms", b.BackoffMaxMS)
	if err != nil {
		return opt, err
	}
	opt.BackoffMin, opt.BackoffMax = least, most
	return opt, nil
}

// createGroup creates a group. Repeating the request is no error as long as it asks for the same.
func (a *api) createGroup(ctx context.Context, in *createGroupInput) (*created[engine.Group], error) {
	opt, err := in.Body.options()
	if err != nil {
		return nil, err
	}
	made := a.engine.CreateGroup(ctx, in.Queue, in.Group, opt)
	if made != nil && engine.Code(made) != engine.CodeGroupExists {
		return nil, made
	}
	g, err := a.engine.Group(ctx, in.Queue, in.Group)
	if err != nil {
		return nil, err
	}
	if made == nil {
		return &created[engine.Group]{Status: http.StatusCreated, Body: g}, nil
	}
	if !opt.Fits(g) {
		return nil, made
	}
	return &created[engine.Group]{Status: http.StatusOK, Body: g}, nil
}

// dropGroup removes a group.
func (a *api) dropGroup(ctx context.Context, in *GroupPath) (*struct{}, error) {
	return nil, a.engine.DropGroup(ctx, in.Queue, in.Group)
}
