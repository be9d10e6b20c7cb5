package shootout

import (
	"slices"
	"testing"

	"github.com/weirmq/weir/bench/adapter"
)

func TestALedgerIsReadAsItWasWrittenWhetherItsWorkerEndedOrWasKilled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ledger, err := adapter.OpenLedger(dir)
	if err != nil {
		t.Fatal(err)
	}
	const messages = 100_000 // more than a window holds
	for n := int64(0); n < messages; n += 2 {
		ledger.Add(n, n+1)
	}
	read := func() (numbers []int64) {
		entries, err := readLedgers(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			numbers = append(numbers, e.n)
		}
		slices.Sort(numbers)
		return numbers
	}
	var want []int64
	for n := range int64(messages) {
		want = append(want, n)
	}
	if killed := read(); !slices.Equal(killed, want) {
		t.Errorf("read %d messages of a ledger that was not closed, expected each of %d once", len(killed), messages)
	}
	if err := ledger.Close(); err != nil {
		t.Fatal(err)
	}
	if ended := read(); !slices.Equal(ended, want) {
		t.Errorf("read %d messages of a closed ledger, expected each of %d once", len(ended), messages)
	}
}
