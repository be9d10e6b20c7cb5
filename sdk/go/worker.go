package weir

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// Handler works on one message. What it returns decides: nil acks the message, [RetryAfter] delivers it again after a
// time, [Reject] makes it a dead letter, any other error or a panic delivers it again after the group's backoff.
type Handler[T any] func(ctx context.Context, m *Message[T]) error

// Middleware wraps the handler of every message, for logging, tracing and metrics. The first of a list is outermost.
type Middleware func(next Handler[json.RawMessage]) Handler[json.RawMessage]

// WorkerOptions are the settings of a worker. The zero value of a field means what it says.
type WorkerOptions struct {
	Group       string // DefaultGroup
	Concurrency int    // handlers that run at once: 10
	// Prefetch is how many messages are held at most, running ones included: 10,000, or twice Concurrency where that is
	// more. A worker holds as many as its handlers work off in a tenth of a second, up to 32 MiB, and twice its
	// Concurrency at least. Of an ordered group up to twice as many are, while there are fewer keys among them than
	// handlers.
	Prefetch int
	// Cooldown is the least time between the begins of two acks, unless other messages may wait for one, and of two
	// fetches while so many messages come that each then serves sixteen and more: 5 ms. Below 0: none. Acks of an ordered
	// group have none. An ack waits so long at most for the others of its claim, unless other messages wait for it.
	Cooldown    time.Duration
	Lease       time.Duration // of a claim, renewed while its messages are held: 30 seconds
	Timeout     time.Duration // of one handler: none
	StopTimeout time.Duration // how long handlers may take to end once ctx of Run has ended: 30 seconds
	NoUpkeep    bool          // true: do not call Maintain about once a second
	Middleware  []Middleware
	// OnError is told of handlers that failed, with their message, and of calls that failed, with nil. By default the
	// Logger is. It must not block.
	OnError func(m *RawMessage, err error)
	Logger  *slog.Logger // slog.Default()
}

// Worker claims messages of a queue and runs a handler for each. Make one with NewWorker.
type Worker struct {
	client   *Client
	own      *Client // with connections of its own: handlers that use up the pool must not keep it from renewing
	fetching *Client // with one connection, whose plans are made: a receive takes several times as long on a new one
	queue    string
	handle   Handler[json.RawMessage]
	opt      WorkerOptions

	began    sync.Once
	stopping chan struct{} // closed: claim no more
	stopOnce sync.Once
	hard     context.CancelCauseFunc // cancels the handlers
	handlers context.Context         // what their contexts come from
	done     chan struct{}           // closed when Run has returned

	room   chan struct{} // told when there is room for more messages
	result chan struct{} // told when there is something to settle
	part   chan struct{} // told when a claim has its first ack
	hurry  chan struct{} // told when the fetches, a stop or other messages wait for that
	empty  chan struct{} // told when no message is held any more

	mu      sync.Mutex
	more    *sync.Cond // told when the line gets longer, or is closed
	line    []*task    // what handlers begin with next
	closed  bool       // no more comes into the line
	jobs    bool       // some may be cancelled
	ordered bool
	limited bool // the group has a ConcurrencyMax
	// attempts is how often a message is delivered at most.
	attempts int
	claims   map[int64]*claim
	held     int // messages between receive and settlement
	pace     pace
	cool     cooldown
	health   Health

	partWait  time.Duration // of acks for the rest of their claim
	unitsLeft int           // of an ordered group: units that have not run to their end
}

// Health is how a worker is.
type Health struct {
	Running     bool      // between the begin and the end of Run
	LastReceive time.Time // when a receive last succeeded, with or without messages
	Held        int       // messages claimed and not settled yet
	Busy        int       // handlers that run
	Err         error     // of the last call that failed; nil once one has succeeded
}

