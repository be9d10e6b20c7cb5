package api

import (
	"context"
	"net/http"

	"github.com/weirmq/weir/internal/engine"
	"github.com/weirmq/weir/internal/server/auth"
)

type queuesOutput struct {
	Queues []engine.Queue `json:"queues"`
}

type queueOutput struct {
	engine.Queue
	Groups []engine.GroupStats `json:"groups"`
}

// listQueues lists the queues that the caller may look at.
func (a *api) listQueues(ctx context.Context, _ *struct{}) (*output[queuesOutput], error) {
	list, err := a.engine.ListQueues(ctx)
	return reply(queuesOutput{Queues: visible(ctx, list, func(q engine.Queue) string { return q.Name })}, err)
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
	engine.QueueOptions
}

// created carries a body with status 201, or 200 when it was there before.
type created[B any] struct {
	Status int
	Body   B
}

// createQueue creates a queue, or gives one that is there the settings of the body. What the body leaves out stays.
func (a *api) createQueue(ctx context.Context, in *createQueueInput) (*created[engine.Queue], error) {
	var opt engine.QueueOptions
	if in.Body != nil {
		opt = in.Body.QueueOptions
	}
	made, err := a.engine.CreateQueue(ctx, in.Queue, opt)
	if engine.Code(err) == engine.CodeQueueExists && opt.QueueSettings != (engine.QueueSettings{}) {
		err = a.engine.InTx(ctx, func(tx *engine.Client) error {
			if err := tx.ConfigureQueue(ctx, in.Queue, opt.QueueSettings); err != nil {
				return err
			}
			_, err := tx.CreateQueue(ctx, in.Queue, opt) // refuses what cannot be changed
			return err
		})
	}
	if err != nil {
		return nil, err
	}
	status := http.StatusOK
	if made {
		status = http.StatusCreated
	}
	q, err := a.engine.Queue(ctx, in.Queue)
	if err != nil {
		return nil, err
	}
	return &created[engine.Queue]{Status: status, Body: q}, nil
}

// configured changes settings and shows the queue as it is then.
func (a *api) configured(ctx context.Context, queue string, s engine.QueueSettings) (engine.Queue, error) {
	if err := a.engine.ConfigureQueue(ctx, queue, s); err != nil {
		return engine.Queue{}, err
	}
	return a.engine.Queue(ctx, queue)
}

type configureQueueInput struct {
	QueuePath
	Body configureQueueBody
}

type configureQueueBody struct {
	engine.QueueSettings
}

// configureQueue changes the settings that the body names.
func (a *api) configureQueue(ctx context.Context, in *configureQueueInput) (*output[engine.Queue], error) {
	return reply(a.configured(ctx, in.Queue, in.Body.QueueSettings))
}

type renameQueueInput struct {
	QueuePath
	Body renameQueueBody
}

type renameQueueBody struct {
	NewName string `json:"new_name"`
}

// renameQueue gives a queue another name, which the caller must be allowed, too: names are what grants are about.
func (a *api) renameQueue(ctx context.Context, in *renameQueueInput) (*output[engine.Queue], error) {
	if err := a.allow(ctx, auth.Admin, in.Body.NewName); err != nil {
		return nil, err
	}
	if err := a.engine.RenameQueue(ctx, in.Queue, in.Body.NewName); err != nil {
		return nil, err
	}
	return reply(a.engine.Queue(ctx, in.Body.NewName))
}

type moveQueueInput struct {
	QueuePath
	Body moveQueueBody
}

type moveQueueBody struct {
	Log string `json:"log" doc:"The log that is to keep its messages. It is there already."`
}

// moveQueue begins to move a queue to another log.
func (a *api) moveQueue(ctx context.Context, in *moveQueueInput) (*output[engine.Queue], error) {
	if err := a.engine.MoveQueue(ctx, in.Queue, in.Body.Log); err != nil {
		return nil, err
	}
	return reply(a.engine.Queue(ctx, in.Queue))
}

// dropQueue removes a queue.
func (a *api) dropQueue(ctx context.Context, in *QueuePath) (*struct{}, error) {
	return nil, a.engine.DropQueue(ctx, in.Queue)
}
