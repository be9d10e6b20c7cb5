package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/weirmq/weir/internal/engine"
	"github.com/weirmq/weir/internal/server"
)

// serveConns is the size of a server's pool when the DSN gives none.
const serveConns = 16

// serve runs the HTTP server in front of any database that has the engine.
func (a *app) serve() *cobra.Command {
	var direct, required bool
	var serving servingOptions
	c := leaf("serve", "Serve HTTP in front of a database", cobra.NoArgs, nil)
	c.RunE = func(c *cobra.Command, _ []string) error {
		if err := configure(c); err != nil {
			return err
		}
		return a.runServe(c.Context(), serving, direct, required)
	}
	c.Flags().BoolVar(&direct, "direct", false,
		"no pooler stands between this server and PostgreSQL: keep statements prepared, which is faster")
	c.Flags().BoolVar(&required, "require-database", false,
		"end when the database is not there or has no engine, instead of serving as soon as it has")
	serving.flags(c.Flags())
	return c
}

// runServe serves until ctx ends. A database that is not required may come later.
func (a *app) runServe(ctx context.Context, serving servingOptions, direct, required bool) error {
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
		AppName: "weir serve", Direct: direct || own, MaxConns: serveConns, Later: !required,
	})
	if err != nil {
		return err
	}
	defer client.Close()
	if err := a.announce(ctx, client, options.URL(listener)); err != nil && required {
		return err
	}
	return server.New(client, options).Serve(ctx, listener)
}

// announce says what is served where, or what is missing for that, which it returns.
func (a *app) announce(ctx context.Context, client *engine.Client, url string) error {
	version, err := client.Version(ctx)
	if err != nil {
		fmt.Fprintf(a.stderr, "weir: %s; not ready yet on %s\n", err, url)
		var e *engine.Error
		if errors.As(err, &e) && e.Hint != "" {
			fmt.Fprintf(a.stderr, "hint: %s\n", e.Hint)
		}
		return err //nolint:wrapcheck // it says what was done
	}
	fmt.Fprintf(a.stderr, "weir: serving engine %s on %s\n", version, url)
	return nil
}
