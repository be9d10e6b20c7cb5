package weir

import (
	"context"
	"time"
)

// DefaultGroup is the group that every queue is born with.
const DefaultGroup = "default"

// Outgoing is one message of a batch.
type Outgoing struct {
	Payload  any            // any value that encoding/json can write; json.RawMessage goes as it is
	Key      string         // messages with one key stay in order in an ordered group; "" is none
	Headers  map[string]any // beside the payload; nil is none
	DedupKey string         // of those with one key, within the queue's window, only the first is sent; "" is none
}

// ConnectOption is an option of Connect and NewHTTP.
type ConnectOption func(*connectOptions)

// connectOptions are what the options of a connect amount to.
type connectOptions struct {
	token func(ctx context.Context) (string, error)
}

// Token has the client show a token to the `weir serve` that it calls.
func Token(token string) ConnectOption {
	return TokenFrom(func(context.Context) (string, error) { return token, nil })
}

// TokenFrom has the client ask for a token before each request, for tokens that expire. The function may be called by
// many at the same time, and keeps a token that is still good.
func TokenFrom(source func(ctx context.Context) (string, error)) ConnectOption {
	return func(o *connectOptions) { o.token = source }
}

func collectConnect(opts []ConnectOption) (o connectOptions) {
	for _, set := range opts {
		set(&o)
	}
	return o
}

// sendOptions are what the options of a send amount to.
type sendOptions struct {
	key     string
	headers map[string]any
	delay   *time.Duration

	dedupKey string
	priority *int
}

// message is a message with these options.
func (o sendOptions) message(payload any) Outgoing {
	return Outgoing{Payload: payload, Key: o.key, Headers: o.headers, DedupKey: o.dedupKey}
}

// SendOption is an option of Send, SendBatch and Publish.
type SendOption func(*sendOptions)

// Key sets the key of a message.
func Key(key string) SendOption { return func(o *sendOptions) { o.key = key } }

// Headers sets the headers of a message.
func Headers(headers map[string]any) SendOption { return func(o *sendOptions) { o.headers = headers } }

// Delay has the message delivered no earlier than this from now.
func Delay(d time.Duration) SendOption { return func(o *sendOptions) { o.delay = &d } }

// DedupKey has the message sent only if none with this key was within the queue's window; otherwise Send returns the id
// of that one. It makes Send safe to repeat, so that it is repeated after a connection broke.
func DedupKey(key string) SendOption { return func(o *sendOptions) { o.dedupKey = key } }

// Priority has the message go before those of a lower one: 0, as without it, up to the queue's priorities - 1. Not
// together with a key.
func Priority(level int) SendOption { return func(o *sendOptions) { o.priority = &level } }

func collectSend(opts []SendOption) (o sendOptions) {
	for _, set := range opts {
		set(&o)
	}
	return o
}

// receiveOptions are what the options of a receive amount to.
type receiveOptions struct {
	group string
	max   int
	lease time.Duration
	wait  time.Duration
	after int64
	ids   []int64
}

// ReceiveOption is an option of Receive, Pop, Peek and of the calls about dead letters; each takes those it has a use
// for.
type ReceiveOption func(*receiveOptions)

// InGroup names the group; DefaultGroup unless given.
func InGroup(group string) ReceiveOption { return func(o *receiveOptions) { o.group = group } }

// Max limits how many messages a call returns.
func Max(n int) ReceiveOption { return func(o *receiveOptions) { o.max = n } }

// Lease says how long a claim lasts; 30 seconds unless given.
func Lease(d time.Duration) ReceiveOption { return func(o *receiveOptions) { o.lease = d } }

// Wait has Receive wait up to this long for a first message.
func Wait(d time.Duration) ReceiveOption { return func(o *receiveOptions) { o.wait = d } }

// AfterID has DeadLetters begin behind an id: the last one of the page before.
func AfterID(id int64) ReceiveOption { return func(o *receiveOptions) { o.after = id } }

