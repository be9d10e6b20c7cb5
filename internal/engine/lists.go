package engine

import (
	"context"
	"encoding/json"
	"time"
)

// Claim is a claim of a group that is not finished.
type Claim struct {
	ClaimID     int64      `json:"claim_id" doc:"Only who may consume from the queue can do something with it."`
	Messages    int        `json:"messages" doc:"Of it that are not finished."`
	FirstID     int64      `json:"first_id" doc:"The lowest id of these."`
	Attempt     int        `json:"attempt" doc:"Deliveries of that message, this one included."`
	ClaimedAt   *time.Time `json:"claimed_at" doc:"Null: by an older release of the engine."`
	Deadline    *time.Time `json:"deadline" doc:"End of the lease; past or null: the next receive gets them."`
	PID         *int       `json:"pid" doc:"Process id of the database session that received."`
	Application *string    `json:"application_name" doc:"Of that session, while it is there."`
	Role        *string    `json:"role_name" doc:"As which that session is logged in, while it is there."`
}

// ParkedKey is a key whose messages wait in a line of their own.
type ParkedKey struct {
	Key        *string    `json:"key" doc:"Null: messages without one."`
	Lane       *int       `json:"lane" doc:"Of a line of messages without a key, in an ordered group."`
	Messages   int        `json:"messages" doc:"In the line; counted up to 1,000."`
	FirstID    int64      `json:"first_id" doc:"The message at its head."`
	Attempts   int        `json:"attempts" doc:"Deliveries that message had."`
	EnqueuedAt time.Time  `json:"enqueued_at" doc:"When that message was sent."`
	ParkedAt   *time.Time `json:"parked_at" doc:"When it joined the line."`
	DueAt      *time.Time `json:"due_at" doc:"It is not delivered before; null: whenever it is the line's turn."`
	WaitsFor   string     `json:"waits_for" doc:"time, claim (one has it), consumer (any), turn or key_concurrency."`
	Reason     *string    `json:"reason" doc:"The last error that nack was told."`
}

// Delayed is a message that is not due.
type Delayed struct {
	ID         int64           `json:"id"`
	DueAt      time.Time       `json:"due_at"`
	Attempts   int             `json:"attempts" doc:"0: its sender delayed it; more: a retry."`
	Key        *string         `json:"key"`
	Payload    json.RawMessage `json:"payload"`
	Body       []byte          `json:"body,omitzero" doc:"Base64 of a message that was sent as bytes."`
	Headers    json.RawMessage `json:"headers"`
	EnqueuedAt time.Time       `json:"enqueued_at"`
	Reason     *string         `json:"reason" doc:"The last error that nack was told."`
}

// Workflow is how a workflow stands.
type Workflow struct {
	Workflow  int64      `json:"workflow"`
	Name      *string    `json:"name"`
	State     string     `json:"state" doc:"running, done (every step is) or stopped (it ended with steps that are not)."`
	Steps     int        `json:"steps"`
	Done      *int       `json:"done" doc:"Steps; null, as are those that follow, of one with more than 1,000."`
	Failed    *int       `json:"failed"`
	Cancelled *int       `json:"cancelled"`
	CreatedAt time.Time  `json:"created_at"`
	EndedAt   *time.Time `json:"ended_at" doc:"Null: some of its jobs is under way."`
}

const (
	sqlClaims = `select claim_id, messages, first_id, attempt, claimed_at, deadline, pid, application_name, role_name
		from weir.claims($1, $2, max => $3, after => $4)`
	sqlParkedKeys = `select key, lane, messages, first_id, attempts, enqueued_at, parked_at, due_at, waits_for, reason
		from weir.parked_keys($1, $2, max => $3, after => $4, after_lane => $5)`
	sqlDelayed = `select id, due_at, attempts, key, payload_text, headers, enqueued_at, reason,
		case when payload_text is null then body end from weir.delayed($1, $2, max => $3, after => $4)`
	sqlListWorkflows = `select workflow, name, state, steps, done, failed, cancelled, created_at, ended_at
		from weir.list_workflows($1, max => $2, before => $3)`
)

// Claims returns up to n claims of a group that are not finished, above after, in the order in which they were made.
func (c *Client) Claims(ctx context.Context, queue, group string, n int, after int64) ([]Claim, error) {
	return collect(ctx, c, "list claims", sqlClaims, func(l *Claim) []any {
		return []any{
			&l.ClaimID, &l.Messages, &l.FirstID, &l.Attempt, &l.ClaimedAt, &l.Deadline, &l.PID, &l.Application, &l.Role,
		}
	}, queue, group, n, after)
}

// LineEnd is where a page of parked keys ended: with a key, or with messages without one, of a lane.
type LineEnd struct {
	Key  *string
	Lane *int
}

// ParkedKeys returns up to n keys of a group of which messages wait in a line, in the order of keys, after the end of
// the page before.
func (c *Client) ParkedKeys(ctx context.Context, queue, group string, n int, after LineEnd) ([]ParkedKey, error) {
	return collect(ctx, c, "list parked keys", sqlParkedKeys, func(k *ParkedKey) []any {
		return []any{
			&k.Key, &k.Lane, &k.Messages, &k.FirstID, &k.Attempts, (*utc)(&k.EnqueuedAt), &k.ParkedAt, &k.DueAt,
			&k.WaitsFor, &k.Reason,
		}
	}, queue, group, n, after.Key, after.Lane)
}

// Delayed returns up to n messages of a group that are not due, the next ones first, of those behind the message after.
func (c *Client) Delayed(ctx context.Context, queue, group string, n int, after int64) ([]Delayed, error) {
	return collect(ctx, c, "list delayed messages", sqlDelayed, func(d *Delayed) []any {
		return []any{
			&d.ID, (*utc)(&d.DueAt), &d.Attempts, &d.Key, &d.Payload, &d.Headers, (*utc)(&d.EnqueuedAt), &d.Reason,
			&d.Body,
		}
	}, queue, group, n, after)
}

// ListWorkflows returns up to n workflows of a queue below before, or, when that is nil, the newest ones; the newest
// first.
func (c *Client) ListWorkflows(ctx context.Context, queue string, n int, before *int64) ([]Workflow, error) {
	return collect(ctx, c, "list workflows", sqlListWorkflows, func(w *Workflow) []any {
		return []any{
			&w.Workflow, &w.Name, &w.State, &w.Steps, &w.Done, &w.Failed, &w.Cancelled, (*utc)(&w.CreatedAt), &w.EndedAt,
		}
	}, queue, n, before)
}
