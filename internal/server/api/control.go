package api

import (
	"context"

	"github.com/weirmq/weir/internal/engine"
)

// pauseQueue stops delivery to all groups of a queue.
func (a *api) pauseQueue(ctx context.Context, in *QueuePath) (*output[engine.Queue], error) {
	if err := a.engine.Pause(ctx, in.Queue, ""); err != nil {
		return nil, err
	}
	return reply(a.engine.Queue(ctx, in.Queue))
}

// resumeQueue ends the pause of a queue.
func (a *api) resumeQueue(ctx context.Context, in *QueuePath) (*output[engine.Queue], error) {
	if err := a.engine.Resume(ctx, in.Queue, ""); err != nil {
		return nil, err
	}
	return reply(a.engine.Queue(ctx, in.Queue))
}

// pauseGroup stops delivery to a group.
func (a *api) pauseGroup(ctx context.Context, in *GroupPath) (*output[engine.Group], error) {
	if err := a.engine.Pause(ctx, in.Queue, in.Group); err != nil {
		return nil, err
	}
	return reply(a.engine.Group(ctx, in.Queue, in.Group))
}

// resumeGroup ends the pause of a group.
func (a *api) resumeGroup(ctx context.Context, in *GroupPath) (*output[engine.Group], error) {
	if err := a.engine.Resume(ctx, in.Queue, in.Group); err != nil {
		return nil, err
	}
	return reply(a.engine.Group(ctx, in.Queue, in.Group))
}

type seekInput struct {
	GroupPath
	Body seekBody
}

type seekBody struct {
	Position string `json:"position" doc:"start, end, a time, or a message's id."`
}

// seek moves a group to another place in the log.
func (a *api) seek(ctx context.Context, in *seekInput) (*output[engine.Group], error) {
	if err := a.engine.Seek(ctx, in.Queue, in.Group, in.Body.Position); err != nil {
		return nil, err
	}
	return reply(a.engine.Group(ctx, in.Queue, in.Group))
}

type purgeOutput struct {
	Purged int64 `json:"purged" doc:"Messages dropped, counted once a group."`
}

// purgeQueue drops what the groups of a queue have not finished.
func (a *api) purgeQueue(ctx context.Context, in *QueuePath) (*output[purgeOutput], error) {
	n, err := a.engine.Purge(ctx, in.Queue, "")
	return reply(purgeOutput{Purged: n}, err)
}

// purgeGroup drops what a group has not finished.
func (a *api) purgeGroup(ctx context.Context, in *GroupPath) (*output[purgeOutput], error) {
	n, err := a.engine.Purge(ctx, in.Queue, in.Group)
	return reply(purgeOutput{Purged: n}, err)
}
