package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/weirmq/weir/internal/engine"
	"github.com/weirmq/weir/internal/migrate"
	"github.com/weirmq/weir/internal/server"
)

// serveConns is the size of a server's pool when the DSN gives none.
const serveConns = 16

// serve runs the HTTP server in front of any database that has the engine.
func (a *app) serve() *cobra.Command {
	var listen string
	var bodyMax int64
	var hosts []string
	var direct bool
	var observe observeOptions
	c := leaf("serve", "Serve HTTP in front of a database", cobra.NoArgs, func(ctx context.Context, _ []string) error {
		options := server.Options{Version: migrate.Version(), BodyMax: bodyMax, Hosts: hosts}
		stopTracing, err := observe.apply(ctx, a.stderr, &options)
		if err != nil {
			return err
		}
		defer stopTracing()
		listener, err := server.Listen(ctx, listen)
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
		fmt.Fprintf(a.stderr, "weir: serving engine %s on http://%s\n", version, listener.Addr())
		return server.New(client, options).Serve(ctx, listener)
	})
	flags := c.Flags()
	flags.StringVar(&listen, "listen", server.DefaultListen,
		"address to listen on, of loopback as long as there is no authentication")
	flags.BoolVar(&direct, "direct", false,
		"no pooler stands between this server and PostgreSQL: keep statements prepared, which is faster")
	flags.Int64Var(&bodyMax, "body-max", 0, "largest request body in bytes (default 32 MiB)")
	observe.flags(flags)
	flags.StringSliceVar(&hosts, "allow-host", nil, "host name under which a reverse proxy passes requests on")
	return c
}