// NewWorker returns a worker for a queue. A message whose payload does not fit T becomes a dead letter.
func NewWorker[T any](c *Client, queue string, handle Handler[T], opts ...WorkerOptions) *Worker {
	w := &Worker{
		client: c, queue: queue, claims: map[int64]*claim{}, stopping: make(chan struct{}), done: make(chan struct{}),
		room: make(chan struct{}, 1), result: make(chan struct{}, 1), hurry: make(chan struct{}, 1),
		empty: make(chan struct{}, 1), part: make(chan struct{}, 1),
		handle: func(ctx context.Context, raw *RawMessage) error {
			m, err := Decode[T](raw)
			if err != nil {
				return Reject(err)
			}
			return handle(ctx, m)
		},
	}
	if len(opts) > 0 {
		w.opt = opts[0]
	}
	w.opt.setDefaults()
	w.pace, w.cool = newPace(w.opt), newCooldown(w.opt)
	w.partWait = w.cool.time
	for i := len(w.opt.Middleware) - 1; i >= 0; i-- {
		w.handle = w.opt.Middleware[i](w.handle)
	}
	w.more = sync.NewCond(&w.mu)
	w.handlers, w.hard = context.WithCancelCause(context.Background())
	return w
}

func (o *WorkerOptions) setDefaults() {
	if o.Group == "" {
		o.Group = DefaultGroup
	}
	if o.Concurrency <= 0 {
		o.Concurrency = 10
	}
	if o.Lease <= 0 {
		o.Lease = 30 * time.Second
	}
	if o.StopTimeout <= 0 {
		o.StopTimeout = 30 * time.Second
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
}

// ownConnections is how many connections a worker has beside its client's pool and the one that receives: it settles,
// renews and maintains at the same time.
const ownConnections = 3

// Run works until ctx ends or Stop is called, and returns when all is settled. It waits for a database that is down,
// also at the beginning. It returns an error only when it cannot begin, as with a queue that is not there or a password
// that is wrong. Handlers do not see ctx end: they have StopTimeout to finish first.
func (w *Worker) Run(ctx context.Context) error {
	first := false
	w.began.Do(func() { first = true })
	if !first {
		return fmt.Errorf("run worker: %w", ErrRunning)
	}
	defer close(w.done)
	defer w.hard(ErrStopped)
	calls := context.WithoutCancel(ctx)
	own, end, err := w.client.beside(calls, ownConnections)
	if err != nil {
		return err
	}
	defer end()
	fetching, end, err := w.client.beside(calls, 1)
	if err != nil {
		return err
	}
	defer end()
	w.own, w.fetching = own, fetching
	if err := w.begin(ctx); err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() {
		w.softStop()
		pause(w.handlers, nil, w.opt.StopTimeout)
		w.hard(ErrStopped)
	})()

	background, endBackground := context.WithCancel(calls)
	defer endBackground()
	var running, keeping sync.WaitGroup
	keeping.Go(func() { w.settleAll(background) })
	keeping.Go(func() { w.renewAll(background) })
	if !w.opt.NoUpkeep {
		keeping.Go(func() { w.maintainAll(background) })
	}
	for range w.opt.Concurrency {
		running.Go(func() { w.work(calls) })
	}
	err = w.fetchAll(calls)
	w.close()
	running.Wait()
	w.waitSettled()
	endBackground()
	keeping.Wait()
	w.note(func(h *Health) { h.Running = false })
	return err
}

// begin asks the engine about the group, which also tells whether it is there and may be read; as often as it takes
// while nobody answers.
func (w *Worker) begin(ctx context.Context) error {
	select {
	case <-w.stopping:
		return fmt.Errorf("run worker: %w", ErrRunning)
	default:
	}
	groups, err := w.client.ListGroups(ctx, w.queue)
	for delay := retryDelayMin; Retryable(err) && !w.stopped(); delay = min(2*delay, retryDelayMax) {
		w.called(err)
		pause(ctx, w.stopping, jitter(delay))
		groups, err = w.client.ListGroups(ctx, w.queue)
	}
	if err != nil {
		return err
	}
	for _, g := range groups {
		if g.Group == w.opt.Group {
			w.mu.Lock()
			w.ordered, w.limited, w.health.Running = g.Ordered, g.ConcurrencyMax > 0, true
			w.attempts = g.MaxAttempts
			w.mu.Unlock()
			return nil
		}
	}
	return &Error{
		Code: ErrGroupNotFound.Code, Name: ErrGroupNotFound.Name,
		Message: fmt.Sprintf("queue %q has no group %q", w.queue, w.opt.Group), Hint: "Create it with CreateGroup.",
	}
}

