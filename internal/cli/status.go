package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/weirmq/weir/internal/engine"
)

// statusView is what `weir status` shows.
type statusView struct {
	Engine  string              `json:"engine"`
	HTTP    string              `json:"http,omitempty"`
	DataDir string              `json:"data_dir,omitempty"`
	Groups  []engine.GroupStats `json:"groups"`
	Paused  []pausedView        `json:"paused"`
}

// pausedView is a queue that delivers nothing, or of a queue that was asked for a group that gets nothing.
type pausedView struct {
	Queue string `json:"queue"`
	Group string `json:"group,omitempty"`
}

// pauses lists what is paused: queues, or the groups of one.
func pauses(ctx context.Context, client *engine.Client, queue string) ([]pausedView, error) {
	list := []pausedView{}
	if queue == "" {
		queues, err := client.ListQueues(ctx)
		for _, q := range queues {
			if q.Paused {
				list = append(list, pausedView{Queue: q.Name})
			}
		}
		return list, err
	}
	groups, err := client.ListGroups(ctx, queue)
	for _, g := range groups {
		if g.Paused {
			list = append(list, pausedView{g.Queue, g.Name})
		}
	}
	return list, err
}

// status shows the engine's version and what every group has before it.
func (a *app) status() *cobra.Command {
	return leaf("status [QUEUE]", "Show the engine's version and what every group has before it", cobra.MaximumNArgs(1),
		func(ctx context.Context, args []string) error {
			return a.with(ctx, func(client *engine.Client) error {
				view, err := a.statusView(ctx, client, args)
				if err != nil {
					return err
				}
				return a.emit(view, func(w io.Writer) {
					fmt.Fprintf(w, "engine %s\n", view.Engine)
					if view.HTTP != "" {
						fmt.Fprintf(w, "HTTP on http://%s, data in %s\n", view.HTTP, view.DataDir)
					}
					if len(view.Groups) == 0 {
						fmt.Fprintf(w, "no queues yet: %s queue create NAME makes one\n", a.name)
						return
					}
					fmt.Fprintln(w)
					groupStats(w, view.Groups)
					for _, p := range view.Paused {
						if p.Group == "" {
							fmt.Fprintf(w, "\n%s is paused: it delivers nothing\n", p.Queue)
						} else {
							fmt.Fprintf(w, "\n%s of %s is paused: it gets nothing\n", p.Group, p.Queue)
						}
					}
				})
			})
		})
}

func (a *app) statusView(ctx context.Context, client *engine.Client, args []string) (statusView, error) {
	version, err := client.Version(ctx)
	if err != nil {
		return statusView{}, err
	}
	queue := ""
	if len(args) > 0 {
		queue = args[0]
	}
	groups, err := client.Stats(ctx, queue)
	if err != nil {
		return statusView{}, err
	}
	paused, err := pauses(ctx, client, queue)
	if err != nil {
		return statusView{}, err
	}
	view := statusView{Engine: version, Groups: groups, Paused: paused}
	if _, direct, err := a.findDSN(); err == nil && direct {
		if state, err := a.running(); err == nil {
			view.HTTP = state.HTTP
			view.DataDir, _ = a.postgresDir()
		}
	}
	return view, nil
}
