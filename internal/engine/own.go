package engine

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"sync"
)

// The statements that call a queue's own function, whose name the engine tells. They take what those of the public
// functions take, but for the queue.
const (
	sqlSendBatchOwn = `select unnest({function}($1, $2, $3, $4, $5))`
	sqlReceiveOwn   = `select claim_id, n, first_id, ids, attempt, attempts, keys, payloads, headers, enqueued_at,
		enqueued_times from unnest({function}($1, $2, $3))`
	sqlReceiveManyOwn = `select (messages).n, (messages).first_id, (messages).ids, (messages).attempt,
		(messages).attempts, (messages).keys, (messages).payloads, (messages).headers, (messages).enqueued_at,
		(messages).enqueued_times, requests, claim_ids, counts
		from {function}($1, $2, $3)`
	sqlAckManyOwn = `select {function}($1, $2::text[]::int8multirange[], $3)`

	// An engine that is older has no such function; a role may have been granted less. Neither is to be an error, which
	// would end a transaction.
	sqlTellsFunctions = `select coalesce(has_function_privilege(to_regprocedure('weir.queue_function(text,text)'),
		'execute'), false)`
	sqlQueueFunction = `select weir.queue_function($1, $2)`
)

// route is a call that may go through the public function, for which it needs no more than the queue's name, or
// through the queue's own, which saves the database finding and planning it anew at each call.
type route struct {
	verb, public, own string
	takes             int // arguments of the queue's own function: those behind the queue
}

var (
	routeSendBatch   = route{"send_batch", sqlSendBatch, sqlSendBatchOwn, 5}
	routeReceive     = route{"receive", sqlReceiveRecords, sqlReceiveOwn, 3}
	routeReceiveMany = route{"receive_many", sqlReceiveMany, sqlReceiveManyOwn, 3}
	routeAckMany     = route{"ack_many", sqlAckMany, sqlAckManyOwn, 3}
)

const (
	// ownAfter is how many calls go through the public function before the name of the queue's own is asked for, which
	// costs a round trip, and the first time two: what makes few calls, as commands do, is not to pay for it.
	ownAfter = 8
	// ownMax is how many names a Client keeps at most. Each is a statement of its own, of which pgx keeps 512 a
	// connection.
	ownMax = 256
)

// ownCalls are the statements that call queues' own functions. Nothing tells when a queue is dropped or renamed; the
// call fails then, and its statement is forgotten.
type ownCalls struct {
	mu    sync.Mutex
	tells *bool // whether the engine tells the names; nil: it was not asked
	calls map[ownKey]ownCall
}

type ownKey struct{ verb, queue string }

type ownCall struct {
	text string // empty: the name was not asked for
	made int    // calls until then
}

func newOwnCalls() *ownCalls { return &ownCalls{calls: map[ownKey]ownCall{}} }

// find returns a statement that is known; ask says that it is time to ask for the name.
func (o *ownCalls) find(key ownKey) (text string, ask bool) {
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

// query is a statement with its arguments, the first of which is the queue where it calls a public function.
type query struct {
	text string
	args []any
}

// planned is a call on its way: args are those of the public function.
type planned struct {
	route *route
	args  []any
}

func (p planned) key() ownKey {
	queue, _ := p.args[0].(string)
	return ownKey{p.route.verb, queue}
}

func (p planned) public() query { return query{p.route.public, p.args} }

// ownText returns the statement that calls the queue's own function, or "" when the public one is to be called.
func (c *Client) ownText(ctx context.Context, doing string, p planned) (string, error) {
	key := p.key()
	text, ask := c.own.find(key)
	if !ask {
		return text, nil
	}
	if c.own.told() == nil {
		tells, err := one[bool](ctx, c, doing, sqlTellsFunctions)
		if err != nil {
			return "", err
		}
		if c.own.note(tells); !tells {
			return "", nil
		}
	}
	name, err := one[string](ctx, c, doing, sqlQueueFunction, key.queue, key.verb)
	if err != nil {
		return "", err
	}
	text = strings.Replace(p.route.own, "{function}", name, 1)
	c.own.keep(key, text)
	return text, nil
}

// through has calls made by run, in one transaction if they are several: through the queues' own functions where they
// are known, and again through the public ones when one of them is gone.
func (c *Client) through(ctx context.Context, doing string, run func([]query) error, calls ...planned) error {
	queries, own := make([]query, len(calls)), false
	for i, p := range calls {
		queries[i] = p.public()
		text, err := c.ownText(ctx, doing, p)
		if err != nil {
			return err
		}
		if text != "" {
			queries[i], own = query{text, p.args[1 : 1+p.route.takes]}, true
		}
	}
	err := run(queries)
	if !own || Code(err) != codeNoFunction {
		return err
	}
	for i, p := range calls {
		c.own.forget(p.key())
		queries[i] = p.public()
	}
	err = run(queries)
	if Code(err) == codeAborted {
		return wrap(doing, NewError(CodeQueueNotFound, fmt.Sprintf("there is no queue %q any more", calls[0].key().queue),
			"It was dropped or renamed, and the transaction is over."))
	}
	return err
}

// collectThrough is collect for a call that may go through the queue's own function.
func collectThrough[T any](
	ctx context.Context, c *Client, doing string, route *route, fields func(*T) []any, args ...any,
) (list []T, err error) {
	err = c.through(ctx, doing, func(q []query) (err error) {
		list, err = collect(ctx, c, doing, q[0].text, fields, q[0].args...)
		return err
	}, planned{route, args})
	return list, err
}