// softStop ends the claiming.
func (w *Worker) softStop() {
	w.stopOnce.Do(func() {
		close(w.stopping)
		signal(w.hurry)
	})
}

// Stop has the worker claim no more, gives back what has not begun, lets handlers end and returns when Run has. When
// ctx ends first, it cancels the handlers and gives their messages back, too; it still waits for them to return.
func (w *Worker) Stop(ctx context.Context) error {
	w.softStop()
	started := true
	w.began.Do(func() { started = false; close(w.done) })
	if !started {
		return nil
	}
	select {
	case <-w.done:
		return nil
	case <-ctx.Done():
		w.hard(ErrStopped)
	}
	<-w.done
	return nil
}

// Health returns how the worker is.
func (w *Worker) Health() Health {
	w.mu.Lock()
	defer w.mu.Unlock()
	h := w.health
	h.Held = w.held
	return h
}

// note changes the health.
func (w *Worker) note(change func(*Health)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change(&w.health)
}

// called notes how a call went.
func (w *Worker) called(err error) {
	w.note(func(h *Health) { h.Err = err })
	if err != nil {
		w.failed(nil, err)
	}
}

// failed reports an error.
func (w *Worker) failed(m *RawMessage, err error) {
	switch {
	case w.opt.OnError != nil:
		w.opt.OnError(m, err)
	case m != nil:
		w.logFailed(m, err)
	default:
		w.opt.Logger.Warn("worker has trouble", "queue", w.queue, "group", w.opt.Group, "error", err)
	}
}

// logFailed says what failed and what becomes of the message.
func (w *Worker) logFailed(m *RawMessage, err error) {
	w.mu.Lock()
	attempts := w.attempts
	w.mu.Unlock()
	level, next := slog.LevelWarn, "delivered again after the group's backoff"
	switch r := resultOf(err); {
	case r.verb == reject || attempts > 0 && m.Attempt >= attempts:
		level, next = slog.LevelError, "a dead letter"
	case errors.Is(err, ErrStopped):
		next = "delivered again at once"
	case r.delay != nil:
		next = "delivered again after " + r.delay.String()
	}
	w.opt.Logger.Log(context.Background(), level, "message failed", "queue", w.queue, "group", w.opt.Group, "id", m.ID,
		"attempt", m.Attempt, "max_attempts", attempts, "next", next, "error", err)
}

// stopped reports whether the worker was told to stop.
func (w *Worker) stopped() bool {
	select {
	case <-w.stopping:
		return true
	default:
		return false
	}
}

// signal tells a goroutine that there is something to do, without waiting for it.
func signal(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}

const (
	upkeepEvery  = time.Second
	upkeepFailed = 30 * time.Second
)

// maintainAll calls the engine's upkeep about once a second until ctx ends.
func (w *Worker) maintainAll(ctx context.Context) {
	for every := upkeepEvery; ; {
		pause(ctx, nil, jitter(every))
		if ctx.Err() != nil {
			return
		}
		if !w.client.keep.turn() {
			continue
		}
		every = upkeepEvery
		if _, err := w.own.Maintain(ctx, upkeepEvery/2); err != nil && !errors.Is(err, context.Canceled) {
			every = upkeepFailed // a role without the right to, for one: somebody else does it
			w.failed(nil, err)
		}
	}
}
