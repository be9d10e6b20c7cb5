package weir

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Client calls the engine's functions, over PostgreSQL or over HTTP. It is safe for concurrent use, unless it was made
// of a single connection or transaction.
//
// Concurrent calls share statements: of those that Send a message or SendBatch several, or Enqueue one job, to the same
// queue with the same delay and priority, what comes while a statement is under way goes out together with the next, up
// to 1,000 messages or a mebibyte. Nothing waits for company: what finds nothing under way goes at once, and so does a
// batch that would fill a statement by itself. Each call returns when its own messages are committed, with their ids or
// its own error: when the database refuses a statement, each call that it carried is made alone, so a batch is sent
// whole or not at all. A call whose context ends returns at once; its messages are not sent unless the statement had
// begun by then. Sends with dedup keys, unique jobs, and what is part of a transaction go alone, and so do all sends of
// a pool that prepares its connections for each call (PrepareConn, BeforeAcquire).
type Client struct {
	b     backend
	tries int    // how often a call is made at most
	end   func() // closes what Connect opened
	keep  *upkeep
	hook  SendHook

	sends    *coalescer[jsonMessage] // nil: each call has a statement of its own
	enqueues *coalescer[jsonJob]     // likewise
}

// SendHook stands around each call of a client that sends to a queue, publishes to a topic, enqueues jobs or starts a
// workflow, with all that the call sends. It calls send with as many messages, perhaps with another context and other
// headers, and returns what that returned; or it returns an error of its own, and nothing is sent. A job, and a step of
// a workflow, is a message whose payload is its [Args]; it keeps its kind. The callback of a batch is the last. The ids
// are those of messages and jobs; none of a workflow, whose jobs get theirs when they are due.
type SendHook func(
	ctx context.Context, destination string, batch []Outgoing,
	send func(ctx context.Context, batch []Outgoing) ([]int64, error),
) ([]int64, error)

// Hooked returns the same client with a hook around its sends, and around those of the clients that In makes of it.
func (c *Client) Hooked(hook SendHook) *Client {
	hooked := *c
	hooked.hook = hook
	return &hooked
}

// sending calls send as the hook wants it.
func (c *Client) sending(
	ctx context.Context, destination string, batch []Outgoing,
	send func(ctx context.Context, batch []Outgoing) ([]int64, error),
) ([]int64, error) {
	if c.hook == nil {
		return send(ctx, batch)
	}
	return c.hook(ctx, destination, batch, func(ctx context.Context, passed []Outgoing) ([]int64, error) {
		if len(passed) != len(batch) {
			return nil, fmt.Errorf("send to %s: %w: %d of %d", destination, errHook, len(passed), len(batch))
		}
		return send(ctx, passed)
	})
}

