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

// goalsOf is the table of goals, by the beginning of its lines.
func goalsOf(s *Shootout) string {
	var out strings.Builder
	s.writeGoals(&out)
	return out.String()
}

func TestAGoalIsReachedByItsOwnFactorAndSystemsThatHandOutByTicksAreLeftOutBeside(t *testing.T) {
	t.Parallel()
	s := three()
	for i := range s.Results {
		if s.Results[i].System == "pgq" {
			s.Results[i].Batches = batchesTicks
		}
	}
	have := goalsOf(s)
	for _, want := range []string{
		"| send-100: messages/s at least 4 times the best | **0.80** (weir / pgq) | 4.00, reached (weir / pgmq) |",
		"| consume-100: messages/s at least 6 times the best | not measured | not measured |",
		"| messages/s the most wherever they are measured | **2 of 3**; not send-100 0.80 | 3 of 3, reached |",
		"| server CPU a message the least | 3 of 3, reached | 3 of 3, reached |",
		"| WAL a message the least | not measured | not measured |",
		"| rate beside a held transaction at least 0.95 of that without | not measured | |",
	} {
		if !strings.Contains(have, want) {
			t.Errorf("the goals have no %q:\n%s", want, have)
		}
	}
}

func TestShortestP50IsAskedForWhereSomebodyKeepsUpWithAnEvenRate(t *testing.T) {
	t.Parallel()
	s := &Shootout{}
	for _, r := range []struct {
		system, workload string
		rate, p50        float64
	}{
		{"weir", "idle", 10, 2},
		{"river", "idle", 10, 3},
		{"weir", "latency-100", 100, 3},
		{"river", "latency-100", 99, 2},
		{"weir", "latency-5000", 3000, 900},
		{"river", "latency-5000", 2000, 800},
		{"weir", "burst", 600, 9},
		{"river", "burst", 600, 8},
	} {
		s.Results = append(s.Results, Result{
			System: r.system, Title: r.system, Setting: "best", Workload: r.workload, Repetition: 1, Rate: r.rate,
			Latency: &Latency{P50: r.p50},
		})
	}
	want := "| p50 the shortest at every rate below saturation | **1 of 2**; not latency-100 1.50 |"
	if have := goalsOf(s); !strings.Contains(have, want) {
		t.Errorf("the goals have no %q:\n%s", want, have)
	}
}

func TestAHeldTransactionIsJudgedByTheFastestOfWeirsEntrantsAndTheWorseOfReaderAndWriter(t *testing.T) {
	t.Parallel()
	s := &Shootout{}
	add := func(system, workload string, rate float64, bytes int64) {
		s.Results = append(s.Results, Result{
			System: system, Title: system, Setting: "best", Workload: workload, Repetition: 1, Rate: rate,
			Samples: []Sample{{TableBytes: bytes}},
		})
	}
	add("pgmq", "held-free", 300, 9e6)
	for _, system := range []string{"weir", "weir-go"} { // the faster and the slower
		add(system, "held-free", map[string]float64{"weir": 200, "weir-go": 100}[system], 10e6)
		add(system, "held-reader", 194, 10e6)
		add(system, "held-writer", 180, 9e6)
	}
	for i := range s.Results { // by the ratios of neighbours: all of the second repetition was three times as slow
		r := s.Results[i]
		r.Repetition, r.Rate = 2, r.Rate/3
		s.Results = append(s.Results, r)
	}
	for _, workload := range []string{"held-reader", "held-writer"} { // which has no neighbour
		s.Results = append(s.Results, Result{
			System: "weir", Title: "weir", Setting: "best", Workload: workload, Repetition: 3, Rate: 1,
			Samples: []Sample{{TableBytes: 9e6}},
		})
	}
	for _, want := range []string{
		"| rate beside a held transaction at least 0.95 of that without | **0.900** (weir) | |",
		"| storage a message beside it at most 1.05 times that without | 1.031, reached (weir) | |",
	} {
		if have := goalsOf(s); !strings.Contains(have, want) {
			t.Errorf("the goals have no %q:\n%s", want, have)
		}
	}
}

func TestWhoTakesAsManyMessagesACallAsItLikesIsMarkedWhereAWorkloadSaysHowMany(t *testing.T) {
	t.Parallel()
	s := &Shootout{}
	for _, workload := range []string{"send-1", "consume-1", "latency-100"} {
		for system, batches := range map[string]string{"river": batchesOwn, "pgq": batchesTicks, "pgmq": ""} {
			s.Results = append(s.Results, Result{
				System: system, Title: system, Setting: "best", Workload: workload, Repetition: 1, Rate: 1, Batches: batches,
			})
		}
	}
	for _, table := range s.Tables() {
		var out strings.Builder
		table.writeMarkdown(&out)
		for _, system := range []string{"river", "pgq", "pgmq"} {
			want := table.Name == "consume-1" && system != "pgmq"
			if have := strings.Contains(out.String(), "| "+system+" (best) ° |"); have != want {
				t.Errorf("%s: %s is marked: %v, want %v", table.Name, system, have, want)
			}
		}
	}
}
