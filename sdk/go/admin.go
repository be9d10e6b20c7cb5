package weir

import (
	"context"
	"time"
)

// CreateQueue makes a queue and its group DefaultGroup, and reports whether it did: not when it is there, so that a
// program may call it each time it starts. A queue with other settings than those given is ErrQueueExists.
func (c *Client) CreateQueue(ctx context.Context, queue string, o QueueOptions) (bool, error) {
	return retry(ctx, c.tries, true, func() (bool, error) { return c.b.createQueue(ctx, queue, o) })
}

// ConfigureQueue changes settings of a queue that is in use.
func (c *Client) ConfigureQueue(ctx context.Context, queue string, s QueueSettings) error {
	return c.do(ctx, true, func() error { return c.b.configureQueue(ctx, queue, s) })
}

// RenameQueue gives a queue another name. All that it has stays, and what was claimed before is acked under the new
// name.
func (c *Client) RenameQueue(ctx context.Context, queue, name string) error {
	return c.do(ctx, false, func() error { return c.b.renameQueue(ctx, queue, name) })
}

// MoveQueue moves a queue that is in use to another log: new messages go there, and each group finishes the old one
// first. Until then Queue.MovingFrom names that.
func (c *Client) MoveQueue(ctx context.Context, queue, log string) error {
	return c.do(ctx, true, func() error { return c.b.moveQueue(ctx, queue, log) })
}

// ListQueues lists the queues that the caller consumes from or administers.
func (c *Client) ListQueues(ctx context.Context) ([]Queue, error) {
	return retry(ctx, c.tries, true, func() ([]Queue, error) { return c.b.listQueues(ctx) })
}

// CreateLog makes a log, storage of its own for queues that are made with its name, and reports whether it did: not
// when one with these settings is there. One with others is ErrQueueExists.
func (c *Client) CreateLog(ctx context.Context, log string, o LogOptions) (bool, error) {
	return retry(ctx, c.tries, true, func() (bool, error) { return c.b.createLog(ctx, log, o) })
}

// ConfigureLog changes settings of a log.
func (c *Client) ConfigureLog(ctx context.Context, log string, s LogSettings) error {
	return c.do(ctx, true, func() error { return c.b.configureLog(ctx, log, s) })
}

// ListLogs lists the logs of the database.
func (c *Client) ListLogs(ctx context.Context) ([]Log, error) {
	return retry(ctx, c.tries, true, func() ([]Log, error) { return c.b.listLogs(ctx) })
}

// DropLog removes a log that no queue uses.
func (c *Client) DropLog(ctx context.Context, log string) error {
	return c.do(ctx, false, func() error { return c.b.dropLog(ctx, log) })
}

// Get shows a message, wherever in the queue it is, without claiming it: nil when the queue does not keep it any more.
// It reads all of the queue, so it is for people who look, not for programs that poll.
func (c *Client) Get(ctx context.Context, queue string, id int64) (*StoredMessage, error) {
	return retry(ctx, c.tries, true, func() (*StoredMessage, error) { return c.b.get(ctx, queue, id) })
}

// GetMany shows those of several messages, 1 to 1,000, that the queue keeps, in the order of the ids, as Get does. It
// reads the queue once for all of them.
func (c *Client) GetMany(ctx context.Context, queue string, ids ...int64) ([]StoredMessage, error) {
	return retry(ctx, c.tries, true, func() ([]StoredMessage, error) { return c.b.getMany(ctx, queue, ids) })
}

// DropQueue removes a queue with all its messages.
func (c *Client) DropQueue(ctx context.Context, queue string) error {
	return c.do(ctx, false, func() error { return c.b.dropQueue(ctx, queue) })
}

// CreateGroup makes a group of a queue.
func (c *Client) CreateGroup(ctx context.Context, queue, group string, o GroupOptions) error {
	return c.do(ctx, false, func() error { return c.b.createGroup(ctx, queue, group, o) })
}

// ConfigureGroup changes settings of a group that is in use.
func (c *Client) ConfigureGroup(ctx context.Context, queue, group string, s GroupSettings) error {
	return c.do(ctx, true, func() error { return c.b.configureGroup(ctx, queue, group, s) })
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

// Bind sends the messages of the topics that a pattern covers to a queue: words separated by dots, of which "*" stands
// for any one and "#" for any number.
func (c *Client) Bind(ctx context.Context, pattern, queue string) error {
	return c.do(ctx, true, func() error { return c.b.bind(ctx, pattern, queue) })
}

// Unbind removes a binding and reports whether it was there.
func (c *Client) Unbind(ctx context.Context, pattern, queue string) (bool, error) {
	return retry(ctx, c.tries, false, func() (bool, error) { return c.b.unbind(ctx, pattern, queue) })
}

// Route names the queues to which Publish would send the messages of a topic.
func (c *Client) Route(ctx context.Context, topic string) ([]string, error) {
	return retry(ctx, c.tries, true, func() ([]string, error) { return c.b.route(ctx, topic) })
}

// ListBindings lists which topics go to which queues.
func (c *Client) ListBindings(ctx context.Context) ([]Binding, error) {
	return retry(ctx, c.tries, true, func() ([]Binding, error) { return c.b.listBindings(ctx) })
}

// Doctor looks for what is wrong, the worst first.
func (c *Client) Doctor(ctx context.Context) ([]Finding, error) {
	return retry(ctx, c.tries, true, func() ([]Finding, error) { return c.b.doctor(ctx) })
}

// Stats counts what the groups of a queue have before them, those of all queues when queue is "".
func (c *Client) Stats(ctx context.Context, queue string) ([]GroupStats, error) {
	return retry(ctx, c.tries, true, func() ([]GroupStats, error) { return c.b.stats(ctx, queue) })
}

// Maintain takes the steps of upkeep that are due, unless somebody began to less than every ago, and returns how many
// it took; 0 is for calls that go on while there is more to do. Workers call it; a server does, too.
func (c *Client) Maintain(ctx context.Context, every time.Duration) (int, error) {
	return c.b.maintain(ctx, every)
}

// Version returns the release of the engine in the database.
func (c *Client) Version(ctx context.Context) (string, error) {
	return retry(ctx, c.tries, true, func() (string, error) { return c.b.version(ctx) })
}

// do is retry for a call without a result.
func (c *Client) do(ctx context.Context, again bool, call func() error) error {
	_, err := retry(ctx, c.tries, again, func() (struct{}, error) { return struct{}{}, call() })
	return err
}
