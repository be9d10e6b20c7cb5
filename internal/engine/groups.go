package engine

import (
	"context"
	"fmt"
	"time"
)

// Group describes a consumer group.
type Group struct {
	Queue             string    `json:"queue"`
	Name              string    `json:"group"`
	Ordered           bool      `json:"ordered"`
	MaxAttempts       int       `json:"max_attempts"`
	BackoffMin        Millis    `json:"backoff_min_ms"`
	BackoffMax        Millis    `json:"backoff_max_ms"`
	ConcurrencyMax    int       `json:"concurrency_max" doc:"Messages claimed and unfinished at once; 0: no limit."`
	RateMax           int       `json:"rate_max" doc:"Deliveries in a rate period; 0: no limit."`
	RatePeriod        Millis    `json:"rate_period_ms"`
	KeyConcurrencyMax int       `json:"key_concurrency_max" doc:"Messages of one key claimed and unfinished at once."`
	Fair              bool      `json:"fair" doc:"Whether keys take turns, as they also do with a key_concurrency_max."`
	Paused            bool      `json:"paused" doc:"Whether the group is paused, by itself or with its queue."`
	CreatedAt         time.Time `json:"created_at"`
}

// GroupSettings are what a group is told when it is made or later. Nil says nothing: a new group gets what the engine
// does unless told, and one that is there keeps what it has.
type GroupSettings struct {
	MaxAttempts       *int    `json:"max_attempts,omitempty" doc:"Deliveries before a message is dead; 5 if new."`
	BackoffMin        *Millis `json:"backoff_min_ms,omitempty" doc:"Delay before the second attempt; 1000 in a new group."`
	BackoffMax        *Millis `json:"backoff_max_ms,omitempty" doc:"The longest delay; 600000 in a new group."`
	ConcurrencyMax    *int    `json:"concurrency_max,omitempty" doc:"Messages claimed and unfinished at once; 0: all."`
	RateMax           *int    `json:"rate_max,omitempty" doc:"Deliveries in a rate period; 0: no limit."`
	RatePeriod        *Millis `json:"rate_period_ms,omitempty" doc:"What rate_max counts for; 1000 in a new group."`
	KeyConcurrencyMax *int    `json:"key_concurrency_max,omitempty" doc:"The same of one key; 0: no limit."`
	Fair              *bool   `json:"fair,omitempty" doc:"Keys take turns; implied by key_concurrency_max."`
}

// GroupOptions are what CreateGroup may be told.
type GroupOptions struct {
	Ordered *bool   `json:"ordered,omitempty" doc:"Deliver messages of one key in order; false unless given."`
	Start   *string `json:"start,omitempty" doc:"start, end or a time; start unless given."`
	GroupSettings
}

const (
	sqlCreateGroup = `select weir.create_group($1, $2, ordered => $3, start => $4, max_attempts => $5,
		backoff_min => $6, backoff_max => $7, concurrency_max => $8, rate_max => $9, rate_period => $10,
		key_concurrency_max => $11, fair => $12)`
	sqlConfigureGroup = `select weir.configure_group($1, $2, max_attempts => $3, backoff_min => $4,
		backoff_max => $5, concurrency_max => $6, rate_max => $7, rate_period => $8, key_concurrency_max => $9,
		fair => $10)`
	sqlDropGroup  = `select weir.drop_group($1, $2)`
	sqlListGroups = `select $1::text, group_name, ordered, max_attempts, backoff_min, backoff_max,
		coalesce(concurrency_max, 0), coalesce(rate_max, 0), rate_period,
		coalesce(key_concurrency_max, 0), fair, paused, created_at
		from weir.list_groups($1) order by group_name`
)

// CreateGroup makes a consumer group of a queue.
func (c *Client) CreateGroup(ctx context.Context, queue, group string, opt GroupOptions) error {
	return c.exec(ctx, "create group", sqlCreateGroup, queue, group,
		orDefault(opt.Ordered, false), orDefault(opt.Start, DefaultStart),
		orDefault(opt.MaxAttempts, DefaultMaxAttempts), orDefault(opt.BackoffMin, Millis(DefaultBackoffMin)),
		orDefault(opt.BackoffMax, Millis(DefaultBackoffMax)),
		orDefault(opt.ConcurrencyMax, 0), orDefault(opt.RateMax, 0), orDefault(opt.RatePeriod, Millis(DefaultRatePeriod)),
		orDefault(opt.KeyConcurrencyMax, 0), orDefault(opt.Fair, false))
}

// ConfigureGroup changes settings of a group that is in use.
func (c *Client) ConfigureGroup(ctx context.Context, queue, group string, s GroupSettings) error {
	return c.exec(ctx, "configure group", sqlConfigureGroup, queue, group,
		s.MaxAttempts, s.BackoffMin, s.BackoffMax, s.ConcurrencyMax, s.RateMax, s.RatePeriod,
		s.KeyConcurrencyMax, s.Fair)
}

// DropGroup removes a group with its claims, retries and dead letters; the queue's messages stay for other groups.
func (c *Client) DropGroup(ctx context.Context, queue, group string) error {
	return c.exec(ctx, "drop group", sqlDropGroup, queue, group)
}

// ListGroups returns the groups of a queue by name.
func (c *Client) ListGroups(ctx context.Context, queue string) ([]Group, error) {
	return collect(ctx, c, "list groups", sqlListGroups, func(g *Group) []any {
		return []any{
			&g.Queue, &g.Name, &g.Ordered, &g.MaxAttempts, &g.BackoffMin, &g.BackoffMax,
			&g.ConcurrencyMax, &g.RateMax, &g.RatePeriod, &g.KeyConcurrencyMax, &g.Fair, &g.Paused, (*utc)(&g.CreatedAt),
		}
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
	if err := c.exec(ctx, "show group", sqlDeadLetters, queue, group, 1, 0); err != nil { // as for a queue
		return Group{}, err
	}
	return Group{}, NewError(CodeGroupNotFound, fmt.Sprintf("queue %q has no group %q", queue, group), "")
}

func orDefault[T any](v *T, instead T) T {
	if v == nil {
		return instead
	}
	return *v
}
