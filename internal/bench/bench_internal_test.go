package bench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

func TestMedianIsTheMiddleValueAndLeavesTheOrder(t *testing.T) {
	t.Parallel()
	runs := []float64{3, 1, 2}
	s := summarize(runs)
	if s.Median != 2 || s.Min != 1 || s.Max != 3 || s.Runs[0] != 3 {
		t.Errorf("summary of %v is %+v", runs, s)
	}
	if got := median([]float64{4, 1, 3, 2}); got != 2.5 {
		t.Errorf("median of four values is %v, want 2.5", got)
	}
	if !math.IsNaN(median(nil)) {
		t.Error("median of nothing is a number")
	}
}

func TestRatioIsThatOfNeighboursInTime(t *testing.T) {
	t.Parallel()
	// Both ran at half speed in the second pair and at a tenth in the third: the ratio is 2 all along.
	if got := pairedRatio([]float64{200, 100, 20}, []float64{100, 50, 10}); got != 2 {
		t.Errorf("ratio is %v, want 2", got)
	}
	if got := pairedRatio([]float64{1, 6}, []float64{0, 2}); got != 3 {
		t.Errorf("ratio with an empty run is %v, want 3", got)
	}
}

func TestTrendComparesTheLastThirdWithTheFirst(t *testing.T) {
	t.Parallel()
	if got := trend([]float64{10, 10, 7, 5, 5, 5}); got != 0.5 {
		t.Errorf("trend is %v, want 0.5", got)
	}
	if !math.IsNaN(trend([]float64{1, 2})) || !math.IsNaN(trend([]float64{0, 1, 2})) {
		t.Error("a trend comes out of too few values, or of a start from zero")
	}
}

const pgbenchReport = `pgbench (18.6)
transaction type: consume.sql
number of transactions actually processed: 1000
number of failed transactions: %d (0.000%%)
latency average = 1.000 ms
initial connection time = 3.000 ms
tps = 500.000000 (without initial connection time)
`

func TestLoadIsReadFromPgbenchsReport(t *testing.T) {
	t.Parallel()
	progress := "progress: 1.0 s, 480.0 tps, lat 1.0 ms stddev 0.1, 0 failed\nprogress: 2.0 s, 520.5 tps, lat 1.0 ms\n"
	res, err := parseLoad(fmt.Sprintf(pgbenchReport, 0), progress)
	if err != nil {
		t.Fatal(err)
	}
	if res.transactions != 1000 || res.elapsed != 2*time.Second {
		t.Errorf("%d transactions in %v, want 1000 in 2s", res.transactions, res.elapsed)
	}
	if len(res.perSecond) != 2 || res.perSecond[0] != 480 || res.perSecond[1] != 520.5 {
		t.Errorf("progress is %v", res.perSecond)
	}
}

