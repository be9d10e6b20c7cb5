package shootout

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// entry is what a ledger says: message n was received at a time, nanoseconds of the Unix epoch.
type entry struct{ n, at int64 }

// readLedgers returns the entries of one group's workers in the order of time.
func readLedgers(dir string) ([]entry, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		return nil, fmt.Errorf("list ledgers: %w", err)
	}
	var all []entry
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("read ledger: %w", err)
		}
		for ; len(data) >= 16; data = data[16:] {
			e := entry{
				int64(binary.LittleEndian.Uint64(data)), int64(binary.LittleEndian.Uint64(data[8:])), //nolint:gosec // as written
			}
			if e.at != 0 { // else a killed worker had the space, and no message for it
				all = append(all, e)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b entry) int { return cmp.Compare(a.at, b.at) })
	return all, nil
}

// leastShare returns how much the process with the fewest messages received of what would be the part of each.
func leastShare(dir string, processes int) (float64, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		return 0, fmt.Errorf("list ledgers: %w", err)
	}
	if len(files) < processes {
		return 0, nil
	}
	var sum, least int64
	for i, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			return 0, fmt.Errorf("read ledger: %w", err)
		}
		sum += info.Size()
		if i == 0 || info.Size() < least {
			least = info.Size()
		}
	}
	return float64(least) * float64(len(files)) / float64(max(sum, 1)), nil
}

// findings are what the entries of one group come to.
type findings struct {
	distinct, duplicated, outOfOrder int64
	last                             int64 // when the last was received
}

// look counts the messages that came, those that came again, and those that came after a later one of their key.
func look(entries []entry, keys int) findings {
	var f findings
	seen := make(map[int64]struct{}, len(entries))
	newest := map[int64]int64{}
	for _, e := range entries {
		f.last = max(f.last, e.at)
		if _, again := seen[e.n]; again {
			f.duplicated++
			continue
		}
		seen[e.n] = struct{}{}
		if keys > 0 {
			key := e.n % int64(keys)
			if before, ok := newest[key]; ok && e.n < before {
				f.outOfOrder++
			} else {
				newest[key] = e.n
			}
		}
	}
	f.distinct = int64(len(seen))
	return f
}

// planned is a load in which every message has its time.
type planned struct {
	first, count int64
	start        time.Time
	rate         float64 // messages a second
}

// latencies returns the distribution of the times between the plan and the first receipt.
func latencies(entries []entry, plans []planned) (*Latency, error) {
	h := hdrhistogram.New(1, int64(10*time.Minute), 3)
	seen := make(map[int64]struct{}, len(entries))
	for _, e := range entries {
		if _, again := seen[e.n]; again {
			continue
		}
		seen[e.n] = struct{}{}
		for _, p := range plans {
			if e.n < p.first || e.n >= p.first+p.count {
				continue
			}
			due := p.start.Add(time.Duration(float64(e.n-p.first) / p.rate * float64(time.Second)))
			if err := h.RecordValue(max(1, e.at-due.UnixNano())); err != nil {
				return nil, fmt.Errorf("record latency: %w", err)
			}
		}
	}
	if h.TotalCount() == 0 {
		return nil, nil //nolint:nilnil // nothing came: no distribution
	}
	ms := func(q float64) float64 { return float64(h.ValueAtQuantile(q)) / 1e6 }
	return &Latency{P50: ms(50), P95: ms(95), P99: ms(99), P999: ms(99.9), Max: float64(h.Max()) / 1e6}, nil
}
