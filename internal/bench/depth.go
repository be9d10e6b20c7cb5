package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	shallow     = 1000 // the small backlog of the comparison
	depthWarmup = 50   // receives that are not counted: they plan
	depthCount  = 400
)

func depthMetrics() []metric {
	return []metric{
		{"ratio", "receive of 1, deep over shallow", "", "%.3f", atMost(1.2)},
		{"deep", "receive of 1, deep", "us", "%.0f", nil},
		{"shallow", "receive of 1, shallow", "us", "%.0f", nil},
		{"cpu_ratio", "its CPU and that of the ack, deep over shallow", "", "%.3f", nil},
	}
}

// depthCase compares the receive of one message from a long backlog with that from a short one. Both databases are
// there at once and are received from in turns, so that noise meets both alike.
func depthCase(ctx context.Context, r *runner, sys system) (values, error) {
	return r.inScratch(ctx, sys, func(short *scratch) (values, error) {
		return r.inScratch(ctx, sys, func(long *scratch) (_ values, err error) {
			var ends [2]depthEnd
			defer func() { err = errors.Join(err, ends[0].close(ctx), ends[1].close(ctx)) }()
			for i, s := range []*scratch{short, long} {
				if err := ends[i].open(ctx, r, s, []int{shallow, r.opts.Deep}[i]); err != nil {
					return nil, err
				}
			}
			for i := range depthWarmup + depthCount {
				for k := range ends {
					if err := ends[k].receiveOne(ctx, i >= depthWarmup); err != nil {
						return nil, fmt.Errorf("%s: %w", sys.name, err)
					}
				}
			}
			v := values{"shallow": median(ends[0].times), "deep": median(ends[1].times)}
			v["ratio"] = v["deep"] / v["shallow"]
			if ends[0].cpu > 0 {
				v["cpu_ratio"] = ends[1].cpu.Seconds() / ends[0].cpu.Seconds()
			}
			return v, nil
		})
	})
}

// depthEnd is one of the two backlogs.
type depthEnd struct {
	client *client
	times  []float64 // microseconds a receive
	cpu    time.Duration
}

func (d *depthEnd) open(ctx context.Context, r *runner, s *scratch, backlog int) (err error) {
	if err := s.preload(ctx, r, backlog, min(r.opts.PreloadBatch, backlog/r.opts.Clients)); err != nil {
		return err
	}
	d.client, err = s.client(ctx)
	return err
}

func (d *depthEnd) close(ctx context.Context) error {
	if d.client == nil {
		return nil
	}
	return d.client.close(ctx)
}

// receiveOne receives one message and acknowledges it.
func (d *depthEnd) receiveOne(ctx context.Context, counts bool) error {
	pid := int(d.client.conn.PgConn().PID())
	before, _ := processTime(pid) // 0 when the server is elsewhere, and then below too
	start := time.Now()
	got, err := d.client.receiveOne(ctx)
	took := time.Since(start)
	if err != nil {
		return err
	}
	if err := d.client.ack(ctx, got); err != nil {
		return err
	}
	if counts {
		after, _ := processTime(pid)
		d.cpu += after - before
		d.times = append(d.times, float64(took.Nanoseconds())/1e3)
	}
	return nil
}

// client is a connection on which the driver itself sends and receives.
type client struct {
	conn                  *pgx.Conn
	sendText, receiveText string
	settleText            string // "": a receive has finished what it returned
}

func (s *scratch) client(ctx context.Context) (*client, error) {
	c := &client{}
	var err error
	for name, text := range map[string]*string{"send": &c.sendText, "receive": &c.receiveText, "ack": &c.settleText} {
		if name == "ack" && s.sys.settles {
			continue
		}
		if *text, err = s.sys.text(name); err != nil {
			return nil, err
		}
	}
	c.conn, err = s.env.connect(ctx, s.name, loadApp)
	return c, err
}

func (c *client) close(ctx context.Context) error { return c.conn.Close(context.WithoutCancel(ctx)) }

// delivery is a message as the driver's own client sees it.
type delivery struct {
	receipt int64
	payload []byte
}

func (c *client) receive(ctx context.Context, most int) ([]delivery, error) {
	rows, err := c.conn.Query(ctx, c.receiveText, most)
	if err != nil {
		return nil, fmt.Errorf("receive: %w", err)
	}
	got, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (d delivery, err error) {
		err = row.Scan(&d.receipt, &d.payload)
		return d, err
	})
	if err != nil {
		return nil, fmt.Errorf("receive: %w", err)
	}
	return got, nil
}

// receiveOne receives one message of a queue that has one; a receive may find its lane in use by upkeep.
func (c *client) receiveOne(ctx context.Context) ([]delivery, error) {
	for {
		got, err := c.receive(ctx, 1)
		if err != nil || len(got) > 0 {
			return got, err
		}
	}
}

// ack finishes what was received; several messages may have one receipt.
func (c *client) ack(ctx context.Context, got []delivery) error {
	if c.settleText == "" {
		return nil
	}
	done := map[int64]bool{}
	for _, d := range got {
		if done[d.receipt] {
			continue
		}
		done[d.receipt] = true
		if _, err := c.conn.Exec(ctx, c.settleText, d.receipt); err != nil {
			return fmt.Errorf("acknowledge: %w", err)
		}
	}
	return nil
}

func (c *client) send(ctx context.Context, payload []byte) error {
	if _, err := c.conn.Exec(ctx, c.sendText, payload); err != nil {
		return fmt.Errorf("send: %w", err)
	}
	return nil
}
