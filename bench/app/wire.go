package app

import (
	"fmt"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Command is the first line that the load reads: what to do, and where.
type Command struct {
	Options Options `json:"options"`
	Target  string  `json:"target"` // a DSN, or the URL of a server
}

// FinishLine is the line that follows it: send and take no more, and say what was found. The queues are drained, or
// have had their time.
const FinishLine = "finish"

// ShakenLine tells the load that the database is about to go away, so that calls may be lost.
const ShakenLine = "shaken"

// Event is a line that the load writes.
type Event struct {
	Tick     *Tick     `json:"tick,omitempty"`
	Question *Question `json:"question,omitempty"`
	Outcome  *Outcome  `json:"outcome,omitempty"` // the last
}

// Question is about a message whose send failed in a way that leaves open whether it was sent: is it there? Who asks
// goes on when it has the Answer.
type Question struct {
	Place

	ID    int64     `json:"id"`
	Queue string    `json:"queue"`
	Began time.Time `json:"began"` // when the first try to send it did
}

// Answer is a line that answers a Question.
type Answer struct {
	ID    int64 `json:"id"`
	There bool  `json:"there"`
}

// Tick is how far the load has come. Counts are from the beginning, times those of the last second.
type Tick struct {
	At       float64       `json:"at_s"`    // since the first message was planned
	Pushing  bool          `json:"pushing"` // producers are at work
	Pushed   int64         `json:"pushed"`  // messages whose send has returned
	Groups   []GroupCounts `json:"groups"`
	Second   GroupCounts   `json:"second"`  // the second queue's
	Commits  int64         `json:"commits"` // transactions that acked a message and sent it on
	Errors   int64         `json:"errors"`  // calls that failed
	Lost     int64         `json:"lost"`    // calls that came after the lease had ended; not a failure of the queue
	Cut      int64         `json:"cut"`     // calls that failed because the database was away, and are made again
	Asked    int64         `json:"asked"`   // sends of which it was unknown whether they had happened
	Found    int64         `json:"found"`   // of those, the ones that had
	Push     Quantiles     `json:"push"`    // of the call that sends
	Delivery Quantiles     `json:"delivery"`
	Finish   Quantiles     `json:"finish"`
}

// Outcome is what the load did.
type Outcome struct {
	Tick

	Seconds    float64   `json:"seconds"`   // of sending
	Findings   []Finding `json:"findings"`  // one a group, and one of the second queue
	Sent       []int64   `json:"sent"`      // by session
	Forwarded  []int64   `json:"forwarded"` // by session
	LastErrors []string  `json:"last_errors,omitempty"`
}

// Quantiles are times in milliseconds.
type Quantiles struct {
	N    int64   `json:"n"`
	P50  float64 `json:"p50_ms"`
	P99  float64 `json:"p99_ms"`
	P999 float64 `json:"p999_ms"`
	Max  float64 `json:"max_ms"`
}

// Clock collects times: those of the last second, and all.
type Clock struct {
	mu        sync.Mutex
	last, all *hdrhistogram.Histogram
}

// longest is what a Clock holds at most; what is longer counts as that.
const longest = 2 * time.Hour

// NewClock returns an empty one.
func NewClock() *Clock {
	return &Clock{
		last: hdrhistogram.New(1, longest.Microseconds(), 2), all: hdrhistogram.New(1, longest.Microseconds(), 3),
	}
}

// Add notes a time.
func (c *Clock) Add(d time.Duration) {
	us := min(max(1, d.Microseconds()), longest.Microseconds())
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = c.last.RecordValue(us) // it is within the bounds
	_ = c.all.RecordValue(us)
}

// Lap returns the times since the last lap.
func (c *Clock) Lap() Quantiles {
	c.mu.Lock()
	defer c.mu.Unlock()
	q := quantiles(c.last)
	c.last.Reset()
	return q
}

// Total returns all times.
func (c *Clock) Total() Quantiles {
	c.mu.Lock()
	defer c.mu.Unlock()
	return quantiles(c.all)
}

func quantiles(h *hdrhistogram.Histogram) Quantiles {
	ms := func(us int64) float64 { return float64(us) / 1000 }
	return Quantiles{
		N: h.TotalCount(), P50: ms(h.ValueAtQuantile(50)), P99: ms(h.ValueAtQuantile(99)),
		P999: ms(h.ValueAtQuantile(99.9)), Max: ms(h.Max()),
	}
}

// String writes them for people.
func (q Quantiles) String() string {
	return fmt.Sprintf("p50 %.1f, p99 %.1f, p99.9 %.1f, max %.1f ms", q.P50, q.P99, q.P999, q.Max)
}
