package weir

import (
	"encoding/json"
	"time"
)

// Queue is a queue and how it is set up.
type Queue struct {
	Queue           string        `json:"queue"`
	Log             string        `json:"log"`   // that keeps its messages
	Lanes           int           `json:"lanes"` // in so many parts its keys are shared out
	Priorities      int           `json:"priorities"`
	MessageBytesMax int           `json:"message_bytes_max"`
	Aging           time.Duration `json:"-"`
	TTL             time.Duration `json:"-"` // 0: messages are delivered however old
	DedupWindow     time.Duration `json:"-"`
	BacklogMax      int64         `json:"backlog_max"` // 0: no limit
	JobRetention    time.Duration `json:"-"`
	Paused          bool          `json:"paused"` // the whole queue is
	CreatedAt       time.Time     `json:"created_at"`
	MovingFrom      string        `json:"moving_from"` // the log from which it is moving to the other; "": it is not
}

// queueRow is a Queue with its times as they are passed: in milliseconds.
type queueRow struct {
	Queue

	AgingMS       int64 `json:"aging_ms"`
	TTLMS         int64 `json:"ttl_ms"`
	DedupWindowMS int64 `json:"dedup_window_ms"`

	JobRetentionMS int64 `json:"job_retention_ms"`
}

// fields are the places for the columns of sqlListQueues.
func (r *queueRow) fields() []any {
	return []any{
		&r.Queue.Queue, &r.Log, &r.Lanes, &r.Priorities, &r.MessageBytesMax, &r.AgingMS, &r.TTLMS, &r.DedupWindowMS,
		&r.BacklogMax, &r.JobRetentionMS, &r.Paused, &r.CreatedAt, &r.MovingFrom,
	}
}

// queuesOf reads the times of rows.
func queuesOf(rows []queueRow, err error) ([]Queue, error) {
	queues := make([]Queue, len(rows))
	for i, r := range rows {
		q := r.Queue
		q.Aging, q.TTL = duration(r.AgingMS), duration(r.TTLMS)
		q.DedupWindow, q.JobRetention = duration(r.DedupWindowMS), duration(r.JobRetentionMS)
		queues[i] = q
	}
	return queues, err
}

// Log is a log, in which queues keep their messages, and how it is set up.
type Log struct {
	Log          string        `json:"log"`
	Unlogged     bool          `json:"unlogged"` // its messages do not survive a crash of PostgreSQL
	SegmentBytes int64         `json:"segment_bytes"`
	ClaimsBytes  int64         `json:"claims_bytes"`
	Retention    time.Duration `json:"-"`
	Queues       int           `json:"queues"` // how many use it
	Bytes        int64         `json:"bytes"`  // its disk space
	CreatedAt    time.Time     `json:"created_at"`
}

// logRow is a Log with its times as they are passed: in milliseconds.
type logRow struct {
	Log

	RetentionMS int64 `json:"retention_ms"`
}

// fields are the places for the columns of sqlListLogs.
func (r *logRow) fields() []any {
	return []any{
		&r.Log.Log, &r.Unlogged, &r.SegmentBytes, &r.ClaimsBytes, &r.RetentionMS, &r.Queues, &r.Bytes, &r.CreatedAt,
	}
}

// logsOf reads the times of rows.
func logsOf(rows []logRow, err error) ([]Log, error) {
	logs := make([]Log, len(rows))
	for i, r := range rows {
		logs[i] = r.Log
		logs[i].Retention = duration(r.RetentionMS)
	}
	return logs, err
}

// Group is a group of a queue and how it is set up.
type Group struct {
	Group       string        `json:"group"`
	Ordered     bool          `json:"ordered"`
	MaxAttempts int           `json:"max_attempts"`
	BackoffMin  time.Duration `json:"-"`
	BackoffMax  time.Duration `json:"-"`
	Paused      bool          `json:"paused"` // by itself or with its queue
	CreatedAt   time.Time     `json:"created_at"`

	ConcurrencyMax int           `json:"concurrency_max"` // messages claimed and unfinished at once; 0: no limit
	RateMax        int           `json:"rate_max"`        // deliveries in RatePeriod; 0: no limit
	RatePeriod     time.Duration `json:"-"`

	KeyConcurrencyMax int  `json:"key_concurrency_max"` // messages of one key claimed and unfinished at once; 0: no limit
	Fair              bool `json:"fair"`                // keys take turns, as they also do with a KeyConcurrencyMax
}

// groupRow is a Group with its times as they are passed: in milliseconds.
type groupRow struct {
	Group

	BackoffMinMS int64 `json:"backoff_min_ms"`
	BackoffMaxMS int64 `json:"backoff_max_ms"`
	RatePeriodMS int64 `json:"rate_period_ms"`
}

// fields are the places for the columns of sqlListGroups.
func (r *groupRow) fields() []any {
	return []any{
		&r.Group.Group, &r.Ordered, &r.MaxAttempts, &r.BackoffMinMS, &r.BackoffMaxMS, &r.Paused, &r.CreatedAt,
		&r.ConcurrencyMax, &r.RateMax, &r.RatePeriodMS, &r.KeyConcurrencyMax, &r.Fair,
	}
}

// groupsOf reads the times of rows.
func groupsOf(rows []groupRow, err error) ([]Group, error) {
	groups := make([]Group, len(rows))
	for i, r := range rows {
		g := r.Group
		g.BackoffMin, g.BackoffMax = duration(r.BackoffMinMS), duration(r.BackoffMaxMS)
		g.RatePeriod = duration(r.RatePeriodMS)
		groups[i] = g
	}
	return groups, err
}