// backend is what PostgreSQL and HTTP both do.
type backend interface {
	send(ctx context.Context, queue string, batch []jsonMessage, o sendOptions) ([]int64, error)
	publish(ctx context.Context, topic string, m jsonMessage, o sendOptions) ([]Published, error)
	receive(ctx context.Context, queue string, o receiveOptions) ([]*RawMessage, error)
	pop(ctx context.Context, queue string, o receiveOptions) ([]*RawMessage, error)
	peek(ctx context.Context, queue string, o receiveOptions) ([]*RawMessage, error)
	// settle settles messages of one or more claims, all or none.
	settle(ctx context.Context, verb verb, queue string, items []settlement) ([]int, error)
	// settleEach settles what it can; nil stands for what is to be tried alone, and a single item is.
	settleEach(ctx context.Context, queue string, items []settlement) ([]*int, error)
	extend(ctx context.Context, queue, group string, claims []int64, lease time.Duration) ([]time.Time, error)
	// extendEach is to extend as settleEach is to settle.
	extendEach(ctx context.Context, queue, group string, claims []int64, lease time.Duration) ([]bool, error)
	deadLetters(ctx context.Context, queue string, o receiveOptions) ([]DeadLetter, error)
	redrive(ctx context.Context, queue string, o receiveOptions) (int64, error)
	discard(ctx context.Context, queue string, o receiveOptions) (int64, error)
	createQueue(ctx context.Context, queue string, o QueueOptions) (bool, error)
	configureQueue(ctx context.Context, queue string, s QueueSettings) error
	renameQueue(ctx context.Context, queue, name string) error
	moveQueue(ctx context.Context, queue, log string) error
	dropQueue(ctx context.Context, queue string) error
	listQueues(ctx context.Context) ([]Queue, error)
	createLog(ctx context.Context, log string, o LogOptions) (bool, error)
	configureLog(ctx context.Context, log string, s LogSettings) error
	listLogs(ctx context.Context) ([]Log, error)
	dropLog(ctx context.Context, log string) error
	get(ctx context.Context, queue string, id int64) (*StoredMessage, error)
	getMany(ctx context.Context, queue string, ids []int64) ([]StoredMessage, error)
	createGroup(ctx context.Context, queue, group string, o GroupOptions) error
	configureGroup(ctx context.Context, queue, group string, s GroupSettings) error
	dropGroup(ctx context.Context, queue, group string) error
	listGroups(ctx context.Context, queue string) ([]Group, error)
	seek(ctx context.Context, queue, group, position string) error
	pause(ctx context.Context, queue, group string) error
	resume(ctx context.Context, queue, group string) error
	purge(ctx context.Context, queue, group string) (int64, error)
	bind(ctx context.Context, pattern, queue string) error
	unbind(ctx context.Context, pattern, queue string) (bool, error)
	route(ctx context.Context, topic string) ([]string, error)
	listBindings(ctx context.Context) ([]Binding, error)
	stats(ctx context.Context, queue string) ([]GroupStats, error)
	doctor(ctx context.Context) ([]Finding, error)
	maintain(ctx context.Context, every time.Duration) (int, error)
	version(ctx context.Context) (string, error)
	jobBackend
}

// verb is what can become of claimed messages.
type verb string

const (
	ack     verb = "ack"
	nack    verb = "nack"
	reject  verb = "reject"
	release verb = "release"
	snooze  verb = "snooze"
	finish  verb = "finish" // one job each, with its result
)

// Published is where a message of a topic went.
type Published struct {
	Queue    string `json:"queue"`
	ID       int64  `json:"id"`
	Repeated bool   `json:"repeated"` // the queue had a message with the dedup key: the id is that one's
}

// callTries is how often a call is made at most when it fails in a way that may pass.
const callTries = 5

// dsn is how a DSN begins. What does not would be read as no settings at all, and so lead to this machine.
var dsn = regexp.MustCompile(`^(postgres(ql)?://|\s*\w+\s*=)`)

// noTarget is what Connect refuses a target with; it may hold a password.
func noTarget(target string) *Error {
	got := "neither a URL nor a DSN"
	if scheme, _, ok := strings.Cut(target, "://"); ok && !strings.ContainsAny(scheme, "/@? ") {
		got = "the scheme " + scheme + "://"
	} else if target == "" {
		got = "empty"
	}
	return &Error{
		Code: ErrInvalidArgument.Code, Name: ErrInvalidArgument.Name,
		Message: "cannot connect to what is no database and no server: " + got,
		Hint:    "Pass postgres://user@host/database, host=... dbname=..., or the http:// or https:// URL of a weir serve.",
	}
}

