package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/weirmq/weir/internal/engine"
)

const sendHelp = `Send messages to a queue and print their ids.

With PAYLOAD, which is JSON, one message is sent. Without it every line of standard input is a message: a bare JSON
payload, or with --envelope an object {"payload", "key", "headers", "delay_ms", "priority", "dedup_key"}.
Lines are sent in batches as they come, each batch all or none. At a line that cannot be a message the command stops:
what stands before it is sent, nothing after it, and the error says so; with --atomic nothing is sent at all.`

// messageOptions are the flags that say what goes with a payload.
type messageOptions struct {
	key     *string
	headers json.RawMessage
	options engine.SendOptions
	text    bool
}

// messageFlags adds these flags; the function it returns reads them.
func messageFlags(flags *pflag.FlagSet) func() (messageOptions, error) {
	var opt messageOptions
	var key, headers string
	flags.StringVar(&key, "key", "", "key: messages with one key stay in order in an ordered group")
	flags.StringVar(&headers, "headers", "", "headers, a JSON object")
	flags.DurationVar(&opt.options.Delay, "delay", 0, "deliver no earlier than this from now")
	flags.BoolVar(&opt.text, "text", false, "the payload is plain text: send it as a JSON string")
	return func() (messageOptions, error) {
		opt.key = given(flags.Changed("key"), &key)
		if flags.Changed("headers") {
			if opt.headers = json.RawMessage(headers); !json.Valid(opt.headers) {
				err := fmt.Errorf("--headers is not JSON: %s", headers)
				return opt, &usageError{err: err, hint: `Such as --headers '{"trace":"abc"}'.`}
			}
		}
		return opt, nil
	}
}

// sendOptions are the flags of send.
type sendOptions struct {
	messageOptions

	priority int
	dedupKey *string
	envelope bool
	atomic   bool
	quiet    bool
}

// send sends one message from an argument or many from standard input.
func (a *app) send() *cobra.Command {
	var opt sendOptions
	var dedupKey string
	c := &cobra.Command{
		Use: "send QUEUE [PAYLOAD]", Short: "Send a message, or every line of standard input", Long: sendHelp,
		Args: usageArgs(cobra.RangeArgs(1, 2)),
		Example: `  weir send orders '{"hello":"world"}'
  weir send orders --key customer-7 --delay 5m '{"remind":true}'
  weir send orders < messages.ndjson`,
	}
	flags := c.Flags()
	options := messageFlags(flags)
	flags.IntVar(&opt.priority, "priority", 0, "level of priority, when the queue has several; higher goes first")
	flags.StringVar(&dedupKey, "dedup-key", "",
		"send it only if none with this key was sent within the queue's window")
	flags.BoolVar(&opt.envelope, "envelope", false, `every line is {"payload", "key", "headers" ...}`)
	flags.BoolVar(&opt.atomic, "atomic", false, "send all lines in one transaction, or none")
	flags.BoolVarP(&opt.quiet, "quiet", "q", false, "do not print the ids")
	c.RunE = func(c *cobra.Command, args []string) (err error) {
		if opt.messageOptions, err = options(); err != nil {
			return err
		}
		opt.options.Priority = opt.priority
		opt.dedupKey = given(flags.Changed("dedup-key"), &dedupKey)
		return a.runSend(c.Context(), args, opt)
	}
	return c
}

// runSend sends the argument or the standard input.
func (a *app) runSend(ctx context.Context, args []string, opt sendOptions) error {
	if len(args) == 2 {
		if opt.envelope || opt.atomic {
			return usagef("--envelope and --atomic are for lines of standard input, and there is a PAYLOAD")
		}
		payload, err := payloadOf([]byte(args[1]), opt.text)
		if err != nil {
			return err
		}
		return a.with(ctx, func(client *engine.Client) error {
			m := engine.Outgoing{Payload: payload, Key: opt.key, Headers: opt.headers, DedupKey: opt.dedupKey}
			id, err := client.Send(ctx, args[0], m, opt.options)
			if err != nil {
				return err
			}
			return a.printIDs([]int64{id}, opt)
		})
	}
	if opt.dedupKey != nil {
		return usagef("--dedup-key is for one PAYLOAD; lines have theirs with --envelope")
	}
	if f, ok := a.stdin.(*os.File); ok && isTerminal(f) {
		fmt.Fprintln(a.stderr, "Type one JSON value a line; ^D ends.")
	}
	return a.with(ctx, func(client *engine.Client) error {
		s := &sending{app: a, client: client, queue: args[0], opt: opt, feed: newFeed()}
		return s.run(ctx)
	})
}