// StoredMessage is a message as its queue keeps it.
type StoredMessage struct {
	ID         int64             `json:"id"`
	Key        *string           `json:"key"`
	Payload    json.RawMessage   `json:"payload"`
	Body       []byte            `json:"body"` // of a message that was sent as bytes, which has no payload
	Headers    json.RawMessage   `json:"headers"`
	EnqueuedAt time.Time         `json:"enqueued_at"`
	States     map[string]string `json:"states"` // by group: waiting, claimed, delayed, parked, dead or done

	Details map[string]Standing `json:"details"` // by group: what else is known
}

// Standing is what is known of how a group stands to a message; nil is what is not known.
type Standing struct {
	Attempts *int       `json:"attempts,omitempty"` // deliveries so far
	ClaimID  *int64     `json:"claim_id,omitempty"` // that has it, or had it until its lease ended
	Since    *time.Time `json:"since,omitempty"`    // when it was claimed, parked or given up
	Until    *time.Time `json:"until,omitempty"`    // when the lease ends, or it is due
	PID      *int       `json:"pid,omitempty"`      // the session that received it
	Behind   *int64     `json:"behind,omitempty"`   // the message of its key that is first
	Reason   *string    `json:"reason,omitempty"`   // why it is delivered again, or no more
}

// Binding has the messages of some topics go to a queue.
type Binding struct {
	Pattern   string    `json:"pattern"`
	Queue     string    `json:"queue"`
	CreatedAt time.Time `json:"created_at"`
}

// Finding is something that the engine's doctor found.
type Finding struct {
	Severity string  `json:"severity"` // error: messages wait or may get lost; warning: it gets worse; info: a note
	Finding  string  `json:"finding"`  // what it is, one word for programs
	Queue    *string `json:"queue"`    // nil: the whole database
	Group    *string `json:"group"`
	Value    *string `json:"value"` // the figure or name that was found
	Message  string  `json:"message"`
	Cure     string  `json:"cure"`
}

// duration reads milliseconds.
func duration(ms int64) time.Duration { return time.Duration(ms) * time.Millisecond }

// seconds reads a number of seconds.
func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// GroupStats tells how a group stands.
type GroupStats struct {
	Queue     string        `json:"queue"`
	Group     string        `json:"group"`
	Waiting   int64         `json:"waiting"` // could be delivered now, limits and pauses apart
	Expired   int64         `json:"expired"` // of these: of claims whose lease has ended
	Claimed   int64         `json:"claimed"` // under a claim whose lease goes on
	Delayed   int64         `json:"delayed"` // not due: delayed ones and retries
	Parked    int64         `json:"parked"`  // of an ordered group: behind others of their key
	Dead      int64         `json:"dead"`    // dead letters
	OldestAge time.Duration `json:"-"`       // how long the first that waits could have been delivered
	Exact     bool          `json:"exact"`   // whether these numbers are counts; else some are estimates

	SentRate      float64    `json:"sent_rate"`      // sent to the queue a second, over the last minute at most
	DeliveredRate float64    `json:"delivered_rate"` // delivered to the group a second, likewise
	DeliveredAt   *time.Time `json:"delivered_at"`   // when the group was last delivered something; nil: not known
	Expiries      int64      `json:"expiries"`       // of its last claims, the leases that ended
	HotKey        *string    `json:"hot_key"`        // the key that has most of what waits in order
	HotKeyShare   *float64   `json:"hot_key_share"`  // the share of that which it has, 0 to 1
	HeldBy        *string    `json:"held_by"`        // the limit it meets: concurrency, rate or key_concurrency
	Lanes         int        `json:"lanes"`          // lanes of the queue's keys

	Log          string         `json:"log"`           // the log of the queue; what follows is about this log
	HeldSegments int            `json:"held_segments"` // its closed segments that wait for this group
	Segments     int            `json:"segments"`      // its segments in use
	Bytes        int64          `json:"bytes"`         // its disk space
	BlockedBy    *string        `json:"blocked_by"`    // what keeps its oldest closed segment, or the group
	BlockerPID   *int           `json:"blocker_pid"`   // process id, when that is a session
	BlockerAge   *time.Duration `json:"-"`             // how long its transaction has been open
	BlockerQuery *string        `json:"blocker_query"` // its last statement, as far as it may be seen
}

// statsRow is a GroupStats with its times as they are passed: in seconds.
type statsRow struct {
	GroupStats

	OldestAgeS  float64  `json:"oldest_age_s"`
	BlockerAgeS *float64 `json:"blocker_age_s"`
}

// fields are the places for the columns of sqlStats.
func (r *statsRow) fields() []any {
	return []any{
		&r.Queue, &r.Group, &r.Waiting, &r.Expired, &r.Claimed, &r.Delayed, &r.Parked, &r.Dead, &r.OldestAgeS, &r.Exact,
		&r.SentRate, &r.DeliveredRate, &r.DeliveredAt, &r.Expiries, &r.HotKey, &r.HotKeyShare, &r.HeldBy, &r.Lanes,
		&r.Log, &r.HeldSegments, &r.Segments, &r.Bytes, &r.BlockedBy, &r.BlockerPID, &r.BlockerAgeS, &r.BlockerQuery,
	}
}

// statsOf reads the times of rows.
func statsOf(rows []statsRow, err error) ([]GroupStats, error) {
	list := make([]GroupStats, len(rows))
	for i, r := range rows {
		list[i] = r.GroupStats
		list[i].OldestAge = seconds(r.OldestAgeS)
		if r.BlockerAgeS != nil {
			list[i].BlockerAge = new(seconds(*r.BlockerAgeS))
		}
	}
	return list, err
}
