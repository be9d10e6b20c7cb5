package adapter

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// What an adapter can be told to do: the op of its Command.
const (
	OpSetup = "setup" // install the system into a fresh database and make its queue
	OpServe = "serve" // run what the system needs beside its clients, until stop
	OpSend  = "send"  // send messages
	OpWork  = "work"  // receive and finish messages, until stop
)

// Command is the first line that an adapter reads: all that it has to know. Fields that do not apply are zero.
type Command struct {
	Op      string `json:"op"`
	DSN     string `json:"dsn"`
	Setting string `json:"setting"` // "default" or "best"
	Dir     string `json:"dir"`     // the adapter's own directory
	Build   string `json:"build"`   // where its install put things
	Address string `json:"address"` // what serve said

	Clients int `json:"clients"` // producers of send, workers of work
	Batch   int `json:"batch"`   // messages a call
	Bytes   int `json:"bytes"`   // length of a payload's JSON text

	First     int64   `json:"first"`   // number of the first message
	Count     int64   `json:"count"`   // messages to send; 0: until the seconds are over
	Seconds   float64 `json:"seconds"` // of sending
	Rate      float64 `json:"rate"`    // messages a second of all producers together; 0: as fast as it goes
	Window    bool    `json:"window"`  // wait for credit
	Keys      int     `json:"keys"`    // message n has the key n % keys; 0: none
	Ordered   bool    `json:"ordered"` // work in the order of the keys
	Groups    int     `json:"groups"`  // independent readers, named g0, g1, ...; 0: the system's usual one
	Group     string  `json:"group"`   // the reader that work is of
	Perpetual bool    `json:"perpetual"`
	HandlerMS int     `json:"handler_ms"` // that a handler takes
	LeaseS    int     `json:"lease_s"`    // after how long a dead worker's messages are somebody else's; 0: as it is
	Ledger    string  `json:"ledger"`     // directory for the ledgers of work
}

// Signal is every later line that an adapter reads.
type Signal struct {
	Op     string `json:"op"`     // "go", "credit" or "stop"
	At     int64  `json:"at"`     // of go: when it begins, nanoseconds of the Unix epoch
	Credit int64  `json:"credit"` // send messages below this number
}

// Event is every line that an adapter writes.
type Event struct {
	Event   string `json:"event"` // "ready", "count", "done", "cannot" or "error"
	Version string `json:"version,omitempty"`
	Address string `json:"address,omitempty"`
	Count   int64  `json:"count,omitempty"`
	Text    string `json:"text,omitempty"`
}

// Message is what a System is given to send.
type Message struct {
	N       int64
	Key     string // "" when the run has no keys
	Payload []byte // {"n":N,"v":"..."}
}

// System is what an adapter has to know. Each method belongs to one op and is called in a process of its own. A method
// that is asked for what the system does not have returns ErrCannot, wrapped.
type System interface {
	// Setup installs the system into the command's database and returns its version.
	Setup(ctx context.Context, c *Command) (version string, err error)
	// Serve runs until ctx ends what the system needs beside its clients; it calls ready with its address, or "".
	Serve(ctx context.Context, c *Command, ready func(address string)) error
	// Producer returns a function that sends one batch, for one producer of the command.
	Producer(ctx context.Context, c *Command) (send func(ctx context.Context, batch []Message) error, err error)
	// Work connects, calls ready, which returns when the work may begin, and works until ctx ends. Then it finishes
	// what it has begun and returns. Each message is reported to the ledger when its handler runs.
	Work(ctx context.Context, c *Command, l *Ledger, ready func()) error
}

// session is the conversation with the driver.
type session struct {
	out    *json.Encoder
	mu     sync.Mutex
	start  chan time.Time
	credit atomic.Int64
	stop   context.CancelFunc
}

// Run speaks with the driver until the command is done.
func Run(ctx context.Context, sys System, in io.Reader, out io.Writer) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	s := &session{out: json.NewEncoder(out), start: make(chan time.Time, 1), stop: stop}
	lines := bufio.NewScanner(in)
	var c Command
	if !lines.Scan() {
		return fmt.Errorf("%w: the input ended", ErrCommand)
	}
	if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
		return fmt.Errorf("%w: %w", ErrCommand, err)
	}
	go s.listen(lines)
	err := s.do(ctx, sys, &c)
	switch {
	case errors.Is(err, ErrCannot):
		s.say(Event{Event: "cannot", Text: err.Error()})
		return nil
	case err != nil:
		s.say(Event{Event: "error", Text: err.Error()})
	}
	return err
}

// listen takes the signals. The end of the input stops the work, so that no adapter outlives its driver.
func (s *session) listen(lines *bufio.Scanner) {
	defer s.stop()
	for lines.Scan() {
		var signal Signal
		if json.Unmarshal(lines.Bytes(), &signal) != nil {
			return
		}
		switch signal.Op {
		case "go":
			s.start <- time.Unix(0, signal.At)
		case "credit":
			s.credit.Store(signal.Credit)
		case "stop":
			return
		}
	}
}

func (s *session) say(e Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.out.Encode(e) // a driver that is gone has ended the context too
}

// begin says that all is ready and returns when the driver wants it to begin.
func (s *session) begin(ctx context.Context) time.Time {
	s.say(Event{Event: "ready"})
	select {
	case at := <-s.start:
		time.Sleep(time.Until(at))
		return at
	case <-ctx.Done():
		return time.Now()
	}
}

func (s *session) do(ctx context.Context, sys System, c *Command) error {
	switch c.Op {
	case OpSetup:
		version, err := sys.Setup(ctx, c)
		if err == nil {
			s.say(Event{Event: "done", Version: version})
		}
		return err
	case OpServe:
		err := sys.Serve(ctx, c, func(address string) { s.say(Event{Event: "ready", Address: address}) })
		if err == nil {
			s.say(Event{Event: "done"})
		}
		return err
	case OpSend:
		return s.send(ctx, sys, c)
	case OpWork:
		return s.work(ctx, sys, c)
	}
	return fmt.Errorf("%w: op %q", ErrCommand, c.Op)
}

// countEvery is how often progress is told.
const countEvery = 20 * time.Millisecond

func (s *session) work(ctx context.Context, sys System, c *Command) error {
	ledger, err := OpenLedger(c.Ledger)
	if err != nil {
		return err
	}
	told := make(chan struct{})
	go func() {
		defer close(told)
		ticker := time.NewTicker(countEvery)
		defer ticker.Stop()
		for last := int64(0); ; {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			if n := ledger.Count(); n != last {
				s.say(Event{Event: "count", Count: n})
				last = n
			}
		}
	}()
	err = sys.Work(ctx, c, ledger, func() { s.begin(ctx) })
	s.stop()
	<-told
	if err := errors.Join(err, ledger.Close()); err != nil {
		return err
	}
	s.say(Event{Event: "done", Count: ledger.Count()})
	return nil
}
