package builtin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirmq/weir/bench/adapter"
	"github.com/weirmq/weir/internal/bench/httpload"
)

// Queen is the broker of that name on PostgreSQL, spoken to over HTTP as https://queenmq.com/http-api.html says.
type Queen struct{}

const (
	queenVersion = "1.3.0"
	// queenPartitions is between how many partitions a producer at its best spreads its calls. One batch at a time is
	// leased of a partition; https://queenmq.com/benchmarks.html has runs with 1 to 10,001.
	queenPartitions = 10
	queenStart      = 30 * time.Second
)

// Setup implements adapter.System: the broker makes its tables when it starts.
func (q Queen) Setup(ctx context.Context, c *adapter.Command) (string, error) {
	serving, stop := context.WithCancel(ctx)
	defer stop()
	failure := make(chan error, 1)
	address := make(chan string, 1)
	go func() { failure <- q.Serve(serving, c, func(a string) { address <- a }) }()
	select {
	case err := <-failure:
		return "", err
	case c.Address = <-address:
	}
	conn, err := httpload.Dial(ctx, c.Address)
	if err != nil {
		return "", fmt.Errorf("open connection: %w", err)
	}
	_, err = conn.Post("/api/v1/configure", []byte(`{"queue":"bench","options":{}}`))
	stop()
	return queenVersion, errors.Join(err, conn.Close(), <-failure)
}

// Serve implements adapter.System.
func (Queen) Serve(ctx context.Context, c *adapter.Command, ready func(string)) error {
	config, err := pgx.ParseConfig(c.DSN)
	if err != nil {
		return fmt.Errorf("read DSN: %w", err)
	}
	dir, err := os.MkdirTemp("", "weir-queen-")
	if err != nil {
		return fmt.Errorf("make directory: %w", err)
	}
	defer os.RemoveAll(dir) //nolint:errcheck // our own, and of no harm
	port, err := freePort(ctx)
	if err != nil {
		return err
	}
	address := "127.0.0.1:" + port
	env := []string{
		"PG_HOST=" + config.Host, "PG_PORT=" + strconv.Itoa(int(config.Port)), "PG_USER=" + config.User,
		"PG_PASSWORD=" + config.Password, "PG_DATABASE=" + config.Database, "PORT=" + port,
		"QUEEN_BIND_ADDR=127.0.0.1", "FILE_BUFFER_DIR=" + dir, "LOG_LEVEL=warn",
	}
	healthy := func() error {
		for began := time.Now(); ; time.Sleep(redialEvery) {
			conn, err := httpload.Dial(ctx, address)
			if err == nil {
				_, err = conn.Get("/health")
				err = errors.Join(err, conn.Close())
			}
			if err == nil {
				ready(address)
				return nil
			}
			if ctx.Err() != nil || time.Since(began) > queenStart {
				return fmt.Errorf("wait for the broker: %w", err)
			}
		}
	}
	return runBeside(ctx, env, healthy, filepath.Join(c.Build, "bin", "queen"))
}

// freePort returns a port that nobody listens on.
func freePort(ctx context.Context) (string, error) {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find a free port: %w", err)
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, errors.Join(err, l.Close())
}

// Producer implements adapter.System.
func (Queen) Producer(ctx context.Context, c *adapter.Command) (
	func(ctx context.Context, batch []adapter.Message) error, error,
) {
	conn, err := httpload.Dial(ctx, c.Address)
	if err != nil {
		return nil, fmt.Errorf("open connection: %w", err)
	}
	var body []byte
	return func(_ context.Context, batch []adapter.Message) error {
		body = append(body[:0], `{"items":[`...)
		for i, m := range batch {
			if i > 0 {
				body = append(body, ',')
			}
			partition := m.Key
			if partition == "" {
				partition = queenPartition(c, batch[0].N/int64(len(batch)))
			}
			body = appendItem(body, partition, m.Payload)
		}
		body = append(body, `]}`...)
		_, err := insist(c, func() ([]byte, error) { return conn.Post("/api/v1/push", body) })
		return err
	}, nil
}

