package weir

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// LISTEN takes no parameters, so the channel goes through a setting of the transaction and is quoted by format.
const (
	sqlBackend     = `select pg_backend_pid()`
	sqlMarkWaiting = `select weir.mark_waiting($1::text)`
	sqlQuiet       = `select pg_snapshot_xmin(s) = pg_snapshot_xmax(s) from pg_current_snapshot() s`
	sqlMarkChannel = `select set_config('weir.channel', weir.mark_waiting($1::text), true)`
	sqlListen      = `do $$ begin execute format('listen %I', current_setting('weir.channel')); end $$`
)

const (
	stepMin     = 2 * time.Millisecond   // the first wait of any kind
	stepMax     = 250 * time.Millisecond // what notifies nobody, such as a retry that becomes due, is found by then
	behindMax   = 8 * time.Millisecond   // for which a queue is left to others: they may have no room
	earRetryMin = time.Second
	earRetryMax = 30 * time.Second
	sideTimeout = 5 * time.Second // of calls that only serve the waiting
)

// ear hears that queues got messages, for all who wait in one client. It has a connection of its own, opened when
// somebody first waits. While there is none, because it broke or because a pooler stands between, nothing is heard
// and those who wait look again and again, as the steps of a waiter say.
type ear struct {
	pool *pgxpool.Pool

	ctx   context.Context
	stop  context.CancelFunc
	ended sync.WaitGroup

	mu        sync.Mutex
	started   bool
	topics    map[string]*topic  // by queue
	interrupt context.CancelFunc // ends the connection's wait, so that it listens to a new topic
}

// topic is a queue that somebody waits for.
type topic struct {
	channel string        // "" until the connection listens
	failed  time.Time     // when listening last failed
	woken   chan struct{} // closed by the next notification
}

func newEar(pool *pgxpool.Pool) *ear {
	e := &ear{pool: pool, topics: map[string]*topic{}}
	e.ctx, e.stop = context.WithCancel(context.Background())
	return e
}

// close ends the connection.
func (e *ear) close() {
	if e == nil {
		return
	}
	e.mu.Lock()
	e.stop()
	e.mu.Unlock()
	e.ended.Wait()
}

// arm marks the queue, so that the next send notifies, and returns what that closes; nil when it would not be heard.
// The caller looks for messages once more before it waits.
func (e *ear) arm(ctx context.Context, queue string) <-chan struct{} {
	woken := e.topic(queue)
	if woken == nil {
		return nil
	}
	// A caller that leaves does not break off the call: the connection would be lost with it.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sideTimeout)
	defer cancel()
	if _, err := e.pool.Exec(ctx, sqlMarkWaiting, queue); err != nil {
		return nil
	}
	return woken
}

// quiet reports whether nobody in the cluster is writing. Then whoever sends from now on sees a mark that stands, and
// what was sent before it is there to be received.
func (e *ear) quiet(ctx context.Context) (yes bool) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sideTimeout)
	defer cancel()
	return e.pool.QueryRow(ctx, sqlQuiet).Scan(&yes) == nil && yes
}

// topic returns what the next notification for a queue closes, and has the connection listen for it if it does not.
func (e *ear) topic(queue string) <-chan struct{} {
	if e == nil {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.ctx.Err() != nil {
		return nil
	}
	t := e.topics[queue]
	if t == nil {
		t = &topic{woken: make(chan struct{})}
		e.topics[queue] = t
		if e.interrupt != nil {
			e.interrupt()
		}
	}
	if !e.started {
		e.started = true
		e.ended.Go(e.run)
	}
	if t.channel == "" {
		return nil
	}
	return t.woken
}

// run keeps a connection that listens.
func (e *ear) run() {
	for retry := earRetryMin; e.ctx.Err() == nil; retry = min(2*retry, earRetryMax) {
		err := e.session(func() { retry = earRetryMin })
		e.mu.Lock()
		for _, t := range e.topics {
			t.channel = ""
		}
		e.mu.Unlock()
		if errors.Is(err, errPooler) {
			retry = earRetryMax
		}
		pause(e.ctx, nil, jitter(retry))
	}
}

// session opens the connection and hands on what it hears, until it fails. It calls ready when it hears.
func (e *ear) session(ready func()) error {
	conn, err := pgx.ConnectConfig(e.ctx, e.pool.Config().ConnConfig.Copy())
	if err != nil {
		return err
	}
	defer func() {
		end, cancel := context.WithTimeout(context.WithoutCancel(e.ctx), sideTimeout)
		defer cancel()
		_ = conn.Close(end) // it is of no use any more, whatever the server says
	}()
	// Behind a pooler one must not LISTEN: the session would go on listening, for whoever gets it next.
	if err := direct(e.ctx, conn); err != nil {
		return err
	}
	ready()
	for {
		if err := e.follow(conn); err != nil {
			return err
		}
		if err := e.hear(conn); err != nil {
			return err
		}
	}
}

// direct fails with errPooler where a pooler stands between, which makes up the process id that it gives its clients,
// to know them by when they cancel.
func direct(ctx context.Context, conn *pgx.Conn) error {
	var backend uint32
	if err := conn.QueryRow(ctx, sqlBackend, pgx.QueryExecModeSimpleProtocol).Scan(&backend); err != nil {
		return err
	}
	if backend != conn.PgConn().PID() {
		return errPooler
	}
	return nil
}

// follow listens to the queues that somebody waits for and the connection does not hear yet.
func (e *ear) follow(conn *pgx.Conn) error {
	e.mu.Lock()
	wanted := map[string]*topic{}
	for queue, t := range e.topics {
		if t.channel == "" && time.Since(t.failed) > earRetryMin {
			wanted[queue] = t
		}
	}
	e.mu.Unlock()
	for queue, t := range wanted {
		channel, err := e.listen(conn, queue)
		if err != nil && conn.IsClosed() {
			return err
		}
		e.mu.Lock()
		if t.channel = channel; err != nil {
			t.failed = time.Now() // as for a queue that is not there yet: the receive says so
		}
		e.mu.Unlock()
	}
	return nil
}

// listen opens the channel of one queue.
func (e *ear) listen(conn *pgx.Conn, queue string) (channel string, err error) {
	ctx, cancel := context.WithTimeout(e.ctx, sideTimeout)
	defer cancel()
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if err := tx.QueryRow(ctx, sqlMarkChannel, queue).Scan(&channel); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, sqlListen)
		return err
	})
	if err != nil {
		return "", err
	}
	return channel, nil
}

