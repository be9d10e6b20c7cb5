package shootout

import (
	"slices"
	"testing"
)

func TestSystemsTakeTurnsAndWhatIsDoneOnceComesLast(t *testing.T) {
	t.Parallel()
	settings := map[string]string{"best": "", "default": ""}
	systems := []*System{{Name: "a", Settings: settings}, {Name: "b", Settings: settings}}
	var got []string
	for _, j := range plan(systems, "best", []Workload{{Name: "kill", Once: true}, {Name: "send"}, {Name: "cycle"}}, 2) {
		got = append(got, j.w.Name+" "+j.sys.Name)
	}
	want := []string{
		"send b", "send a", "cycle a", "cycle b", "send a", "send b", "cycle b", "cycle a", "kill a", "kill b",
	}
	if !slices.Equal(got, want) {
		t.Errorf("planned %q, want %q", got, want)
	}
	got = nil
	compared := []Workload{{Name: "free", Against: "free"}, {Name: "held", Against: "free"}, {Name: "send"}}
	for _, j := range plan(systems, "best", compared, 2) {
		got = append(got, j.w.Name+" "+j.sys.Name)
	}
	want = []string{
		"free a", "held a", "free b", "held b", "send b", "send a",
		"held b", "free b", "held a", "free a", "send a", "send b",
	}
	if !slices.Equal(got, want) {
		t.Errorf("planned %q, want %q", got, want)
	}
	if both := plan(systems, "both", []Workload{{Name: "send"}}, 1); len(both) != 4 {
		t.Errorf("%d runs of two systems at both settings", len(both))
	}
}

func TestAQuickShootoutHasEverySectionOfTheReport(t *testing.T) {
	t.Parallel()
	all := quick(Workloads())
	for _, section := range sections {
		if !slices.ContainsFunc(all, func(w Workload) bool { return w.Section == section }) {
			t.Errorf("nothing of %s", section)
		}
	}
	var names []string
	for _, w := range all {
		names = append(names, w.Name)
		if w.Once != slices.Contains(quickOnce, w.Name) {
			t.Errorf("%s is done once: %v", w.Name, w.Once)
		}
	}
	if want := slices.Concat(quickRepeated, quickOnce); !slices.Equal(names, want) {
		t.Errorf("it has %q, want %q", names, want)
	}
	if few := quick(Workloads()[:1]); len(few) != 1 || few[0].Name != Workloads()[0].Name {
		t.Errorf("of one workload it has %+v", few)
	}
}
