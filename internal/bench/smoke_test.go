package bench_test

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/weirmq/weir/internal/bench"
)

// smoke measures a workload as briefly as it can be.
func smoke(t *testing.T, workload string) *bench.Report {
	t.Helper()
	opts := bench.DefaultOptions()
	opts.Workload = workload
	opts.Duration, opts.Repetitions = time.Second, 1
	opts.Clients, opts.Backlog, opts.Deep, opts.Queues = 2, 20_000, 10_000, 4
	report, err := bench.Run(t.Context(), opts)
	if err != nil {
		t.Fatalf("measure %s: %v", workload, err)
	}
	var table, text bytes.Buffer
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	report.WriteTable(w)
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	t.Log("\n" + table.String())
	if err := json.NewEncoder(&text).Encode(report); err != nil {
		t.Errorf("encode report: %v", err)
	}
	if name := report.Cases[0].Metrics[0].Name; !strings.Contains(table.String(), name) ||
		!strings.Contains(text.String(), name) {
		t.Errorf("the report does not name %s", name)
	}
	return report
}

// figure returns a metric of a case.
func figure(t *testing.T, r *bench.Report, name, metric string) float64 {
	t.Helper()
	for _, c := range r.Cases {
		for _, m := range c.Metrics {
			if c.Name == name && m.Name == metric {
				return m.Median
			}
		}
	}
	t.Fatalf("no %s of %s", metric, name)
	return 0
}

func TestABacklogIsConsumed(t *testing.T) {
	t.Parallel()
	report := smoke(t, "consume")
	for _, c := range []string{"records", "rows", "single"} {
		if rate := figure(t, report, c, "rate"); rate <= 0 {
			t.Errorf("%s has a rate of %v", c, rate)
		}
	}
	if ratio := figure(t, report, "depth", "receive of 1, deep over shallow"); ratio <= 0 {
		t.Errorf("deep over shallow is %v", ratio)
	}
}

func TestCostsOfASendAreMeasured(t *testing.T) {
	t.Parallel()
	report := smoke(t, "send")
	for _, c := range []string{"batch", "single"} {
		// No send takes less than a microsecond of CPU or less WAL than its payload, nor 100 times what is known.
		if cpu := figure(t, report, c, "backend CPU"); cpu < 0.5 || cpu > 10_000 {
			t.Errorf("%s takes %v us of CPU", c, cpu)
		}
		if wal := figure(t, report, c, "WAL"); wal < 22 || wal > 10_000 {
			t.Errorf("%s writes %v bytes of WAL", c, wal)
		}
	}
}

func TestNoMessageIsLostAtASteadyRate(t *testing.T) {
	t.Parallel()
	report := smoke(t, "latency")
	if n := figure(t, report, "latency", "messages"); n != 100 {
		t.Errorf("%.0f messages of 100 were delivered", n)
	}
	if p50 := figure(t, report, "latency", "end to end p50"); p50 <= 0 {
		t.Errorf("the p50 is %v ms", p50)
	}
}

func TestCycleGoesOnWhileATransactionIsHeldOpen(t *testing.T) {
	t.Parallel()
	report := smoke(t, "held-xmin")
	for _, holder := range []string{"free", "reader", "writer"} {
		if rate := figure(t, report, "held", holder+": rate"); rate <= 0 {
			t.Errorf("the rate is %v beside a %s", rate, holder)
		}
	}
}

func TestTheHTTPLoadAccountsForEveryMessage(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "weir")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "github.com/weirmq/weir/cmd/weir").
		CombinedOutput()
	if err != nil {
		t.Fatalf("build program: %v: %s", err, out)
	}
	opts := bench.DefaultOptions()
	opts.Workload, opts.Program = "http", program
	opts.Duration, opts.Repetitions, opts.Producers, opts.Consumers = time.Second, 1, 4, 4
	report, err := bench.Run(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []string{"single", "batch-100", "idle"} {
		if rate := figure(t, report, c, "full cycles"); rate <= 0 {
			t.Errorf("%s has a rate of %v", c, rate)
		}
		for _, metric := range []string{"lost", "duplicated"} {
			if n := figure(t, report, c, metric); n != 0 {
				t.Errorf("%s: %.0f messages %s", c, n, metric)
			}
		}
	}
}

func TestTheSoakLosesAndInventsNothing(t *testing.T) {
	t.Parallel()
	report := smoke(t, "soak")
	if n := figure(t, report, "soak", "lost or invented"); n != 0 {
		t.Errorf("%.0f messages are missing", n)
	}
	if ratio := figure(t, report, "soak", "sum of the ids sent over that of those received"); ratio != 1 {
		t.Errorf("the ids sent and received differ: %v", ratio)
	}
}

func TestComparisonsOfWeirWithItselfYieldRatios(t *testing.T) {
	t.Parallel()
	for name, metric := range map[string]string{
		"ordered": "ordered over unordered, rate", "fan-out": "10 groups over one, a consumer each",
		"queues": "cycle on one of many queues over the only queue", "pending": "send, with over without",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if ratio := figure(t, smoke(t, name), name, metric); ratio <= 0 {
				t.Errorf("%s is %v", metric, ratio)
			}
		})
	}
}
