package shootout

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// shownBy writes the page of a shootout and returns it, and the data in it as the browser reads them.
func shownBy(t *testing.T, s *Shootout, dir string) (string, map[string]any) {
	t.Helper()
	var out strings.Builder
	if err := s.WriteHTML(&out, dir); err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(out.String(), `id="data">`)
	text, _, _ := strings.Cut(rest, "</script>")
	var data map[string]any
	if err := json.Unmarshal([]byte(text), &data); err != nil {
		t.Fatalf("read data: %v: %s", err, text)
	}
	return out.String(), data
}

// at follows names and places into what JSON holds.
func at(data any, path ...any) any {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			object, _ := data.(map[string]any)
			data = object[step]
		case int:
			if list, ok := data.([]any); ok {
				data = list[step]
			}
		}
	}
	return data
}

func TestThePageHasTailsMemoryStorageOverTimeAndFaultsOfEachWorkloadWithTheirSpread(t *testing.T) {
	t.Parallel()
	run := func(workload string, repetition int, rate float64, twice int64, latency *Latency) Result {
		return Result{
			System: "weir", Title: "Weir, SQL", Setting: "best", Workload: workload, Repetition: repetition, Rate: rate,
			Duplicated: twice, Latency: latency, ServerMB: 24, ClientMB: 51,
			Samples: []Sample{{At: 0.5, TableBytes: 2e6, IndexBytes: 1e6}, {At: 1, TableBytes: 4e6, IndexBytes: 3e6}},
		}
	}
	s := &Shootout{Results: []Result{
		run("send-100", 1, 123_456, 0, nil), run("send-100", 2, 100, 0, nil), run("send-100", 3, 200, 0, nil),
		run("latency-100", 1, 100, 2, &Latency{P50: 1, P95: 21, P99: 31, P999: 41, Max: 51}),
		{System: "pgmq", Title: "PGMQ", Setting: "best", Workload: "send-100", Repetition: 1, Error: "no </script> of ours"},
	}}
	_, data := shownBy(t, s, t.TempDir())
	row := func(section int) any { return at(data, "sections", section, "cards", 0, "rows", 0) }
	for _, c := range []struct{ have, want any }{
		{at(row(0), "figures", "rate"), []any{200.0, 100.0, 123500.0}},
		{at(row(0), "figures", "storage"), []any{7.0, 7.0, 7.0}},
		{at(row(0), "storage"), []any{[]any{0.5, 2.0, 1.0}, []any{1.0, 4.0, 3.0}}},
		{at(row(0), "faulty"), nil},
		{at(data, "sections", 0, "cards", 0, "rows", 1, "failed"), "no </script> of ours"},
		{at(row(1), "figures", "p50"), []any{1.0}},
		{at(row(1), "figures", "p95"), []any{21.0}},
		{at(row(1), "figures", "p99"), []any{31.0}},
		{at(row(1), "figures", "p999"), []any{41.0}},
		{at(row(1), "figures", "max"), []any{51.0}},
		{at(row(1), "figures", "indexes"), []any{3.0}},
		{at(row(1), "figures", "server_mb"), []any{24.0}},
		{at(row(1), "figures", "client_mb"), []any{51.0}},
		{at(row(1), "faults"), "0, 2, 0"},
		{at(row(1), "faulty"), true},
		{at(data, "sections", 1, "cards", 0, "rate"), 100.0},
	} {
		if !reflect.DeepEqual(c.have, c.want) {
			t.Errorf("the page has %v, want %v", c.have, c.want)
		}
	}
}

func TestThePageSaysOfEachSystemWhyItIsAhead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const notes = lossesHead + "\nIn short.\n\n**River, graphile-worker and awa** are *quick* by `a < b`.\n\n" +
		"**The plain table** keeps less.\n\n## More\n\n**Weir** has more to say.\n"
	if err := os.WriteFile(filepath.Join(dir, notesFile), []byte(notes), 0o600); err != nil {
		t.Fatal(err)
	}
	text, _ := shownBy(t, three(), dir)
	for part, want := range map[string]bool{
		`data-names="river|graphile-worker|awa"><b>River, graphile-worker and awa</b> are <em>quick</em> by ` +
			`<code>a &lt; b</code>.`: true,
		`data-names="plain table"><b>The plain table</b> keeps less.`: true, `data-names="">In short.`: true,
		"has more to say": false,
	} {
		if strings.Contains(text, part) != want {
			t.Errorf("the page has %s: %v, want %v", part, !want, want)
		}
	}
}
