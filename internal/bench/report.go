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
	Options Options           `json:"options"`
	Started time.Time         `json:"started"`
	Seconds float64           `json:"took_s"`
	Server  ServerInfo        `json:"server"`
	Systems map[string]string `json:"systems"` // name to version
	Cases   []CaseReport      `json:"cases"`
}

// CaseReport holds the figures of one case.
type CaseReport struct {
	Name    string         `json:"name"`
	Metrics []MetricReport `json:"metrics"`
}

// MetricReport holds one figure of every system.
type MetricReport struct {
	Name    string             `json:"name"`
	Unit    string             `json:"unit"`
	Systems map[string]Summary `json:"systems"`
	Ratios  map[string]float64 `json:"ratios,omitempty"` // Weir's to each other's: median of the pairs of runs
	Goal    string             `json:"goal,omitempty"`
	Reached *bool              `json:"reached,omitempty"`
	format  string
}

// add summarises the runs of a case.
func (r *Report) add(c testCase, all []system, runs map[string][]values) {
	out := CaseReport{Name: c.name}
	for _, m := range c.metrics {
		row := MetricReport{
			Name: m.name, Unit: m.unit, Systems: map[string]Summary{}, Ratios: map[string]float64{},
			format: m.format,
		}
		for _, sys := range all {
			if series := column(runs[sys.name], m.key); len(series) > 0 {
				row.Systems[sys.name] = summarize(series)
			}
		}
		own, ok := row.Systems[all[0].name]
		for _, other := range all[1:] {
			if theirs, both := row.Systems[other.name]; ok && both && theirs.Median > 0 {
				row.Ratios[other.name] = pairedRatio(own.Runs, theirs.Runs)
			}
		}
		if len(row.Systems) > 0 {
			row.judge(m.goal, all[0].name)
			out.Metrics = append(out.Metrics, row)
		}
	}
	r.Cases = append(r.Cases, out)
}

// column returns a metric of the runs that have it.
func column(runs []values, key string) []float64 {
	var series []float64
	for _, v := range runs {
		if x, ok := v[key]; ok {
			series = append(series, x)
		}
	}
	return series
}

// judge compares with the goal, when there is one and what it needs was measured.
func (m *MetricReport) judge(g *goal, own string) {
	if g == nil {
		return
	}
	value, ok := m.Systems[own].Median, true
	m.Goal = g.String()
	if g.ratio {
		m.Goal = "ratio " + m.Goal
		ok = false
		for _, v := range m.Ratios {
			value, ok = v, true
		}
	}
	if ok {
		reached := g.reached(value)
		m.Reached = &reached
	}
}

// Missed names the goals that were measured and not reached.
func (r *Report) Missed() []string {
	var missed []string
	for _, c := range r.Cases {
		for _, m := range c.Metrics {
			if m.Reached != nil && !*m.Reached {
				missed = append(missed, fmt.Sprintf("%s %s: %s", c.Name, m.Name, m.Goal))
			}
		}
	}
	return missed
}

// WriteTable writes the report for a terminal, with a tab between columns: the median, and the smallest and largest.
func (r *Report) WriteTable(w io.Writer) {
	names := slices.Sorted(maps.Keys(r.Systems))
	slices.SortStableFunc(names, func(a, b string) int { return first(b) - first(a) })
	for _, name := range names {
		fmt.Fprintf(w, "%s %s, ", name, strings.TrimSpace(r.Systems[name]))
	}
	fmt.Fprintf(w, "%s\n", r.Server.Version)
	fmt.Fprintf(w, "%d CPUs, load before %s; %s\n", r.Server.CPUs, r.Server.Load, r.Server.settings())
	o := r.Options
	fmt.Fprintf(w, "%d clients, batches of %d, payloads of %d bytes, %d runs of at most %v each, median (min - max)\n\n",
		o.Clients, o.Batch, o.PayloadBytes, o.Repetitions, o.Duration)
	fmt.Fprintf(w, "case\tmetric\tunit\t%s\tratio\tgoal\n", strings.Join(names, "\t"))
	for _, c := range r.Cases {
		for _, m := range c.Metrics {
			m.write(w, c.Name, names)
		}
	}
}

func first(name string) int {
	if name == "weir" {
		return 1
	}
	return 0
}

func (m *MetricReport) write(w io.Writer, name string, systems []string) {
	fmt.Fprintf(w, "%s\t%s\t%s", name, m.Name, m.Unit)
	for _, sys := range systems {
		s, ok := m.Systems[sys]
		if !ok {
			fmt.Fprint(w, "\t-")
			continue
		}
		fmt.Fprintf(w, "\t"+m.format+" ("+m.format+" - "+m.format+")", s.Median, s.Min, s.Max)
	}
	ratios := make([]string, 0, len(m.Ratios))
	for _, other := range slices.Sorted(maps.Keys(m.Ratios)) {
		ratios = append(ratios, fmt.Sprintf("%.3g", m.Ratios[other]))
	}
	verdict := ""
	if m.Reached != nil {
		verdict = map[bool]string{true: ": reached", false: ": MISSED"}[*m.Reached]
	}
	fmt.Fprintf(w, "\t%s\t%s%s\n", strings.Join(ratios, ", "), m.Goal, verdict)
}

func (s ServerInfo) settings() string {
	parts := make([]string, 0, len(s.Settings))
	for _, name := range slices.Sorted(maps.Keys(s.Settings)) {
		parts = append(parts, name+"="+s.Settings[name])
	}
	return strings.Join(parts, " ")
}
