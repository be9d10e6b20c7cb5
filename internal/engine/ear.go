package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// LISTEN takes no parameters, so the channel goes through a setting of the transaction and is quoted by format.
const (
	sqlQueueChannel = `select set_config('weir.channel', weir.mark_waiting($1), true)`
	sqlChannel      = `select set_config('weir.channel', $1, true)`
	sqlListen       = `do $$ begin execute format('listen %I', current_setting('weir.channel')); end $$`
	sqlUnlisten     = `do $$ begin execute format('unlisten %I', current_setting('weir.channel')); end $$`
	sqlNotify       = `select pg_notify($1, '')`
	sqlBackend      = `select pg_backend_pid()`
)

// listenerSuffix tells the listening connection from the others in pg_stat_activity.
const listenerSuffix = " listener"

// sharedTries is how often it is tried to catch a pooler that gives sessions to others.
const sharedTries = 5

// ear is a connection that listens.
type ear struct {
	conn *pgx.Conn
	pool *Client // for what has to come from another session
}

// listenTo opens the channel of a queue and returns its name.
func (e *ear) listenTo(ctx context.Context, queue string) (string, error) {
	return e.turn(ctx, "listen to queue", sqlQueueChannel, queue, sqlListen)
}

// listen opens a channel.
func (e *ear) listen(ctx context.Context, channel string) error {
	_, err := e.turn(ctx, "listen", sqlChannel, channel, sqlListen)
	return err
}

// unlisten closes a channel.
func (e *ear) unlisten(ctx context.Context, channel string) error {
	_, err := e.turn(ctx, "unlisten", sqlChannel, channel, sqlUnlisten)
	return err
}

// turn names a channel and opens or closes it.
func (e *ear) turn(ctx context.Context, doing, name, arg, turn string) (channel string, err error) {
	ctx, cancel := context.WithTimeout(ctx, sideTimeout)
	defer cancel()
	err = New(e.conn).InTx(ctx, func(tx *Client) error {
		if channel, err = one[string](ctx, tx, doing, name, arg); err != nil {
			return err
		}
		return tx.exec(ctx, doing, turn)
	})
	return channel, err
}

// test proves that a notification from another session arrives. It does not LISTEN where a pooler hands out sessions
// by the transaction: the session would go on listening, for nobody.
func (e *ear) test(ctx context.Context) error {
	backend, err := e.backend(ctx)
	if err != nil {
		return err
	}
	// A pooler makes up the process id that it gives its clients, to know them by when they cancel.
	if backend != e.conn.PgConn().PID() {
		shared, err := e.shared(ctx, backend)
		if err != nil {
			return err
		}
		if shared {
			return errSharedSession
		}
	}
	channel := fmt.Sprintf("weir listener %d", backend)
	if err := e.listen(ctx, channel); err != nil {
		return err
	}
	if err := e.pool.exec(ctx, "notify", sqlNotify, channel); err != nil {
		return err
	}
	waiting, cancel := context.WithTimeout(ctx, sideTimeout)
	defer cancel()
	if _, err := e.conn.WaitForNotification(waiting); err != nil {
		if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
			return errNothingHeard
		}
		return wrap("wait for notification", err)
	}
	return e.unlisten(ctx, channel)
}

// backend returns the process that serves the connection.
func (e *ear) backend(ctx context.Context) (uint32, error) {
	ctx, cancel := context.WithTimeout(ctx, sideTimeout)
	defer cancel()
	return one[uint32](ctx, New(e.conn), "look at session", sqlBackend)
}

// shared reports whether the session is given to others between transactions: one of the pool's transactions gets it,
// or this connection gets another, beside such a transaction or after it. Both are tried, because a pooler that hands
// out first what it got back last may give each the same session again and again.
func (e *ear) shared(ctx context.Context, backend uint32) (shared bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, sideTimeout)
	defer cancel()
	look := func() error {
		now, err := e.backend(ctx)
		shared = shared || err == nil && now != backend
		return err
	}
	for try := 0; try < sharedTries && err == nil && !shared; try++ {
		err = e.pool.InTx(ctx, func(tx *Client) error {
			other, err := one[uint32](ctx, tx, "look at session", sqlBackend)
			if err != nil || other == backend {
				shared = other == backend
				return err
			}
			return look()
		})
		if err == nil && !shared {
			err = look()
		}
	}
	return shared, err
}
