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
	build := sync.OnceValues(func() (string, error) { return buildProgram(t) })
	byPage, all := map[string][]block{}, []block(nil)
	for _, path := range pages(t, "docs", "docs/tasks") {
		byPage[path] = readPage(t, path)
		all = append(all, byPage[path]...)
	}
	programs := newPrograms(t, all)
	for path, blocks := range byPage {
		for _, s := range []story{inSQL, overHTTP, inPython, inTypeScript, inGo} {
			part := of(blocks, s)
			if len(part) == 0 {
				continue
			}
			t.Run(filepath.Base(path)+"/"+string(s), func(t *testing.T) {
				t.Parallel()
				if program := programs[s]; program != nil {
					runProgram(t, program, tables(blocks), part)
				} else {
					newReader(t, build, filepath.Base(path)).followAll(part)
				}
			})
		}
	}
}

// newReader returns a reader of a page, with the database that the page takes for granted.
func newReader(t *testing.T, build func() (string, error), page string) *reader {
	t.Helper()
	r := &reader{
		T: t, dir: t.TempDir(), build: build,
		sessions: map[string]*pgx.Conn{}, variables: map[string]map[string]string{},
	}
	switch page {
	case "operating.md":
		r.db = r.site()
	case "security.md":
		r.db = r.secured()
	default:
		r.db = newDatabase(t)
	}
	return r
}

// newDatabase makes a database whose upkeep somebody has seen to, however long ago its template was made.
func newDatabase(t *testing.T) *pgtest.DB {
	t.Helper()
	db := pgtest.New(t, pgtest.Options{})
	if _, err := db.Conn(t).Exec(t.Context(), "call weir.maintain()"); err != nil {
		t.Fatal(err)
	}
	return db
}

// pages returns the paths of the pages in folders of the repository.
func pages(t *testing.T, folders ...string) []string {
	t.Helper()
	var all []string
	for _, folder := range folders {
		found, err := filepath.Glob(filepath.Join("..", "..", folder, "*.md"))
		if err != nil || len(found) == 0 {
			t.Fatalf("find the pages of %s: %v", folder, err)
		}
		all = append(all, found...)
	}
	return all
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
	dir       string // where scripts run, their home too
	env       []string
	build     func() (string, error)
	sessions  map[string]*pgx.Conn
	variables map[string]map[string]string // by session
	address   string                       // of the HTTP server, once a script has needed one
}

func (r *reader) followAll(blocks []block) {
	r.Helper()
	if slices.ContainsFunc(blocks, func(b block) bool { return b.language == "sh" }) {
		if _, err := r.build(); err != nil { // before leases run
			r.Fatal(err)
		}
	}
	for _, b := range blocks {
		r.follow(b)
	}
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

// scriptBegin has a server that a script starts serve beside it until it ends; curl then finds it at any address.
const scriptBegin = `weir() {
	if [ "$1" != serve ]; then command weir "$@"; return; fi
	rm -f served # of the server before
	command weir "$@" 2>served &
	trap "kill $! && wait $!" EXIT
	until grep -qs 'serving engine' served; do kill -0 $! || { cat served >&2; exit 1; }; sleep 0.1; done
	echo "connect-to = \"::127.0.0.1:$(sed -n 's/.*serving engine.*://p' served)\"" >> .curlrc
}
`

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
	script := strings.NewReplacer(server.DefaultListen, r.address, "0.0.0.0:9347", "0.0.0.0:0", "@db.example/", "@/").
		Replace(scriptBegin + b.text)
	cmd := exec.CommandContext(r.Context(), "bash", "-e", "-o", "pipefail", "-c", script)
	cmd.Dir = r.dir
	cmd.Env = append(slices.Clone(os.Environ()), "HOME="+cmd.Dir, "WEIR_DSN="+r.db.DSN, "WEIR_LISTEN=127.0.0.1:0",
		"PATH="+dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	cmd.Env = append(cmd.Env, r.env...)
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
