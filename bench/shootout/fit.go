package shootout

import (
	"fmt"
	"math"
	"slices"

	"github.com/weirmq/weir/internal/bench/size"
)

// measured is a figure, and how much of each term is in it.
type measured struct {
	x size.Terms
	y float64
}

// exercise says how much of each term a message of a workload has; ok is false when it is none that is modelled.
func exercise(w Workload) (x size.Terms, ok bool) {
	if w.Hold != "" || w.Kill != "" || w.Keys > 0 || w.Rate > 0 || w.Perpetual || w.CommitOff || w.Late ||
		w.Producers > 10 || w.Consumers > 10 {
		return x, false
	}
	return size.Message(float64(min(1, w.Producers)), float64(min(1, w.Consumers)), float64(w.Batch),
		float64(w.Bytes)/1024), true
}

// occupies says how much of each term of the backends' memory a workload has; ok likewise.
func occupies(w Workload) (x size.Terms, ok bool) {
	if w.Hold != "" || w.Kill != "" || w.Perpetual || w.Late || w.Burst > 0 || w.Batch == 0 {
		return x, false
	}
	producers, consumers := float64(w.Producers), float64(w.Consumers*max(1, w.Groups))
	return size.Memory(producers, consumers, float64(w.Batch)*float64(w.Bytes)/1024), true
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
func fit(all []measured) size.Fit {
	var c size.Terms
	for range 20_000 {
		for k := range c {
			num, den := 0.0, 0.0
			for _, m := range all {
				rest := m.y - c.Dot(m.x) + c[k]*m.x[k]
				num += rest * m.x[k] / (m.y * m.y)
				den += m.x[k] * m.x[k] / (m.y * m.y)
			}
			if den > 0 {
				c[k] = max(0, num/den)
			}
		}
	}
	var errs []float64
	for _, m := range all {
		errs = append(errs, math.Abs(c.Dot(m.x)/m.y-1))
	}
	return size.Fit{Terms: c, Off: off(errs)}
}

// off sums up relative errors.
func off(errs []float64) size.Off {
	s := spread(errs)
	return size.Off{Median: s.Median, Max: s.Max, N: s.N}
}

// widen makes a range hold a value.
func widen(span *[2]int, v int) {
	if span[0] == 0 || v < span[0] {
		span[0] = v
	}
	span[1] = max(span[1], v)
}

// cost is what a message cost in a workload; medians, and 0 for what was not measured.
type cost struct {
	Workload

	serverCPU, wal, stored, backendMB, rate float64
	peakMB                                  float64 // the most storage of a queue that gave space back
}

// cost is what a workload came to for an entrant.
func (row *Row) cost(w Workload) cost {
	c := cost{
		Workload: w, serverCPU: row.ServerCPU.Median, wal: row.WAL.Median, backendMB: row.ServerMB.Median,
		rate: row.Rate.Median,
	}
	var stored []float64
	turned := false
	for i := range row.all {
		if bytes, ok := row.all[i].stored(w); ok {
			stored = append(stored, bytes)
		}
		turned = turned || row.all[i].turned()
	}
	c.stored = spread(stored).Median
	if turned {
		c.peakMB = row.StorageMB.Median
	}
	return c
}

// Model fits a model to what Weir over SQL came to at its best; ErrOptions when there is too little.
func (s *Shootout) Model() (*size.Model, error) {
	var costs []cost
	for _, table := range s.Tables() {
		at := slices.IndexFunc(table.Rows, func(r Row) bool { return r.System == "weir" && r.Setting == viewBest.Name })
		if at >= 0 {
			costs = append(costs, table.Rows[at].cost(table.Workload))
		}
	}
	m := model(costs)
	if n, terms := min(m.CPU.Off.N, m.WAL.Off.N), len(size.Terms{}); n < terms {
		return nil, optionf("%d measurements of Weir over SQL to fit %d terms to; run weir-bench shootout --systems weir, "+
			"with send, consume and cycle of several batches and payloads", n, terms)
	}
	m.Fitted = fmt.Sprintf("%s, %d CPUs (%s), %s", s.when(), s.Machine.CPUs, s.Machine.CPU, s.Machine.Build)
	return m, nil
}

// model fits to the costs of those workloads that are modelled.
func model(costs []cost) *size.Model {
	m := &size.Model{}
	var cpu, wal, stored, backend []measured
	add := func(to *[]measured, x size.Terms, y float64) {
		if y > 0 {
			*to = append(*to, measured{x, y})
		}
	}
	for i := range costs {
		c := &costs[i]
		if x, ok := occupies(c.Workload); ok {
			add(&backend, x, c.backendMB)
		}
		if x, ok := exercise(c.Workload); ok {
			widen(&m.Payloads, c.Bytes)
			widen(&m.Batches, c.Batch)
			add(&cpu, x, c.serverCPU)
			add(&wal, x, c.wal)
			add(&stored, x, c.stored)
		}
	}
	m.CPU, m.WAL, m.Stored, m.Backend, m.Workloads = fit(cpu), fit(wal), fit(stored), fit(backend), len(cpu)
	var peaks []float64
	for i := range costs {
		c := &costs[i]
		if x, ok := exercise(c.Workload); ok && c.peakMB > 0 && c.rate > 0 {
			mb := size.DiskMB(c.rate, float64(c.Window)/c.rate, m.Stored.Terms.Dot(x))
			peaks = append(peaks, math.Abs(mb/c.peakMB-1))
		}
	}
	m.Peak = off(peaks)
	return m
}
