package api

import (
	"context"
	"net/http"

	"github.com/weirmq/weir/internal/engine"
)

type queuesOutput struct {
	Queues []engine.Queue `json:"queues"`
}

type queueOutput struct {
	engine.Queue
	Groups []engine.GroupStats `json:"groups"`
}

// listQueues lists the queues.
func (a *api) listQueues(ctx context.Context, _ *struct{}) (*output[queuesOutput], error) {
	list, err := a.engine.ListQueues(ctx)
	return reply(queuesOutput{Queues: list}, err)
}

// showQueue shows a queue with the counts of its groups.
func (a *api) showQueue(ctx context.Context, in *QueuePath) (*output[queueOutput], error) {
	q, err := a.engine.Queue(ctx, in.Queue)
	if err != nil {
		return nil, err
	}
	groups, err := a.engine.Stats(ctx, in.Queue)
	return reply(queueOutput{Queue: q, Groups: groups}, err)
}

type createQueueInput struct {
	QueuePath
	Body *createQueueBody
}

type createQueueBody struct {
	Lanes           *int `json:"lanes,omitempty" doc:"How many lanes; 16 unless given, 1 for a total order."`
	MessageBytesMax *int `json:"message_bytes_max,omitempty" doc:"The largest message as stored; 1048576 unless given."`
}

// created carries a body with status 201, or 200 when it was there before.
type created[B any] struct {
	Status int
	Body   B
}

// createQueue creates a queue. Repeating the request is no error as long as it asks for the same.
func (a *api) createQueue(ctx context.Context, in *createQueueInput) (*created[engine.Queue], error) {
	var opt engine.QueueOptions
	if in.Body != nil {
		opt = engine.QueueOptions{Lanes: in.Body.Lanes, MessageBytesMax: in.Body.MessageBytesMax}
	}
	made := a.engine.CreateQueue(ctx, in.Queue, opt)
	if made != nil && engine.Code(made) != engine.CodeQueueExists {
		return nil, made
	}
	q, err := a.engine.Queue(ctx, in.Queue)
	if err != nil {
		return nil, err
	}
	if made == nil {
		return &created[engine.Queue]{Status: http.StatusCreated, Body: q}, nil
	}
	if !opt.Fits(q) {
		return nil, made
	}
	return &created[engine.Queue]{Status: http.StatusOK, Body: q}, nil
}

// dropQueue removes a queue.
func (a *api) dropQueue(ctx context.Context, in *QueuePath) (*struct{}, error) {
	return nil, a.engine.DropQueue(ctx, in.Queue)
}
