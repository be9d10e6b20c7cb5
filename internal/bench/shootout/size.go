package shootout

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
)

// Target is what a server is wanted for.
type Target struct {
	Rate    float64 `json:"rate"`    // messages sent a second
	FanOut  int     `json:"fanout"`  // groups that receive each
	Payload int     `json:"payload"` // bytes of a payload's JSON text
	Batch   int     `json:"batch"`   // messages a send and a receive
	Keep    float64 `json:"keep_s"`  // seconds that messages stay: the backlog and the retention
}

// Size is what the target takes, by the model.
type Size struct {
	Target Target `json:"target"`

	CPU       float64 `json:"cpu"`       // cores of PostgreSQL at work
	VCPUs     int     `json:"vcpus"`     // to have, so that they are busy for at most busyMost of the time
	WALMB     float64 `json:"wal_mb_s"`  // a second
	DiskMB    float64 `json:"disk_mb"`   // of the queue
	MemoryMB  float64 `json:"memory_mb"` // shared_buffers that hold what is at work, and the backends
	CPUError  Spread  `json:"cpu_error"` // of the model against each measurement, relative, either way
	WALError  Spread  `json:"wal_error"` // likewise
	Workloads int     `json:"workloads"` // that it was fitted to
	Fitted    string  `json:"fitted_to"` // when and on what it was measured
	Payloads  [2]int  `json:"payloads"`  // the smallest and the largest of them, in bytes
	Batches   [2]int  `json:"batches"`   // likewise
}

const (
	busyMost   = 0.6  // of a core's time: above, queues of processes grow
	ringSpare  = 3.0  // segments are given back whole, the oldest after the next is full
	backendMB  = 12.0 // of one connection at work
	connection = 20.0 // connections that the memory is for
	baseMB     = 128.0
)

// terms are those of the model of a figure a message: each call's share, the message itself, each KB of it; for sends
// and for each group's receives and acks.
const terms = 6

// sample6 is a measurement: what a message took and how much of each term is in it.
type sample6 struct {
	x [terms]float64
	y float64
}

// exercise says how much of each term a workload has, a message; ok is false when it is none that is modelled.
func exercise(w Workload) (x [terms]float64, ok bool) {
	if w.Hold != "" || w.Kill != "" || w.Keys > 0 || w.Rate > 0 || w.Perpetual || w.CommitOff || w.Late ||
		w.Producers > 10 || w.Consumers > 10 {
		return x, false
	}
	batch, kb := float64(w.Batch), float64(w.Bytes)/1024
	if w.Producers > 0 {
		x[0], x[1], x[2] = 1/batch, 1, kb
	}
	if w.Consumers > 0 {
		x[3], x[4], x[5] = 1/batch, 1, kb
	}
	return x, true
}

// fit finds the terms, none below 0, that make the relative errors smallest, by going down one term after the other.
func fit(samples []sample6) (c [terms]float64) {
	for range 20_000 {
		for k := range terms {
			num, den := 0.0, 0.0
			for _, s := range samples {
				rest := s.y
				for i := range terms {
					if i != k {
						rest -= c[i] * s.x[i]
					}
				}
				num += rest * s.x[k] / (s.y * s.y)
				den += s.x[k] * s.x[k] / (s.y * s.y)
			}
			if den > 0 {
				c[k] = max(0, num/den)
			}
		}
	}
	return c
}

func dot(c, x [terms]float64) float64 {
	sum := 0.0
	for i := range terms {
		sum += c[i] * x[i]
	}
	return sum
}

func fitErrors(c [terms]float64, samples []sample6) Spread {
	var all []float64
	for _, s := range samples {
		all = append(all, math.Abs(dot(c, s.x)/s.y-1))
	}
	return spread(all)
}

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
		return optionf("a rate of %g, a fan-out of %d, payloads of %d bytes, batches of %d, kept for %g s; all must be "+
			"positive, and at most %g, %d, %d, %d and %g", t.Rate, t.FanOut, t.Payload, t.Batch, t.Keep, rateMost, fanOutMost,
			payloadMost, batchMost, keepMost)
	}
	return nil
}

// widen makes a range hold a value.
func widen(span *[2]int, v int) {
	if span[0] == 0 || v < span[0] {
		span[0] = v
	}
	span[1] = max(span[1], v)
}

// Costs are what Weir over SQL came to in a shootout: what a size is fitted to.
type Costs struct {
	When      string         `json:"when"`
	CPU       string         `json:"cpu"`
	CPUs      int            `json:"cpus"`
	Server    string         `json:"server"`
	Workloads []WorkloadCost `json:"workloads"`
}

// WorkloadCost is what a message cost in a workload; medians.
type WorkloadCost struct {
	Workload  string  `json:"workload"`
	ServerCPU float64 `json:"server_cpu"` // seconds a million; 0: not measured
	WAL       float64 `json:"wal"`        // bytes; likewise
}

