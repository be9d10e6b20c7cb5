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
	DiskMB    float64 `json:"disk_mb"`   // of the queue, at most
	MemoryMB  float64 `json:"memory_mb"` // shared_buffers that hold what is at work, and the backends
	BuffersMB float64 `json:"buffers_mb"`
	BackendMB float64 `json:"backend_mb"` // private memory of all backends
	CPUError  Spread  `json:"cpu_error"`  // of the model against each measurement, relative, either way
	WALError  Spread  `json:"wal_error"`  // likewise

	StoredError  Spread `json:"stored_error"`  // of what a message takes on disk, likewise
	PeakError    Spread `json:"peak_error"`    // of the most that a queue took which gave space back while it was at work
	BackendError Spread `json:"backend_error"` // of the backends' memory

	Workloads int    `json:"workloads"` // that it was fitted to
	Fitted    string `json:"fitted_to"` // when and on what it was measured
	Payloads  [2]int `json:"payloads"`  // the smallest and the largest of them, in bytes
	Batches   [2]int `json:"batches"`   // likewise
}

const (
	busyMost   = 0.6  // of a core's time: above, queues of processes grow
	ringSpare  = 3.0  // segments are given back whole, the oldest after the next is full
	segmentMB  = 67.1 // a segment grows to that before anything is given back
	turnS      = 1.5  // seconds that it grows on, until somebody maintains the queue and its space is given back
	connection = 20.0 // connections that the memory is for, half of them of producers
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

// occupies says how much of each term of the backends' memory a workload has: the server's own processes, connections
// of producers and of consumers, and a batch on each.
func occupies(w Workload) (x [terms]float64, ok bool) {
	if w.Hold != "" || w.Kill != "" || w.Perpetual || w.Late || w.Burst > 0 || w.Batch == 0 {
		return x, false
	}
	producers, consumers := float64(w.Producers), float64(w.Consumers*max(1, w.Groups))
	return memoryTerms(producers, consumers, float64(w.Batch)*float64(w.Bytes)/1024), true
}

// memoryTerms are those of so many connections, with so many KB of payloads a batch.
func memoryTerms(producers, consumers, batchKB float64) [terms]float64 {
	return [terms]float64{1, producers, consumers, (producers + consumers) * batchKB}
}

// stored is by how many bytes a run's storage grew for each message; ok is false when it was not seen to grow only.
func (r *Result) stored(w Workload) (bytes float64, ok bool) {
	if len(r.Samples) < 2 || r.turned() {
		return 0, false
	}
	first, last := r.Samples[0], r.Samples[len(r.Samples)-1]
	messages := float64(last.Done - first.Done)
	if w.Consumers == 0 && r.Seconds > 0 {
		messages = float64(r.Sent) * (last.At - first.At) / r.Seconds
	}
	grown := (last.storageMB() - first.storageMB()) * 1e6
	return grown / messages, messages > 0 && grown > 0
}

// turned reports whether a run's storage was given back while it was at work.
func (r *Result) turned() bool {
	for i := range r.Samples[:max(0, len(r.Samples)-1)] {
		if r.Samples[i+1].storageMB() < r.Samples[i].storageMB() {
			return true
		}
	}
	return false
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
	Stored    float64 `json:"stored"`     // bytes on disk; likewise
	BackendMB float64 `json:"backend_mb"` // private memory of all backends; likewise
	PeakMB    float64 `json:"peak_mb"`    // the most storage of a queue that gave space back; 0: it did not
	Rate      float64 `json:"rate"`       // messages a second
}

// cost is what a workload came to for an entrant.
func (row *Row) cost(w Workload) WorkloadCost {
	c := WorkloadCost{
		Workload: w.Name, ServerCPU: row.ServerCPU.Median, WAL: row.WAL.Median, BackendMB: row.ServerMB.Median,
		Rate: row.Rate.Median,
	}
	var stored []float64
	turned := false
	for i := range row.all {
		if bytes, ok := row.all[i].stored(w); ok {
			stored = append(stored, bytes)
		}
		turned = turned || row.all[i].turned()
	}
	c.Stored = spread(stored).Median
	if turned {
		c.PeakMB = row.StorageMB.Median
	}
	return c
}

// Costs returns what a size can be fitted to; ErrOptions when there is too little.
func (s *Shootout) Costs() (*Costs, error) {
	c := &Costs{When: s.when(), CPU: s.Machine.CPU, CPUs: s.Machine.CPUs, Server: s.Machine.Build}
	cpu, wal := 0, 0
	for _, table := range s.Tables() {
		at := slices.IndexFunc(table.Rows, func(r Row) bool { return r.System == "weir" && r.Setting == viewBest.Name })
		_, modelled := exercise(table.Workload)
		if _, ok := occupies(table.Workload); !ok && !modelled || at < 0 {
			continue
		}
		r := table.Rows[at]
		c.Workloads = append(c.Workloads, r.cost(table.Workload))
		if modelled {
			cpu, wal = cpu+min(1, r.ServerCPU.N), wal+min(1, r.WAL.N)
		}
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
	var cpu, wal, stored, backend []sample6
	add := func(list *[]sample6, x [terms]float64, cost float64) {
		if cost > 0 {
			*list = append(*list, sample6{x, cost})
		}
	}
	for _, w := range Workloads() {
		at := slices.IndexFunc(c.Workloads, func(one WorkloadCost) bool { return one.Workload == w.Name })
		if at < 0 {
			continue
		}
		cost := c.Workloads[at]
		if x, ok := occupies(w); ok {
			add(&backend, x, cost.BackendMB)
		}
		x, ok := exercise(w)
		if !ok {
			continue
		}
		widen(&size.Payloads, w.Bytes)
		widen(&size.Batches, w.Batch)
		add(&cpu, x, cost.ServerCPU)
		add(&wal, x, cost.WAL)
		add(&stored, x, cost.Stored)
	}
	kb, batch := float64(t.Payload)/1024, float64(t.Batch)
	groups := float64(t.FanOut)
	x := [terms]float64{1 / batch, 1, kb, groups / batch, groups, groups * kb}
	cpuTerms, walTerms := fit(cpu), fit(wal)
	size.CPU, size.WALMB = t.Rate*dot(cpuTerms, x)/1e6, t.Rate*dot(walTerms, x)/1e6
	size.CPUError, size.WALError, size.Workloads = fitErrors(cpuTerms, cpu), fitErrors(walTerms, wal), len(cpu)
	size.VCPUs = max(1, int(math.Ceil(size.CPU/busyMost)))
	storedTerms, backendTerms := fit(stored), fit(backend)
	size.StoredError, size.BackendError = fitErrors(storedTerms, stored), fitErrors(backendTerms, backend)
	size.PeakError = c.peakError(storedTerms)
	size.DiskMB = diskMB(t.Rate, t.Keep, dot(storedTerms, x))
	size.BackendMB = dot(backendTerms, memoryTerms(connection/2, connection/2, batch*kb))
	size.BuffersMB = baseMB + min(size.DiskMB, 10*size.WALMB*ringSpare)
	size.MemoryMB = size.BuffersMB + size.BackendMB
	return size, nil
}

// diskMB is what a queue takes at most that is sent so many messages a second, each of which takes so many bytes and
// stays so many seconds.
func diskMB(rate, keep, stored float64) float64 {
	return segmentMB + rate*stored*(turnS+ringSpare*keep)/1e6
}

// peakError is how far diskMB is from the queues that were seen to give space back.
func (c *Costs) peakError(storedTerms [terms]float64) Spread {
	var all []float64
	for _, w := range Workloads() {
		at := slices.IndexFunc(c.Workloads, func(one WorkloadCost) bool { return one.Workload == w.Name })
		if at < 0 || c.Workloads[at].PeakMB == 0 || c.Workloads[at].Rate == 0 {
			continue
		}
		if x, ok := exercise(w); ok {
			cost := c.Workloads[at]
			model := diskMB(cost.Rate, float64(w.Window)/cost.Rate, dot(storedTerms, x))
			all = append(all, math.Abs(model/cost.PeakMB-1))
		}
	}
	return spread(all)
}

// WriteTable writes the size with a tab between columns.
func (z *Size) WriteTable(w io.Writer) {
	t := z.Target
	fmt.Fprintf(w, "%.0f messages/s of %d bytes in batches of %d, to each of %d groups, kept for %.0f s\n\n", t.Rate,
		t.Payload, t.Batch, t.FanOut, t.Keep)
	fmt.Fprintf(w, "PostgreSQL at work\t%.2f cores\n", z.CPU)
	fmt.Fprintf(w, "vCPUs to have\t%d\tbusy for at most %.0f %% of the time\n", z.VCPUs, 100*busyMost)
	fmt.Fprintf(w, "WAL\t%.2f MB/s\n", z.WALMB)
	fmt.Fprintf(w, "disk of the queue\t%.0f MB\tat most: a segment and %.0f times what is kept, given back whole\n",
		z.DiskMB, ringSpare)
	fmt.Fprintf(w, "memory\t%.0f MB\tshared_buffers of %.0f MB for 10 s of traffic, %.0f MB of %.0f connections\n",
		z.MemoryMB, z.BuffersMB, z.BackendMB, connection)
	fmt.Fprintf(w, "\nmodel against what was measured, off by:\n")
	for _, line := range []struct {
		name string
		off  Spread
	}{
		{"CPU", z.CPUError},
		{"WAL", z.WALError},
		{"disk a message", z.StoredError},
		{"disk at most", z.PeakError},
		{"memory of the connections", z.BackendError},
	} {
		if line.off.N == 0 {
			fmt.Fprintf(w, "%s\tnot measured\n", line.name)
			continue
		}
		fmt.Fprintf(w, "%s\t%.0f %%\tat most %.0f %%, of %d workloads\n", line.name, 100*line.off.Median, 100*line.off.Max,
			line.off.N)
	}
	fmt.Fprintf(w, "measured: %s\n", z.Fitted)
	if p, b := z.Payloads, z.Batches; t.Payload < p[0] || t.Payload > p[1] || t.Batch < b[0] || t.Batch > b[1] {
		fmt.Fprintf(w, "The target is outside of what was measured: payloads of %d to %d bytes in batches of %d to %d.\n",
			p[0], p[1], b[0], b[1])
	}
}
