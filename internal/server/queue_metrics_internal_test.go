package server

import (
	"testing"

	"github.com/weirmq/weir/internal/engine"
)

func TestAQueueThatIsShownStaysShownAndTheRestIsSummed(t *testing.T) {
	t.Parallel()
	c := newQueueCollector(nil, 1)
	row := func(queue string, n int64) engine.GroupStats {
		return engine.GroupStats{Queue: queue, Group: "default", Waiting: n, SentRate: float64(n), DeliveredRate: 1}
	}
	for i, step := range []struct {
		rows      []engine.GroupStats
		sum       int64
		delivered float64
	}{
		{[]engine.GroupStats{row("a", 9), row("b", 10), row("c", 20)}, 30, 2},
		{[]engine.GroupStats{row("a", 9), row("c", 20)}, 20, 1},
		{[]engine.GroupStats{row("0", 8), row("a", 9), row("b", 2)}, 10, 2}, // a stays the one that is shown
	} {
		c.keep(byQueue(step.rows))
		last := c.list[len(c.list)-1]
		if c.list[0].name != "a" || last.name != restLabel || last.sent != float64(step.sum) ||
			last.groups[0].DeliveredRate != step.delivered || last.groups[0].Waiting != step.sum {
			t.Errorf("step %d: %+v", i, c.list)
		}
	}
	c.keep(byQueue([]engine.GroupStats{row("b", 1)}))
	if len(c.list) != 1 || c.list[0].name != "b" {
		t.Errorf("b was not given the room of a: %+v", c.list)
	}
}

func TestALogIsShownOnceWithTheOldestTransactionThatKeepsIt(t *testing.T) {
	t.Parallel()
	by, young, old := "somebody", 1.0, 60.0
	list := byLog([]engine.GroupStats{
		{Queue: "a", Log: "main", Segments: 2},
		{Queue: "b", Log: "main", Segments: 2, BlockedBy: &by, BlockerAge: &young},
		{Queue: "c", Log: "other", Segments: 1},
		{Queue: "d", Log: "main", Segments: 2, BlockedBy: &by, BlockerAge: &old},
	})
	if len(list) != 2 || list[0].Log != "main" || *list[0].BlockerAge != old || list[1].Log != "other" {
		t.Errorf("logs: %+v", list)
	}
}
