package engine

import (
	"strconv"
	"testing"
)

func TestOfTheNamesOfQueuesFunctionsAsManyAreKeptAsConnectionsKeepStatements(t *testing.T) {
	t.Parallel()
	o := newOwnCalls()
	call := func(queue int) (asks bool) {
		key := ownKey{"send_batch", strconv.Itoa(queue)}
		for range ownAfter + 1 {
			if _, ask := o.find(key); ask {
				o.keep(key, "select")
				return true
			}
		}
		return false
	}
	for queue := range 2 * ownMax { // called once, as queues that are not there
		o.find(ownKey{"send_batch", strconv.Itoa(-1 - queue)})
	}
	for queue := range ownMax {
		if !call(queue) {
			t.Errorf("the name of queue %d was not asked for, with %d known", queue, len(o.calls))
		}
	}
	if call(ownMax) || len(o.calls) != ownMax {
		t.Errorf("%d are kept", len(o.calls))
	}
	if text, _ := o.find(ownKey{"send_batch", "0"}); text != "select" {
		t.Errorf("the first is %q", text)
	}
}
