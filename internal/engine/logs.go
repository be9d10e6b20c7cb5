package engine

import (
	"context"
	"time"
)

// Log describes a log: the storage that queues share.
type Log struct {
	Name         string    `json:"log"`
	Unlogged     bool      `json:"unlogged" doc:"Its messages do not survive a crash of PostgreSQL."`
	SegmentBytes int64     `json:"segment_bytes" doc:"Size at which a segment is closed."`
	ClaimsBytes  int64     `json:"claims_bytes" doc:"Size at which a table of the claim log is left."`
	Retention    Millis    `json:"retention_ms" doc:"How long what all groups have finished is kept at least."`
	Queues       int       `json:"queues" doc:"How many queues keep their messages in it."`
	Bytes        int64     `json:"bytes" doc:"Its disk space."`
	CreatedAt    time.Time `json:"created_at"`
}

// LogSettings are what a log is told when it is made or later. Nil says nothing: a new log gets what the engine does
// unless told, and one that is there keeps what it has.
type LogSettings struct {
	SegmentBytes *int64  `json:"segment_bytes,omitempty" doc:"Size that closes a segment; 67108864 in a new log."`
	ClaimsBytes  *int64  `json:"claims_bytes,omitempty" doc:"Size of a claim log table; 16777216 in a new log."`
	Retention    *Millis `json:"retention_ms,omitempty" doc:"How long what all groups have finished is kept; 0 if new."`
}

// LogOptions are what CreateLog may be told.
type LogOptions struct {
	// Unlogged cannot be changed later.
	Unlogged *bool `json:"unlogged,omitempty" doc:"Its messages need not survive a crash of PostgreSQL."`

	LogSettings
}

const (
	sqlCreateLog = `select weir.create_log($1, unlogged => $2, segment_bytes => $3, claims_bytes => $4,
		retention => $5)`
	sqlConfigureLog = `select weir.configure_log($1, segment_bytes => $2, claims_bytes => $3, retention => $4)`
	sqlDropLog      = `select weir.drop_log($1)`
	sqlListLogs     = `select log_name, unlogged, segment_bytes, claims_bytes, retention, queues, bytes, created_at
		from weir.list_logs() order by log_name`
)

// CreateLog makes a log and reports whether it did: not when one with these settings is there.
func (c *Client) CreateLog(ctx context.Context, log string, opt LogOptions) (bool, error) {
	return one[bool](ctx, c, "create log", sqlCreateLog, log, orDefault(opt.Unlogged, false),
		orDefault(opt.SegmentBytes, DefaultSegmentBytes), orDefault(opt.ClaimsBytes, DefaultClaimsBytes),
		orDefault(opt.Retention, 0))
}

// ConfigureLog changes settings of a log that is in use.
func (c *Client) ConfigureLog(ctx context.Context, log string, s LogSettings) error {
	return c.exec(ctx, "configure log", sqlConfigureLog, log, s.SegmentBytes, s.ClaimsBytes, s.Retention)
}

// DropLog removes a log that no queue uses.
func (c *Client) DropLog(ctx context.Context, log string) error {
	return c.exec(ctx, "drop log", sqlDropLog, log)
}

// ListLogs returns all logs by name.
func (c *Client) ListLogs(ctx context.Context) ([]Log, error) {
	return collect(ctx, c, "list logs", sqlListLogs, func(l *Log) []any {
		return []any{
			&l.Name, &l.Unlogged, &l.SegmentBytes, &l.ClaimsBytes, &l.Retention, &l.Queues, &l.Bytes, (*utc)(&l.CreatedAt),
		}
	})
}
