package weir

import (
	"testing"
	"time"
)

func TestWhoIsToldOfWhatOthersGetLeavesTheQueueToThemLongerAndLonger(t *testing.T) {
	t.Parallel()
	w := waiter{}
	inVain := func() time.Duration {
		w.told = true
		w.wait(t.Context(), time.Nanosecond)
		if w.told || w.woken != nil || w.step != 0 {
			t.Fatalf("it does not begin anew: %+v", w)
		}
		return w.behind
	}
	for _, want := range []int64{2, 4, 8, 8} {
		if got := inVain(); got.Milliseconds() != want {
			t.Errorf("it waits for %v, want %d ms", got, want)
		}
	}
	w.told = true
	if w.found(); w.told || !w.rare {
		t.Errorf("it was told of what it found: %+v", w)
	}
	if got := inVain(); got != stepMin {
		t.Errorf("once it found something it waits for %v", got)
	}
}
