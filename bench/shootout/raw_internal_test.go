package shootout

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestAShootoutThatWasKilledGoesOnWhereItsLastWholeLineEnds(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "raw.jsonl")
	done := func(workload string) Result {
		return Result{System: "weir", Setting: "best", Workload: workload, Repetition: 1, Rate: 1}
	}
	h := header{Seconds: 5}
	first, err := openRaw(path, h)
	if err != nil {
		t.Fatal(err)
	}
	if err := first.write(done("send-1"), done("send-100")); err != nil {
		t.Fatal(err)
	}
	if _, err := first.file.WriteString(`{"system":"weir","workload":"cycle-1","rate":12`); err != nil {
		t.Fatal(err)
	}
	if err := first.file.Close(); err != nil {
		t.Fatal(err)
	}
	second, err := openRaw(path, h)
	if err != nil {
		t.Fatal(err)
	}
	job := func(workload string) job {
		return job{sys: &System{Name: "weir"}, setting: "best", w: Workload{Name: workload}, repetition: 1}
	}
	if !second.has(job("send-100")) || second.has(job("cycle-1")) {
		t.Errorf("continued with %+v", second.results)
	}
	if err := second.write(done("cycle-1")); err != nil {
		t.Fatal(err)
	}
	if err := second.file.Close(); err != nil {
		t.Fatal(err)
	}
	all, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range all.Results {
		names = append(names, r.Workload)
	}
	if !slices.Equal(names, []string{"send-1", "send-100", "cycle-1"}) {
		text, _ := os.ReadFile(path)
		t.Errorf("in the file are %v: %s", names, text)
	}
}

func TestOtherRunsThanAFileHasAreRefused(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "raw.jsonl")
	begun := func() header {
		settings := map[string]string{"fsync": "on"}
		return header{Seconds: 5, Machine: Machine{Server: "PostgreSQL 18", CPU: "a", CPUs: 2, Settings: settings}}
	}
	raw, err := openRaw(path, begun())
	if err != nil {
		t.Fatal(err)
	}
	if err := raw.file.Close(); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(h *header){
		"length":     func(h *header) { h.Seconds = 1 },
		"small":      func(h *header) { h.Small = true },
		"PostgreSQL": func(h *header) { h.Machine.Server = "PostgreSQL 15" },
		"processor":  func(h *header) { h.Machine.CPUs = 4 },
		"fsync":      func(h *header) { h.Machine.Settings["fsync"] = "off" },
	} {
		h := begun()
		change(&h)
		if _, err := openRaw(path, h); !errors.Is(err, ErrOptions) {
			t.Errorf("continued with another %s: %v", name, err)
		}
	}
	same, err := openRaw(path, begun())
	if err != nil {
		t.Fatalf("not continued: %v", err)
	}
	if err := same.file.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestRepetitionsOfSeveralFilesCountEach(t *testing.T) {
	t.Parallel()
	of := func(rates ...float64) *Shootout {
		s := &Shootout{Machine: Machine{Server: "PostgreSQL 18"}}
		for i, rate := range rates {
			s.Results = append(s.Results, Result{
				System: "weir", Setting: "best", Workload: "send-1", Repetition: i + 1, Rate: rate,
			})
		}
		return s
	}
	both := of(100, 200)
	if err := both.Join("more", of(1, 2, 3)); err != nil {
		t.Fatal(err)
	}
	if rate := both.Tables()[0].Rows[0].Rate; rate != (Spread{Median: 3, Min: 1, Max: 200, N: 5}) {
		t.Errorf("the rate is %+v", rate)
	}
	other := of(1)
	other.Machine.Server = "PostgreSQL 15"
	if err := both.Join("other", other); !errors.Is(err, ErrOptions) {
		t.Errorf("joined with another server: %v", err)
	}
}

func TestTheWorkersOfAGroupAreSpreadOverItsProcesses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ workers, processes, cores, of, least int }{
		{1, 4, 8, 1, 1}, {6, 4, 8, 4, 1}, {40, 4, 8, 4, 10}, {40, 4, 2, 2, 20}, {4, 0, 8, 1, 4},
	} {
		sys := &System{Processes: map[string]int{"best": c.processes}}
		r := &run{driver: &driver{cores: c.cores}, sys: sys, setting: "best", w: Workload{Consumers: c.workers}}
		shares := r.shares()
		sum := 0
		for _, n := range shares {
			sum += n
		}
		if len(shares) != c.of || sum != c.workers || slices.Min(shares) != c.least {
			t.Errorf("%d workers in %d processes: %v", c.workers, c.processes, shares)
		}
	}
}