// queenPartition is where a call's messages go; "" leaves it to the broker.
func queenPartition(c *adapter.Command, call int64) string {
	if c.Setting != "best" {
		return ""
	}
	return "p" + strconv.FormatInt(call%queenPartitions, 10)
}

func appendItem(body []byte, partition string, payload []byte) []byte {
	body = append(body, `{"queue":"bench",`...)
	if partition != "" {
		body = append(append(append(body, `"partition":"`...), partition...), `",`...)
	}
	return append(append(append(body, `"payload":`...), payload...), '}')
}

// Work implements adapter.System.
func (Queen) Work(ctx context.Context, c *adapter.Command, l *adapter.Ledger, ready func()) error {
	conns := make([]*httpload.Conn, c.Clients) // the end of the process closes them
	for i := range conns {
		var err error
		if conns[i], err = httpload.Dial(ctx, c.Address); err != nil {
			return fmt.Errorf("open connection: %w", err)
		}
	}
	ready()
	failures := make([]error, len(conns))
	var workers sync.WaitGroup
	for i, conn := range conns {
		workers.Go(func() { failures[i] = workQueen(ctx, conn, c, l) })
	}
	workers.Wait()
	return errors.Join(failures...)
}

// queenMessage is what a pop brings, and what an ack names.
type queenMessage struct {
	TransactionID string `json:"transactionId"`
	PartitionID   string `json:"partitionId"`
	LeaseID       string `json:"leaseId"`
	Status        string `json:"status"`
	Data          struct {
		N int64 `json:"n"`
	} `json:"data,omitzero"`
}

// workQueen is one worker: it pops, acknowledges, pops. Of how many partitions a pop takes the broker decides, as for
// its own clients: https://pypi.org/project/queen-mq, Pop Autopilot.
func workQueen(ctx context.Context, conn *httpload.Conn, c *adapter.Command, l *adapter.Ledger) error {
	pop := fmt.Sprintf("/api/v1/pop/queue/bench?batch=%d&autopilot=true&wait=true&timeout=%d", c.Batch, waitMS)
	group := ""
	if c.Group != "" {
		pop += "&subscriptionMode=all&consumerGroup=" + c.Group
		group = `"consumerGroup":"` + c.Group + `",`
	}
	if c.LeaseS > 0 {
		pop += "&leaseSeconds=" + strconv.Itoa(c.LeaseS)
	}
	payload := adapter.NewMessages(c).Make(0).Payload
	for calls := int64(0); ctx.Err() == nil; {
		answer, err := insist(c, func() ([]byte, error) { return conn.Get(pop) })
		if err != nil {
			return fmt.Errorf("pop: %w", err)
		}
		if len(answer) == 0 {
			continue
		}
		var got struct {
			Messages []queenMessage `json:"messages"`
		}
		if err := json.Unmarshal(answer, &got); err != nil {
			return fmt.Errorf("read messages: %w", err)
		}
		if len(got.Messages) == 0 {
			continue
		}
		numbers := make([]int64, len(got.Messages))
		for i := range got.Messages {
			m := &got.Messages[i]
			numbers[i], m.Data.N, m.Status = m.Data.N, 0, "completed"
		}
		l.Add(numbers...)
		if c.Perpetual {
			for range numbers {
				calls++
				again := appendItem([]byte(`{"items":[`), queenPartition(c, calls), payload)
				if _, err := conn.Post("/api/v1/push", append(again, `]}`...)); err != nil {
					return fmt.Errorf("push: %w", err)
				}
			}
		}
		acks, err := json.Marshal(got.Messages)
		if err != nil {
			return fmt.Errorf("write acks: %w", err)
		}
		ack := fmt.Appendf(nil, `{%s"acknowledgments":%s}`, group, acks)
		if _, err := insist(c, func() ([]byte, error) { return conn.Post("/api/v1/ack/batch", ack) }); err != nil {
			return fmt.Errorf("ack: %w", err)
		}
	}
	return nil
}
