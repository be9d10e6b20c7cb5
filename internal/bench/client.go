package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
)

// What the clients call, on the queue that every run makes.
const (
	queue         = "bench"
	makeQueueText = "select weir.create_queue($1)"
	makeGroupText = "select weir.create_group('bench', $1, ordered => $2)"
	sendText      = "select weir.send('bench', $1)"
	batchText     = "select weir.send_batch('bench', $1::text[]::json[], keys => $2)"
	recordsText   = "select claim_id, n, payloads from weir.receive_records('bench', $1, max => $2)"
	rowsText      = "select claim_id, payload from weir.receive('bench', max => $1)"
	ackText       = "select weir.ack_all('bench', $1)"
	upkeepText    = "call weir.maintain()"
)

// client is a connection that sends and receives.
type client struct {
	*runner

	conn  *pgx.Conn
	group string // whose records it receives
}

// clients opens n connections to the database and returns what closes them.
func (s *scratch) clients(ctx context.Context, n int) (all []*client, closeAll func() error, err error) {
	closeAll = func() (err error) {
		for _, c := range all {
			err = errors.Join(err, c.conn.Close(context.WithoutCancel(ctx)))
		}
		return err
	}
	for range n {
		conn, err := s.connect(ctx, s.name, loadApp)
		if err != nil {
			return nil, nil, errors.Join(err, closeAll())
		}
		all = append(all, &client{runner: s.runner, conn: conn, group: "default"})
	}
	return all, closeAll, nil
}

// exec executes a statement whose rows are of no interest.
func (c *client) exec(ctx context.Context, doing, text string, arguments ...any) error {
	if _, err := c.conn.Exec(ctx, text, arguments...); err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return nil
}

func (c *client) send(ctx context.Context, payload string) error {
	return c.exec(ctx, "send", sendText, payload)
}

// delivery is a message that was received as a row.
type delivery struct {
	claim   int64
	payload []byte
}

func (c *client) receive(ctx context.Context, most int) ([]delivery, error) {
	rows, err := c.conn.Query(ctx, rowsText, most)
	if err != nil {
		return nil, fmt.Errorf("receive: %w", err)
	}
	got, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (d delivery, err error) {
		err = row.Scan(&d.claim, &d.payload)
		return d, err
	})
	if err != nil {
		return nil, fmt.Errorf("receive: %w", err)
	}
	return got, nil
}

// receiveOne receives one message of a queue that has one; a receive may find its lane in use by upkeep.
func (c *client) receiveOne(ctx context.Context) (delivery, error) {
	for {
		got, err := c.receive(ctx, 1)
		if err != nil || len(got) > 0 {
			return slices.Concat(got, []delivery{{}})[0], err
		}
	}
}

// ack finishes what a receive brought: one receive, one claim.
func (c *client) ack(ctx context.Context, claim int64) error {
	return c.exec(ctx, "acknowledge", ackText, claim)
}

// The steps of loads.

func sendOne(ctx context.Context, c *client) (int, error) { return 1, c.send(ctx, c.batch[0]) }

func sendBatch(ctx context.Context, c *client) (int, error) {
	return len(c.batch), c.exec(ctx, "send", batchText, c.batch, nil)
}

// consumeRows receives and acknowledges a batch, a row a message.
func consumeRows(ctx context.Context, c *client) (int, error) { return c.consume(ctx, c.opts.Batch) }

// consumeOne receives and acknowledges one message.
func consumeOne(ctx context.Context, c *client) (int, error) { return c.consume(ctx, 1) }

func (c *client) consume(ctx context.Context, most int) (int, error) {
	got, err := c.receive(ctx, most)
	if err != nil || len(got) == 0 {
		return 0, err
	}
	return len(got), c.ack(ctx, got[0].claim)
}

// consumeRecords receives and acknowledges a batch in the form that programs use, a row a record.
func consumeRecords(ctx context.Context, c *client) (total int, err error) {
	rows, err := c.conn.Query(ctx, recordsText, c.group, c.opts.Batch)
	if err != nil {
		return 0, fmt.Errorf("receive: %w", err)
	}
	var claim int64
	var n int
	_, err = pgx.ForEachRow(rows, []any{&claim, &n, nil}, func() error { total += n; return nil })
	if err != nil {
		return 0, fmt.Errorf("receive: %w", err)
	}
	if total == 0 {
		return 0, nil
	}
	return total, c.ack(ctx, claim)
}

// cycle sends a batch, receives one and acknowledges it, and counts what was received.
func cycle(ctx context.Context, c *client) (int, error) {
	if _, err := sendBatch(ctx, c); err != nil {
		return 0, err
	}
	return consumeRecords(ctx, c)
}
