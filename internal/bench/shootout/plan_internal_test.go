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
	if both := plan(systems, "both", []Workload{{Name: "send"}}, 1); len(both) != 4 {
		t.Errorf("%d runs of two systems at both settings", len(both))
	}
}

func TestAQuickShootoutHasEverySectionOfTheReport(t *testing.T) {
	t.Parallel()
	var missing []string
	for _, section := range sections {
		if !slices.ContainsFunc(quick(Workloads()), func(w Workload) bool { return w.Section == section }) {
			missing = append(missing, section)
		}
	}
	repeated := slices.DeleteFunc(quick(Workloads()), func(w Workload) bool { return w.Once })
	if len(missing) > 0 || len(repeated) != 9 {
		t.Errorf("missing are %q, repeated %d workloads", missing, len(repeated))
	}
}