// Connect opens a client. The target is a DSN of PostgreSQL (a URL or key=value words) or the http:// or https:// URL
// of a `weir serve`. It suits any pooler: it looks whether one stands between, and statements stay prepared on the
// server only where none does, or as default_query_exec_mode in the DSN says.
func Connect(ctx context.Context, target string, opts ...ConnectOption) (*Client, error) {
	if strings.HasPrefix(target, "http://") || strings.HasPrefix(target, "https://") {
		return NewHTTP(target, nil, opts...)
	}
	if collectConnect(opts).token != nil {
		return nil, fmt.Errorf("open database: %w: a token is for a server; the DSN names a user", ErrNotSupported)
	}
	if !dsn.MatchString(target) {
		return nil, fmt.Errorf("read DSN: %w", noTarget(target))
	}
	cfg, err := pgxpool.ParseConfig(target)
	if err != nil {
		return nil, fmt.Errorf("read DSN: %w: %w", ErrInvalidArgument, err)
	}
	if _, named := cfg.ConnConfig.RuntimeParams["application_name"]; !named {
		cfg.ConnConfig.RuntimeParams["application_name"] = "weir sdk go"
	}
	mode, err := execMode(ctx, cfg.ConnConfig)
	if err != nil {
		return nil, wrap("open database", err)
	}
	if !strings.Contains(target, "default_query_exec_mode") {
		cfg.ConnConfig.DefaultQueryExecMode = mode
	}
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, wrap("open database", err)
	}
	c := New(pool)
	closeEar := c.end
	c.end = func() { closeEar(); pool.Close() }
	return c, nil
}

// execMode opens a connection and returns how statements are best run over such.
func execMode(ctx context.Context, cfg *pgx.ConnConfig) (pgx.QueryExecMode, error) {
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return 0, err
	}
	defer conn.Close(ctx) //nolint:errcheck // nothing is left to say
	switch err := direct(ctx, conn); {
	case errors.Is(err, errPooler):
		return pgx.QueryExecModeCacheDescribe, nil
	case err != nil:
		return 0, err
	}
	return pgx.QueryExecModeCacheStatement, nil
}

// New returns a client over a pgx pool or connection of the caller's.
func New(q Querier) *Client {
	p := &postgres{executor: pgxExecutor{q}, records: true}
	if pool, ok := q.(*pgxpool.Pool); ok {
		p.ear = newEar(pool)
	}
	tries := callTries
	if _, ok := q.(pgx.Tx); ok {
		tries = 1 // a transaction that met an error is over
	}
	c := &Client{b: p, tries: tries, end: p.ear.close, keep: &upkeep{}}
	c.share(p)
	return c
}

// NewSQL returns a client over database/sql, with any driver for PostgreSQL.
func NewSQL(q SQLQuerier) *Client {
	p := &postgres{executor: sqlExecutor{q}}
	c := &Client{b: p, tries: 1, keep: &upkeep{}}
	c.share(p)
	return c
}

// NewHTTP returns a client of a `weir serve` at a URL; nil stands for an http.Client without a time limit, because
// receive may wait long and every call has a context.
func NewHTTP(url string, client *http.Client, opts ...ConnectOption) (*Client, error) {
	h, err := newHTTP(url, client)
	if err != nil {
		return nil, err
	}
	h.token = collectConnect(opts).token
	return &Client{b: h, tries: callTries, end: h.client.CloseIdleConnections, keep: &upkeep{}}, nil
}

// beside returns a client of the same database with so many connections of its own, and what closes them. A client
// that has no pool is returned as it is.
func (c *Client) beside(ctx context.Context, connections int32) (own *Client, end func(), err error) {
	p, _ := c.b.(*postgres)
	if p == nil || p.ear == nil {
		return c, func() {}, nil
	}
	cfg := p.ear.pool.Config()
	cfg.MinConns, cfg.MinIdleConns, cfg.MaxConns = 0, 0, connections
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, nil, wrap("open connections of a worker", err)
	}
	like := *p
	like.executor = pgxExecutor{pool}
	same := *c
	same.b = &like
	return &same, pool.Close, nil
}

// Close ends what Connect opened. Workers must have stopped.
func (c *Client) Close() {
	if c.end != nil {
		c.end()
	}
}

// In returns a client whose calls are part of a transaction of the caller's, who commits or rolls back.
func (c *Client) In(tx pgx.Tx) *Client {
	p := &postgres{executor: pgxExecutor{tx}, records: true}
	return &Client{b: p, tries: 1, keep: c.keep, hook: c.hook}
}

