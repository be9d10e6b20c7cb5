package shootout

import (
	"slices"
	"strings"
	"testing"
)

// settled are results of a system in both its settings and of one that has but one, in a workload and in another that
// was done with best settings only.
func settled() *Shootout {
	result := func(system, setting, workload string, rate float64) Result {
		return Result{System: system, Title: system, Setting: setting, Workload: workload, Rate: rate, Repetition: 1}
	}
	return &Shootout{Results: []Result{
		result("weir", "best", "send-100", 400), result("weir", "default", "send-100", 100),
		result("pgmq", "best", "send-100", 200), result("pgmq", "default", "send-100", 200),
		result("table", "default", "send-100", 300),
		result("weir", "best", "cycle-100", 40), result("table", "default", "cycle-100", 30),
	}}
}

func TestAViewHasEachSystemInOneSettingAndASystemWithOneSettingInBoth(t *testing.T) {
	t.Parallel()
	s := settled()
	for v, want := range map[view][]string{
		viewBest:    {"weir (best)", "pgmq (best)", "table (default)"},
		viewDefault: {"weir (default)", "pgmq (default)", "table (default)"},
	} {
		var have []string
		for _, e := range s.in(v).entrants() {
			have = append(have, e.Label())
		}
		if !slices.Equal(have, want) {
			t.Errorf("view %s has %v, want %v", v.Name, have, want)
		}
	}
	for _, r := range s.in(viewDefault).Results {
		if r.Workload == "cycle-100" {
			t.Errorf("the view of defaults has a workload that was done at best only: %+v", r)
		}
	}
}

func TestOnlyOneViewWhereNoSystemWasMeasuredInBothSettings(t *testing.T) {
	t.Parallel()
	if have := settled().in(viewBest).views(); !slices.Equal(have, []view{viewBoth}) {
		t.Errorf("views are %v", have)
	}
}

func TestWeirsDefaultsAreComparedWithTheDefaultsOfTheOthers(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	settled().writeVerdict(&text)
	for _, want := range []string{
		"| send-100 | 1.33 (weir / table) |", // 400 over 300, at their best
		"| send-100 | **0.33** (weir / table) |",
		"| weir | 100 → 400 |", "| pgmq | 200 |", "| table | 300 |",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in:\n%s", want, text.String())
		}
	}
}
