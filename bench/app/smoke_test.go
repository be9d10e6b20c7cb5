package app_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weirmq/weir/bench/app"
)

// messages is how many a small run sends.
const messages = 240

// small are the options of a run that is over soon, and in which everything happens.
func small(mode string) app.Options {
	o := app.DefaultOptions(mode)
	o.Messages, o.Duration, o.Lease = messages, time.Hour, 5*time.Minute
	o.Producers, o.Sessions, o.Rate = 4, 24, 2000
	o.Consumers, o.SecondConsumers, o.Connections = 8, 4, 4
	o.Work, o.SlowWork, o.SecondWork = time.Millisecond, 5*time.Millisecond, time.Millisecond
	o.FailPercent, o.PoisonPercent, o.ForwardPercent = 2, 1, 10
	o.BackoffMin, o.BackoffMax, o.BytesMax = 5*time.Millisecond, 10*time.Millisecond, 512
	if mode == app.Overload {
		o.Rate, o.Consumers, o.Work = 20_000, 2, 20*time.Millisecond
	}
	return o
}

// program builds `weir`, whose server a run over HTTP starts.
func program(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "weir")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-C", "../..", "-o", path, "./cmd/weir").CombinedOutput()
	if err != nil {
		t.Fatalf("build program: %v: %s", err, out)
	}
	return path
}

func TestEveryModeAccountsForEveryMessageOverSQLAndHTTP(t *testing.T) {
	t.Parallel()
	weir := program(t)
	for _, mode := range []string{app.Balanced, app.Overload, app.Soak} {
		for _, via := range []string{app.ViaSQL, app.ViaHTTP} {
			o := small(mode)
			o.Via, o.Program = via, weir
			if mode == app.Soak {
				o.Acks = app.AcksEach
			}
			r, err := app.Run(t.Context(), o)
			if err != nil {
				t.Fatalf("%s over %s: %v", mode, via, err)
			}
			accounted(t, r)
			if mode == app.Overload && r.Figures().Backlog == 0 {
				t.Errorf("no backlog was seen over %s", via)
			}
			reported(t, r)
		}
	}
}

// accounted checks that all was sent, and is finished or dead in each group.
func accounted(t *testing.T, r *app.Report) {
	t.Helper()
	o := r.Outcome
	if !r.Drained || r.Interrupted || o.Pushed != messages || len(r.Audit.Groups) != 3 {
		t.Fatalf("drained %v, %d pushed, %d groups", r.Drained, o.Pushed, len(r.Audit.Groups))
	}
	chance := app.NewChance(&r.Options)
	var poison int64
	var fails [2]int64 // messages of a group whose first delivery fails
	for session, n := range o.Sent {
		for seq := range n {
			if chance.Poison(session, seq) {
				poison++
			}
			for group := range fails {
				if chance.Fails(group, session, seq, 1) {
					fails[group]++
				}
			}
		}
	}
	for i, g := range r.Audit.Groups[:2] {
		failed := o.Findings[i].Failed
		if g.Sent != messages || g.Acked+g.Dead != messages || g.Dead < poison || g.Left != 0 || failed < fails[i] {
			t.Errorf("group %s: %+v, %d poison, %d of %d failed", g.Group, g, poison, failed, fails[i])
		}
	}
	if second := r.Audit.Groups[2]; second.Sent != o.Commits || second.Acked != o.Commits || o.Commits == 0 {
		t.Errorf("second queue: %+v after %d transactions", second, o.Commits)
	}
	logs := r.Audit.Logs
	if logs[0].Messages != messages || logs[1].Messages != o.Commits || logs[0].Whole != logs[0].Sessions {
		t.Errorf("the logs have %+v", logs)
	}
	f := r.Figures()
	if f.Operations < 5*(messages-poison) || f.PerCPU <= 0 || f.WAL <= 0 || f.Postgres <= 0 || f.Load <= 0 {
		t.Errorf("the figures are %+v", f)
	}
}

// reported checks that the page has its charts and its verdict.
func reported(t *testing.T, r *app.Report) {
	t.Helper()
	dir := t.TempDir()
	if err := r.WriteFiles(dir); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(dir, "app.html"))
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"Rates", "Backlog", "Latency", "Storage", "Nothing lost", "<svg"} {
		if !strings.Contains(string(page), text) {
			t.Errorf("the page has no %q", text)
		}
	}
}

func TestAnInterruptedRunReportsWhatThereIs(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(t.Context())
	o := small(app.Balanced)
	o.Messages, o.Rate = 0, 500
	o.Live = writer(func(line []byte) {
		if !bytes.Contains(line, []byte("pushed      0/s")) {
			interrupt()
		}
	})
	r, err := app.Run(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	g := r.Audit.Groups[0]
	if !r.Interrupted || r.Outcome.Pushed == 0 || g.Sent != r.Outcome.Pushed || g.Acked+g.Dead+g.Left != g.Sent {
		t.Errorf("interrupted %v, %d pushed, %+v", r.Interrupted, r.Outcome.Pushed, g)
	}
}

// writer calls a function with what is written.
type writer func([]byte)

func (w writer) Write(text []byte) (int, error) {
	w(text)
	return len(text), nil
}

func TestAFolderThatTakesNoReportsIsFoundBeforeTheRun(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new", "reports")
	if err := app.CheckFolder(dir); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("the folder holds %v: %v", left, err)
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := app.CheckFolder(file); err == nil {
		t.Error("a file is taken for a folder")
	}
}

func TestOptionsThatCannotBeRunAreRefused(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(o *app.Options){
		"mode":      func(o *app.Options) { o.Mode = "fast" },
		"via":       func(o *app.Options) { o.Via = "smtp" },
		"acks":      func(o *app.Options) { o.Acks = "never" },
		"rate":      func(o *app.Options) { o.Rate = -1 },
		"batch":     func(o *app.Options) { o.PushBatch = 0 },
		"bytes":     func(o *app.Options) { o.BytesMin = 10 },
		"groups":    func(o *app.Options) { o.Groups = 0 },
		"percent":   func(o *app.Options) { o.FailPercent = 101 },
		"jitter":    func(o *app.Options) { o.Jitter = 2 },
		"attempts":  func(o *app.Options) { o.MaxAttempts = 0 },
		"held":      func(o *app.Options) { o.ReceiveBatch = 20_000 },
		"dsn":       func(o *app.Options) { o.DSN = "nonsense" },
		"kills":     func(o *app.Options) { o.KillPostgres = -1 },
		"far kills": func(o *app.Options) { o.KillPostgres, o.DSN = time.Second, "postgres://x@127.0.0.1:1/x" },
		"kept":      func(o *app.Options) { o.KillPostgres, o.Retention = time.Second, time.Second },
		"producers": func(o *app.Options) { o.Producers = -1 },
	} {
		o := app.DefaultOptions(app.Balanced)
		change(&o)
		if _, err := app.Run(t.Context(), o); !errors.Is(err, app.ErrOptions) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
