package engine

import "context"

const (
	sqlPause  = `select weir.pause($1, $2)`
	sqlResume = `select weir.resume($1, $2)`
	sqlSeek   = `select weir.seek($1, $2, $3)`
	sqlPurge  = `select weir.purge($1, $2)`
)

// Pause stops delivery to a group, or to the whole queue when group is empty.
func (c *Client) Pause(ctx context.Context, queue, group string) error {
	return c.exec(ctx, "pause queue", sqlPause, queue, nonEmpty(group))
}

// Resume ends a pause of a group, or of the whole queue when group is empty.
func (c *Client) Resume(ctx context.Context, queue, group string) error {
	return c.exec(ctx, "resume queue", sqlResume, queue, nonEmpty(group))
}

// Seek moves a group to another place in the log: "start", "end", a time, or a message's id.
func (c *Client) Seek(ctx context.Context, queue, group, position string) error {
	return c.exec(ctx, "seek group", sqlSeek, queue, group, position)
}

// Purge drops what a group, or every group when group is empty, has not finished, and returns how many messages,
// counted once a group.
func (c *Client) Purge(ctx context.Context, queue, group string) (int64, error) {
	return one[int64](ctx, c, "purge queue", sqlPurge, queue, nonEmpty(group))
}

// nonEmpty is a name, or SQL null where the empty string says none.
func nonEmpty(name string) *string {
	if name == "" {
		return nil
	}
	return &name
}