// InSQL is In for a transaction of database/sql.
func (c *Client) InSQL(tx SQLQuerier) *Client {
	return &Client{b: &postgres{executor: sqlExecutor{tx}}, tries: 1, keep: c.keep, hook: c.hook}
}

// Transaction runs fn with a client whose calls share one transaction: committed when fn returns nil, else rolled
// back. Over HTTP that client can Send, SendBatch, Ack, AckAll and Finish; the calls go out when fn returns, so that
// within it they give zeros. The error is ErrOutcomeUnknown when the commit failed in a way that leaves it open.
func (c *Client) Transaction(ctx context.Context, fn func(tx *Client) error) error {
	if h, ok := c.b.(*httpBackend); ok {
		return h.transaction(ctx, c.hook, fn)
	}
	return c.transaction(ctx, func(tx pgx.Tx) error { return fn(c.In(tx)) })
}

// transaction is Transaction for what needs the transaction of pgx.
func (c *Client) transaction(ctx context.Context, fn func(tx pgx.Tx) error) error {
	p, ok := c.b.(*postgres)
	if !ok {
		return fmt.Errorf("begin transaction: %w: the client is not connected to PostgreSQL", ErrNotInTransaction)
	}
	tx, err := p.begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }() // does nothing after the commit
	if err := fn(tx); err != nil {
		return err
	}
	err = wrap("commit transaction", tx.Commit(ctx))
	if err != nil && !harmless(err) {
		return fmt.Errorf("%w: %w", ErrOutcomeUnknown, err)
	}
	return err
}

// Send sends one message and returns its id. The payload is anything that encoding/json can write; one that it cannot,
// and a json.RawMessage that is no JSON, is an ErrPayload.
func (c *Client) Send(ctx context.Context, queue string, payload any, opts ...SendOption) (int64, error) {
	o := collectSend(opts)
	ids, err := c.send(ctx, queue, []Outgoing{o.message(payload)}, o)
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	return ids[0], nil
}

// SendBatch sends messages in their order, all or none, and returns their ids. Of the options, Key and Headers are
// for messages that have none of their own.
func (c *Client) SendBatch(ctx context.Context, queue string, batch []Outgoing, opts ...SendOption) ([]int64, error) {
	if len(batch) == 0 {
		return nil, nil
	}
	o := collectSend(opts)
	full := slices.Clone(batch)
	for i := range full {
		if full[i].Key == "" {
			full[i].Key = o.key
		}
		if full[i].Headers == nil {
			full[i].Headers = o.headers
		}
	}
	return c.send(ctx, queue, full, o)
}

func (c *Client) send(ctx context.Context, queue string, batch []Outgoing, o sendOptions) ([]int64, error) {
	return c.sending(ctx, queue, batch, func(ctx context.Context, batch []Outgoing) ([]int64, error) {
		texts, once := make([]jsonMessage, len(batch)), true
		for i, m := range batch {
			once = once && m.DedupKey != ""
			var err error
			if texts[i], err = c.toJSON(m); err != nil {
				return nil, err
			}
		}
		ids, err := retry(ctx, c.tries, once, func() ([]int64, error) { return c.sendTexts(ctx, queue, texts, o) })
		return ids, unreadable(err)
	})
}

// sendTexts makes the call for messages, or has a coalescer make it.
func (c *Client) sendTexts(ctx context.Context, queue string, batch []jsonMessage, o sendOptions) ([]int64, error) {
	once := func(m jsonMessage) bool { return m.dedupKey != nil }
	if c.sends == nil || slices.ContainsFunc(batch, once) {
		return c.b.send(ctx, queue, batch, o)
	}
	bytes := 0
	for _, m := range batch {
		bytes += m.bytes()
	}
	to := aim{queue: queue, delay: optionalOf(o.delay), priority: optionalOf(o.priority)}
	return c.sends.send(ctx, to, batch, bytes)
}

