package engine

import "context"

const (
	sqlStats = `select queue_name, group_name, waiting, claimed, delayed, parked, dead,
		coalesce(extract(epoch from oldest_age), 0)::float8, lanes, segments, bytes
		from weir.stats($1) order by queue_name, group_name`
	sqlMaintain = `select weir.maintain()`
	sqlVersion  = `select weir.version()`
)

// Stats returns one row a group: of one queue, or of all when queue is empty.
func (c *Client) Stats(ctx context.Context, queue string) ([]GroupStats, error) {
	return collect(ctx, c, "read statistics", sqlStats, func(s *GroupStats) []any {
		return []any{
			&s.Queue, &s.Group, &s.Waiting, &s.Claimed, &s.Delayed, &s.Parked, &s.Dead,
			&s.OldestAge, &s.Lanes, &s.Segments, &s.Bytes,
		}
	}, nonEmpty(queue))
}

// Maintain does a round of upkeep and returns the number of steps it took; 0 means that nothing is left to do.
func (c *Client) Maintain(ctx context.Context) (int, error) {
	return one[int](ctx, c, "maintain queues", sqlMaintain)
}

// Version returns the version of the engine in the database.
func (c *Client) Version(ctx context.Context) (string, error) {
	return one[string](ctx, c, "read engine version", sqlVersion)
}
