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

// clearLine takes away what a meter wrote into the line.
const clearLine = "\r\x1b[K"

// meter shows at a terminal how far a long command is. A nil one shows nothing.
type meter struct {
	w     io.Writer
	text  func(count, all int64) string // "" while there is nothing to tell
	count atomic.Int64
	all   atomic.Int64
	over  chan struct{}
	ended sync.WaitGroup
}

// startMeter begins a line on standard error, unless that is no terminal.
func (a *app) startMeter(text func(count, all int64) string) *meter {
	if shown, _ := terminalOf(a.stderr); !shown {
		return nil
	}
	m := &meter{w: a.stderr, text: text, over: make(chan struct{})}
	m.ended.Go(m.run)
	return m
}

// meterMessages shows how many messages there were, unless what the command prints goes to the terminal, too.
func (a *app) meterMessages(verb string, prints bool) *meter {
	if mixed, _ := terminalOf(a.stdout); mixed && prints {
		return nil
	}
	began := time.Now()
	return a.startMeter(func(count, _ int64) string {
		return fmt.Sprintf("%s %s, %.0f a second", plural(count, "message"), verb, float64(count)/time.Since(began).Seconds())
	})
}

// meterDownload shows how much of PostgreSQL has been downloaded, as soon as there is something of it.
func (a *app) meterDownload() *meter {
	return a.startMeter(func(count, all int64) string {
		switch {
		case count == 0:
			return ""
		case all <= 0:
			return fmt.Sprintf("%.1f MB downloaded", float64(count)/1e6)
		default:
			return fmt.Sprintf("%.1f of %.1f MB downloaded", float64(count)/1e6, float64(all)/1e6)
		}
	})
}

// add counts messages.
func (m *meter) add(n int) {
	if m != nil {
		m.count.Add(int64(n))
	}
}

// set tells how much there is of all.
func (m *meter) set(count, all int64) {
	if m != nil {
		m.count.Store(count)
		m.all.Store(all)
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
	for written := false; ; {
		select {
		case <-m.over:
			if written {
				fmt.Fprint(m.w, clearLine)
			}
			return
		case <-next.C:
		}
		if text := m.text(m.count.Load(), m.all.Load()); text != "" {
			fmt.Fprint(m.w, "\r"+text+"\x1b[K")
			written = true
		}
		next.Reset(meterEvery)
	}
}
