package shootout

import (
	"math"
	"slices"
)

// total is one figure of one entrant in all workloads.
type total struct {
	Comparison

	logs float64   // the sum of the logarithms of the ratios of the medians
	u    int       // twice the sum of the Mann-Whitney U
	null []float64 // how probable each such sum is where nothing differs
}

// totals are kept in the order in which they first come.
type totals struct {
	order []string
	by    map[string]*total
}

func newTotals() *totals { return &totals{by: map[string]*total{}} }

// add takes the runs of another workload.
func (all *totals) add(c Comparison, before, after []float64) {
	key := c.System + " " + c.Setting + " " + c.Figure
	t, ok := all.by[key]
	if !ok {
		c.Workload, c.Runs = allWorkloads, [2]int{}
		t = &total{Comparison: c, null: []float64{1}}
		all.by[key] = t
		all.order = append(all.order, key)
	}
	from, to := spread(before).Median, spread(after).Median
	if from <= 0 || to <= 0 {
		return // there is no ratio
	}
	t.logs += math.Log(to / from)
	u, null := rankSum(before, after)
	t.u, t.null = t.u+u, convolve(t.null, null)
	t.Runs[0], t.Runs[1], t.Workloads = t.Runs[0]+len(before), t.Runs[1]+len(after), t.Workloads+1
}

// comparisons are those of several workloads.
func (all *totals) comparisons() []Comparison {
	var cs []Comparison
	for _, key := range all.order {
		t := all.by[key]
		if t.Workloads < 2 {
			continue
		}
		t.Delta = math.Exp(t.logs/float64(t.Workloads)) - 1
		t.P = twoSided(t.null, t.u)
		t.Differs = t.P < alpha
		cs = append(cs, t.Comparison)
	}
	return cs
}

// rankSum returns twice the Mann-Whitney U of the runs after, that is two for each pair in which the later is larger
// and one where both are equal, and the probability of each such number when before and after are dealt out by chance.
func rankSum(before, after []float64) (u int, null []float64) {
	n, m := len(before), len(after)
	values := slices.Concat(before, after)
	slices.Sort(values)
	for _, a := range after {
		for _, b := range before {
			switch {
			case a > b:
				u += 2
			case a == b:
				u++
			}
		}
	}
	// ways[k][u]: to have dealt k of the values so far to after, with that u.
	ways := make([][]float64, m+1)
	for k := range ways {
		ways[k] = make([]float64, 2*n*m+1)
	}
	ways[0][0] = 1
	for begin := 0; begin < len(values); {
		end := begin
		for end < len(values) && values[end] == values[begin] {
			end++
		}
		ways = deal(ways, begin, end-begin, n)
		begin = end
	}
	sum := 0.0
	for _, w := range ways[m] {
		sum += w
	}
	for i := range ways[m] {
		ways[m][i] /= sum
	}
	return u, ways[m]
}

// deal deals the next values, which are equal, in all ways: some to after, the others to before, which takes n at most.
func deal(ways [][]float64, dealt, equal, n int) [][]float64 {
	next := make([][]float64, len(ways))
	for k := range next {
		next[k] = make([]float64, len(ways[k]))
	}
	for k, row := range ways {
		below := dealt - k // of before
		choices := 1.0     // equal over j
		for j := 0; j <= equal; j++ {
			if k+j < len(ways) && below >= 0 && below+equal-j <= n {
				gain := j * (2*below + equal - j)
				for u, w := range row {
					if w > 0 {
						next[k+j][u+gain] += w * choices
					}
				}
			}
			choices = choices * float64(equal-j) / float64(j+1)
		}
	}
	return next
}

func convolve(a, b []float64) []float64 {
	sum := make([]float64, len(a)+len(b)-1)
	for i, x := range a {
		for j, y := range b {
			sum[i+j] += x * y
		}
	}
	return sum
}

// twoSided is the probability of a number as far from the middle as u, or farther.
func twoSided(null []float64, u int) float64 {
	middle := float64(len(null)-1) / 2
	p := 0.0
	for i, x := range null {
		if math.Abs(float64(i)-middle) >= math.Abs(float64(u)-middle) {
			p += x
		}
	}
	return min(1, p)
}