// Publish sends a message to every queue that is bound to its topic, to all or none.
func (c *Client) Publish(
	ctx context.Context, topic string, payload any, opts ...SendOption,
) (sent []Published, err error) {
	o := collectSend(opts)
	publish := func(ctx context.Context, batch []Outgoing) ([]int64, error) {
		m, err := c.toJSON(batch[0])
		if err != nil {
			return nil, err
		}
		sent, err = retry(ctx, c.tries, m.dedupKey != nil, func() ([]Published, error) {
			return c.b.publish(ctx, topic, m, o)
		})
		ids := make([]int64, len(sent))
		for i, p := range sent {
			ids[i] = p.ID
		}
		return ids, unreadable(err)
	}
	_, err = c.sending(ctx, topic, []Outgoing{o.message(payload)}, publish)
	return sent, err
}

// Receive claims messages: 1 unless Max says more, for 30 seconds unless Lease says otherwise.
func (c *Client) Receive(
	ctx context.Context, queue string, opts ...ReceiveOption,
) (Messages[json.RawMessage], error) {
	return c.receive(ctx, queue, collectReceive(1, opts))
}

// receive claims messages that know this client.
func (c *Client) receive(ctx context.Context, queue string, o receiveOptions) ([]*RawMessage, error) {
	messages, err := retry(ctx, c.tries, false, func() ([]*RawMessage, error) { return c.b.receive(ctx, queue, o) })
	for _, m := range messages {
		m.client = c
	}
	return messages, err
}

// Pop receives and acks at once: each message is delivered at most once.
func (c *Client) Pop(ctx context.Context, queue string, opts ...ReceiveOption) ([]*RawMessage, error) {
	o := collectReceive(1, opts)
	return retry(ctx, c.tries, false, func() ([]*RawMessage, error) { return c.b.pop(ctx, queue, o) })
}

// Peek shows messages that wait for a group, 10 unless Max says otherwise, without claiming them.
func (c *Client) Peek(ctx context.Context, queue string, opts ...ReceiveOption) ([]*RawMessage, error) {
	o := collectReceive(10, opts)
	return retry(ctx, c.tries, true, func() ([]*RawMessage, error) { return c.b.peek(ctx, queue, o) })
}

// jsonMessage is an Outgoing in JSON.
type jsonMessage struct {
	payload string
	key     *string
	headers *string

	dedupKey *string
}

// bytes is about how much is sent for it.
func (m jsonMessage) bytes() int {
	n := len(m.payload)
	for _, text := range []*string{m.key, m.headers} {
		if text != nil {
			n += len(*text)
		}
	}
	return n
}

// toJSON writes payload and headers. What is JSON already is not read here, which takes longer than all else of a send,
// because the database reads it; but within a transaction, which what it refuses would end.
func (c *Client) toJSON(m Outgoing) (jsonMessage, error) {
	_, local := c.b.(*postgres)
	payload, ready := m.Payload.(json.RawMessage)
	if !ready || len(payload) == 0 || (!local || c.tries == 1) && !json.Valid(payload) {
		var err error
		if payload, err = json.Marshal(m.Payload); err != nil {
			return jsonMessage{}, fmt.Errorf("write payload: %w: %w", ErrPayload, err)
		}
	}
	out := jsonMessage{payload: string(payload), key: orNull(m.Key), dedupKey: orNull(m.DedupKey)}
	headers, err := headersJSON(m.Headers)
	out.headers = textOf(headers)
	return out, err
}

// unreadable makes an ErrPayload of an error of the database that could not read a payload.
func unreadable(err error) error {
	if state := sqlState(err); state == codeNotJSON || state == codeNotText {
		return fmt.Errorf("write payload: %w: %w", ErrPayload, err)
	}
	return err
}

// upkeep keeps several workers of one client from doing the same upkeep.
type upkeep struct {
	mu   sync.Mutex
	last time.Time
}

// turn reports whether it is the caller's turn: nobody had it for most of a second.
func (u *upkeep) turn() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if time.Since(u.last) < upkeepEvery/2 {
		return false
	}
	u.last = time.Now()
	return true
}
