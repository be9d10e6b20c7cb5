package bench

import (
	"math"
	"slices"
)

// Summary is what several repetitions of one measurement come to.
type Summary struct {
	Median float64   `json:"median"`
	Min    float64   `json:"min"`
	Max    float64   `json:"max"`
	Runs   []float64 `json:"runs"` // in the order in which they were measured
}

// summarize returns the summary of at least one value.
func summarize(values []float64) Summary {
	return Summary{
		Median: median(values), Min: slices.Min(values), Max: slices.Max(values), Runs: values,
	}
}

// median returns the middle value, or the mean of the two in the middle; NaN for none.
func median(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	half := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[half]
	}
	return (sorted[half-1] + sorted[half]) / 2
}

// pairedRatio returns the median of the ratios of runs that were neighbours in time, which share their noise.
func pairedRatio(a, b []float64) float64 {
	var ratios []float64
	for i := range min(len(a), len(b)) {
		if b[i] != 0 {
			ratios = append(ratios, a[i]/b[i])
		}
	}
	return median(ratios)
}

// trend returns the mean of the last third of a series over that of the first third: 1 when a rate does not change.
func trend(series []float64) float64 {
	third := len(series) / 3
	if third == 0 {
		return math.NaN()
	}
	first, last := 0.0, 0.0
	for i := range third {
		first += series[i]
		last += series[len(series)-1-i]
	}
	if first == 0 {
		return math.NaN()
	}
	return last / first
}

// edges returns the mean of the last tenth of a series over that of the first tenth.
func edges(series []float64) float64 {
	n := max(1, len(series)/10)
	if len(series) < 2*n {
		return math.NaN()
	}
	first, last := 0.0, 0.0
	for i := range n {
		first += series[i]
		last += series[len(series)-1-i]
	}
	if first == 0 {
		return math.NaN()
	}
	return last / first
}
