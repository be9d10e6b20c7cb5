package builtin

import (
	"context"
	"fmt"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"github.com/weirmq/weir/bench/adapter"
)

// riverArgs are a message's.
type riverArgs struct {
	N int64  `json:"n"`
	V string `json:"v"`
}

// Kind implements river.JobArgs.
func (riverArgs) Kind() string { return "bench" }

// River is the queue of that name, as https://riverqueue.com/docs says.
type River struct{}

// pool opens River's connections.
func pool(ctx context.Context, c *adapter.Command) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(c.DSN)
	if err != nil {
		return nil, fmt.Errorf("read DSN: %w", err)
	}
	config.MaxConns = 10
	if c.Setting == "best" { // no worker waits for a connection
		config.MaxConns = int32(min(max(10, c.Clients), 50))
	}
	config.MinConns = 4 // open before the run begins
	p, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	return p, nil
}

// Setup implements adapter.System.
func (River) Setup(ctx context.Context, c *adapter.Command) (string, error) {
	if c.Groups > 0 || c.Ordered {
		return "", fmt.Errorf("%w: groups, keys in order", adapter.ErrCannot)
	}
	p, err := pool(ctx, c)
	if err != nil {
		return "", err
	}
	defer p.Close()
	migrator, err := rivermigrate.New(riverpgxv5.New(p), nil)
	if err != nil {
		return "", fmt.Errorf("make migrator: %w", err)
	}
	if _, err = migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return "", fmt.Errorf("migrate: %w", err)
	}
	return riverVersion(), nil
}

// riverVersion is that of River's module, as this program was built with it.
func riverVersion() string {
	info, _ := debug.ReadBuildInfo() // nil in what was not built as a module
	if info != nil {
		for _, m := range info.Deps {
			if m.Path == "github.com/riverqueue/river" {
				return strings.TrimPrefix(m.Version, "v")
			}
		}
	}
	return ""
}

// Serve implements adapter.System.
func (River) Serve(context.Context, *adapter.Command, func(string)) error { return adapter.ErrCannot }

// Producer implements adapter.System.
func (River) Producer(ctx context.Context, c *adapter.Command) (
	func(ctx context.Context, batch []adapter.Message) error, error,
) {
	p, err := pool(ctx, c)
	if err != nil {
		return nil, err
	}
	config := &river.Config{}
	if c.Setting == "best" {
		hasten(config)
	}
	client, err := river.NewClient(riverpgxv5.New(p), config)
	if err != nil {
		return nil, fmt.Errorf("make client: %w", err)
	}
	return func(ctx context.Context, batch []adapter.Message) error {
		if len(batch) == 1 {
			_, err := client.Insert(ctx, riverArgs{N: batch[0].N, V: value(batch[0])}, nil)
			return err
		}
		params := make([]river.InsertManyParams, len(batch))
		for i, m := range batch {
			params[i].Args = riverArgs{N: m.N, V: value(m)}
		}
		if c.Setting == "best" { // https://riverqueue.com/docs/batch-job-insertion#fast-unreturned-insertion
			_, err := client.InsertManyFast(ctx, params)
			return err
		}
		_, err := client.InsertMany(ctx, params)
		return err
	}, nil
}

// hasten sets what River's own benchmark sets: https://github.com/riverqueue/river/blob/master/cmd/river/riverbench. A
// producer notifies of a queue at most once a cooldown, too.
func hasten(config *river.Config) {
	config.FetchCooldown, config.FetchPollInterval = 2*time.Millisecond, 20*time.Millisecond
}

// value is the text that fills a payload.
func value(m adapter.Message) string {
	const before, after = `","v":"`, `"}`
	head := len(`{"n":`) + len(strconv.FormatInt(m.N, 10)) + len(before) - 1
	return string(m.Payload[head : len(m.Payload)-len(after)])
}

// riverWorker works on jobs.
type riverWorker struct {
	river.WorkerDefaults[riverArgs]

	l     *adapter.Ledger
	again bool
	takes int // milliseconds
}

// Work implements river.Worker.
func (w *riverWorker) Work(ctx context.Context, job *river.Job[riverArgs]) error {
	w.l.Add(job.Args.N)
	time.Sleep(time.Duration(w.takes) * time.Millisecond)
	if w.again {
		_, err := river.ClientFromContext[pgx.Tx](ctx).Insert(ctx, job.Args, nil)
		return err
	}
	return nil
}

// Work implements adapter.System.
func (River) Work(ctx context.Context, c *adapter.Command, l *adapter.Ledger, ready func()) error {
	p, err := pool(ctx, c)
	if err != nil {
		return err
	}
	defer p.Close()
	workers := river.NewWorkers()
	river.AddWorker(workers, &riverWorker{l: l, again: c.Perpetual, takes: c.HandlerMS})
	// Fetches at most every 100 ms and, without a notification, every second: River's own defaults.
	config := &river.Config{Workers: workers}
	// A fetch is as large as there are free goroutines. River has no default for them, and https://riverqueue.com/docs
	// begins with 100; its benchmark has 2,000: https://riverqueue.com/docs/benchmarks
	most := 100
	if c.Setting == "best" {
		hasten(config)
		most = 2000
	}
	if c.Perpetual || c.HandlerMS > 0 {
		most = c.Clients
	}
	config.Queues = map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: max(c.Clients, most)}}
	if c.LeaseS > 0 {
		config.RescueStuckJobsAfter = time.Duration(c.LeaseS) * time.Second
		config.JobTimeout = config.RescueStuckJobsAfter
	}
	client, err := river.NewClient(riverpgxv5.New(p), config)
	if err != nil {
		return fmt.Errorf("make client: %w", err)
	}
	ready()
	whole := context.WithoutCancel(ctx)
	if err := client.Start(whole); err != nil {
		return fmt.Errorf("start client: %w", err)
	}
	<-ctx.Done()
	return client.Stop(whole)
}
