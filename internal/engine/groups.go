package engine

import (
	"context"
	"fmt"
	"time"
)

// Group describes a consumer group.
type Group struct {
	Queue       string    `json:"queue"`
	Name        string    `json:"group"`
	Ordered     bool      `json:"ordered"`
	MaxAttempts int       `json:"max_attempts"`
	BackoffMin  Millis    `json:"backoff_min_ms"`
	BackoffMax  Millis    `json:"backoff_max_ms"`
	CreatedAt   time.Time `json:"created_at"`
}

// GroupOptions are what CreateGroup may be told; nil and "" mean what the engine does unless told.
type GroupOptions struct {
	Ordered     bool
	Start       string
	MaxAttempts *int
	BackoffMin  *time.Duration
	BackoffMax  *time.Duration
}

// Fits reports whether a group is what the options ask for. Where it began to read is not part of what it is.
func (o GroupOptions) Fits(g Group) bool {
	return g.Ordered == o.Ordered && g.MaxAttempts == orDefault(o.MaxAttempts, DefaultMaxAttempts) &&
		time.Duration(g.BackoffMin) == orDefault(o.BackoffMin, DefaultBackoffMin) &&
		time.Duration(g.BackoffMax) == orDefault(o.BackoffMax, DefaultBackoffMax)
}

const (
	sqlCreateGroup = `select weir.create_group($1, $2, ordered => $3, start => $4, max_attempts => $5,
		backoff_min => $6, backoff_max => $7)`
	sqlDropGroup  = `select weir.drop_group($1, $2)`
	sqlListGroups = `select $1::text, group_name, ordered, max_attempts, backoff_min, backoff_max, created_at
		from weir.list_groups($1) order by group_name`
)

// CreateGroup makes a consumer group of a queue.
func (c *Client) CreateGroup(ctx context.Context, queue, group string, opt GroupOptions) error {
	start := opt.Start
	if start == "" {
		start = DefaultStart
	}
	return c.exec(ctx, "create group", sqlCreateGroup, queue, group, opt.Ordered, start,
		orDefault(opt.MaxAttempts, DefaultMaxAttempts), orDefault(opt.BackoffMin, DefaultBackoffMin),
		orDefault(opt.BackoffMax, DefaultBackoffMax))
}

// DropGroup removes a group with its claims, retries and dead letters; the queue's messages stay for other groups.
func (c *Client) DropGroup(ctx context.Context, queue, group string) error {
	return c.exec(ctx, "drop group", sqlDropGroup, queue, group)
}

// ListGroups returns the groups of a queue by name.
func (c *Client) ListGroups(ctx context.Context, queue string) ([]Group, error) {
	return collect(ctx, c, "list groups", sqlListGroups, func(g *Group) []any {
		return []any{&g.Queue, &g.Name, &g.Ordered, &g.MaxAttempts, &g.BackoffMin, &g.BackoffMax, (*utc)(&g.CreatedAt)}
	}, queue)
}

// Group returns the description of one group.
func (c *Client) Group(ctx context.Context, queue, group string) (Group, error) {
	list, err := c.ListGroups(ctx, queue)
	if err != nil {
		return Group{}, err
	}
	for _, g := range list {
		if g.Name == group {
			return g, nil
		}
	}
	return Group{}, newError(CodeGroupNotFound, fmt.Sprintf("queue %q has no group %q", queue, group),
		fmt.Sprintf("weir.create_group('%s', '%s') makes it", queue, group))
}

func orDefault[T any](v *T, instead T) T {
	if v == nil {
		return instead
	}
	return *v
}
