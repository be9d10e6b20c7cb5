package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/weirmq/weir/internal/engine"
)

// topic is the parent of the commands on topics.
func (a *app) topic() *cobra.Command {
	return parent("topic", "Bind topics to queues, and see where a topic leads",
		a.topicBind(), a.topicUnbind(), a.topicList(), a.topicRoute())
}

func (a *app) topicBind() *cobra.Command {
	c := leaf("bind PATTERN QUEUE", "Send the messages of some topics to a queue", cobra.ExactArgs(2),
		func(ctx context.Context, args []string) error {
			return a.with(ctx, func(client *engine.Client) error {
				if err := client.Bind(ctx, args[0], args[1]); err != nil {
					return err
				}
				view := map[string]string{"pattern": args[0], "queue": args[1]}
				return a.say(view, "%s leads to queue %s", args[0], args[1])
			})
		})
	c.Long = c.Short + ".\n\nIn PATTERN, words separated by dots, * stands for any one word and # for any number of them."
	return c
}

func (a *app) topicUnbind() *cobra.Command {
	return leaf("unbind PATTERN QUEUE", "Remove a binding", cobra.ExactArgs(2),
		func(ctx context.Context, args []string) error {
			return a.with(ctx, func(client *engine.Client) error {
				was, err := client.Unbind(ctx, args[0], args[1])
				if err != nil {
					return err
				}
				text := "%s leads to queue %s no longer"
				if !was {
					text = "%s was not bound to queue %s"
				}
				return a.say(map[string]bool{"unbound": was}, text, args[0], args[1])
			})
		})
}

func (a *app) topicList() *cobra.Command {
	return leaf("list", "List the bindings", cobra.NoArgs, func(ctx context.Context, _ []string) error {
		return a.with(ctx, func(client *engine.Client) error {
			list, err := client.ListBindings(ctx)
			if err != nil {
				return err
			}
			return a.emit(list, func(w io.Writer) {
				columns(w, "PATTERN", "QUEUE", "CREATED")
				for _, b := range list {
					columns(w, b.Pattern, b.Queue, b.CreatedAt)
				}
			})
		})
	})
}

func (a *app) topicRoute() *cobra.Command {
	return leaf("route TOPIC", "Show to which queues a topic leads, sending nothing", cobra.ExactArgs(1),
		func(ctx context.Context, args []string) error {
			return a.with(ctx, func(client *engine.Client) error {
				queues, err := client.Route(ctx, args[0])
				if err != nil {
					return err
				}
				return a.emit(queues, func(w io.Writer) {
					for _, queue := range queues {
						fmt.Fprintln(w, queue)
					}
				})
			})
		})
}

// publish sends one message to all queues that its topic leads to.
func (a *app) publish() *cobra.Command {
	var options func() (messageOptions, error)
	c := leaf("publish TOPIC PAYLOAD", "Send a message to every queue that its topic leads to", cobra.ExactArgs(2),
		func(ctx context.Context, args []string) error {
			opt, err := options()
			if err != nil {
				return err
			}
			payload, err := payloadOf([]byte(args[1]), opt.text)
			if err != nil {
				return err
			}
			return a.with(ctx, func(client *engine.Client) error {
				m := engine.Outgoing{Payload: payload, Key: opt.key, Headers: opt.headers}
				list, err := client.Publish(ctx, args[0], m, opt.options)
				if err != nil {
					return err
				}
				return a.emit(list, func(w io.Writer) {
					columns(w, "QUEUE", "ID")
					for _, p := range list {
						columns(w, p.Queue, p.ID)
					}
				})
			})
		})
	options = messageFlags(c.Flags())
	return c
}
