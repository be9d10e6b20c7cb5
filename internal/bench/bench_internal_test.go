package bench

import (
	"errors"
	"slices"
	"testing"
	"time"
)

func TestAReportHasTheMedianAndLeavesTheOrderOfTheRuns(t *testing.T) {
	t.Parallel()
	r := &Report{}
	c := testCase{name: "x", metrics: []metric{{key: "rate"}, {key: "gone"}}}
	r.add(c, []values{{"rate": 3}, {"rate": 1}, {"rate": 2}})
	if n := len(r.Cases[0].Metrics); n != 1 {
		t.Fatalf("%d metrics are reported, want the one that was measured", n)
	}
	m := r.Cases[0].Metrics[0]
	if m.Median != 2 || m.Min != 1 || m.Max != 3 || !slices.Equal(m.Runs, []float64{3, 1, 2}) {
		t.Errorf("the summary is %+v", m)
	}
	if got := median([]float64{4, 1, 3, 2}); got != 2.5 {
		t.Errorf("median of four values is %v, want 2.5", got)
	}
}

func TestTrendComparesTheLastPartWithTheFirst(t *testing.T) {
	t.Parallel()
	if got, ok := trend([]float64{10, 10, 7, 5, 5, 5}, 3); got != 0.5 || !ok {
		t.Errorf("trend is %v, want 0.5", got)
	}
	for _, series := range [][]float64{{1, 2}, {0, 1, 2}} {
		if _, ok := trend(series, 3); ok {
			t.Errorf("a trend comes out of %v", series)
		}
	}
}

func TestQuantilesAreThoseOfTheSortedTimes(t *testing.T) {
	t.Parallel()
	times := []int64{3e6, 1e6, 4e6, 2e6}
	for part, want := range map[float64]float64{0: 1, 0.5: 3, 0.99: 4, 1: 4} {
		if got := quantile(times, part); got != want {
			t.Errorf("quantile %v is %v ms, want %v", part, got, want)
		}
	}
	if got := quantile(nil, 0.5); got != 0 {
		t.Errorf("the quantile of nothing is %v", got)
	}
}

func TestProcessTimeIsReadWhateverTheCommandIsCalled(t *testing.T) {
	t.Parallel()
	stat := "42 (postgres: a ) b) S 1 42 42 0 -1 4194304 100 0 0 0 150 25 0 0 20 0 1 0 100 1000 10"
	if got, ok := parseStat(stat); !ok || got != 1750*time.Millisecond {
		t.Errorf("stat says %v %v, want 1.75s", got, ok)
	}
	if got, ok := parseSchedstat("1500000 2000 3\n"); !ok || got != 1500*time.Microsecond {
		t.Errorf("schedstat says %v %v, want 1.5ms", got, ok)
	}
	for _, text := range []string{"", "x", "0 0 0"} { // a kernel that does not count shows zeros
		if _, ok := parseSchedstat(text); ok {
			t.Errorf("schedstat %q passes", text)
		}
	}
	if _, ok := parseStat("42 (x) S 1"); ok {
		t.Error("a stat that is cut passes")
	}
}

func TestMachineTimeLeavesOutIdleAndWaiting(t *testing.T) {
	t.Parallel()
	got := parseMachine("cpu  100 10 50 9000 800 5 6 7 3 0\ncpu0 1 1 1 1 1 1 1 1 1 1\n")
	if got != 1780*time.Millisecond {
		t.Errorf("machine's time is %v, want 1.78s", got)
	}
	if got := parseMachine("intr 1 2 3 4 5 6 7 8 9"); got != 0 {
		t.Errorf("another line counts as %v", got)
	}
}

func TestPayloadsHaveTheLengthAskedForAndAreTheSameEachTime(t *testing.T) {
	t.Parallel()
	o := DefaultOptions()
	two := o.payloads(2)
	if len(two[0]) != 22 || len(two[1]) != 22 || two[0] == two[1] {
		t.Errorf("payloads are %q, want two of 22 bytes", two)
	}
	if again := o.payloads(2); !slices.Equal(two, again) {
		t.Errorf("payloads are %q once and %q another time", two, again)
	}
}

func TestOptionsThatCannotBeRunAreRefused(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(o *Options){
		"no clients":        func(o *Options) { o.Clients = 0 },
		"tiny payload":      func(o *Options) { o.PayloadBytes = 5 },
		"no batch":          func(o *Options) { o.Batch = 0 },
		"no time":           func(o *Options) { o.Duration = time.Millisecond },
		"no runs":           func(o *Options) { o.Repetitions = 0 },
		"backlog too small": func(o *Options) { o.Backlog = 100 },
		"no depth":          func(o *Options) { o.Deep = shallow },
		"rate of nothing":   func(o *Options) { o.Rate = 0 },
		"unknown workload":  func(o *Options) { o.Workload = "x" },
	} {
		o := DefaultOptions()
		o.Workload = "send"
		change(&o)
		if _, err := Run(t.Context(), o); !errors.Is(err, ErrOptions) {
			t.Errorf("%s: error is %v", name, err)
		}
	}
}
