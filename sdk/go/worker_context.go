package weir

import (
	"context"
	"sync"
)

// messageContext is the context of one handler. It becomes one of the standard library's only when something asks when
// it ends, which many a short handler never does: making and ending that takes longer than all else for its message.
type messageContext struct {
	context.Context // what it comes from

	mu     sync.Mutex
	full   context.Context // nil until it is asked for
	finish context.CancelCauseFunc
	ended  bool
}

// made returns the full context.
func (c *messageContext) made() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.full == nil {
		c.full, c.finish = context.WithCancelCause(c.Context)
		if c.ended {
			c.finish(nil)
		}
	}
	return c.full
}

// known returns the full context if there is one, else what it comes from.
func (c *messageContext) known() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.full == nil {
		return c.Context
	}
	return c.full
}

// cancel ends it for a reason.
func (c *messageContext) cancel(cause error) {
	c.made()
	c.finish(cause)
}

// end ends it when the handler has returned.
func (c *messageContext) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	if c.full != nil {
		c.finish(nil)
	}
}

// Done implements context.Context.
func (c *messageContext) Done() <-chan struct{} { return c.made().Done() }

// Err implements context.Context.
func (c *messageContext) Err() error {
	if err := c.known().Err(); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return context.Canceled
	}
	return nil
}

// Value implements context.Context. The standard library finds by it what it cancels, after it has asked for Done.
func (c *messageContext) Value(key any) any { return c.known().Value(key) }