// hear waits for one notification and wakes those it is for. It ends early when there is a new topic.
func (e *ear) hear(conn *pgx.Conn) error {
	e.mu.Lock()
	waiting, cancel := context.WithTimeout(e.ctx, earRetryMax)
	defer cancel()
	for _, t := range e.topics {
		if t.channel == "" && t.failed.IsZero() {
			e.mu.Unlock()
			return nil // it came after follow had looked
		}
	}
	e.interrupt = cancel
	e.mu.Unlock()
	n, err := conn.WaitForNotification(waiting)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.interrupt = nil
	if err != nil {
		if waiting.Err() != nil && e.ctx.Err() == nil && !conn.IsClosed() {
			return nil
		}
		return err
	}
	for _, t := range e.topics {
		if t.channel == n.Channel {
			close(t.woken)
			t.woken = make(chan struct{})
		}
	}
	return nil
}

// waiter is one consumer's waiting. After a receive that got nothing it calls wait and receives again; after one that
// got something it calls found.
type waiter struct {
	ear    *ear
	queue  string
	step   time.Duration
	woken  <-chan struct{} // closed by the next send; nil while none would
	told   bool            // the last wait ended with a notification: most likely one message is there
	rare   bool            // a notification told of what was found last: messages come one by one
	behind time.Duration   // how long it left the queue to others when last they were quicker
}

// found notes that the consumer got something.
func (w *waiter) found() {
	w.rare = w.told
	w.told, w.step, w.woken, w.behind = false, 0, nil, 0
}

// wait returns when the consumer should look again, after most at the latest. First the queue is marked, and the
// consumer looks at once, for what came before the mark. From then on it waits for the notification, in steps that
// grow: a send that was under way when the mark was set may not have seen it. Once nobody is writing, there is no such
// send any more. Who was told of a message that another got leaves the queue to the others for a while, without a mark:
// of many consumers only as many are told of each message as are needed for those that come.
func (w *waiter) wait(ctx context.Context, most time.Duration) {
	if w.told {
		w.told = false
		w.behind = min(max(2*w.behind, stepMin), behindMax)
		pause(ctx, nil, min(most, jitter(w.behind)))
		return
	}
	if w.woken == nil {
		w.step = max(w.step, stepMin)
		if w.woken = w.ear.arm(ctx, w.queue); w.woken != nil {
			w.step = stepMin
			return
		}
	}
	if pause(ctx, w.woken, min(most, jitter(w.step))) {
		w.told, w.step, w.woken = true, 0, nil
		return
	}
	w.step = min(2*w.step, stepMax)
	switch {
	case w.woken == nil:
	case w.step == stepMax:
		w.woken = w.ear.arm(ctx, w.queue) // the mark may be gone with a send that was rolled back
	case w.ear.quiet(ctx):
		w.step = stepMax
	}
}

// jitter shortens a time by chance, by a quarter at most, so that clients do not act all at once.
func jitter(d time.Duration) time.Duration { return d*3/4 + rand.N(d/4+1) }

// pause waits for a time, for the context to end or for a channel to close, and reports whether the channel did.
func pause(ctx context.Context, woken <-chan struct{}, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-woken:
		return true
	case <-timer.C:
	case <-ctx.Done():
	}
	return false
}
