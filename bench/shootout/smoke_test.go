package shootout_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/weirmq/weir/bench/adapter"
	"github.com/weirmq/weir/bench/builtin"
	"github.com/weirmq/weir/bench/shootout"
)

// TestMain lets this program be the adapters that are built in: `<program> adapter NAME`.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "adapter" {
		if _, err := os.MkdirTemp("", "left-"); err != nil { // as what is killed leaves its files
			panic(err)
		}
		if err := adapter.Run(context.Background(), builtin.Systems()[os.Args[2]], os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// smoke runs workloads on systems as briefly as it can be.
func smoke(t *testing.T, systems, workloads []string) *shootout.Shootout {
	t.Helper()
	opts := shootout.DefaultOptions()
	opts.Systems, opts.Workloads, opts.Small = systems, workloads, true
	opts.Repetitions, opts.Seconds, opts.Raw = 1, 0.25, filepath.Join(t.TempDir(), "raw.jsonl")
	got, err := shootout.Run(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range got.Results {
		if r.Error != "" {
			t.Errorf("%s on %s failed: %s", r.Workload, r.System, r.Error)
		}
	}
	return got
}

// kinds are the workloads of any system; of those that differ by a number only, the ends.
func kinds() []shootout.Workload {
	return slices.DeleteFunc(shootout.Workloads(), func(w shootout.Workload) bool {
		middle := strings.HasPrefix(w.Name, "cycle-") && w.Name != "cycle-1" && w.Name != "cycle-1000-10240B"
		return middle || w.HandlerMS > 0 ||
			slices.Contains([]string{"fan-out-1", "fan-out-5", "keys-100", "keys-1000", "latency-1000"}, w.Name)
	})
}

func TestEveryKindOfWorkloadRunsOnWeirAndLosesDuplicatesAndDisordersNothing(t *testing.T) {
	t.Parallel()
	var names []string
	for _, w := range kinds() {
		names = append(names, w.Name)
	}
	got := smoke(t, []string{"weir"}, names)
	for _, w := range kinds() {
		runs := 0
		for _, r := range got.Results {
			if r.Workload != w.Name {
				continue
			}
			runs++
			switch {
			case r.Cannot != "":
				t.Errorf("%s: Weir cannot: %s", w.Name, r.Cannot)
			case r.Sent == 0 || r.Rate == 0 || w.Consumers > 0 && r.Done == 0:
				t.Errorf("%s: %d sent, %d done, %v a second", w.Name, r.Sent, r.Done, r.Rate)
			case r.Done > r.Sent*int64(max(1, w.Groups)):
				t.Errorf("%s: %d done of %d", w.Name, r.Done, r.Sent)
			case w.Producers > 0 && w.Consumers > 0 && r.Done < r.Sent:
				t.Errorf("%s: %d of %d are left", w.Name, r.Sent-r.Done, r.Sent)
			case r.Lost+r.OutOfOrder > 0 || w.Kill == "" && r.Duplicated > 0:
				t.Errorf("%s: %d lost, %d duplicated, %d out of order", w.Name, r.Lost, r.Duplicated, r.OutOfOrder)
			case w.Rate > 0 && (r.Latency == nil || r.Latency.P50 <= 0 || r.Latency.Max < r.Latency.P99):
				t.Errorf("%s: latencies are %+v", w.Name, r.Latency)
			}
		}
		if runs == 0 {
			t.Errorf("%s did not run", w.Name)
		}
	}
	reportsNameAll(t, got)
}

func TestHandlersThatTakeTimeAreBusyInEveryProcess(t *testing.T) {
	t.Parallel()
	got := smoke(t, []string{"weir", "weir-go"}, []string{"handlers-10ms-4"})
	for _, r := range got.Results {
		can := r.System == "weir-go"
		if (r.Cannot == "") != can || can && (r.Done == 0 || r.LeastShare == nil || *r.LeastShare <= 0) {
			t.Errorf("%s: %d done, cannot %q, least share %v", r.System, r.Done, r.Cannot, r.LeastShare)
		}
	}
	if len(got.Results) != 2 {
		t.Errorf("%d runs", len(got.Results))
	}
}

// watcher is told of what is logged.
type watcher struct {
	slog.Handler

	told func(message string)
}

func (w watcher) Handle(_ context.Context, r slog.Record) error {
	w.told(r.Message)
	return nil
}

func (w watcher) Enabled(context.Context, slog.Level) bool { return true }

func TestAShootoutThatIsInterruptedSaysWhatIsKeptGoesOnFromThereAndLeavesNoFiles(t *testing.T) {
	raw := filepath.Join(t.TempDir(), "raw.jsonl")
	short, err := os.MkdirTemp("", "weir") //nolint:usetesting // a socket's path has 107 bytes
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(short) //nolint:errcheck // our own, and of no harm
	t.Setenv("TMPDIR", short)
	opts := shootout.DefaultOptions()
	opts.Systems, opts.Workloads, opts.Small = []string{"weir"}, []string{"send-100", "cycle-100"}, true
	opts.Repetitions, opts.Seconds, opts.Raw = 1, 0.25, raw

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	opts.Log = slog.New(watcher{slog.DiscardHandler, func(message string) {
		if message == "measured" {
			cancel()
		}
	}})
	_, err = shootout.Run(ctx, opts)
	var interrupted *shootout.InterruptedError
	if !errors.As(err, &interrupted) || !errors.Is(err, context.Canceled) {
		t.Fatalf("it ended with %v", err)
	}
	if !strings.Contains(interrupted.At, "cycle-100 on weir, best") || interrupted.Kept != 1 || interrupted.Raw != raw {
		t.Errorf("it says %+v", interrupted)
	}

	runs := 0
	opts.Log = slog.New(watcher{slog.DiscardHandler, func(message string) {
		if message == "measured" {
			runs++
		}
	}})
	got, err := shootout.Run(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	if runs != 1 || len(got.Results) != 2 {
		t.Errorf("%d runs were done then, for %d results", runs, len(got.Results))
	}
	left, err := os.ReadDir(short)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range left {
		t.Errorf("%s is left", entry.Name())
	}
}

func TestAShootoutRefusesItsOptionsBeforeItInstallsAnything(t *testing.T) {
	t.Parallel()
	opts := shootout.DefaultOptions()
	opts.Systems, opts.DSN, opts.Raw = []string{"weir-http"}, "host=127.0.0.1", filepath.Join(t.TempDir(), "raw.jsonl")
	opts.Log = slog.New(watcher{slog.DiscardHandler, func(message string) {
		if message == "install" {
			t.Error("installed first")
		}
	}})
	if _, err := shootout.Run(t.Context(), opts); !errors.Is(err, shootout.ErrOptions) {
		t.Errorf("it ended with %v", err)
	}
}

func TestTheOtherSQLSystemsDoWhatIsMeasuredAndLoseNothing(t *testing.T) {
	t.Parallel()
	for _, r := range smoke(t, []string{"pgmq", "table"}, []string{"cycle-100"}).Results {
		if r.Cannot != "" || r.Sent == 0 || r.Done != r.Sent || r.Lost+r.Duplicated != 0 {
			t.Errorf("%s: sent %d, done %d, lost %d, twice %d, %s", r.System, r.Sent, r.Done, r.Lost, r.Duplicated, r.Cannot)
		}
		if r.WAL == nil || *r.WAL < 22 || r.ServerCPU == nil || *r.ServerCPU <= 0 || r.Commits == nil || *r.Commits <= 0 {
			t.Errorf("%s: costs are missing", r.System)
		}
	}
}

// reportsNameAll checks that every workload is in every form of the report.
func reportsNameAll(t *testing.T, got *shootout.Shootout) {
	t.Helper()
	paths, err := got.WriteReports(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		names := []string{"Send, batches of 100", "Jobs that send themselves again"} // in the overview
		switch filepath.Ext(path) {
		case ".json":
			names = []string{"fitted_to", "backend"}
		case ".md", ".html":
			names = nil
			for _, w := range kinds() {
				names = append(names, w.Name)
			}
		}
		for _, name := range names {
			if !bytes.Contains(text, []byte(name)) {
				t.Errorf("%s does not name %s", filepath.Base(path), name)
			}
		}
	}
	if m, err := got.Model(); err != nil || m.CPU.Off.N == 0 || m.WAL.Off.N == 0 {
		t.Errorf("the model is %+v: %v", m, err)
	}
	same, err := shootout.Compare(got, got)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range same {
		if c.Differs || c.Delta != 0 {
			t.Errorf("a shootout differs from itself: %+v", c)
		}
	}
}