// Costs returns what a size can be fitted to; ErrOptions when there is too little.
func (s *Shootout) Costs() (*Costs, error) {
	c := &Costs{When: s.when(), CPU: s.Machine.CPU, CPUs: s.Machine.CPUs, Server: s.Machine.Build}
	cpu, wal := 0, 0
	for _, table := range s.Tables() {
		at := slices.IndexFunc(table.Rows, func(r Row) bool { return r.System == "weir" && r.Setting == viewBest.Name })
		if _, ok := exercise(table.Workload); !ok || at < 0 {
			continue
		}
		r := table.Rows[at]
		c.Workloads = append(c.Workloads, WorkloadCost{table.Name, r.ServerCPU.Median, r.WAL.Median})
		cpu, wal = cpu+min(1, r.ServerCPU.N), wal+min(1, r.WAL.N)
	}
	if cpu < terms || wal < terms {
		return nil, optionf("%d measurements of Weir over SQL to fit %d terms to; run weir bench shootout --systems weir, "+
			"with send, consume and cycle of several batches and payloads", min(cpu, wal), terms)
	}
	return c, nil
}

// ReadCosts reads costs that a report was written with.
func ReadCosts(text []byte) (*Costs, error) {
	c := &Costs{}
	if err := json.Unmarshal(text, c); err != nil {
		return nil, fmt.Errorf("read measurements of the last shootout: %w", err)
	}
	return c, nil
}

// Estimate returns what a target takes, by a model fitted to the costs.
func (c *Costs) Estimate(t Target) (*Size, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	size := &Size{Target: t, Fitted: fmt.Sprintf("%s, %d CPUs (%s), %s", c.When, c.CPUs, c.CPU, c.Server)}
	var cpu, wal []sample6
	for _, w := range Workloads() {
		x, ok := exercise(w)
		at := slices.IndexFunc(c.Workloads, func(one WorkloadCost) bool { return one.Workload == w.Name })
		if !ok || at < 0 {
			continue
		}
		widen(&size.Payloads, w.Bytes)
		widen(&size.Batches, w.Batch)
		if cost := c.Workloads[at].ServerCPU; cost > 0 {
			cpu = append(cpu, sample6{x, cost})
		}
		if cost := c.Workloads[at].WAL; cost > 0 {
			wal = append(wal, sample6{x, cost})
		}
	}
	kb, batch := float64(t.Payload)/1024, float64(t.Batch)
	groups := float64(t.FanOut)
	x := [terms]float64{1 / batch, 1, kb, groups / batch, groups, groups * kb}
	cpuTerms, walTerms := fit(cpu), fit(wal)
	size.CPU, size.WALMB = t.Rate*dot(cpuTerms, x)/1e6, t.Rate*dot(walTerms, x)/1e6
	size.CPUError, size.WALError, size.Workloads = fitErrors(cpuTerms, cpu), fitErrors(walTerms, wal), len(cpu)
	size.VCPUs = max(1, int(math.Ceil(size.CPU/busyMost)))
	// What a send writes to the WAL it writes to the table, too.
	stored := dot(walTerms, [terms]float64{1 / batch, 1, kb})
	size.DiskMB = ringSpare * t.Rate * t.Keep * stored / 1e6
	size.MemoryMB = baseMB + min(size.DiskMB, 10*size.WALMB*ringSpare) + backendMB*connection
	return size, nil
}

// WriteTable writes the size with a tab between columns.
func (z *Size) WriteTable(w io.Writer) {
	t := z.Target
	fmt.Fprintf(w, "%.0f messages/s of %d bytes in batches of %d, to each of %d groups, kept for %.0f s\n\n", t.Rate,
		t.Payload, t.Batch, t.FanOut, t.Keep)
	fmt.Fprintf(w, "PostgreSQL at work\t%.2f cores\n", z.CPU)
	fmt.Fprintf(w, "vCPUs to have\t%d\tbusy for at most %.0f %% of the time\n", z.VCPUs, 100*busyMost)
	fmt.Fprintf(w, "WAL\t%.2f MB/s\n", z.WALMB)
	fmt.Fprintf(w, "disk of the queue\t%.0f MB\t%.0f times what is kept, because segments are given back whole\n",
		z.DiskMB, ringSpare)
	fmt.Fprintf(w, "memory\t%.0f MB\tshared_buffers for 10 s of traffic, %.0f connections\n", z.MemoryMB, connection)
	fmt.Fprintf(w, "\nmodel against %d measured workloads: CPU off by %.0f %% (at most %.0f %%), "+
		"WAL by %.0f %% (at most %.0f %%)\nmeasured: %s\n", z.Workloads,
		100*z.CPUError.Median, 100*z.CPUError.Max, 100*z.WALError.Median, 100*z.WALError.Max,
		z.Fitted)
	if p, b := z.Payloads, z.Batches; t.Payload < p[0] || t.Payload > p[1] || t.Batch < b[0] || t.Batch > b[1] {
		fmt.Fprintf(w, "The target is outside of what was measured: payloads of %d to %d bytes in batches of %d to %d.\n",
			p[0], p[1], b[0], b[1])
	}
}
