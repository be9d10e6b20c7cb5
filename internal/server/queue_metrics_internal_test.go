package server

import (
	"testing"

	"github.com/weirmq/weir/internal/engine"
)

func TestWhatIsNotShownIsSummed(t *testing.T) {
	t.Parallel()
	c := newQueueCollector(nil, 1)
	row := func(queue string, waiting int64) engine.GroupStats {
		rate := float64(waiting)
		return engine.GroupStats{Queue: queue, Group: "default", SentRate: rate, DeliveredRate: rate / 2, Waiting: waiting}
	}
	for i, step := range []struct {
		rows    []engine.GroupStats
		waiting int64
	}{
		{[]engine.GroupStats{row("a", 9), row("b", 10), row("c", 20)}, 30},
		{[]engine.GroupStats{row("a", 9), row("c", 20)}, 20},             // b was dropped
		{[]engine.GroupStats{row("0", 8), row("a", 9), row("b", 2)}, 10}, // a stays the one that is shown
	} {
		c.keep(byQueue(step.rows))
		last := c.list[len(c.list)-1]
		if c.list[0].name != "a" || last.name != restLabel || last.sent != float64(step.waiting) ||
			last.groups[0].DeliveredRate != float64(step.waiting)/2 || last.groups[0].Waiting != step.waiting {
			t.Errorf("step %d: %+v", i, c.list)
		}
	}
	c.keep(byQueue([]engine.GroupStats{row("b", 1)}))
	if len(c.list) != 1 || c.list[0].name != "b" {
		t.Errorf("b was not given the room of a: %+v", c.list)
	}
}

func TestALogIsToldOfOnceWithWhatKeepsIt(t *testing.T) {
	t.Parallel()
	by := "transaction of process 7"
	logs := logsOf(byQueue([]engine.GroupStats{
		{Queue: "a", Log: "main"}, {Queue: "b", Log: "main", BlockedBy: &by}, {Queue: "c", Log: "own"},
	}))
	if len(logs) != 2 || logs[0].Log != "main" || logs[0].BlockedBy != &by || logs[1].Log != "own" {
		t.Errorf("logs %+v", logs)
	}
}
