package builtin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirmq/weir/bench/adapter"
	"github.com/weirmq/weir/internal/bench/httpload"
	"github.com/weirmq/weir/internal/migrate"
	sdk "github.com/weirmq/weir/sdk/go"
)

const queue = "bench"

// numberName comes before the number in a payload. It is looked for there as the adapters for SQL look for it: what
// decoding JSON takes is no system's.
var numberName = []byte(`"n"`)

// SDK is Weir's Go SDK and its worker, as they come.
type SDK struct {
	mu     sync.Mutex
	shared *sdk.Client // of all producers
}

// connect opens a client.
func connect(ctx context.Context, c *adapter.Command) (*sdk.Client, error) {
	u, err := url.Parse(c.DSN)
	if err != nil {
		return nil, fmt.Errorf("read DSN: %w", err)
	}
	q := u.Query()
	q.Set("pool_max_conns", strconv.Itoa(max(4, min(c.Clients, 16))))
	q.Set("pool_min_conns", "4") // open before the run begins
	u.RawQuery = q.Encode()
	return sdk.Connect(ctx, u.String())
}

// Setup implements adapter.System.
func (*SDK) Setup(ctx context.Context, c *adapter.Command) (string, error) {
	conn, err := pgx.Connect(ctx, c.DSN)
	if err != nil {
		return "", fmt.Errorf("connect: %w", err)
	}
	defer conn.Close(ctx) //nolint:errcheck // nothing is left to say
	if err := migrate.Install(ctx, conn); err != nil {
		return "", fmt.Errorf("install: %w", err)
	}
	client := sdk.New(conn)
	if _, err := client.CreateQueue(ctx, queue, sdk.QueueOptions{}); err != nil {
		return "", fmt.Errorf("make queue: %w", err)
	}
	for i := range c.Groups {
		if err := client.CreateGroup(ctx, queue, adapter.GroupName(i), sdk.GroupOptions{}); err != nil {
			return "", fmt.Errorf("make group: %w", err)
		}
	}
	if c.Ordered {
		if err := client.CreateGroup(ctx, queue, "in-order", sdk.GroupOptions{Ordered: true}); err != nil {
			return "", fmt.Errorf("make group: %w", err)
		}
	}
	return migrate.Version(), nil
}

// Serve implements adapter.System: a worker does what a server would.
func (*SDK) Serve(context.Context, *adapter.Command, func(string)) error { return adapter.ErrCannot }

// producers returns the client of all producers.
func (s *SDK) producers(ctx context.Context, c *adapter.Command) (*sdk.Client, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shared == nil {
		client, err := connect(ctx, c)
		if err != nil {
			return nil, err
		}
		s.shared = client
	}
	return s.shared, nil
}

// Producer implements adapter.System.
func (s *SDK) Producer(ctx context.Context, c *adapter.Command) (
	func(ctx context.Context, batch []adapter.Message) error, error,
) {
	client, err := s.producers(ctx, c)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, batch []adapter.Message) error {
		if len(batch) == 1 {
			_, err := client.Send(ctx, queue, json.RawMessage(batch[0].Payload), sdk.Key(batch[0].Key))
			return err
		}
		out := make([]sdk.Outgoing, len(batch))
		for i, m := range batch {
			out[i] = sdk.Outgoing{Payload: json.RawMessage(m.Payload), Key: m.Key}
		}
		_, err := client.SendBatch(ctx, queue, out)
		return err
	}, nil
}

// Work implements adapter.System.
func (*SDK) Work(ctx context.Context, c *adapter.Command, l *adapter.Ledger, ready func()) error {
	client, err := connect(ctx, c)
	if err != nil {
		return err
	}
	defer client.Close()
	options := sdk.WorkerOptions{Concurrency: c.Clients, Group: c.Group, Lease: time.Duration(c.LeaseS) * time.Second}
	if c.Ordered {
		options.Group = "in-order"
	}
	var failure error
	options.OnError = func(_ *sdk.RawMessage, err error) { failure = errors.Join(failure, err) }
	if c.LeaseS > 0 { // a server that was killed is no failure of the run
		options.OnError = func(*sdk.RawMessage, error) {}
	}
	worker := sdk.NewWorker(client, queue, func(ctx context.Context, m *sdk.RawMessage) error {
		var number [1]int64
		l.Add(httpload.Numbers(number[:0], m.Payload, numberName)...)
		time.Sleep(time.Duration(c.HandlerMS) * time.Millisecond)
		if c.Perpetual {
			_, err := client.Send(ctx, queue, m.Payload)
			return err
		}
		return nil
	}, options)
	ready()
	if err := worker.Run(ctx); err != nil {
		return err
	}
	return failure
}
