package shootout

import (
	"fmt"
	"io"
	"math"

	"golang.org/x/perf/benchmath"
)

// Comparison is one figure of one entrant in two shootouts, in a workload or in all that both have.
type Comparison struct {
	System    string  `json:"system"`
	Setting   string  `json:"setting"`
	Workload  string  `json:"workload"` // allWorkloads: in all together
	Figure    string  `json:"figure"`
	Before    float64 `json:"before"` // median; 0 for all workloads
	After     float64 `json:"after"`
	Delta     float64 `json:"delta"` // after over before, less 1; of all workloads by their geometric mean
	P         float64 `json:"p"`     // two-sided: Mann-Whitney U test; of all workloads by the sum of the U
	Differs   bool    `json:"differs"`
	Runs      [2]int  `json:"runs"`
	Workloads int     `json:"workloads,omitempty"`
}

const allWorkloads = "all workloads"

// alpha is the probability below which a difference is one.
const alpha = 0.05

// Compare compares the figures that two shootouts have in common: each workload by itself, as benchstat does, and then
// all together, which tells a difference that is everywhere from runs too few to tell it anywhere.
func Compare(before, after *Shootout) ([]Comparison, error) {
	var all []Comparison
	together := newTotals()
	earlier := map[string]Row{}
	for _, t := range before.Tables() {
		for _, r := range t.Rows {
			earlier[t.Name+" "+r.Label()] = r
		}
	}
	for _, t := range after.Tables() {
		for _, r := range t.Rows {
			was, ok := earlier[t.Name+" "+r.Label()]
			if !ok {
				continue
			}
			for _, f := range figures {
				a, b := was.values(f.of), r.values(f.of)
				if len(a) == 0 || len(b) == 0 {
					continue
				}
				c := Comparison{
					System: r.System, Setting: r.Setting, Workload: t.Name, Figure: f.name, Runs: [2]int{len(a), len(b)},
				}
				all = append(all, compareOne(c, a, b))
				together.add(c, a, b)
			}
		}
	}
	if len(all) == 0 {
		return nil, optionf("the two have no figure in common: no system in the same workload and setting")
	}
	return append(all, together.comparisons()...), nil
}

// figures are what is compared.
var figures = []struct {
	name string
	of   func(r Result) *float64
}{
	{"messages/s", func(r Result) *float64 { return &r.Rate }},
	{"p50 ms", func(r Result) *float64 {
		if r.Latency == nil {
			return nil
		}
		return &r.Latency.P50
	}},
	{"p99 ms", func(r Result) *float64 {
		if r.Latency == nil {
			return nil
		}
		return &r.Latency.P99
	}},
	{"server CPU s/M", func(r Result) *float64 { return r.ServerCPU }},
	{"WAL B", func(r Result) *float64 { return r.WAL }},
}

func (row *Row) values(of func(r Result) *float64) []float64 {
	var values []float64
	for _, r := range row.best {
		if v := of(r); v != nil {
			values = append(values, *v)
		}
	}
	return values
}

func compareOne(c Comparison, before, after []float64) Comparison {
	c.Before, c.After = spread(before).Median, spread(after).Median
	if c.Before != 0 {
		c.Delta = c.After/c.Before - 1
	}
	thresholds := benchmath.DefaultThresholds
	thresholds.CompareAlpha = alpha
	a, b := benchmath.NewSample(before, &thresholds), benchmath.NewSample(after, &thresholds)
	test := benchmath.AssumeNothing.Compare(a, b)
	c.P = test.P
	if math.IsNaN(c.P) {
		c.P = 1
	}
	c.Differs = c.P < alpha
	return c
}

// WriteComparisons writes a table with a tab between columns.
func WriteComparisons(w io.Writer, before, after *Shootout, all []Comparison) {
	fmt.Fprintln(w, "workload\tsystem\tfigure\tbefore\tafter\tdelta\tp\truns")
	few, single := false, 0
	for _, c := range all {
		delta := "~"
		if c.Differs {
			delta = fmt.Sprintf("%+.1f %%", 100*c.Delta)
		}
		if c.Workload == allWorkloads {
			fmt.Fprintf(w, "%d workloads\t%s (%s)\t%s\t\t\t%s\t%.3f\t%d+%d\n", c.Workloads, c.System, c.Setting, c.Figure,
				delta, c.P, c.Runs[0], c.Runs[1])
			continue
		}
		single++
		few = few || leastP(c.Runs) >= alpha
		fmt.Fprintf(w, "%s\t%s (%s)\t%s\t%.4g\t%.4g\t%s\t%.3f\t%d+%d\n", c.Workload, c.System, c.Setting, c.Figure, c.Before,
			c.After, delta, c.P, c.Runs[0], c.Runs[1])
	}
	fmt.Fprintf(w, "\n~: no difference at p < %g.", alpha)
	if chance := alpha * float64(single); chance >= 1 {
		fmt.Fprintf(w, " Of %d figures about %.0f would differ by chance alone.", single, chance)
	}
	fmt.Fprintln(w)
	if few {
		fmt.Fprintf(w, "Fewer than 4 repetitions on each side are too few for p < %g in a single workload; all together\n"+
			"may tell. Use --repetitions 6 or more.\n", alpha)
	}
	if why := before.Machine.differs(&after.Machine); why != "" {
		fmt.Fprintf(w, "Not only the code may differ: the first %s.\n", why)
	}
	if before.Seconds != after.Seconds {
		fmt.Fprintf(w, "Not only the code may differ: runs of %g and of %g seconds.\n", before.Seconds, after.Seconds)
	}
}

// leastP is the smallest p that so many runs can have: those of all of one side above all of the other.
func leastP(runs [2]int) float64 {
	orders := 1.0
	for i := 1; i <= runs[1]; i++ {
		orders = orders * float64(runs[0]+i) / float64(i)
	}
	return 2 / orders
}
