package shootout_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/weirmq/weir/internal/bench/adapter"
	"github.com/weirmq/weir/internal/bench/builtin"
	"github.com/weirmq/weir/internal/bench/shootout"
)

// TestMain lets this program be the adapters that are built into weir: `<program> bench adapter NAME`.
func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == "bench" && os.Args[2] == "adapter" {
		if err := adapter.Run(context.Background(), builtin.Systems()[os.Args[3]], os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// smoke runs workloads on systems as briefly as it can be.
func smoke(t *testing.T, systems, workloads []string) []shootout.Result {
	t.Helper()
	opts := shootout.DefaultOptions()
	opts.Systems, opts.Workloads, opts.Setting = systems, workloads, "both"
	opts.Repetitions, opts.Seconds, opts.Raw = 1, 0.5, filepath.Join(t.TempDir(), "raw.jsonl")
	got, err := shootout.Run(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range got.Results {
		if r.Error != "" {
			t.Errorf("%s %s on %s failed: %s", r.Workload, r.Setting, r.System, r.Error)
		}
	}
	return got.Results
}

func TestTheSQLSystemsDoWhatIsMeasuredAndLoseNothing(t *testing.T) {
	for _, r := range smoke(t, []string{"weir", "pgmq", "table"}, []string{"cycle-100"}) {
		if r.Cannot != "" || r.Sent == 0 || r.Done != r.Sent {
			t.Errorf("%s: sent %d, done %d, %s", r.System, r.Sent, r.Done, r.Cannot)
		}
		if r.Lost+r.Duplicated+r.OutOfOrder != 0 {
			t.Errorf("%s: %d lost, %d duplicated, %d out of order", r.System, r.Lost, r.Duplicated, r.OutOfOrder)
		}
		if r.WAL == nil || *r.WAL < 22 || r.ServerCPU == nil || *r.ServerCPU <= 0 || r.Commits == nil || *r.Commits <= 0 {
			t.Errorf("%s: costs are missing", r.System)
		}
	}
}
