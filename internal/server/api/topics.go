package api

import (
	"context"
	"slices"

	"github.com/weirmq/weir/internal/engine"
	"github.com/weirmq/weir/internal/server/auth"
)

// TopicPath is the path of a topic. It is exported because huma fills in embedded structs only then.
type TopicPath struct {
	Topic string `path:"topic" example:"orders.created"`
}

// BindingPath is the path of a binding.
type BindingPath struct {
	Pattern string `path:"pattern" example:"orders.*" doc:"Escaped as in any URL: # is %23."`
	Queue   string `path:"queue" example:"orders"`
}

type bindingsOutput struct {
	Bindings []engine.Binding `json:"bindings"`
}

// listBindings lists which topics go to which queues, of those that the caller may look at.
func (a *api) listBindings(ctx context.Context, _ *struct{}) (*output[bindingsOutput], error) {
	list, err := a.engine.ListBindings(ctx)
	return reply(bindingsOutput{Bindings: visible(ctx, list, func(b engine.Binding) string { return b.Queue })}, err)
}

// bind sends the messages of the topics that a pattern covers to a queue.
func (a *api) bind(ctx context.Context, in *BindingPath) (*struct{}, error) {
	return nil, a.engine.Bind(ctx, in.Pattern, in.Queue)
}

type unbindOutput struct {
	Unbound bool `json:"unbound" doc:"Whether there was such a binding."`
}

// unbind removes a binding.
func (a *api) unbind(ctx context.Context, in *BindingPath) (*output[unbindOutput], error) {
	was, err := a.engine.Unbind(ctx, in.Pattern, in.Queue)
	return reply(unbindOutput{Unbound: was}, err)
}

type routeOutput struct {
	Queues []string `json:"queues"`
}

// route shows where a topic leads, as far as the caller may look at or send to it, and sends nothing.
func (a *api) route(ctx context.Context, in *TopicPath) (*output[routeOutput], error) {
	queues, err := a.engine.Route(ctx, in.Topic)
	caller := auth.From(ctx)
	queues = slices.DeleteFunc(queues, func(queue string) bool {
		return !caller.May(auth.Read, queue) && !caller.May(auth.Produce, queue)
	})
	return reply(routeOutput{Queues: queues}, err)
}

type publishInput struct {
	TopicPath
	Body publishBody
}

type publishBody struct {
	Messages []outgoing `json:"messages" minItems:"1"`
}

type publishOutput struct {
	Messages []publishedOutput `json:"messages" doc:"One for each message, in the order of the request."`
}

type publishedOutput struct {
	Sent []engine.Published `json:"sent" doc:"One for each queue that the topic leads to."`
}

// publish sends messages to every queue that their topic leads to, all or none: those with the same options by one
// call. Where it led is known when it is done: a caller who may not send to one of these queues has it undone.
func (a *api) publish(ctx context.Context, in *publishInput) (*output[publishOutput], error) {
	runs, err := runsOf(ctx, "body.messages", in.Body.Messages)
	if err != nil {
		return nil, err
	}
	if len(runs) == 1 && auth.From(ctx).MayEverywhere(auth.Produce) {
		return reply(a.publishRuns(ctx, a.engine, in.Topic, runs))
	}
	var out publishOutput
	err = a.engine.InTx(ctx, func(tx *engine.Client) (err error) {
		out, err = a.publishRuns(ctx, tx, in.Topic, runs)
		return err
	})
	return reply(out, err)
}

// publishRuns publishes one run after the other.
func (a *api) publishRuns(ctx context.Context, client *engine.Client, topic string, runs []run) (publishOutput, error) {
	out := publishOutput{Messages: []publishedOutput{}}
	for _, run := range runs {
		done, err := client.PublishBatch(ctx, topic, run.batch, run.options)
		if err != nil {
			return publishOutput{}, err //nolint:wrapcheck // it says what was being done
		}
		list := make([]publishedOutput, len(run.batch))
		for i := range list {
			list[i].Sent = make([]engine.Published, len(done))
		}
		for q, p := range done {
			if refused := a.allow(ctx, auth.Produce, p.Queue); refused != nil {
				return publishOutput{}, refused
			}
			for i := range list {
				list[i].Sent[q] = engine.Published{Queue: p.Queue, ID: p.IDs[i], Repeated: p.Repeated[i]}
			}
		}
		out.Messages = append(out.Messages, list...)
	}
	return out, nil
}
