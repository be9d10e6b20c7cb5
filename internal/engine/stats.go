package engine

import (
	"context"
	"time"
)

const (
	sqlStats = `select queue_name, group_name, waiting, expired, claimed, delayed, parked, dead,
		coalesce(extract(epoch from oldest_age), 0)::float8, exact, sent_rate, delivered_rate, delivered_at, expiries,
		hot_key, hot_key_share, held_by, lanes, log, held_segments, segments, bytes,
		blocked_by, blocker_pid, extract(epoch from blocker_age)::float8, blocker_query
		from weir.stats($1) order by queue_name, group_name`
	sqlMaintain = `call weir.maintain($1)`
	sqlVersion  = `select weir.version()`
)

// Stats returns one row a group: of one queue, or of all when queue is empty.
func (c *Client) Stats(ctx context.Context, queue string) ([]GroupStats, error) {
	return collect(ctx, c, "read statistics", sqlStats, func(s *GroupStats) []any {
		return []any{
			&s.Queue, &s.Group, &s.Waiting, &s.Expired, &s.Claimed, &s.Delayed, &s.Parked, &s.Dead,
			&s.OldestAge, &s.Exact, &s.SentRate, &s.DeliveredRate, &s.DeliveredAt, &s.Expiries,
			&s.HotKey, &s.HotKeyShare, &s.HeldBy, &s.Lanes, &s.Log, &s.HeldSegments, &s.Segments, &s.Bytes,
			&s.BlockedBy, &s.BlockerPID, &s.BlockerAge, &s.BlockerQuery,
		}
	}, nonEmpty(queue))
}

// Maintain does upkeep for up to a second, unless somebody began with it less than every ago, and returns the number of
// steps it took; 0 means that nothing is left to do. It commits after each step, so that it fails in a transaction.
func (c *Client) Maintain(ctx context.Context, every time.Duration) (int, error) {
	return one[int](ctx, c, "maintain queues", sqlMaintain, every)
}

// Version returns the version of the engine in the database.
func (c *Client) Version(ctx context.Context) (string, error) {
	return one[string](ctx, c, "read engine version", sqlVersion)
}
