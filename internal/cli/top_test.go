package cli_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/creack/pty"

	"github.com/weirmq/weir/internal/cli"
	"github.com/weirmq/weir/internal/engine"
	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/internal/server/api"
)

func TestTopPrintsOneFrameOverSQLAndOverHTTP(t *testing.T) {
	t.Parallel()
	s := newShell(t, 0)
	s.ok("1\n2\n", "send", "q")
	s.ok("", "group", "create", "q", "audit")
	client, err := engine.Open(t.Context(), s.db.DSN, engine.Options{MaxConns: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	web := httptest.NewServer(api.New(client, api.Options{Drain: t.Context()}))
	t.Cleanup(web.Close)
	for _, from := range [][]string{nil, {"--url", web.URL}, {"--url", web.URL + "/"}} {
		queues := s.ok("", append([]string{"top", "--once"}, from...)...)
		if lines := strings.Split(queues, "\n"); !strings.HasPrefix(lines[0], "QUEUE  GROUPS  WAITING") ||
			!strings.HasPrefix(lines[1], "q           2        4") || len(lines) != 3 {
			t.Errorf("queues, %v:\n%s", from, queues)
		}
		groups := s.ok("", append([]string{"top", "--once", "q", "--sort", "n"}, from...)...)
		if !strings.Contains(groups, "\naudit          2") || !strings.Contains(groups, "\ndefault        2") {
			t.Errorf("groups, %v:\n%s", from, groups)
		}
	}
	if text := s.ok("", "top", "--once", "-o", "json"); !strings.Contains(text, `"waiting":2`) {
		t.Errorf("JSON: %s", text)
	}
	s.fails(3, "queue", "", "top", "--once", "none")
	s.fails(1, `no queue "none"`, "", "top", "--once", "none", "--url", web.URL)
}

func TestTopSaysWhatToDoWhereItCannotRun(t *testing.T) {
	t.Parallel()
	s := newShell(t, 0)
	s.fails(2, "--once", "", "top")
	s.fails(2, "one letter", "", "top", "--sort", "x")
	s.fails(2, "--every", "", "top", "--every", "1ms")
	s.fails(2, "http://127.0.0.1:9347", "", "top", "--once", "--url", "nonsense")
	elsewhere := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(elsewhere.Close)
	s.fails(1, "something else than JSON", "", "top", "--once", "--url", elsewhere.URL)
}

// seen is what a terminal was sent.
type seen struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *seen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *seen) has(what string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Contains(s.text.String(), what)
}

func TestTopRunsInATerminalAndLeavesItAsItWas(t *testing.T) {
	t.Parallel()
	s := newShell(t, 0)
	s.ok("1\n2\n", "send", "q")
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	if err := pty.Setsize(slave, &pty.Winsize{Rows: 20, Cols: 90}); err != nil {
		t.Fatal(err)
	}
	screen := &seen{}
	go func() { _, _ = io.Copy(screen, master) }()
	ended := make(chan int, 1)
	go func() {
		var errors bytes.Buffer
		line := []string{"weir", "--dsn", s.db.DSN, "top"}
		ended <- cli.Run(context.WithoutCancel(t.Context()), line, slave, slave, &errors)
	}()
	pgtest.WaitFor(t, "the table", func() bool { return screen.has("WAITING") && screen.has("q quit") })
	if _, err := master.WriteString("\r"); err != nil {
		t.Fatal(err)
	}
	pgtest.WaitFor(t, "the groups", func() bool { return screen.has("· q") && screen.has("default") })
	if _, err := master.WriteString("q"); err != nil {
		t.Fatal(err)
	}
	if code := <-ended; code != 0 {
		t.Errorf("exit code %d", code)
	}
	pgtest.WaitFor(t, "the way back from the other screen, and the cursor", func() bool {
		return screen.has("\x1b[?1049h") && screen.has("\x1b[?1049l") && screen.has("\x1b[?25h")
	})
	slave.Close()
}
