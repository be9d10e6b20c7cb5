package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weirmq/weir/internal/embedded"
	"github.com/weirmq/weir/internal/engine"
	"github.com/weirmq/weir/internal/migrate"
	"github.com/weirmq/weir/internal/server"
)

const (
	// upPort is where the PostgreSQL of `weir up` listens when it is free, so that a DSN once noted stays good.
	upPort = 9348
	// stopTimeout is how long PostgreSQL may take to stop before it is stopped at once.
	stopTimeout = 30 * time.Second
)

const upHelp = `Start PostgreSQL, put the engine into it, serve HTTP, and say what to type next. It runs until ^C.

PostgreSQL is the one of --pg-bin or $WEIR_PG_BIN, else one that is installed, else one that is downloaded once; the
next up goes on with a download that was cut off. It listens on loopback only. Its data survive being stopped, killed
and started again; they are never deleted.`

// upOptions are the flags of up.
type upOptions struct {
	serving servingOptions
	port    int
	anyPort bool // the port may be another one
	pgBin   string
}

// up runs everything on this machine.
func (a *app) up() *cobra.Command {
	var opt upOptions
	c := &cobra.Command{
		Use: "up", Short: "Start PostgreSQL with the engine and serve HTTP", Long: upHelp, Args: usageArgs(cobra.NoArgs),
	}
	flags := c.Flags()
	opt.serving.flags(flags)
	flags.IntVar(&opt.port, "port", upPort, "port of PostgreSQL; 0 takes a free one")
	flags.StringVar(&opt.pgBin, "pg-bin", "", "directory of the PostgreSQL programs to use (default $WEIR_PG_BIN)")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if err := configure(c); err != nil {
			return err
		}
		if opt.port < 0 || opt.port > 65535 {
			return usagef("--port %d: a port is from 0 to 65535", opt.port)
		}
		opt.anyPort = !flags.Changed("port")
		return a.runUp(c.Context(), opt)
	}
	return c
}

// runUp starts all parts and waits for a signal or for one of them to end.
func (a *app) runUp(ctx context.Context, opt upOptions) error {
	options, stopTracing, err := opt.serving.apply(ctx, a.stderr)
	if err != nil {
		return err
	}
	defer stopTracing()
	listener, err := options.Listen(ctx, opt.serving.listen)
	if err != nil {
		return err
	}
	defer listener.Close() //nolint:errcheck // the server has closed it by then
	pg, err := a.startPostgres(ctx, opt)
	if err != nil {
		return err
	}
	err = a.serveUp(ctx, pg, listener, options)
	stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	if stopErr := pg.Stop(stopping); stopErr != nil {
		err = errors.Join(err, fmt.Errorf("stop PostgreSQL: %w", stopErr))
	}
	if err == nil {
		fmt.Fprintln(a.stderr, "weir: stopped; the data stay")
	}
	return err
}

// startPostgres starts the server on the usual port, or on a free one when that is taken and none was asked for.
func (a *app) startPostgres(ctx context.Context, opt upOptions) (*embedded.Server, error) {
	dir, err := a.postgresDir()
	if err != nil {
		return nil, err
	}
	m := a.meterDownload()
	defer m.stop()
	options := embedded.Options{
		DataDir: dir, Port: opt.port, BinDir: opt.pgBin, Logger: a.progress(), Progress: m.set,
	}
	pg, err := embedded.Start(ctx, options)
	if errors.Is(err, embedded.ErrPortInUse) && opt.anyPort {
		options.Port = 0
		pg, err = embedded.Start(ctx, options)
	}
	if errors.Is(err, embedded.ErrPortInUse) {
		err = &hinted{err: err, hint: "Choose another with --port, or 0 for a free one."}
	}
	return pg, err
}

// serveUp prepares the database, serves it and returns when a signal comes or PostgreSQL or the HTTP server ends.
func (a *app) serveUp(ctx context.Context, pg *embedded.Server, listener net.Listener, options server.Options) error {
	dsn, err := a.prepare(ctx, pg)
	if err != nil {
		return err
	}
	client, err := engine.Open(ctx, dsn, engine.Options{AppName: "weir up", Direct: true, MaxConns: serveConns})
	if err != nil {
		return err
	}
	defer client.Close()
	if err := pg.Announce(upDatabase, listener.Addr().String()); err != nil {
		return fmt.Errorf("announce server: %w", err)
	}
	serving, stop := context.WithCancel(ctx)
	defer stop()
	died := make(chan error, 1)
	go func() {
		died <- pg.Wait()
		stop()
	}()
	if err := a.printNext(pg, dsn, options.URL(listener)); err != nil {
		return err
	}
	err = server.New(client, options).Serve(serving, listener)
	if ctx.Err() == nil {
		select {
		case end := <-died:
			return errors.Join(fmt.Errorf("PostgreSQL ended: %w", end), err)
		default:
		}
	}
	return err
}

// prepare makes role and database and installs the engine; it returns the DSN of the role.
func (a *app) prepare(ctx context.Context, pg *embedded.Server) (string, error) {
	password := rolePassword(pg.Password())
	if err := engine.Provision(ctx, pg.DSN("postgres"), password); err != nil {
		return "", err
	}
	dsn, err := ordinaryDSN(pg.DSN(upDatabase))
	if err != nil {
		return "", err
	}
	_, err = migrate.InstallDSN(ctx, dsn)
	return dsn, err
}

// upView is what `weir up` prints for programs once everything runs.
type upView struct {
	HTTP       string `json:"http"`
	DSN        string `json:"dsn"`
	DataDir    string `json:"data_dir"`
	PostgreSQL int    `json:"postgresql"`
}

// printNext says what to type in another terminal.
func (a *app) printNext(pg *embedded.Server, dsn, url string) error {
	if a.output == "json" {
		address := strings.TrimPrefix(url, "http://")
		return writeJSON(a.stdout, upView{
			HTTP: address, DSN: dsn, DataDir: pg.DataDir(), PostgreSQL: pg.Binaries().Major,
		})
	}
	weir := a.name
	if a.dataDir != "" {
		weir += " --data-dir " + shellWord(a.dataDir)
	}
	_, err := fmt.Fprintf(a.stdout, `Weir is running on PostgreSQL %[5]d.
  HTTP  %[2]s
  data  %[4]s

In another terminal:
  %[1]s queue create orders
  %[1]s send orders '{"hello":"world"}'
  printf '{"n":1}\n{"n":2}\n' | %[1]s send orders
  %[1]s receive orders --ack
  %[1]s receive orders --follow --ack

  curl -d '{"messages":[{"payload":{"hello":"curl"}}]}' %[2]s/v1/queues/orders/messages
  curl -d '{"max":10}' %[2]s/v1/queues/orders/groups/default/receive

  psql '%[3]s' -c "select weir.send('orders', '{\"hello\":\"psql\"}')"

^C stops it; the data stay.
`, weir, url, dsn, pg.DataDir(), pg.Binaries().Major)
	if err != nil {
		return fmt.Errorf("print what to type: %w", err)
	}
	return nil
}
