package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/weirmq/weir/internal/cli"
	"github.com/weirmq/weir/internal/pgtest"
)

func TestMain(m *testing.M) {
	for _, name := range []string{"WEIR_DSN", "WEIR_DATA_DIR", "WEIR_PG_BIN"} {
		_ = os.Unsetenv(name)
	}
	pgtest.Main(m)
}

// shell runs command lines in this process against a database of its own.
type shell struct {
	*testing.T

	db *pgtest.DB
}

// result is what a command line left behind.
type result struct {
	code   int
	out    string
	errors string
}

// newShell makes a database with the queue q of one lane.
func newShell(t *testing.T, major int) *shell {
	t.Helper()
	s := &shell{T: t, db: pgtest.New(t, pgtest.Options{Major: major})}
	s.ok("", "queue", "create", "q")
	return s
}

// batch sends messages in one call; what is sent from standard input goes in as many as it comes in.
func (s *shell) batch(payloads, delay string) {
	s.Helper()
	s.db.Exec(s, "select weir.send_batch('q', array(select jsonb_array_elements($1)), delay => $2::text::interval)",
		"["+payloads+"]", delay)
}

// run runs a command line with a text on standard input.
func (s *shell) run(ctx context.Context, stdin io.Reader, stdout io.Writer, args ...string) result {
	var out, errors bytes.Buffer
	if stdout == nil {
		stdout = &out
	}
	line := append([]string{"weir", "--dsn", s.db.DSN}, args...)
	code := cli.Run(ctx, line, stdin, stdout, &errors)
	return result{code: code, out: out.String(), errors: errors.String()}
}

// ok runs a command line that must succeed and say nothing on standard error, and returns its output.
func (s *shell) ok(stdin string, args ...string) string {
	s.Helper()
	r := s.run(s.Context(), strings.NewReader(stdin), nil, args...)
	if r.code != 0 || r.errors != "" {
		s.Fatalf("weir %s: exit code %d: %s", strings.Join(args, " "), r.code, r.errors)
	}
	return r.out
}

// fails runs a command line that must end with an exit code and say something on standard error.
func (s *shell) fails(code int, says, stdin string, args ...string) result {
	s.Helper()
	r := s.run(s.Context(), strings.NewReader(stdin), nil, args...)
	if r.code != code || !strings.Contains(r.errors, says) {
		s.Errorf("weir %s: exit code %d, want %d; want something with %q on standard error:\n%s",
			strings.Join(args, " "), r.code, code, says, r.errors)
	}
	return r
}

// received is a line that receive writes.
type received struct {
	ID      int64           `json:"id"`
	ClaimID int64           `json:"claim_id"`
	Attempt int             `json:"attempt"`
	Key     *string         `json:"key"`
	Payload json.RawMessage `json:"payload"`
	Headers json.RawMessage `json:"headers"`
}

// lines reads NDJSON.
func lines[T any](t *testing.T, text string) []T {
	t.Helper()
	var list []T
	for line := range strings.Lines(text) {
		var item T
		if err := json.Unmarshal([]byte(line), &item); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		list = append(list, item)
	}
	return list
}

// payloads joins the payloads of received lines.
func payloads(t *testing.T, text string) string {
	t.Helper()
	var all []string
	for _, m := range lines[received](t, text) {
		all = append(all, string(m.Payload))
	}
	return strings.Join(all, " ")
}
