package builtin

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/weirmq/weir/bench/adapter"
	"github.com/weirmq/weir/internal/bench/httpload"
)

// HTTP is Weir's server: the `weir serve` that install has built.
type HTTP struct{}

const (
	queuePath = "/v1/queues/bench"
	waitMS    = 500 // of a receive that finds nothing
)

// Setup implements adapter.System.
func (HTTP) Setup(ctx context.Context, c *adapter.Command) (string, error) {
	return SQL{weir}.Setup(ctx, c)
}

// Serve implements adapter.System.
func (HTTP) Serve(ctx context.Context, c *adapter.Command, ready func(string)) error {
	program := filepath.Join(c.Build, "weir")
	cmd := exec.Command(program, "serve", "--direct", "--listen", "127.0.0.1:0") //nolint:gosec,noctx // own; ends below
	cmd.Env = append(os.Environ(), "WEIR_DSN="+c.DSN)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return fmt.Errorf("start server: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start server: %w", err)
	}
	lines := bufio.NewReader(stderr)
	said := ""
	for {
		line, err := lines.ReadString('\n')
		said += line
		if err != nil {
			return errors.Join(fmt.Errorf("read server's address: %w: %s", err, said), cmd.Wait())
		}
		if _, address, ok := strings.Cut(strings.TrimSpace(line), "http://"); ok {
			ready(address)
			break
		}
	}
	go func() {
		<-ctx.Done()
		_ = cmd.Process.Signal(syscall.SIGTERM) // Wait tells if it is gone already
	}()
	rest, _ := io.ReadAll(lines)
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("run server: %w: %s", err, rest)
	}
	return nil
}

// Producer implements adapter.System.
func (HTTP) Producer(ctx context.Context, c *adapter.Command) (
	func(ctx context.Context, batch []adapter.Message) error, error,
) {
	conn, err := httpload.Dial(ctx, c.Address)
	if err != nil {
		return nil, fmt.Errorf("open connection: %w", err)
	}
	var body []byte
	return func(_ context.Context, batch []adapter.Message) error {
		body = append(body[:0], `{"messages":[`...)
		for i, m := range batch {
			if i > 0 {
				body = append(body, ',')
			}
			body = append(append(body, `{"payload":`...), m.Payload...)
			if m.Key != "" {
				body = append(append(append(body, `,"key":"`...), m.Key...), '"')
			}
			body = append(body, '}')
		}
		body = append(body, `]}`...)
		_, err := insist(c, func() ([]byte, error) { return conn.Post(queuePath+"/messages", body) })
		return err
	}, nil
}

// Work implements adapter.System.
func (HTTP) Work(ctx context.Context, c *adapter.Command, l *adapter.Ledger, ready func()) error {
	if c.Perpetual {
		return fmt.Errorf("%w: jobs that send themselves again", adapter.ErrCannot)
	}
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
		workers.Go(func() { failures[i] = workHTTP(ctx, conn, c, l) })
	}
	workers.Wait()
	return errors.Join(failures...)
}

// workHTTP is one worker: it receives, acknowledges, receives.
func workHTTP(ctx context.Context, conn *httpload.Conn, c *adapter.Command, l *adapter.Ledger) error {
	group := queuePath + "/groups/" + groupOf(c)
	receive := fmt.Appendf(nil, `{"max":%d,"wait_ms":%d`, c.Batch, waitMS)
	if c.LeaseS > 0 {
		receive = fmt.Appendf(receive, `,"lease_ms":%d`, 1000*c.LeaseS)
	}
	receive = append(receive, '}')
	for ctx.Err() == nil {
		answer, err := insist(c, func() ([]byte, error) { return conn.Post(group+"/receive", receive) })
		if err != nil {
			return fmt.Errorf("receive: %w", err)
		}
		var got struct {
			Messages []struct {
				ID      int64 `json:"id"`
				ClaimID int64 `json:"claim_id"`
				Payload struct {
					N int64 `json:"n"`
				} `json:"payload"`
			} `json:"messages"`
		}
		if err := json.Unmarshal(answer, &got); err != nil {
			return fmt.Errorf("read messages: %w", err)
		}
		if len(got.Messages) == 0 {
			continue
		}
		numbers := make([]int64, len(got.Messages))
		acks := map[int64][]int64{}
		for i, m := range got.Messages {
			numbers[i] = m.Payload.N
			acks[m.ClaimID] = append(acks[m.ClaimID], m.ID)
		}
		l.Add(numbers...)
		ack := ackBody(acks)
		_, err = insist(c, func() ([]byte, error) { return conn.Post(group+"/ack", ack) })
		if err != nil && !errors.Is(err, httpload.ErrConflict) { // another worker has what came after its lease
			return fmt.Errorf("ack: %w", err)
		}
	}
	return nil
}

func groupOf(c *adapter.Command) string {
	switch {
	case c.Group != "":
		return c.Group
	case c.Ordered:
		return "in-order" // of weir/setup_ordered.sql
	}
	return "default"
}

// ackBody names the messages of each claim.
func ackBody(acks map[int64][]int64) []byte {
	body := []byte(`{"acks":[`)
	for claim, ids := range acks {
		if body[len(body)-1] != '[' {
			body = append(body, ',')
		}
		text, _ := json.Marshal(ids) // numbers
		body = fmt.Appendf(body, `{"claim_id":%d,"ids":%s}`, claim, text)
	}
	return append(body, `]}`...)
}
