package cli

import (
	"errors"
	"io"
	"syscall"
)

// pipe is a standard output that may be closed by whoever reads it, as `| head` does when it has enough.
type pipe struct {
	io.Writer

	closed bool
}

// Write notes that nobody reads any more.
func (p *pipe) Write(text []byte) (int, error) {
	n, err := p.Writer.Write(text)
	p.closed = p.closed || errors.Is(err, syscall.EPIPE)
	return n, err //nolint:wrapcheck // it is a writer
}

// unread reports whether whoever read the output has gone.
func (a *app) unread() bool {
	p, piped := a.stdout.(*pipe)
	return piped && p.closed
}
