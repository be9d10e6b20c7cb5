package engine

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

const sqlMarkWaiting = `select weir.mark_waiting($1)`

// MarkWaiting says that the caller is about to wait for messages of a queue, and returns the channel that the next
// send notifies.
func (c *Client) MarkWaiting(ctx context.Context, queue string) (string, error) {
	return one[string](ctx, c, "mark waiting", sqlMarkWaiting, queue)
}

const (
	// retryMin and retryMax are the time from a listening connection that ended to the next one.
	retryMin = time.Second
	retryMax = 30 * time.Second
	// unusedMax is how long the channel of a queue stays open when nobody waits.
	unusedMax = time.Minute
	// sideTimeout bounds the calls that only serve the waiting, so that they do not hold up the receiving for long.
	sideTimeout = 5 * time.Second
)

// Listener tells those who wait in this process that a queue got messages. All share one connection, which is opened
// when somebody first waits and is none of the pool's. While it cannot be had, or a pooler stands between that hands
// every transaction another session, waiting means looking again and again; the log says so once.
//
// A nil Listener is ready to use and never hears anything.
type Listener struct {
	client *Client
	log    *slog.Logger
	counts counters

	ctx   context.Context
	stop  context.CancelFunc
	ended sync.WaitGroup // the goroutine that has the connection

	mu        sync.Mutex
	started   bool
	topics    map[string]*topic  // by queue
	asked     bool               // topics were added or have to be tried again
	interrupt context.CancelFunc // ends the connection's wait, while it waits
}

// topic is a queue that somebody waits for.
type topic struct {
	channel string        // that the connection listens on; "" while it does not
	woken   chan struct{} // closed by the next notification
	marked  time.Time     // when the mark was last set; zero when it is known to be gone
	marking bool          // somebody is setting it
	used    time.Time     // when somebody last waited
	retry   time.Time     // not before this after a failure
}

// NewListener returns a Listener that listens in the database of a client made by Open. For any other client it only
// looks again and again.
func NewListener(c *Client, log *slog.Logger) *Listener {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	l := &Listener{client: c, log: log, topics: map[string]*topic{}}
	l.ctx, l.stop = context.WithCancel(context.Background())
	return l
}

// Close ends the connection and returns when it is gone. Those who wait go on without it.
func (l *Listener) Close() {
	if l == nil {
		return
	}
	l.mu.Lock()
	l.stop()
	l.mu.Unlock()
	l.ended.Wait()
}

// arm makes sure that the next send to a queue will wake the caller, and returns what that send closes: nil when it
// cannot be had now. The caller looks for messages after arm and before it waits.
func (l *Listener) arm(ctx context.Context, queue string) <-chan struct{} {
	if l == nil || l.client == nil || l.client.pool == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ctx.Err() != nil {
		return nil
	}
	now := time.Now()
	t := l.topics[queue]
	if t == nil {
		t = &topic{woken: make(chan struct{})}
		l.topics[queue] = t
	}
	t.used = now
	switch {
	case t.retry.After(now):
		return nil
	case t.channel == "":
		l.ask()
		return nil
	case now.Sub(t.marked) < stepMax:
		return t.woken
	case t.marking && t.marked.IsZero():
		return nil
	case t.marking:
		return t.woken // the mark before still stands, unless a send took it and was rolled back
	}
	return l.mark(ctx, queue, t)
}

// mark sets the mark of a topic. It is called and returns with the lock held, which it gives up meanwhile: a
// notification that comes before the answer means that the mark is gone again.
func (l *Listener) mark(ctx context.Context, queue string, t *topic) <-chan struct{} {
	woken := t.woken
	t.marking = true
	l.mu.Unlock()
	// The call goes on without a caller that leaves, because the connection would be lost with it.
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), sideTimeout)
	_, err := l.client.MarkWaiting(call, queue)
	cancel()
	l.counts.marks.Add(1)
	l.mu.Lock()
	t.marking = false
	if err != nil {
		l.fail(queue, t, err)
		return nil
	}
	t.retry = time.Time{}
	if t.woken == woken {
		t.marked = time.Now()
	}
	return woken
}

