package shootout

import (
	"fmt"
	"io"
	"math"

	"golang.org/x/perf/benchmath"
)

// Comparison is one figure of one entrant in two shootouts.
type Comparison struct {
	System   string  `json:"system"`
	Setting  string  `json:"setting"`
	Workload string  `json:"workload"`
	Figure   string  `json:"figure"`
	Before   float64 `json:"before"` // median
	After    float64 `json:"after"`
	Delta    float64 `json:"delta"` // after over before, less 1
	P        float64 `json:"p"`     // Mann-Whitney U test, two-sided
	Differs  bool    `json:"differs"`
	Runs     [2]int  `json:"runs"`
}

// alpha is the probability below which a difference is one.
const alpha = 0.05

// Compare compares the figures that two shootouts have in common, as benchstat does.
func Compare(before, after *Shootout) []Comparison {
	var all []Comparison
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
				if len(a) > 0 && len(b) > 0 {
					all = append(all, compareOne(Comparison{
						System: r.System, Setting: r.Setting, Workload: t.Name, Figure: f.name, Runs: [2]int{len(a), len(b)},
					}, a, b))
				}
			}
		}
	}
	return all
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
func WriteComparisons(w io.Writer, all []Comparison) {
	fmt.Fprintln(w, "workload\tsystem\tfigure\tbefore\tafter\tdelta\tp\truns")
	few := false
	for _, c := range all {
		delta := "~"
		if c.Differs {
			delta = fmt.Sprintf("%+.1f %%", 100*c.Delta)
		}
		few = few || min(c.Runs[0], c.Runs[1]) < 4
		fmt.Fprintf(w, "%s\t%s (%s)\t%s\t%.4g\t%.4g\t%s\t%.3f\t%d+%d\n", c.Workload, c.System, c.Setting, c.Figure, c.Before,
			c.After, delta, c.P, c.Runs[0], c.Runs[1])
	}
	if few {
		fmt.Fprintf(w, "\nFewer than 4 repetitions on a side can never differ with p < %g; use --repetitions 6 or more.\n",
			alpha)
	}
}
