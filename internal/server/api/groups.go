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
	engine.GroupOptions
}

// createGroup creates a group, or gives one that is there the settings of the body. What the body leaves out stays, and
// where a group began to read is past.
func (a *api) createGroup(ctx context.Context, in *createGroupInput) (*created[engine.Group], error) {
	var opt engine.GroupOptions
	if in.Body != nil {
		opt = in.Body.GroupOptions
	}
	made := a.engine.CreateGroup(ctx, in.Queue, in.Group, opt)
	if made != nil && engine.Code(made) != engine.CodeGroupExists {
		return nil, made
	}
	g, err := a.engine.Group(ctx, in.Queue, in.Group)
	switch {
	case err != nil:
		return nil, err
	case made == nil:
		return &created[engine.Group]{Status: http.StatusCreated, Body: g}, nil
	case opt.Ordered != nil && *opt.Ordered != g.Ordered:
		return nil, made
	case opt.GroupSettings != (engine.GroupSettings{}):
		if g, err = a.configuredGroup(ctx, in.GroupPath, opt.GroupSettings); err != nil {
			return nil, err
		}
	}
	return &created[engine.Group]{Status: http.StatusOK, Body: g}, nil
}

// configuredGroup changes settings and shows the group as it is then.
func (a *api) configuredGroup(ctx context.Context, at GroupPath, s engine.GroupSettings) (engine.Group, error) {
	if err := a.engine.ConfigureGroup(ctx, at.Queue, at.Group, s); err != nil {
		return engine.Group{}, err
	}
	return a.engine.Group(ctx, at.Queue, at.Group)
}

type configureGroupInput struct {
	GroupPath
	Body configureGroupBody
}

type configureGroupBody struct {
	engine.GroupSettings
}

// configureGroup changes the settings that the body names.
func (a *api) configureGroup(ctx context.Context, in *configureGroupInput) (*output[engine.Group], error) {
	return reply(a.configuredGroup(ctx, in.GroupPath, in.Body.GroupSettings))
}

// dropGroup removes a group.
func (a *api) dropGroup(ctx context.Context, in *GroupPath) (*struct{}, error) {
	return nil, a.engine.DropGroup(ctx, in.Queue, in.Group)
}
