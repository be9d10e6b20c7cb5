package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"sync"
	"time"

	"github.com/weirmq/weir/internal/engine"
	"github.com/weirmq/weir/internal/jsontext"
)

// How much of the input is read ahead, and sent at once: what waits while a batch is under way is the next batch.
const (
	feedLinesMax = 1000
	feedBytesMax = 1 << 20
	lineBytesMax = 256 << 20 // more than any jsonb holds
)

// line is one line of the input, ready to be sent.
type line struct {
	number  int
	message engine.Outgoing
	options engine.SendOptions
}

// feed hands lines from the goroutine that reads to the one that sends. It holds a bounded part of the input, and
// gives all it has whenever the sender asks: single lines when they come slowly, full batches when they come fast.
type feed struct {
	mu      sync.Mutex
	changed *sync.Cond
	lines   []line
	bytes   int
	end     error // why there will be no more, once known
}

func newFeed() *feed {
	f := &feed{}
	f.changed = sync.NewCond(&f.mu)
	return f
}

// put adds a line, waiting for room, and reports whether more are wanted.
func (f *feed) put(l line) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for f.end == nil && (len(f.lines) >= feedLinesMax || f.bytes >= feedBytesMax) {
		f.changed.Wait()
	}
	if f.end != nil {
		return false
	}
	f.lines = append(f.lines, l)
	f.bytes += len(l.message.Payload) + len(l.message.Headers)
	f.changed.Broadcast()
	return true
}

// take returns the lines that are there, waiting for some; with the last of them it tells why there will be no more.
func (f *feed) take() ([]line, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for f.end == nil && len(f.lines) == 0 {
		f.changed.Wait()
	}
	lines := f.lines
	f.lines, f.bytes = nil, 0
	f.changed.Broadcast()
	return lines, f.end
}

// finish says why there will be no more lines.
func (f *feed) finish(why error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.end == nil {
		f.end = why
	}
	f.changed.Broadcast()
}

// stop ends the reading and throws away what was read and not yet taken.
func (f *feed) stop() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.end == nil {
		f.end = errFeedStopped
		f.lines = nil
	}
	f.changed.Broadcast()
}

// read fills the feed from NDJSON until it ends or a line is wrong.
func (f *feed) read(input io.Reader, opt sendOptions) {
	scanner := bufio.NewScanner(input)
	scanner.Buffer(make([]byte, 64<<10), lineBytesMax)
	number := 0
	for scanner.Scan() {
		number++
		raw := scanner.Bytes()
		if number == 1 {
			raw = bytes.TrimPrefix(raw, []byte("\ufeff"))
		}
		if len(bytes.TrimSpace(raw)) == 0 && !opt.text {
			continue
		}
		l, err := parseLine(bytes.Clone(raw), opt)
		if err != nil {
			f.finish(&lineError{number: number, err: err})
			return
		}
		l.number = number
		if !f.put(l) {
			return
		}
	}
	switch err := scanner.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		f.finish(&lineError{number: number + 1, err: usagef("it is longer than %d MiB", lineBytesMax>>20)})
	case err != nil:
		f.finish(&lineError{number: number + 1, err: fmt.Errorf("read input: %w", err)})
	default:
		f.finish(errFeedEnd)
	}
}

// envelope is a line of `weir send --envelope`.
type envelope struct {
	Payload  json.RawMessage `json:"payload"`
	Key      *string         `json:"key"`
	Headers  json.RawMessage `json:"headers"`
	DelayMS  *engine.Millis  `json:"delay_ms"`
	Priority *int            `json:"priority"`
	DedupKey *string         `json:"dedup_key"`
}

// parseLine makes a message of a line.
func parseLine(raw []byte, opt sendOptions) (line, error) {
	l := line{message: engine.Outgoing{Key: opt.key, Headers: opt.headers}, options: opt.options}
	if !opt.envelope {
		payload, err := payloadOf(raw, opt.text)
		l.message.Payload = payload
		return l, err
	}
	if err := jsontext.Check(raw); err != nil {
		return l, &usageError{err: fmt.Errorf("it is not an envelope: %w", err), hint: envelopeHint}
	}
	var e envelope
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(&e)
	if err == nil && len(bytes.TrimSpace(raw[decoder.InputOffset():])) > 0 {
		err = errors.New("there is something after the object")
	}
	if err != nil {
		return l, &usageError{err: fmt.Errorf("it is not an envelope: %w", err), hint: envelopeHint}
	}
	if e.Payload == nil {
		return l, &usageError{err: errors.New("it has no payload"), hint: envelopeHint}
	}
	l.message.Payload, l.message.DedupKey = e.Payload, e.DedupKey
	if e.Key != nil {
		l.message.Key = e.Key
	}
	if e.Headers != nil && !bytes.Equal(e.Headers, []byte("null")) {
		l.message.Headers = e.Headers
	}
	if e.DelayMS != nil {
		l.options.Delay = time.Duration(*e.DelayMS)
	}
	if e.Priority != nil {
		l.options.Priority = *e.Priority
	}
	return l, nil
}

const envelopeHint = `With --envelope a line is {"payload": ..., "key": "...", "headers": {...}, ` +
	`"delay_ms": 0, "priority": 0, "dedup_key": "..."}; only payload is needed.`

// chunks cuts lines into what one call of send_batch takes: neighbours with the same options.
func chunks(lines []line) iter.Seq[[]line] {
	return func(yield func([]line) bool) {
		start := 0
		for i := 1; start < len(lines) && i <= len(lines); i++ {
			if i < len(lines) && lines[i].options == lines[start].options {
				continue
			}
			if !yield(lines[start:i]) {
				return
			}
			start = i
		}
	}
}
