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
	view := statusView{Engine: version, Groups: groups}
	if _, direct, err := a.findDSN(); err == nil && direct {
		if state, err := a.running(); err == nil {
			view.HTTP = state.HTTP
			view.DataDir, _ = a.postgresDir()
		}
	}
	return view, nil
}