// payloadOf checks a payload, or makes a JSON string of it.
func payloadOf(raw []byte, text bool) (json.RawMessage, error) {
	if text {
		quoted, err := json.Marshal(string(raw))
		if err != nil {
			return nil, fmt.Errorf("quote payload: %w", err)
		}
		return quoted, nil
	}
	if err := checkJSON(raw); err != nil {
		return nil, &usageError{
			err:  fmt.Errorf("the payload is not JSON: %s: %w", cell(json.RawMessage(raw)), err),
			hint: `Quote it for the shell, such as '{"hello":"world"}', or send it as a JSON string with --text.`,
		}
	}
	return raw, nil
}

// checkJSON says what is wrong with a JSON text.
func checkJSON(raw []byte) error {
	var value json.RawMessage
	return json.Unmarshal(raw, &value)
}

// printIDs prints one id a line, or one object a line.
func (a *app) printIDs(ids []int64, opt sendOptions) error {
	if opt.quiet {
		return nil
	}
	var text bytes.Buffer
	for _, id := range ids {
		if a.output == "json" {
			fmt.Fprintf(&text, "{\"id\":%d}\n", id)
		} else {
			fmt.Fprintf(&text, "%d\n", id)
		}
	}
	if _, err := a.stdout.Write(text.Bytes()); err != nil && !a.unread() { // whoever has seen enough ids wants all sent
		return fmt.Errorf("print ids: %w", err)
	}
	return nil
}

// isTerminal reports whether a person types at f.
func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// sending is one run of `weir send` over standard input.
type sending struct {
	app    *app
	client *engine.Client
	queue  string
	opt    sendOptions
	feed   *feed
	meter  *meter
	sent   int64    // messages
	upTo   int      // the line of the last of them
	held   idRanges // ids that may be printed once the transaction has committed
}

// run sends all lines and says what was sent when something stops it.
func (s *sending) run(ctx context.Context) error {
	defer s.feed.stop()
	stopOnSignal := context.AfterFunc(ctx, s.feed.stop)
	defer stopOnSignal()
	s.meter = s.app.meterMessages("sent", !s.opt.quiet)
	defer s.meter.stop()
	go s.feed.read(s.app.stdin, s.opt)
	if !s.opt.atomic {
		return s.explain(ctx, s.pump(ctx, s.client))
	}
	err := s.client.InTx(ctx, func(tx *engine.Client) error { return s.pump(ctx, tx) })
	var chunk *chunkError
	if errors.As(err, &chunk) && chunk.ofOneLine() {
		err = s.pinpoint(ctx, chunk)
	}
	if err != nil {
		return s.explainAtomic(ctx, err)
	}
	return s.held.each(func(ids []int64) error { return s.app.printIDs(ids, s.opt) })
}

