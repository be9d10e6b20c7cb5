package engine

import (
	"encoding/json"
	"time"
)

// What a call means when it says nothing; the same defaults as those of the SQL functions.
const (
	DefaultGroup = "default"
	DefaultMax   = 1
	DefaultLease = 30 * time.Second

	DefaultSegmentBytes = int64(64 << 20)
	DefaultClaimsBytes  = int64(16 << 20)

	DefaultStart       = "start"
	DefaultMaxAttempts = 5
	DefaultBackoffMin  = time.Second
	DefaultBackoffMax  = 10 * time.Minute
	DefaultRatePeriod  = time.Second
)

// Message is one message as a consumer sees it. The JSON form is that of the HTTP API and of `weir receive`.
type Message struct {
	ID         int64           `json:"id" doc:"Identifies the message within its queue; rises with time."`
	ClaimID    int64           `json:"claim_id" doc:"What ack, nack, release, reject and extend take."`
	Attempt    int             `json:"attempt" doc:"1 at the first delivery."`
	Key        *string         `json:"key" doc:"Messages with one key stay in order in an ordered group."`
	Payload    json.RawMessage `json:"payload" doc:"Any JSON value, as it was sent."`
	Body       []byte          `json:"body,omitzero" doc:"Base64 of what was sent as bytes; the payload is null."`
	Headers    json.RawMessage `json:"headers" doc:"A JSON object beside the payload, or null."`
	EnqueuedAt time.Time       `json:"enqueued_at"`
}

// Peeked is one message as somebody sees it who does not claim it.
type Peeked struct {
	ID         int64           `json:"id" doc:"Identifies the message within its queue; rises with time."`
	Attempt    int             `json:"attempt" doc:"How often the group was delivered it."`
	Key        *string         `json:"key" doc:"Messages with one key stay in order in an ordered group."`
	Payload    json.RawMessage `json:"payload" doc:"Any JSON value, as it was sent."`
	Body       []byte          `json:"body,omitzero" doc:"Base64 of what was sent as bytes; the payload is null."`
	Headers    json.RawMessage `json:"headers" doc:"A JSON object beside the payload, or null."`
	EnqueuedAt time.Time       `json:"enqueued_at"`
}

// Stored is one message as the queue holds it.
type Stored struct {
	ID         int64             `json:"id"`
	Key        *string           `json:"key"`
	Payload    json.RawMessage   `json:"payload" doc:"Any JSON value, as it was sent."`
	Body       []byte            `json:"body,omitzero" doc:"Base64 of what was sent as bytes; the payload is null."`
	Headers    json.RawMessage   `json:"headers" doc:"A JSON object beside the payload, or null."`
	EnqueuedAt time.Time         `json:"enqueued_at"`
	States     map[string]string `json:"states" doc:"By group: waiting, claimed, delayed, parked, dead or done."`

	Details map[string]Standing `json:"details" doc:"By group: what else is known."`
}

// Standing is what is known of how a group stands to a message; what is not known is left out.
type Standing struct {
	Attempts *int       `json:"attempts,omitempty" doc:"Deliveries so far."`
	ClaimID  *int64     `json:"claim_id,omitempty" doc:"The claim that has it, or had it until its lease ended."`
	Since    *time.Time `json:"since,omitempty" doc:"When it was claimed, parked or given up."`
	Until    *time.Time `json:"until,omitempty" doc:"When the lease ends, or it is due."`
	PID      *int       `json:"pid,omitempty" doc:"The session that received it."`
	Behind   *int64     `json:"behind,omitempty" doc:"The message of its key that is first."`
	Reason   *string    `json:"reason,omitempty" doc:"Why it is delivered again, or no more."`
}

// Outgoing is one message to send. A nil Payload is SQL null, which the engine refuses unless there is a Body.
type Outgoing struct {
	Payload json.RawMessage
	Body    []byte // bytes in place of a payload
	Key     *string
	Headers json.RawMessage
	// DedupKey lets only the first of several messages that have it be sent, within the queue's dedup window.
	DedupKey *string
}

// Sent is what became of a message: its id, or that of the first with the same dedup key.
type Sent struct {
	ID       int64
	Repeated bool
}

// SendOptions are what the messages of one call share. The zero value delivers them as soon as the transaction commits,
// with the lowest priority.
type SendOptions struct {
	Delay    time.Duration
	Priority int
}

// delay is the SQL argument.
func (o SendOptions) delay() *time.Duration {
	if o.Delay == 0 {
		return nil
	}
	return &o.Delay
}

// DeadLetter is a message that used up its attempts or was rejected.
type DeadLetter struct {
	ID         int64           `json:"id"`
	Key        *string         `json:"key"`
	Payload    json.RawMessage `json:"payload"`
	Body       []byte          `json:"body,omitzero" doc:"Base64 of a message that was sent as bytes."`
	Headers    json.RawMessage `json:"headers"`
	EnqueuedAt time.Time       `json:"enqueued_at"`
	Attempts   int             `json:"attempts"`
	DiedAt     time.Time       `json:"died_at"`
	Reason     *string         `json:"reason"`
}

// GroupStats counts what a group of a queue has before it.
type GroupStats struct {
	Queue     string  `json:"queue"`
	Group     string  `json:"group"`
	Waiting   int64   `json:"waiting" doc:"Messages that could be delivered now, limits and pauses apart."`
	Expired   int64   `json:"expired" doc:"Of these: messages of claims whose lease has ended."`
	Claimed   int64   `json:"claimed" doc:"Messages under a claim whose lease goes on."`
	Delayed   int64   `json:"delayed" doc:"Messages that are not due yet: delayed sends and retries."`
	Parked    int64   `json:"parked" doc:"Of an ordered group: messages behind others of their key."`
	Dead      int64   `json:"dead" doc:"Dead letters."`
	OldestAge float64 `json:"oldest_age_s" doc:"Since when the first of those waiting could be delivered; 0: none waits."`
	Exact     bool    `json:"exact" doc:"Whether the numbers of messages are counts; else some are estimates."`

	SentRate      float64    `json:"sent_rate" doc:"Sent to the queue per second, over the last minute at most."`
	DeliveredRate float64    `json:"delivered_rate" doc:"Delivered to the group per second, likewise."`
	DeliveredAt   *time.Time `json:"delivered_at" doc:"When the group was last given something; null: not known any more."`
	Expiries      int64      `json:"expiries" doc:"Of its last claims: whose lease ended and that others were given."`
	HotKey        *string    `json:"hot_key" doc:"The key that has most of what waits in order."`
	HotKeyShare   *float64   `json:"hot_key_share" doc:"The share of that which it has, 0 to 1."`
	HeldBy        *string    `json:"held_by" doc:"The limit that holds the group back: concurrency, rate or null."`
	Lanes         int        `json:"lanes" doc:"Lanes of the queue's keys."`

	Log          string   `json:"log" doc:"The log of the queue; what follows is about this log."`
	HeldSegments int      `json:"held_segments" doc:"Its closed segments that wait for this group."`
	Segments     int      `json:"segments" doc:"Its segments in use."`
	Bytes        int64    `json:"bytes" doc:"Disk space of the log."`
	BlockedBy    *string  `json:"blocked_by" doc:"What keeps its oldest segment, or the group; null when nothing does."`
	BlockerPID   *int     `json:"blocker_pid" doc:"Its process id, when it is a session."`
	BlockerAge   *float64 `json:"blocker_age_s" doc:"How long its transaction has been open, in seconds."`
	BlockerQuery *string  `json:"blocker_query" doc:"Its last statement, as far as it may be seen."`
}
