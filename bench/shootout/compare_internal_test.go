package shootout

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"
)

// ratesOf is a shootout with repetitions of these rates in each of the workloads.
func ratesOf(workloads []string, rates ...float64) *Shootout {
	s := &Shootout{}
	for _, w := range workloads {
		for i, rate := range rates {
			s.Results = append(s.Results, Result{
				System: "weir", Title: "weir", Setting: "best", Workload: w, Repetition: i + 1, Rate: rate,
			})
		}
	}
	return s
}

func TestADifferenceIsOneOnlyWhenChanceIsUnlikelyToMakeIt(t *testing.T) {
	t.Parallel()
	one := []string{"send-1"}
	for _, c := range []struct {
		before, after *Shootout
		differs       bool
	}{
		{ratesOf(one, 100, 101, 102, 103, 104), ratesOf(one, 120, 121, 122, 123, 124), true},
		{ratesOf(one, 100, 120, 102, 123, 104), ratesOf(one, 119, 101, 122, 103, 121), false},
		{ratesOf(one, 100, 101, 102), ratesOf(one, 200, 201, 202), false},          // too few to tell
		{ratesOf(one, 100, 101, 102), ratesOf(one, 200, 201, 202, 203, 204), true}, // enough, as 2/56 is less than 0.05
	} {
		all, err := Compare(c.before, c.after)
		if err != nil || len(all) != 1 || all[0].Figure != "messages/s" || all[0].Differs != c.differs {
			t.Errorf("compared %+v, want a difference: %v: %v", all, c.differs, err)
		}
	}
}

func TestThreeRepetitionsTellADifferenceThatIsInEveryWorkload(t *testing.T) {
	t.Parallel()
	names := []string{"send-1", "send-100", "cycle-1"}
	for _, c := range []struct {
		name    string
		after   []float64
		p       float64
		differs bool
	}{
		{"all faster", []float64{110, 111, 112}, 2.0 / 20 / 20 / 20, true},
		{"all the same", []float64{100, 101, 102}, 1, false},
	} {
		all, err := Compare(ratesOf(names, 100, 101, 102), ratesOf(names, c.after...))
		if err != nil || len(all) != len(names)+1 {
			t.Fatalf("%s: compared %+v: %v", c.name, all, err)
		}
		last := all[len(all)-1]
		if last.Workload != allWorkloads || last.Workloads != 3 || last.Differs != c.differs ||
			math.Abs(last.P-c.p) > 1e-9 || c.differs && math.Abs(last.Delta-111.0/101+1) > 1e-9 {
			t.Errorf("%s: in all workloads %+v, want p = %v", c.name, last, c.p)
		}
		for _, one := range all[:len(names)] {
			if one.Differs {
				t.Errorf("%s: three runs tell of a difference: %+v", c.name, one)
			}
		}
		var out bytes.Buffer
		WriteComparisons(&out, &Shootout{Seconds: 1}, &Shootout{Seconds: 5}, all)
		for _, want := range []string{"3 workloads\t", "too few for p < 0.05", "runs of 1 and of 5 seconds"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s: no %q in\n%s", c.name, want, out.String())
			}
		}
	}
}

func TestTheOddsOfARankSumAreThoseOfDealingByChance(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ before, after []float64 }{
		{[]float64{1, 2, 3}, []float64{4, 5}}, {[]float64{1, 2, 2}, []float64{2, 3, 3, 3}}, {[]float64{7, 7}, []float64{7}},
	} {
		u, null := rankSum(c.before, c.after)
		want := make([]float64, len(null))
		values := append(append([]float64{}, c.before...), c.after...)
		deals := 0.0
		for mask := range 1 << len(values) {
			var before, after []float64
			for i, v := range values {
				if mask>>i&1 == 1 {
					after = append(after, v)
				} else {
					before = append(before, v)
				}
			}
			if len(after) == len(c.after) {
				each, _ := rankSum(before, after)
				want[each]++
				deals++
			}
		}
		for i := range want {
			if math.Abs(null[i]-want[i]/deals) > 1e-12 {
				t.Errorf("%v and %v: %d has odds of %v, want %v", c.before, c.after, i, null[i], want[i]/deals)
			}
		}
		if null[u] == 0 {
			t.Errorf("%v and %v: what happened has no odds", c.before, c.after)
		}
	}
}

func TestShootoutsWithNothingInCommonAreNotCompared(t *testing.T) {
	t.Parallel()
	all, err := Compare(ratesOf([]string{"send-1"}, 1), ratesOf([]string{"cycle-1"}, 1))
	if !errors.Is(err, ErrOptions) {
		t.Errorf("compared %+v: %v", all, err)
	}
}