// pump sends what the feed has until it ends.
func (s *sending) pump(ctx context.Context, client *engine.Client) error {
	for {
		lines, err := s.feed.take()
		for chunk := range chunks(lines) {
			if err := s.sendChunk(ctx, client, chunk); err != nil {
				return err
			}
		}
		if errors.Is(err, errFeedStopped) && ctx.Err() != nil {
			return ctx.Err()
		}
		if errors.Is(err, errFeedEnd) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// sendChunk sends lines that one call can take. When the data of some line are at fault it finds out which.
func (s *sending) sendChunk(ctx context.Context, client *engine.Client, chunk []line) error {
	ids, err := client.SendBatch(ctx, s.queue, outgoing(chunk), chunk[0].options)
	if err == nil {
		return s.done(chunk, ids)
	}
	failed := &chunkError{lines: chunk, err: err}
	if s.opt.atomic || !failed.ofOneLine() {
		return failed // a transaction in which something failed can only be rolled back
	}
	return s.sendSingly(ctx, client, chunk)
}

// sendSingly sends lines one by one up to the one that fails.
func (s *sending) sendSingly(ctx context.Context, client *engine.Client, chunk []line) error {
	for i := range chunk {
		single := chunk[i : i+1]
		ids, err := client.SendBatch(ctx, s.queue, outgoing(single), single[0].options)
		if err != nil {
			return &chunkError{lines: single, err: err}
		}
		if err := s.done(single, ids); err != nil {
			return err
		}
	}
	return nil
}

// pinpoint finds out which line of a failed chunk is at fault, in a transaction that is rolled back in any case.
func (s *sending) pinpoint(ctx context.Context, failed *chunkError) error {
	return s.client.InTx(ctx, func(tx *engine.Client) error {
		if err := s.sendSingly(ctx, tx, failed.lines); err != nil {
			return err
		}
		return failed // one by one they would do
	})
}

// done counts what was sent and prints or keeps its ids.
func (s *sending) done(chunk []line, ids []int64) error {
	s.sent += int64(len(chunk))
	s.meter.add(len(chunk))
	s.upTo = chunk[len(chunk)-1].number
	if s.opt.atomic {
		s.held.add(ids)
		return nil
	}
	return s.app.printIDs(ids, s.opt)
}

// explain adds to an error what was sent and what was not.
func (s *sending) explain(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	before := "nothing was sent"
	if s.sent > 0 {
		before = fmt.Sprintf("%s sent, up to line %d", plural(s.sent, "message"), s.upTo)
	}
	var chunk *chunkError
	var bad *lineError
	switch {
	case errors.As(err, &chunk) && !answered(err):
		before += fmt.Sprintf("; whether %s was sent is unknown; nothing after it", chunk.span())
	case errors.As(err, &chunk):
		before += fmt.Sprintf("; nothing from line %d on", chunk.first())
	case errors.As(err, &bad):
		before += fmt.Sprintf("; nothing from line %d on", bad.number)
	case ctx.Err() != nil:
		return fmt.Errorf("interrupted (%s; nothing after it): %w", before, err)
	}
	return fmt.Errorf("%w (%s)", err, before)
}

// explainAtomic says that nothing was sent, unless the commit failed in a way that leaves it open.
func (s *sending) explainAtomic(ctx context.Context, err error) error {
	if errors.Is(err, engine.ErrOutcomeUnknown) && !answered(err) {
		return fmt.Errorf("%w (whether the %s were sent is unknown)", err, plural(s.sent, "message"))
	}
	if ctx.Err() != nil {
		return fmt.Errorf("interrupted (nothing was sent): %w", err)
	}
	return fmt.Errorf("%w (nothing was sent)", err)
}

// answered reports whether the server itself refused, so that it is known that nothing was done.
func answered(err error) bool {
	var e *engine.Error
	return errors.As(err, &e) && !e.Unreachable()
}

// outgoing takes the messages out of lines.
func outgoing(chunk []line) []engine.Outgoing {
	batch := make([]engine.Outgoing, len(chunk))
	for i, l := range chunk {
		batch[i] = l.message
	}
	return batch
}

// idRanges remembers ids as ranges: what one transaction sends is mostly consecutive, so millions take little room.
type idRanges struct {
	ranges [][2]int64
}

func (r *idRanges) add(ids []int64) {
	for _, id := range ids {
		if n := len(r.ranges); n > 0 && r.ranges[n-1][1]+1 == id {
			r.ranges[n-1][1] = id
			continue
		}
		r.ranges = append(r.ranges, [2]int64{id, id})
	}
}

// each gives the ids in order, some at a time.
func (r *idRanges) each(do func(ids []int64) error) error {
	const some = 10_000
	var ids []int64
	for _, span := range r.ranges {
		for id := span[0]; id <= span[1]; id++ {
			if ids = append(ids, id); len(ids) == some {
				if err := do(ids); err != nil {
					return err
				}
				ids = ids[:0]
			}
		}
	}
	return do(ids)
}
