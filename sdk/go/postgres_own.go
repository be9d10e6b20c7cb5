package weir

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
)

// The statements that call a queue's own function, whose name the engine tells. They take what those of the public
// functions take, but for the queue.
const (
	sqlSendOwn = `select {function}($1::text::jsonb, $2::text, $3::text::jsonb, $4::text::interval, null)`

	sqlSendBatchOwn = `select {function}($1::text[]::jsonb[], $2::text[], $3::text[]::jsonb[],
		$4::text::interval, null)`
	sqlReceiveOwn = `select claim_id, n, first_id, ids, attempt, attempts, keys, payloads, headers, enqueued_at,
		enqueued_times from unnest({function}($1::text, $2::int, $3::text::interval))`
	sqlAckOwn = `select {function}(c, i::bigint[]) from unnest($1::bigint[], $2::text[]) as t (c, i)`

	// An engine that is older has no such function; a role may have been granted less. Neither is to be an error, which
	// would end the caller's transaction.
	sqlTellsFunctions = `select coalesce(has_function_privilege(to_regprocedure('weir.queue_function(text,text)'),
		'execute'), false)`
	sqlQueueFunction = `select weir.queue_function($1::text, $2::text)`
)

// call is a call that may go through the public function, for which it needs no more than the queue's name, or through
// the queue's own, which saves the database finding and planning it anew at each call.
type call struct{ verb, public, own string }

var (
	callSend      = call{"send", sqlSend, sqlSendOwn}
	callSendBatch = call{"send_batch", sqlSendBatch, sqlSendBatchOwn}
	callReceive   = call{"receive", sqlReceiveRecords, sqlReceiveOwn}
	callAck       = call{"ack", sqlAck, sqlAckOwn}
)

const (
	// ownAfter is how many calls go through the public function before the name of the queue's own is asked for, which
	// costs a round trip, and the first time two: a program that makes few calls is not to pay for it.
	ownAfter = 8
	// ownMax is how many names a client keeps at most. Each is a statement of its own that drivers keep, too; pgx keeps
	// 512 a connection.
	ownMax = 256
)

// ownCalls are the statements that call queues' own functions. Nothing tells when a queue is dropped or renamed; the
// call fails then, and its statement is forgotten.
type ownCalls struct {
	mu    sync.Mutex
	tells *bool // whether the engine tells the names; nil: it was not asked
	calls map[ownKey]ownCall
}

type ownKey struct {
	call  *call
	queue string
}

type ownCall struct {
	text string // empty: the name was not asked for
	made int    // calls until then
}

func newOwnCalls() *ownCalls { return &ownCalls{calls: map[ownKey]ownCall{}} }

// own returns what the client knows of queues' own functions; nil over HTTP.
func (c *Client) own() *ownCalls {
	if p, ok := c.b.(*postgres); ok {
		return p.own
	}
	return nil
}

// find returns a statement that is known; ask says that it is time to ask for the name.
func (o *ownCalls) find(key ownKey) (text string, ask bool) {
	if o == nil {
		return "", false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	found, there := o.calls[key]
	if found.text != "" || o.tells != nil && !*o.tells {
		return found.text, false
	}
	if !there && len(o.calls) >= ownMax { // names that were called a few times make room, also those of no queue
		maps.DeleteFunc(o.calls, func(_ ownKey, c ownCall) bool { return c.text == "" })
		if len(o.calls) >= ownMax {
			return "", false
		}
	}
	found.made++
	o.calls[key] = found
	return "", found.made > ownAfter
}

// expect has the name asked for at the next call: there will be many.
func (o *ownCalls) expect(key ownKey) {
	if o == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, there := o.calls[key]; !there && len(o.calls) < ownMax {
		o.calls[key] = ownCall{made: ownAfter}
	}
}

// keep notes a statement.
func (o *ownCalls) keep(key ownKey, text string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.calls[key] = ownCall{text: text}
}

// forget has the name asked for anew, later.
func (o *ownCalls) forget(key ownKey) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.calls, key)
}

// told returns whether the engine tells the names, where that is known.
func (o *ownCalls) told() *bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.tells
}

func (o *ownCalls) note(tells bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.tells = &tells
}

// statement returns the statement that calls a queue's own function, or "" when the public one is to be called.
func (p *postgres) statement(ctx context.Context, doing string, key ownKey) (string, error) {
	text, ask := p.own.find(key)
	if !ask {
		return text, nil
	}
	if p.own.told() == nil {
		tells, err := one[bool](ctx, p, doing, sqlTellsFunctions)
		if err != nil {
			return "", err
		}
		if p.own.note(tells); !tells {
			return "", nil
		}
	}
	name, err := one[string](ctx, p, doing, sqlQueueFunction, key.queue, key.call.verb)
	if err != nil {
		return "", err
	}
	text = strings.Replace(key.call.own, "{function}", name, 1)
	p.own.keep(key, text)
	return text, nil
}

// collectOwn is collect for a call that may go through the queue's own function.
func collectOwn[T any](
	ctx context.Context, p *postgres, doing string, call *call, fields func(*T) []any, queue string, args ...any,
) ([]T, error) {
	key := ownKey{call, queue}
	text, err := p.statement(ctx, doing, key)
	if err != nil {
		return nil, err
	}
	if text != "" {
		all, err := collect(ctx, p, doing, text, fields, args...)
		if sqlState(err) != codeUndefinedFunction {
			return all, err
		}
		p.own.forget(key)
	}
	all, err := collect(ctx, p, doing, call.public, fields, append([]any{queue}, args...)...)
	if text != "" && sqlState(err) == codeAbortedTransaction {
		return nil, wrap(doing, &Error{
			Code: ErrQueueNotFound.Code, Name: ErrQueueNotFound.Name, cause: err, reported: true,
			Message: fmt.Sprintf("there is no queue %q any more", queue),
			Hint:    "It was dropped or renamed, and the transaction is over.",
		})
	}
	return all, err
}

// listOwn is list for a call that may go through the queue's own function.
func listOwn[T any](
	ctx context.Context, p *postgres, doing string, call *call, queue string, args ...any,
) ([]T, error) {
	return collectOwn(ctx, p, doing, call, func(v *T) []any { return []any{v} }, queue, args...)
}

// sqlState is what the database itself gave as SQLSTATE of err; "" when it gave none.
func sqlState(err error) string {
	var reported interface{ SQLState() string }
	if errors.As(err, &reported) {
		return reported.SQLState()
	}
	return ""
}
