package cli

import (
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

const (
	meterAfter = time.Second // a command that is done sooner shows nothing
	meterEvery = 500 * time.Millisecond
)

// meter shows at a terminal how far a long command is. A nil one shows nothing.
type meter struct {
	w     io.Writer
	verb  string
	began time.Time
	count atomic.Int64
	over  chan struct{}
	ended sync.WaitGroup
}

// startMeter begins a line on standard error, unless that is no terminal, or what the command prints goes to one.
func (a *app) startMeter(verb string, prints bool) *meter {
	shown, _ := terminalOf(a.stderr)
	mixed, _ := terminalOf(a.stdout)
	if !shown || mixed && prints {
		return nil
	}
	m := &meter{w: a.stderr, verb: verb, began: time.Now(), over: make(chan struct{})}
	m.ended.Go(m.run)
	return m
}

// add counts messages.
func (m *meter) add(n int) {
	if m != nil {
		m.count.Add(int64(n))
	}
}

// stop takes the line away.
func (m *meter) stop() {
	if m != nil {
		close(m.over)
		m.ended.Wait()
	}
}

// run writes the line again and again.
func (m *meter) run() {
	next := time.NewTimer(meterAfter)
	defer next.Stop()
	for written := false; ; written = true {
		select {
		case <-m.over:
			if written {
				fmt.Fprint(m.w, "\r\x1b[K")
			}
			return
		case <-next.C:
		}
		n := m.count.Load()
		rate := float64(n) / time.Since(m.began).Seconds()
		fmt.Fprintf(m.w, "\r%s %s, %.0f a second\x1b[K", plural(n, "message"), m.verb, rate)
		next.Reset(meterEvery)
	}
}
