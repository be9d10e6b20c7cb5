package size

import (
	"fmt"
	"io"
	"math"
)

// Target is what a server is wanted for.
type Target struct {
	Rate    float64 `json:"rate"`    // messages sent a second
	FanOut  int     `json:"fanout"`  // groups that receive each
	Payload int     `json:"payload"` // bytes of a payload's JSON text
	Batch   int     `json:"batch"`   // messages a send and a receive
	Keep    float64 `json:"keep_s"`  // seconds that messages stay: the backlog and the retention
}

// Estimate is what a target takes, by a model.
type Estimate struct {
	Target Target `json:"target"`

	CPU       float64 `json:"cpu"`       // cores of PostgreSQL at work
	VCPUs     int     `json:"vcpus"`     // to have, so that they are busy for at most busyMost of the time
	WALMB     float64 `json:"wal_mb_s"`  // a second
	DiskMB    float64 `json:"disk_mb"`   // of the queue, at most
	MemoryMB  float64 `json:"memory_mb"` // shared_buffers that hold what is at work, and the backends
	BuffersMB float64 `json:"buffers_mb"`
	BackendMB float64 `json:"backend_mb"` // private memory of all backends

	Model *Model `json:"model"`
}

const (
	busyMost   = 0.6  // of a core's time: above, queues of processes grow
	connection = 20.0 // connections that the memory is for, half of them of producers
	baseMB     = 128.0
)

// The most that a target may ask for: above, it is a slip of the hand.
const (
	rateMost    = 1e8 // messages a second
	fanOutMost  = 10_000
	payloadMost = 1 << 28 // bytes
	batchMost   = 1_000_000
	keepMost    = 10 * 365 * 86_400.0 // seconds
)

func (t *Target) check() error {
	// NaN is not between anything.
	if !(t.Rate > 0 && t.Rate <= rateMost) || !(t.Keep >= 0 && t.Keep <= keepMost) || t.FanOut < 1 ||
		t.FanOut > fanOutMost || t.Payload < 1 || t.Payload > payloadMost || t.Batch < 1 || t.Batch > batchMost {
		return fmt.Errorf("%w: a rate of %g, a fan-out of %d, payloads of %d bytes, batches of %d, kept for %g s; all must "+
			"be positive, and at most %g, %d, %d, %d and %g", ErrTarget, t.Rate, t.FanOut, t.Payload, t.Batch, t.Keep,
			rateMost, fanOutMost, payloadMost, batchMost, keepMost)
	}
	return nil
}

// Estimate returns what a target takes.
func (m *Model) Estimate(t Target) (*Estimate, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	kb, batch := float64(t.Payload)/1024, float64(t.Batch)
	x := Message(1, float64(t.FanOut), batch, kb)
	e := &Estimate{
		Target: t, Model: m,
		CPU: t.Rate * m.CPU.Terms.Dot(x) / 1e6, WALMB: t.Rate * m.WAL.Terms.Dot(x) / 1e6,
		DiskMB:    DiskMB(t.Rate, t.Keep, m.Stored.Terms.Dot(x)),
		BackendMB: m.Backend.Terms.Dot(Memory(connection/2, connection/2, batch*kb)),
	}
	e.VCPUs = max(1, int(math.Ceil(e.CPU/busyMost)))
	e.BuffersMB = baseMB + min(e.DiskMB, 10*e.WALMB*ringSpare)
	e.MemoryMB = e.BuffersMB + e.BackendMB
	return e, nil
}

// WriteTable writes the estimate with a tab between columns.
func (e *Estimate) WriteTable(w io.Writer) {
	t, m := e.Target, e.Model
	fmt.Fprintf(w, "%.0f messages/s of %d bytes in batches of %d, to each of %d groups, kept for %.0f s\n\n", t.Rate,
		t.Payload, t.Batch, t.FanOut, t.Keep)
	fmt.Fprintf(w, "PostgreSQL at work\t%.2f cores\n", e.CPU)
	fmt.Fprintf(w, "vCPUs to have\t%d\tbusy for at most %.0f %% of the time\n", e.VCPUs, 100*busyMost)
	fmt.Fprintf(w, "WAL\t%.2f MB/s\n", e.WALMB)
	fmt.Fprintf(w, "disk of the queue\t%.0f MB\tat most: a segment and %.0f times what is kept, given back whole\n",
		e.DiskMB, ringSpare)
	fmt.Fprintf(w, "memory\t%.0f MB\tshared_buffers of %.0f MB for 10 s of traffic, %.0f MB of %.0f connections\n",
		e.MemoryMB, e.BuffersMB, e.BackendMB, connection)
	fmt.Fprintf(w, "\nmodel against what was measured, off by:\n")
	for _, line := range []struct {
		name string
		off  Off
	}{
		{"CPU", m.CPU.Off},
		{"WAL", m.WAL.Off},
		{"disk a message", m.Stored.Off},
		{"disk at most", m.Peak},
		{"memory of the connections", m.Backend.Off},
	} {
		if line.off.N == 0 {
			fmt.Fprintf(w, "%s\tnot measured\n", line.name)
			continue
		}
		fmt.Fprintf(w, "%s\t%.0f %%\tat most %.0f %%, of %d workloads\n", line.name, 100*line.off.Median, 100*line.off.Max,
			line.off.N)
	}
	fmt.Fprintf(w, "measured: %s\n", m.Fitted)
	if p, b := m.Payloads, m.Batches; t.Payload < p[0] || t.Payload > p[1] || t.Batch < b[0] || t.Batch > b[1] {
		fmt.Fprintf(w, "The target is outside of what was measured: payloads of %d to %d bytes in batches of %d to %d.\n",
			p[0], p[1], b[0], b[1])
	}
}
