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
	h.own += int64(n)
	if h.held.Add(int64(n)) > h.max {
		return n, dispatch.ErrBusy
	}
	return n, err //nolint:wrapcheck // bodyProblem tells the errors apart
}

// release is called when the request has been answered.
func (h *heldReader) release() { h.held.Add(-h.own) }
