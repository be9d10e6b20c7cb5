package docs_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/weirmq/weir/internal/engine"
	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/internal/server"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

func TestWhatThePagesSayToTypeWorks(t *testing.T) {
	t.Parallel()
	docs := filepath.Join("..", "..", "docs")
	tasks, err := filepath.Glob(filepath.Join(docs, "tasks", "*.md"))
	if err != nil || len(tasks) == 0 {
		t.Fatalf("find the pages: %v", err)
	}
	build := sync.OnceValues(func() (string, error) { return buildProgram(t) })
	pages := append([]string{filepath.Join(docs, "start.md"), filepath.Join(docs, "concepts.md")}, tasks...)
	for _, path := range pages {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			r := &reader{
				T: t, db: pgtest.New(t, pgtest.Options{}), build: build,
				sessions: map[string]*pgx.Conn{}, variables: map[string]map[string]string{},
			}
			for _, b := range readPage(t, path) {
				r.follow(b)
			}
		})
	}
}

// buildProgram builds weir into a directory of its own and returns that.
func buildProgram(t *testing.T) (string, error) {
	t.Helper()
	dir := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "build", "-o", dir, "github.com/weirmq/weir/cmd/weir")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build program: %w: %s", err, out)
	}
	return dir, nil
}

// reader follows a page step by step.
type reader struct {
	*testing.T

	db        *pgtest.DB
	build     func() (string, error)
	sessions  map[string]*pgx.Conn
	variables map[string]map[string]string // by session
	address   string                       // of the HTTP server, once a script has needed one
}

func (r *reader) follow(b block) {
	r.Helper()
	if b.language == "sh" {
		r.runScript(b)
		return
	}
	outputs, failure := r.runStatements(b)
	switch {
	case failure != "" && !strings.HasPrefix(b.want, "ERROR:"):
		r.Fatalf("%s: %s", b.where, failure)
	case failure == "" && strings.HasPrefix(b.want, "ERROR:"):
		r.Fatalf("%s: it succeeds, the page says that it fails: %s", b.where, b.want)
	case failure != "":
		failure = strings.Join(lines(failure)[:min(len(lines(failure)), len(lines(b.want)))], "\n")
		r.compare(b, failure)
	case b.want != "":
		shown := strings.Count(b.want, " rows)") + strings.Count(b.want, "(1 row)")
		if shown == 0 || shown > len(outputs) {
			r.Fatalf("%s: the text shows %d results of %d", b.where, shown, len(outputs))
		}
		r.compare(b, strings.Join(outputs[len(outputs)-shown:], "\n"))
	}
}

func (r *reader) compare(b block, got string) {
	r.Helper()
	if !matches(b.want, got) {
		r.Errorf("%s: the page shows\n%s\nbut it prints\n%s", b.where, b.want, got)
	}
}

// runStatements runs a block of SQL and returns its results as psql prints them. Only the last statement may fail.
func (r *reader) runStatements(b block) (outputs []string, failure string) {
	r.Helper()
	conn := r.sessions[b.session]
	if conn == nil {
		conn = r.db.Conn(r)
		r.sessions[b.session], r.variables[b.session] = conn, map[string]string{}
	}
	variables := r.variables[b.session]
	statements := split(b.text)
	for i, s := range statements {
		results, err := run(r.Context(), conn, fill(s.text, variables))
		var refused *pgconn.PgError
		if errors.As(err, &refused) && i == len(statements)-1 {
			return outputs, fmt.Sprintf("ERROR:  %s: %s\nHINT:  %s", refused.Code, refused.Message, refused.Hint)
		}
		if err != nil {
			r.Fatalf("%s: %s\n%v", b.where, s.text, err)
		}
		if !s.gset {
			for _, result := range results {
				outputs = append(outputs, result.print())
			}
			continue
		}
		if len(results) != 1 || len(results[0].rows) != 1 {
			r.Fatalf("%s: %s\n\\gset needs one row", b.where, s.text)
		}
		for j, name := range results[0].names {
			variables[name] = results[0].rows[0][j]
		}
	}
	return outputs, ""
}

// runScript runs a block of bash.
func (r *reader) runScript(b block) {
	r.Helper()
	dir, err := r.build()
	if err != nil {
		r.Fatal(err)
	}
	if r.address == "" {
		r.address = r.serve()
	}
	script := strings.ReplaceAll(b.text, server.DefaultListen, r.address)
	cmd := exec.CommandContext(r.Context(), "bash", "-e", "-o", "pipefail", "-c", script)
	cmd.Dir = r.TempDir()
	cmd.Env = append(slices.Clone(os.Environ()), "HOME="+cmd.Dir, "WEIR_DSN="+r.db.DSN,
		"PATH="+dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		r.Fatalf("%s: %v\n%s%s", b.where, err, out, errs.String())
	}
	if b.want != "" {
		r.compare(b, string(out))
	}
}

// serve runs an HTTP server in front of the page's database until the test ends.
func (r *reader) serve() string {
	r.Helper()
	client, err := engine.Open(r.Context(), r.db.DSN, engine.Options{MaxConns: 4})
	if err != nil {
		r.Fatal(err)
	}
	listener, err := server.Listen(r.Context(), "127.0.0.1:0")
	if err != nil {
		r.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(r.Context()))
	done := make(chan error, 1)
	go func() { done <- server.New(client, server.Options{}).Serve(ctx, listener) }()
	r.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			r.Errorf("serve: %v", err)
		}
		client.Close()
	})
	return listener.Addr().String()
}
