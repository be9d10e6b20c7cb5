package shootout

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestLedgersTellWhatCameTwiceAndOutOfOrder(t *testing.T) {
	t.Parallel()
	// Keys 0 and 1 in turn. 4 comes after 6, 2 comes again, 3 never comes.
	entries := []entry{{0, 10}, {1, 20}, {2, 30}, {5, 40}, {6, 50}, {4, 60}, {2, 70}}
	f := look(entries, 2)
	if f != (findings{distinct: 6, duplicated: 1, outOfOrder: 1, last: 70}) {
		t.Errorf("found %+v", f)
	}
	if f := look(entries, 0); f.outOfOrder != 0 {
		t.Errorf("without keys %d are out of order", f.outOfOrder)
	}
}

func TestADrainThatTakesTooLongIsCutAndWhatIsLeftIsNotLost(t *testing.T) {
	t.Parallel()
	r := &run{
		driver: &driver{drain: time.Nanosecond}, sys: &System{Name: "slow"},
		w:   Workload{Producers: 1, Consumers: 1, Timed: true},
		dir: t.TempDir(), consumers: []*process{{}}, acked: 3, start: time.Unix(0, 0), stopped: time.Unix(60, 0),
	}
	if err := os.MkdirAll(r.ledgerDir(0), 0o755); err != nil {
		t.Fatal(err)
	}
	one := append(binary.LittleEndian.AppendUint64(nil, 0), binary.LittleEndian.AppendUint64(nil, 5)...)
	if err := os.WriteFile(filepath.Join(r.ledgerDir(0), "1"), one, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := r.await(t.Context(), r.acked); err != nil || !r.cut {
		t.Fatalf("the drain was cut: %v, %v", r.cut, err)
	}
	if err := r.compare(); err != nil || r.result.Lost != 0 {
		t.Errorf("%d are lost: %v", r.result.Lost, err)
	}
	r.cut = false
	if err := r.compare(); err != nil || r.result.Lost != 2 {
		t.Errorf("of a drain that was not cut %d are lost: %v", r.result.Lost, err)
	}
}

func TestLatencyIsCountedFromThePlanAndOnce(t *testing.T) {
	t.Parallel()
	start := time.Unix(1000, 0)
	at := func(ms int64) int64 { return start.UnixNano() + ms*int64(time.Millisecond) }
	// 100 a second: message n is due after n times 10 ms. Message 1 is received again much later.
	entries := []entry{{0, at(1)}, {1, at(12)}, {2, at(23)}, {1, at(5000)}, {100, at(2)}}
	got, err := latencies(entries, []planned{{first: 0, count: 3, start: start, rate: 100}})
	if err != nil {
		t.Fatal(err)
	}
	if got.P50 < 1.99 || got.P50 > 2.01 || got.Max < 2.99 || got.Max > 3.01 {
		t.Errorf("got %+v, want a p50 of 2 and a maximum of 3 ms", got)
	}
}

func TestEveryPositionOfTheRotationIsEverySystemsOnce(t *testing.T) {
	t.Parallel()
	systems := []*System{
		{Name: "a", Settings: map[string]string{"best": ""}},
		{Name: "b", Settings: map[string]string{"best": ""}},
		{Name: "c", Settings: map[string]string{"default": ""}},
	}
	places := map[string]int{}
	for i, j := range plan(systems, "best", Workloads()[:1], 3) {
		places[j.sys.Name] |= 1 << (i % 3)
	}
	for name, mask := range places {
		if mask != 0b111 {
			t.Errorf("%s ran in the places %03b", name, mask)
		}
	}
}
