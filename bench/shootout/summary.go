package shootout

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Spread is what several repetitions of one figure come to.
type Spread struct {
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
	N      int     `json:"n"`
}

func spread(values []float64) Spread {
	if len(values) == 0 {
		return Spread{}
	}
	sorted := slices.Sorted(slices.Values(values))
	half := len(sorted) / 2
	median := sorted[half]
	if len(sorted)%2 == 0 {
		median = (sorted[half-1] + sorted[half]) / 2
	}
	return Spread{Median: median, Min: sorted[0], Max: sorted[len(sorted)-1], N: len(sorted)}
}

// Entrant is a system with a setting.
type Entrant struct{ System, Setting, Title string }

// Label names the entrant.
func (e Entrant) Label() string { return e.Title + " (" + e.Setting + ")" }

func (e Entrant) isWeir() bool { return (&System{Name: e.System}).isWeir() }

// Row is what an entrant came to in a workload.
type Row struct {
	Entrant

	Version string
	Cannot  string // why it cannot
	Failed  string // how the last failed run failed, when all did
	Rate    Spread // messages a second; of a ramp at its peak
	Workers int    // at the median repetition's peak
	Ratio   float64
	P50, P95, P99, P999, Max,
	ServerCPU, ClientCPU, WAL, Commits, DeadTuples, ServerMB, ClientMB, StorageMB, IndexMB Spread
	Lost, Duplicated, OutOfOrder int64 // of all repetitions together
	Left                         int64 // likewise
	best                         []Result
	all                          []Result
}

// Table is a workload with its rows, the fastest first.
type Table struct {
	Workload

	Rows []Row
}

// asks reports whether the workload says how many messages a call may bring.
func (w *Workload) asks() bool { return w.Consumers > 0 && w.Rate == 0 }

// Tables sums up the results, section by section and in them in the order of Workloads.
func (s *Shootout) Tables() []Table {
	var tables []Table
	for _, w := range Workloads() {
		t := Table{Workload: w}
		for _, e := range s.entrants() {
			if row, ok := s.row(e, w); ok {
				t.Rows = append(t.Rows, row)
			}
		}
		slices.SortStableFunc(t.Rows, func(a, b Row) int { return order(w, a, b) })
		rival := 0.0
		for _, row := range t.Rows {
			if !row.isWeir() {
				rival = max(rival, row.Rate.Median)
			}
		}
		for i := range t.Rows {
			if rival > 0 && t.Rows[i].isWeir() {
				t.Rows[i].Ratio = t.Rows[i].Rate.Median / rival
			}
		}
		if len(t.Rows) > 0 {
			tables = append(tables, t)
		}
	}
	slices.SortStableFunc(tables, func(a, b Table) int {
		return slices.Index(sections, a.Section) - slices.Index(sections, b.Section)
	})
	return tables
}

// order puts the fastest first; where the rate is given, that with the shortest p50.
func order(w Workload, a, b Row) int {
	x, y := b.Rate.Median, a.Rate.Median
	if w.Rate > 0 && a.P50.N > 0 && b.P50.N > 0 {
		x, y = a.P50.Median, b.P50.Median
	}
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return strings.Compare(a.Label(), b.Label())
}

// entrants are those of the results, in the order in which they first appear.
func (s *Shootout) entrants() []Entrant {
	var all []Entrant
	for _, r := range s.Results {
		if e := (Entrant{r.System, r.Setting, r.Title}); !slices.Contains(all, e) {
			all = append(all, e)
		}
	}
	return all
}

// row sums up the runs of an entrant; ok is false when there is none. Of the runs of a ramp it takes, in each
// repetition, the fastest.
func (s *Shootout) row(e Entrant, w Workload) (Row, bool) {
	row := Row{Entrant: e}
	peaks := map[int]Result{}
	for _, r := range s.Results {
		if r.System != e.System || r.Setting != e.Setting || r.Workload != w.Name {
			continue
		}
		row.all = append(row.all, r)
		row.Version = max(row.Version, r.Version)
		switch {
		case r.Cannot != "":
			row.Cannot = r.Cannot
		case r.Error != "":
			row.Failed = r.Error
		default:
			row.Lost, row.Duplicated = row.Lost+r.Lost, row.Duplicated+r.Duplicated
			row.OutOfOrder += r.OutOfOrder
			row.Left += r.Left
			if p, ok := peaks[r.Repetition]; !ok || r.Rate > p.Rate {
				peaks[r.Repetition] = r
			}
		}
	}
	for _, r := range peaks {
		row.best = append(row.best, r)
	}
	slices.SortFunc(row.best, func(a, b Result) int { return a.Repetition - b.Repetition })
	if len(row.best) > 0 {
		row.Failed, row.Cannot = "", ""
	}
	row.sum()
	return row, len(row.all) > 0
}

// sum takes the medians.
func (row *Row) sum() {
	of := func(value func(r Result) *float64) Spread {
		var values []float64
		for _, r := range row.best {
			if v := value(r); v != nil {
				values = append(values, *v)
			}
		}
		return spread(values)
	}
	latency := func(value func(l *Latency) float64) Spread {
		return of(func(r Result) *float64 {
			if r.Latency == nil {
				return nil
			}
			v := value(r.Latency)
			return &v
		})
	}
	row.Rate = of(func(r Result) *float64 { return &r.Rate })
	if len(row.best) > 0 {
		row.Workers = slices.MinFunc(row.best, func(a, b Result) int {
			return cmp.Compare(math.Abs(a.Rate-row.Rate.Median), math.Abs(b.Rate-row.Rate.Median))
		}).Workers
	}
	row.P50 = latency(func(l *Latency) float64 { return l.P50 })
	row.P95 = latency(func(l *Latency) float64 { return l.P95 })
	row.P99 = latency(func(l *Latency) float64 { return l.P99 })
	row.P999 = latency(func(l *Latency) float64 { return l.P999 })
	row.Max = latency(func(l *Latency) float64 { return l.Max })
	row.ServerCPU = of(func(r Result) *float64 { return r.ServerCPU })
	row.ClientCPU = of(func(r Result) *float64 { return r.ClientCPU })
	row.WAL = of(func(r Result) *float64 { return r.WAL })
	row.Commits = of(func(r Result) *float64 { return r.Commits })
	row.DeadTuples = of(func(r Result) *float64 { return r.DeadTuples })
	row.ServerMB = of(func(r Result) *float64 { return &r.ServerMB })
	row.ClientMB = of(func(r Result) *float64 { return &r.ClientMB })
	row.StorageMB = of(func(r Result) *float64 { return r.most(Sample.storageMB) })
	row.IndexMB = of(func(r Result) *float64 { return r.most(Sample.indexMB) })
}

// free reports whether the entrant decides by itself how many messages it takes at once.
func (row *Row) free() bool { return len(row.all) > 0 && row.all[len(row.all)-1].Batches != "" }

// Outcome says in a word how it went when there is no figure.
func (row *Row) Outcome() string {
	switch {
	case row.Cannot != "":
		return "no"
	case row.Failed != "":
		return "failed"
	}
	return ""
}

// thousands writes a number with commas.
func thousands(v float64) string {
	text := fmt.Sprintf("%.0f", v)
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}
