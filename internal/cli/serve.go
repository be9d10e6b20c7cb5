package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/weirmq/weir/internal/engine"
	"github.com/weirmq/weir/internal/server"
)

// serveConns is the size of a server's pool when the DSN gives none.
const serveConns = 16

// serve runs the HTTP server in front of any database that has the engine.
func (a *app) serve() *cobra.Command {
	var direct bool
	var serving servingOptions
	c := leaf("serve", "Serve HTTP in front of a database", cobra.NoArgs, nil)
	c.RunE = func(c *cobra.Command, _ []string) error {
		if err := configure(c); err != nil {
			return err
		}
		return a.runServe(c.Context(), serving, direct)
	}
	c.Flags().BoolVar(&direct, "direct", false,
		"no pooler stands between this server and PostgreSQL: keep statements prepared, which is faster")
	serving.flags(c.Flags())
	return c
}

// runServe serves until ctx ends.
func (a *app) runServe(ctx context.Context, serving servingOptions, direct bool) error {
	options, stopTracing, err := serving.apply(ctx, a.stderr)
	if err != nil {
		return err
	}
	defer stopTracing()
	listener, err := options.Listen(ctx, serving.listen)
	if err != nil {
		return err
	}
	defer listener.Close() //nolint:errcheck // the server has closed it by then
	dsn, own, err := a.findDSN()
	if err != nil {
		return err
	}
	client, err := engine.Open(ctx, dsn, engine.Options{
		AppName: "weir serve", Direct: direct || own, MaxConns: serveConns,
	})
	if err != nil {
		return err
	}
	defer client.Close()
	version, err := client.Version(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.stderr, "weir: serving engine %s on %s\n", version, options.URL(listener))
	return server.New(client, options).Serve(ctx, listener)
}
