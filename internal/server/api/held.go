package api

import (
	"io"
	"sync/atomic"

	"github.com/weirmq/weir/internal/server/dispatch"
)

// heldReader counts what is read of a body among the bodies that the server holds in memory, and fails when they are
// too many.
type heldReader struct {
	from io.Reader
	held *atomic.Int64 // bytes of all bodies
	max  int64
	own  int64
}

// Read implements io.Reader.
func (h *heldReader) Read(p []byte) (int, error) {
	n, err := h.from.Read(p)
	if !h.take(int64(n)) {
		return n, dispatch.ErrBusy
	}
	return n, err //nolint:wrapcheck // bodyProblem tells the errors apart
}

// take counts bytes where there is room for them. What there is no room for is never counted, so that only the body
// that brings it is turned away and none of those beside it.
func (h *heldReader) take(n int64) bool {
	for {
		held := h.held.Load()
		if n > 0 && held+n > h.max {
			return false
		}
		if h.held.CompareAndSwap(held, held+n) {
			h.own += n
			return true
		}
	}
}

// release is called when the request has been answered.
func (h *heldReader) release() { h.held.Add(-h.own) }