// fail leaves a topic alone for a while and reports what will not pass by itself. A queue that is not there needs no
// report: the receive makes one. The lock is held.
func (l *Listener) fail(queue string, t *topic, err error) {
	t.marked = time.Time{}
	if passing(err) {
		t.retry = time.Now().Add(retryMin)
		return
	}
	if t.retry.IsZero() && Code(err) != CodeQueueNotFound {
		l.log.Warn("cannot be told of messages, will look for them", "queue", queue, "every_max", stepMax, "error", err)
	}
	t.retry = time.Now().Add(retryMax)
}

// ask has the connection look at the topics, and opens it for the first of them. The lock is held.
func (l *Listener) ask() {
	l.asked = true
	if l.interrupt != nil {
		l.interrupt()
	}
	if !l.started {
		l.started = true
		l.ended.Go(func() { l.run(l.ctx) })
	}
}

// run keeps a listening connection until ctx ends.
func (l *Listener) run(ctx context.Context) {
	reported := false
	for retry := retryMin; ctx.Err() == nil; retry = min(2*retry, retryMax) {
		err := l.session(ctx, func() {
			retry = retryMin
			if reported {
				l.log.Info("told of messages again")
				reported = false
			}
		})
		l.deaf()
		if ctx.Err() == nil && !reported {
			l.log.Warn("cannot be told of messages, will look for them", "every_max", stepMax, "error", err)
			reported = true
		}
		idle(ctx, nil, retry*3/4+rand.N(retry/2))
	}
}

// session opens the connection and hands on what it hears, until it fails. It calls ready when it hears.
func (l *Listener) session(ctx context.Context, ready func()) error {
	cfg := l.client.pool.Config().ConnConfig.Copy()
	cfg.RuntimeParams["application_name"] = strings.TrimSpace(cfg.RuntimeParams["application_name"] + listenerSuffix)
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return convert(err)
	}
	defer func() {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), sideTimeout)
		defer cancel()
		_ = conn.Close(end) // it is of no use any more, whatever the server says
	}()
	e := &ear{conn: conn, pool: l.client}
	if err := e.test(ctx); err != nil {
		return err
	}
	ready()
	for {
		if err := l.follow(ctx, e); err != nil {
			return err
		}
		if err := l.hear(ctx, e); err != nil {
			return err
		}
	}
}

// follow opens the channels of new topics, and closes those that nobody uses any more. Queues may share a channel.
func (l *Listener) follow(ctx context.Context, e *ear) error {
	now := time.Now()
	var opened []string
	closed := map[string]bool{}
	l.mu.Lock()
	for queue, t := range l.topics {
		switch {
		case now.Sub(t.used) > unusedMax:
			if t.channel != "" {
				closed[t.channel] = true
			}
			delete(l.topics, queue)
		case t.channel == "" && !t.retry.After(now):
			opened = append(opened, queue)
		}
	}
	for _, t := range l.topics {
		delete(closed, t.channel)
	}
	l.mu.Unlock()
	for channel := range closed {
		if err := e.unlisten(ctx, channel); err != nil {
			return err
		}
	}
	for _, queue := range opened {
		channel, err := e.listenTo(ctx, queue)
		if err != nil && e.conn.IsClosed() {
			return err
		}
		l.mu.Lock()
		if t := l.topics[queue]; err == nil {
			t.channel, t.retry = channel, time.Time{}
		} else {
			l.fail(queue, t, err)
		}
		l.mu.Unlock()
	}
	return nil
}

// hear waits for a notification and wakes those it is for. It returns early when topics are new or may be unused.
func (l *Listener) hear(ctx context.Context, e *ear) error {
	waiting, cancel := context.WithTimeout(ctx, unusedMax)
	defer cancel()
	l.mu.Lock()
	if l.asked {
		l.asked = false
		l.mu.Unlock()
		return nil
	}
	l.interrupt = cancel
	l.mu.Unlock()
	n, err := e.conn.WaitForNotification(waiting)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.interrupt = nil
	if err != nil {
		if waiting.Err() != nil && ctx.Err() == nil && !e.conn.IsClosed() {
			return nil
		}
		return wrap("wait for notification", err)
	}
	for _, t := range l.topics {
		if t.channel == n.Channel {
			close(t.woken)
			t.woken, t.marked = make(chan struct{}), time.Time{}
		}
	}
	return nil
}

// deaf notes that the connection is gone. Those who wait find out at their next step.
func (l *Listener) deaf() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, t := range l.topics {
		t.channel, t.marked = "", time.Time{}
	}
}