// OnlyIDs limits Redrive and Discard to these dead letters.
func OnlyIDs(ids ...int64) ReceiveOption { return func(o *receiveOptions) { o.ids = ids } }

func collectReceive(most int, opts []ReceiveOption) receiveOptions {
	o := receiveOptions{group: DefaultGroup, max: most, lease: 30 * time.Second}
	for _, set := range opts {
		set(&o)
	}
	return o
}

// NackOption is an option of Nack.
type NackOption func(*settlement)

// After has the messages delivered again this long from now, instead of after the group's backoff.
func After(d time.Duration) NackOption { return func(s *settlement) { s.delay = &d } }

// Reason is kept with the dead letter, should the message become one.
func Reason(text string) NackOption { return func(s *settlement) { s.reason = text } }

// QueueOptions are the settings of a new queue. The zero value of a field leaves it to the engine, and matches whatever
// is there.
type QueueOptions struct {
	Ordered         bool          // the group DefaultGroup delivers messages of one key one after the other
	Log             string        // the log that keeps its messages, made when it is not there; "main"
	Lanes           int           // in so many parts its keys are shared out, 1 to 256; 16
	Priorities      int           // levels of priority of messages without keys; 1
	MessageBytesMax int           // the largest message as stored
	Aging           time.Duration // how much longer a message must wait to go before one a level higher
	TTL             time.Duration // what was sent longer ago is not delivered any more
	DedupWindow     time.Duration // how long a dedup key is remembered
	BacklogMax      int64         // by how many messages the slowest group may be behind
	JobRetention    time.Duration // how long Client.Job and Client.Workflow tell of what has ended
}

// QueueSettings are changes to a queue. Nil leaves a setting as it is: QueueSettings{TTL: new(time.Hour)}.
type QueueSettings struct {
	Lanes           *int // from now on; order is kept
	MessageBytesMax *int
	Aging           *time.Duration
	TTL             *time.Duration // 0: messages are delivered however old
	DedupWindow     *time.Duration // 0: the queue takes no dedup keys
	BacklogMax      *int64         // 0: no limit
	JobRetention    *time.Duration
}

// LogOptions are the settings of a new log. The zero value of a field leaves it to the engine.
type LogOptions struct {
	Unlogged     bool          // its messages need not survive a crash of PostgreSQL, and cost less
	SegmentBytes int64         // the size at which a segment is closed
	ClaimsBytes  int64         // the size at which a table of the claim log is left
	Retention    time.Duration // how long what all groups have finished is kept for Seek
}

// LogSettings are changes to a log. Nil leaves a setting as it is.
type LogSettings struct {
	SegmentBytes *int64
	ClaimsBytes  *int64
	Retention    *time.Duration
}

// GroupOptions are the settings of a new group. The zero value of a field leaves it to the engine.
type GroupOptions struct {
	Ordered     bool   // messages of one key one after the other
	Start       string // "start", "end" or a time
	MaxAttempts int    // deliveries before a message is a dead letter
	BackoffMin  time.Duration
	BackoffMax  time.Duration

	ConcurrencyMax int           // messages claimed and unfinished at once; 0: no limit
	RateMax        int           // deliveries in RatePeriod; 0: no limit
	RatePeriod     time.Duration // 1 second unless given

	KeyConcurrencyMax int  // messages of one key claimed and unfinished at once; 0: no limit
	Fair              bool // keys take turns, as they do with a KeyConcurrencyMax
}

// GroupSettings are changes to a group. Nil leaves a setting as it is.
type GroupSettings struct {
	MaxAttempts *int
	BackoffMin  *time.Duration
	BackoffMax  *time.Duration

	ConcurrencyMax *int // 0: no limit
	RateMax        *int // 0: no limit
	RatePeriod     *time.Duration

	KeyConcurrencyMax *int // 0: no limit
	Fair              *bool
}
