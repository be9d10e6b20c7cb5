package weir

import "context"

// CreateQueue makes a queue and its group DefaultGroup. A queue of that name is ErrQueueExists; over HTTP it is not
// when it has the settings asked for.
func (c *Client) CreateQueue(ctx context.Context, queue string, o QueueOptions) error {
	return c.do(ctx, false, func() error { return c.b.createQueue(ctx, queue, o) })
}

// DropQueue removes a queue with all its messages.
func (c *Client) DropQueue(ctx context.Context, queue string) error {
	return c.do(ctx, false, func() error { return c.b.dropQueue(ctx, queue) })
}

// CreateGroup makes a group of a queue.
func (c *Client) CreateGroup(ctx context.Context, queue, group string, o GroupOptions) error {
	return c.do(ctx, false, func() error { return c.b.createGroup(ctx, queue, group, o) })
}

// DropGroup removes a group.
func (c *Client) DropGroup(ctx context.Context, queue, group string) error {
	return c.do(ctx, false, func() error { return c.b.dropGroup(ctx, queue, group) })
}

// ListGroups lists the groups of a queue.
func (c *Client) ListGroups(ctx context.Context, queue string) ([]Group, error) {
	return retry(ctx, c.tries, true, func() ([]Group, error) { return c.b.listGroups(ctx, queue) })
}

// Seek moves a group in the log: "start", "end", a timestamp or the id of a message.
func (c *Client) Seek(ctx context.Context, queue, group, position string) error {
	return c.do(ctx, true, func() error { return c.b.seek(ctx, queue, group, position) })
}

// Pause stops delivery to a group, to all groups when group is "".
func (c *Client) Pause(ctx context.Context, queue, group string) error {
	return c.do(ctx, true, func() error { return c.b.pause(ctx, queue, group) })
}

// Resume ends a pause.
func (c *Client) Resume(ctx context.Context, queue, group string) error {
	return c.do(ctx, true, func() error { return c.b.resume(ctx, queue, group) })
}

// Purge drops what a group has not finished, what no group has when group is "", and returns how many messages.
func (c *Client) Purge(ctx context.Context, queue, group string) (int64, error) {
	return retry(ctx, c.tries, false, func() (int64, error) { return c.b.purge(ctx, queue, group) })
}

// DeadLetters lists dead letters of a group by id, 100 unless Max says otherwise.
func (c *Client) DeadLetters(ctx context.Context, queue string, opts ...ReceiveOption) ([]DeadLetter, error) {
	o := collectReceive(100, opts)
	return retry(ctx, c.tries, true, func() ([]DeadLetter, error) { return c.b.deadLetters(ctx, queue, o) })
}

// Redrive sends dead letters back to their group, at most 10,000 a call, and returns how many.
func (c *Client) Redrive(ctx context.Context, queue string, opts ...ReceiveOption) (int64, error) {
	o := collectReceive(1, opts)
	return retry(ctx, c.tries, false, func() (int64, error) { return c.b.redrive(ctx, queue, o) })
}

// Discard removes dead letters for good, at most 10,000 a call, and returns how many.
func (c *Client) Discard(ctx context.Context, queue string, opts ...ReceiveOption) (int64, error) {
	o := collectReceive(1, opts)
	return retry(ctx, c.tries, false, func() (int64, error) { return c.b.discard(ctx, queue, o) })
}

// Stats counts what the groups of a queue have before them, those of all queues when queue is "".
func (c *Client) Stats(ctx context.Context, queue string) ([]GroupStats, error) {
	return retry(ctx, c.tries, true, func() ([]GroupStats, error) { return c.b.stats(ctx, queue) })
}

// Maintain takes the steps of upkeep that are due and returns how many. Workers do it; a server does it, too.
func (c *Client) Maintain(ctx context.Context) (int, error) { return c.b.maintain(ctx) }

// Version returns the release of the engine in the database.
func (c *Client) Version(ctx context.Context) (string, error) {
	return retry(ctx, c.tries, true, func() (string, error) { return c.b.version(ctx) })
}

// do is retry for a call without a result.
func (c *Client) do(ctx context.Context, again bool, call func() error) error {
	_, err := retry(ctx, c.tries, again, func() (struct{}, error) { return struct{}{}, call() })
	return err
}
