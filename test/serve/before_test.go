package serve_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"testing"

	"github.com/weirmq/weir/internal/pgtest"
)

// look asks for a path and returns the status, Retry-After and the problem, if it is one.
func (s *server) look(method, path, body string) (status int, after string, p struct{ Name, Hint string }) {
	s.Helper()
	r, err := http.NewRequestWithContext(s.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.Fatal(err)
	}
	response, err := s.client.Do(r)
	if err != nil {
		s.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		s.Fatal(err)
	}
	if response.StatusCode >= 400 {
		if err := json.Unmarshal(text, &p); err != nil {
			s.Fatalf("%s %s: %s", method, path, text)
		}
	}
	return response.StatusCode, response.Header.Get("Retry-After"), p
}

func TestAServerStartedBeforeItsDatabaseSaysWhatIsMissingAndIsReadyWhenItIsThere(t *testing.T) {
	t.Parallel()
	postgres := pgtest.StartServer(t, pgtest.ServerOptions{Fast: true})
	db := postgres.NewDB(t, true)
	postgres.Kill()
	s := start(t, db)
	if status, _, _ := s.look("GET", "/healthz", ""); status != http.StatusOK {
		t.Errorf("healthz without PostgreSQL: %d", status)
	}
	if status, after, p := s.look("GET", "/readyz", ""); status != 503 || after == "" ||
		p.Name != "cannot_connect_now" || !strings.Contains(p.Hint, "Start PostgreSQL") {
		t.Errorf("readyz without PostgreSQL: %d %q %+v", status, after, p)
	}
	const one = `{"messages":[{"payload":1}]}`
	if status, after, p := s.look("POST", "/v1/queues/q/messages", one); status != 503 || after == "" {
		t.Errorf("a send without PostgreSQL: %d %q %+v", status, after, p)
	}
	postgres.Up(t)
	pgtest.WaitFor(t, "PostgreSQL to be noticed", func() bool {
		status, after, p := s.look("GET", "/readyz", "")
		return status == 503 && after != "" && p.Name == "engine_not_installed" && strings.Contains(p.Hint, "weir install")
	})
	if status, after, p := s.look("POST", "/v1/queues/q/messages", one); status != 503 || after == "" {
		t.Errorf("a send without the engine: %d %q %+v", status, after, p)
	}
	program, err := build()
	if err != nil {
		t.Fatal(err)
	}
	if text, err := exec.CommandContext(t.Context(), program, "install", "--dsn", db.DSN).CombinedOutput(); err != nil {
		t.Fatalf("install: %v: %s", err, text)
	}
	pgtest.WaitFor(t, "the server to be ready", func() bool {
		status, _, _ := s.look("GET", "/readyz", "")
		return status == http.StatusOK
	})
	if status, _, p := s.look("PUT", "/v1/queues/q", ""); status != http.StatusCreated {
		t.Errorf("creating a queue: %d %+v", status, p)
	}
	if status, _, p := s.look("POST", "/v1/queues/q/messages", one); status != http.StatusCreated {
		t.Errorf("a send: %d %+v", status, p)
	}
}

func TestAServerThatRequiresItsDatabaseEndsWithoutIt(t *testing.T) {
	t.Parallel()
	program, err := build()
	if err != nil {
		t.Fatal(err)
	}
	nowhere := "postgres:///weir?host=" + t.TempDir()
	text, err := exec.CommandContext(t.Context(), program, "serve", "--listen", "127.0.0.1:0", "--require-database",
		"--dsn", nowhere).CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 5 {
		t.Errorf("ended with %v: %s", err, text)
	}
}