func TestLoadFailsWhenATransactionFailedOrTheReportIsCut(t *testing.T) {
	t.Parallel()
	for name, report := range map[string]string{
		"failed": fmt.Sprintf(pgbenchReport, 1),
		"cut":    strings.Split(fmt.Sprintf(pgbenchReport, 0), "tps")[0],
		"empty":  "",
	} {
		if _, err := parseLoad(report, ""); !errors.Is(err, ErrLoad) {
			t.Errorf("%s: error is %v", name, err)
		}
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

func TestBudgetNeverEmptiesABacklog(t *testing.T) {
	t.Parallel()
	if got := budget(100, 1000, 5*time.Second); got.duration != 5*time.Second || got.transactions != 0 {
		t.Errorf("a backlog that lasts is run as %+v", got)
	}
	if got := budget(1000, 1000, 5*time.Second); got.duration != 0 || got.transactions != 800 {
		t.Errorf("a backlog that does not last is run as %+v", got)
	}
}

func TestPayloadsHaveTheLengthAskedForAndAreTheSameEachTime(t *testing.T) {
	t.Parallel()
	o := DefaultOptions()
	letters := newLetters()
	a, b := o.payload(letters), o.payload(letters)
	if len(a) != 22 || len(b) != 22 || a == b {
		t.Errorf("payloads are %q and %q, want two of 22 bytes", a, b)
	}
	if once, again := o.batchText(3), o.batchText(3); once != again || strings.Count(o.batchText(3), `\"v\":`) != 3 {
		t.Errorf("batch is %s", o.batchText(3))
	}
	if got := o.payload(rand.New(rand.NewPCG(1, 2))); got != a {
		t.Errorf("the first payload is %q once and %q another time", a, got)
	}
}

func TestOptionsThatCannotBeRunAreRefused(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(o *Options){
		"no clients":         func(o *Options) { o.Clients = 0 },
		"tiny payload":       func(o *Options) { o.PayloadBytes = 5 },
		"batch too long":     func(o *Options) { o.Batch, o.PayloadBytes = 1000, 1000 },
		"no time":            func(o *Options) { o.Duration = time.Millisecond },
		"no runs":            func(o *Options) { o.Repetitions = 0 },
		"backlog too small":  func(o *Options) { o.Backlog = 100 },
		"no depth":           func(o *Options) { o.Deep = shallow },
		"rate of nothing":    func(o *Options) { o.Rate = 0 },
		"unknown workload":   func(o *Options) { o.Workload = "x" },
		"unknown competitor": func(o *Options) { o.Against = []string{"x"} },
	} {
		o := DefaultOptions()
		o.Workload = "send"
		change(&o)
		if _, err := Run(t.Context(), o); !errors.Is(err, ErrOptions) {
			t.Errorf("%s: error is %v", name, err)
		}
	}
}

func TestEverySystemHasEveryScript(t *testing.T) {
	t.Parallel()
	for _, sys := range []string{"weir", "pgmq", "table"} {
		for _, script := range []string{
			"setup", "counts", "space", "send", "receive", "ack", "send_batch", "send_one", "consume_records",
			"consume_rows", "consume_one", "cycle",
		} {
			if _, err := (system{name: sys}).text(script); err != nil && (sys != "table" || script != "ack") {
				t.Error(err)
			}
		}
	}
}

func TestGoalsAreJudgedByRatioOrByValue(t *testing.T) {
	t.Parallel()
	c := testCase{name: "x", metrics: []metric{
		{"rate", "rate", "", "%.0f", ratioAtLeast(4)}, {"p50", "p50", "", "%.0f", atMost(3)}, {"gone", "gone", "", "%f", nil},
	}}
	all := []system{{name: "weir"}, {name: "other"}}
	r := &Report{}
	r.add(c, all, map[string][]values{
		"weir": {{"rate": 300, "p50": 3}}, "other": {{"rate": 100, "p50": 9}},
	})
	if missed := r.Missed(); len(missed) != 1 || missed[0] != "x rate: ratio >= 4" {
		t.Errorf("missed are %v", missed)
	}
	if n := len(r.Cases[0].Metrics); n != 2 {
		t.Errorf("%d metrics are reported, want the 2 that were measured", n)
	}
	alone := &Report{}
	alone.add(c, all[:1], map[string][]values{"weir": {{"rate": 300, "p50": 4}}})
	if missed := alone.Missed(); len(missed) != 1 || missed[0] != "x p50: <= 3" {
		t.Errorf("without another system, missed are %v", missed)
	}
}

func TestAConsumerThatHasAllDoesNotEndTheProducersLastSend(t *testing.T) {
	t.Parallel()
	consumed := make(chan struct{})
	err := together(t.Context(), func(ctx context.Context) error {
		<-consumed // the last message is received, and its send not answered yet
		return ctx.Err()
	}, func(context.Context) error {
		close(consumed)
		return nil
	})
	if err != nil {
		t.Errorf("together: %v", err)
	}
}

func TestTheFirstCauseIsToldAndNotTheCancelThatFollows(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	fails := func(context.Context) error { return broken }
	ends := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	for name, both := range map[string][2]func(context.Context) error{
		"producer": {fails, ends}, "consumer": {ends, fails},
	} {
		if err := together(t.Context(), both[0], both[1]); !errors.Is(err, broken) {
			t.Errorf("%s failed: %v", name, err)
		}
	}
}
