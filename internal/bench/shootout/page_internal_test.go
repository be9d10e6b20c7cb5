package shootout

import (
	"strings"
	"testing"
)

func TestThePageHasTailsMemoryStorageOverTimeAndFaultsOfEachWorkload(t *testing.T) {
	t.Parallel()
	run := func(workload string, twice int64, latency *Latency) Result {
		return Result{
			System: "weir", Title: "Weir, SQL", Setting: "best", Workload: workload, Repetition: 1, Rate: 100,
			Duplicated: twice, Latency: latency, ServerMB: 24, ClientMB: 51,
			Samples: []Sample{{At: 0.5, TableBytes: 2e6, IndexBytes: 1e6}, {At: 1, TableBytes: 4e6, IndexBytes: 3e6}},
		}
	}
	s := &Shootout{Results: []Result{
		run("send-100", 0, nil), run("latency-100", 2, &Latency{P50: 1, P95: 21, P99: 31, P999: 41, Max: 51}),
	}}
	var out strings.Builder
	if err := s.WriteHTML(&out); err != nil {
		t.Fatal(err)
	}
	page := out.String()
	for part, want := range map[string]int{
		`data-figure="storage over time"`: 4, "MB of tables<": 2, "MB of indexes<": 2,
		"Weir, SQL: 3 at 1<": 2, "Weir, SQL: 4 at 1<": 2,
		`data-figure="server memory"`: 2, "24 MB<": 2, `data-figure="client memory"`: 2, "51 MB<": 2,
		"<td>7.0<td>3.0<td>24<td>51<td>": 2,
		`data-figure="p95"`:              1, `data-figure="p99"`: 1, `data-figure="p99.9"`: 1, `data-figure="max"`: 1,
		">21 ms<": 1, ">31 ms<": 1, ">41 ms<": 1, ">51 ms<": 1,
		"Lost, twice, out of order: Weir, SQL (best) 0, 2, 0.": 1,
	} {
		if have := strings.Count(page, part); have != want {
			t.Errorf("%d times %s, want %d", have, part, want)
		}
	}
}
