package shootout

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// three is a shootout of Weir in two forms and of two others.
func three() *Shootout {
	cost := func(v float64) *float64 { return &v }
	one := func(system, workload string, rate, cpu float64) Result {
		return Result{
			System: system, Title: system, Setting: "best", Workload: workload, Repetition: 1, Rate: rate, ServerCPU: cost(cpu),
		}
	}
	return &Shootout{Results: []Result{
		one("weir", "send-100", 400, 4), one("weir-go", "send-100", 200, 2), one("pgq", "send-100", 500, 5),
		one("pgmq", "send-100", 100, 3), one("weir", "held-free", 100, 1), one("weir", "held-writer", 96, 1),
		one("pgmq", "held-free", 100, 9), one("pgmq", "held-writer", 30, 9),
	}}
}

func TestTheReportSaysWhereWeirIsBehindAndBehindWhom(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, notesFile), []byte("## Why\n\nBecause.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	s := three()
	for _, repetition := range []int{1, 2} { // the first was done again
		s.Results = append(s.Results, Result{
			System: "pgq", Title: "pgq", Setting: "best", Workload: "send-100", Repetition: repetition, Error: "gone",
		})
	}
	if err := s.WriteMarkdown(&out, dir); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"10 runs, 0001-01-01 00:00 to 0001-01-01 00:00 UTC, 1 of them failed",
		"| send-100 | **0.80** (weir / pgq) |  | 0.67 (weir-go / pgmq) |  |",
		"| held-writer | 3.20 (weir / pgmq) |  | 0.11 (weir / pgmq) |  |",
		"| weir (best) |  | 0.96 |", "| pgmq (best) |  | 0.30 |", "## Why\n\nBecause.\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the report has no %q:\n%s", want, out.String())
		}
	}
}

func TestADifferenceIsOneOnlyWhenChanceIsUnlikelyToMakeIt(t *testing.T) {
	t.Parallel()
	runs := func(rates ...float64) *Shootout {
		s := &Shootout{}
		for i, rate := range rates {
			s.Results = append(s.Results, Result{
				System: "weir", Title: "weir", Setting: "best", Workload: "send-1", Repetition: i + 1, Rate: rate,
			})
		}
		return s
	}
	for _, c := range []struct {
		before, after *Shootout
		differs       bool
	}{
		{runs(100, 101, 102, 103, 104), runs(120, 121, 122, 123, 124), true},
		{runs(100, 120, 102, 123, 104), runs(119, 101, 122, 103, 121), false},
		{runs(100, 101, 102), runs(200, 201, 202), false}, // too few to tell
	} {
		all := Compare(c.before, c.after)
		if len(all) != 1 || all[0].Figure != "messages/s" || all[0].Differs != c.differs {
			t.Errorf("compared %+v, want a difference: %v", all, c.differs)
		}
	}
}
