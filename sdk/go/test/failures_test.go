package test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weirmq/weir/internal/pgtest"
	weir "github.com/weirmq/weir/sdk/go"
)

// written keeps what a logger writes.
type written struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (w *written) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(p)
}

// lines reads what was written as JSON, a line each.
func (w *written) lines(t *testing.T) []map[string]any {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	var lines []map[string]any
	for line := range strings.Lines(w.text.String()) {
		var fields map[string]any
		must(t, json.Unmarshal([]byte(line), &fields))
		lines = append(lines, fields)
	}
	return lines
}

func TestAFailureIsLoggedWithItsAttemptAndWhatComesNext(t *testing.T) {
	t.Parallel()
	_, c := newClient(t)
	must(t, c.CreateGroup(t.Context(), "q", "g", weir.GroupOptions{MaxAttempts: 2, BackoffMin: time.Millisecond}))
	log := &written{}
	id := get(c.Send(t.Context(), "q", job{1}))(t)
	explode := func(context.Context, *weir.Message[job]) error { panic("boom") }
	logger := slog.New(slog.NewJSONHandler(log, nil))
	start(t, weir.NewWorker(c, "q", explode, weir.WorkerOptions{Group: "g", Logger: logger}))
	pgtest.WaitFor(t, "the message to be dead", func() bool { return len(log.lines(t)) == 2 })
	for i, want := range []struct{ level, next string }{
		{"WARN", "delivered again after the group's backoff"}, {"ERROR", "a dead letter"},
	} {
		got := log.lines(t)[i]
		if got["level"] != want.level || got["next"] != want.next || got["id"] != float64(id) ||
			got["attempt"] != float64(i+1) || got["max_attempts"] != 2.0 || got["queue"] != "q" {
			t.Errorf("%v, want %v", got, want)
		}
		text, _ := got["error"].(string)
		if !strings.Contains(text, "boom\n") || !strings.Contains(text, "failures_test.go") {
			t.Errorf("%q does not say what happened where", text)
		}
		if strings.Contains(text, "worker_run.go") || strings.Contains(text, "runtime/") {
			t.Errorf("%q has frames that are not the handler's", text)
		}
	}
}
