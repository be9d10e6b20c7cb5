package server

import (
	"testing"

	"github.com/weirmq/weir/internal/engine"
)

func TestTheCountersOfTheRestOnlyRiseWhateverBecomesOfItsQueues(t *testing.T) {
	t.Parallel()
	c := newQueueCollector(nil, 1)
	row := func(queue string, sent int64) engine.GroupStats {
		return engine.GroupStats{Queue: queue, Group: "default", Sent: sent, Delivered: sent / 2, Waiting: sent}
	}
	for i, step := range []struct {
		rows      []engine.GroupStats
		sent      int64
		delivered int64
		waiting   int64
	}{
		{[]engine.GroupStats{row("a", 9), row("b", 10), row("c", 20)}, 30, 15, 30},
		{[]engine.GroupStats{row("a", 9), row("b", 14), row("c", 20)}, 34, 17, 34},
		{[]engine.GroupStats{row("a", 9), row("c", 20)}, 34, 17, 20},                       // b was dropped
		{[]engine.GroupStats{row("a", 9), row("b", 2), row("c", 20)}, 36, 18, 22},          // and made anew
		{[]engine.GroupStats{row("0", 8), row("a", 9), row("b", 2)}, 44, 22, 10},           // a stays the one that is shown
		{[]engine.GroupStats{row("a", 9), row("b", 1), row("c", 20)}, 44 + 1 + 20, 32, 21}, // b once more, c comes back
	} {
		c.keep(byQueue(step.rows))
		last := c.list[len(c.list)-1]
		if c.list[0].name != "a" || last.name != restLabel || last.sent != step.sent ||
			last.groups[0].Delivered != step.delivered || last.groups[0].Waiting != step.waiting {
			t.Errorf("step %d: %+v", i, c.list)
		}
	}
	c.keep(byQueue([]engine.GroupStats{row("b", 1)}))
	if len(c.list) != 1 || c.list[0].name != "b" {
		t.Errorf("b was not given the room of a: %+v", c.list)
	}
}
