package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"time"

	"github.com/spf13/cobra"

	"github.com/weirmq/weir/internal/engine"
)

const receiveHelp = `Claim messages and write each as a line of JSON:

  {"id":1000,"claim_id":1,"attempt":1,"key":null,"payload":{"hello":"world"},"headers":null,"enqueued_at":"..."}

A claim lasts for the lease. Finish it with ` + "`weir ack`" + `, or let --ack do so once the lines are written;
what is not acknowledged in time is delivered again.
When there is nothing to receive nothing is written and the exit code is 0.`

// receiveOptions are the flags of receive.
type receiveOptions struct {
	group  string
	limit  int // messages in all; 0 is no limit
	lease  time.Duration
	ack    bool
	follow bool
	wait   time.Duration
}

const (
	claimMax    = 100 // messages a claim when there is no lower limit
	callTimeout = 30 * time.Second
)

// receive claims messages and prints them.
func (a *app) receive() *cobra.Command {
	var opt receiveOptions
	c := &cobra.Command{
		Use: "receive QUEUE", Short: "Claim messages and write them as NDJSON", Long: receiveHelp,
		Args: usageArgs(cobra.ExactArgs(1)),
		Example: `  weir receive orders --ack
  weir receive orders --max 10 --lease 5m
  weir receive orders --follow --ack | while read -r line; do ...; done`,
	}
	flags := c.Flags()
	flags.StringVar(&opt.group, "group", engine.DefaultGroup, "consumer group")
	flags.IntVar(&opt.limit, "max", engine.DefaultMax,
		"end after this many messages (with --follow: no limit unless given)")
	flags.DurationVar(&opt.lease, "lease", engine.DefaultLease, "how long the messages are yours")
	flags.BoolVar(&opt.ack, "ack", false, "acknowledge what was written")
	flags.BoolVar(&opt.follow, "follow", false, "wait for more until ^C")
	flags.DurationVar(&opt.wait, "wait", 0, "wait this long for the first message")
	c.RunE = func(c *cobra.Command, args []string) error {
		switch {
		case opt.follow && !flags.Changed("max"):
			opt.limit = 0
		case opt.limit < 1:
			return usagef("--max %d: at least 1", opt.limit)
		}
		return a.with(c.Context(), func(client *engine.Client) error {
			r := &receiving{app: a, client: client, queue: args[0], opt: opt}
			return r.run(c.Context())
		})
	}
	return c
}

// receiving is one run of `weir receive`.
type receiving struct {
	app    *app
	client *engine.Client
	queue  string
	opt    receiveOptions
	meter  *meter
	got    int
}

// run claims and prints until there is enough, or nothing more and nothing to wait for.
func (r *receiving) run(ctx context.Context) error {
	until := time.Now().Add(r.opt.wait)
	listener := engine.NewListener(r.client, slog.New(slog.NewTextHandler(r.app.stderr, nil)))
	defer listener.Close()
	waiter := listener.Waiter(r.queue)
	r.meter = r.app.meterMessages("received", true)
	defer r.meter.stop()
	for ctx.Err() == nil && (r.opt.limit == 0 || r.got < r.opt.limit) {
		n, err := r.once(ctx)
		if err != nil {
			return err
		}
		if n > 0 {
			waiter.Found()
			continue
		}
		left := time.Until(until)
		switch {
		case r.opt.follow:
			left = math.MaxInt64
		case r.got > 0 || left <= 0:
			return nil
		}
		waiter.Wait(ctx, left)
	}
	if ctx.Err() != nil && !r.opt.follow {
		return ctx.Err()
	}
	return nil
}

// once makes one claim, prints it and acknowledges it if asked to. A signal does not cancel the statements under
// way: a claim that nobody saw would keep its messages until the lease ends.
func (r *receiving) once(ctx context.Context) (int, error) {
	n := claimMax
	if r.opt.limit > 0 {
		n = min(n, r.opt.limit-r.got)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTimeout)
	defer cancel()
	list, err := r.client.Receive(ctx, r.queue, r.opt.group, n, r.opt.lease)
	if err != nil || len(list) == 0 {
		return 0, err
	}
	r.got += len(list)
	if err := r.print(list); err != nil {
		return 0, errors.Join(err, r.giveBack(ctx, list))
	}
	r.meter.add(len(list))
	if !r.opt.ack {
		return len(list), nil
	}
	if _, err := r.client.AckAll(ctx, r.queue, list[0].ClaimID); err != nil { // one receive, one claim
		return 0, err
	}
	return len(list), nil
}

// print writes all messages in one piece.
func (r *receiving) print(list []engine.Message) error {
	var text bytes.Buffer
	for _, m := range list {
		if err := writeJSON(&text, m); err != nil {
			return err
		}
	}
	if _, err := r.app.stdout.Write(text.Bytes()); err != nil {
		return fmt.Errorf("write messages: %w", err)
	}
	return nil
}

// giveBack makes messages that could not be written due again at once. Nobody has tried them, so that the attempt does
// not count.
func (r *receiving) giveBack(ctx context.Context, list []engine.Message) error {
	_, err := r.client.Release(ctx, r.queue, list[0].ClaimID, nil)
	return err
}
