package bench

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

// Report is what Run measured.
type Report struct {
	Options Options      `json:"options"`
	Started time.Time    `json:"started"`
	Seconds float64      `json:"took_s"`
	Version string       `json:"version"` // of the engine
	Server  ServerInfo   `json:"server"`
	Cases   []CaseReport `json:"cases"`
}

// CaseReport holds the figures of one case.
type CaseReport struct {
	Name    string         `json:"name"`
	Metrics []MetricReport `json:"metrics"`
}

// MetricReport is one figure: what several runs come to.
type MetricReport struct {
	Name   string    `json:"name"`
	Unit   string    `json:"unit"`
	Median float64   `json:"median"`
	Min    float64   `json:"min"`
	Max    float64   `json:"max"`
	Runs   []float64 `json:"runs"`           // in the order in which they were measured
	Goal   string    `json:"goal,omitempty"` // of the project
	format string
}

// add summarises the runs of a case.
func (r *Report) add(c testCase, runs []values) {
	out := CaseReport{Name: c.name}
	for _, m := range c.metrics {
		var series []float64
		for _, v := range runs {
			if x, ok := v[m.key]; ok {
				series = append(series, x)
			}
		}
		if len(series) > 0 {
			out.Metrics = append(out.Metrics, MetricReport{
				Name: m.name, Unit: m.unit, Median: median(series), Min: slices.Min(series), Max: slices.Max(series),
				Runs: series, Goal: m.goal, format: m.format,
			})
		}
	}
	r.Cases = append(r.Cases, out)
}

// median returns the middle of some values, or the mean of the two in the middle.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	half := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[half]
	}
	return (sorted[half-1] + sorted[half]) / 2
}

// WriteTable writes the report for a terminal, with a tab between columns: the median, and the smallest and largest.
func (r *Report) WriteTable(w io.Writer) {
	fmt.Fprintf(w, "weir %s, %s\n", strings.TrimSpace(r.Version), r.Server.Version)
	fmt.Fprintf(w, "%d CPUs, load before %s; %s\n", r.Server.CPUs, r.Server.Load, r.Server.settings())
	o := r.Options
	fmt.Fprintf(w, "%d clients, batches of %d, payloads of %d bytes, %d runs of at most %v each, median (min - max)\n\n",
		o.Clients, o.Batch, o.PayloadBytes, o.Repetitions, o.Duration)
	fmt.Fprint(w, "case\tmetric\tunit\tweir\tgoal\n")
	for _, c := range r.Cases {
		for _, m := range c.Metrics {
			fmt.Fprintf(w, "%s\t%s\t%s\t"+m.format+" ("+m.format+" - "+m.format+")\t%s\n", c.Name, m.Name, m.Unit, m.Median,
				m.Min, m.Max, m.Goal)
		}
	}
}

func (s ServerInfo) settings() string {
	parts := make([]string, 0, len(s.Settings))
	for _, name := range slices.Sorted(maps.Keys(s.Settings)) {
		parts = append(parts, name+"="+s.Settings[name])
	}
	return strings.Join(parts, " ")
}
