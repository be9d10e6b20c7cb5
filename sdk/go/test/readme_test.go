package test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// readmeAround is what the blocks of the README leave to their reader.
const readmeAround = `package readme

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	weir "github.com/weirmq/weir/sdk/go"
)

type (
	Email   struct{ To string }
	Invoice struct{ Order int64 }
	Order   struct{ ID int64 }
	Report  struct{}
)

func (Report) Kind() string { return "report" }

func deliver(context.Context, any) error { return nil }

var (
	ctx      context.Context
	pool     *pgxpool.Pool
	tx       pgx.Tx
	client   *weir.Client
	emails   weir.Producer[Email]
	worker   *weir.Worker
	invoices weir.Producer[Invoice]
	e        Email
	list     []Email
	m        *weir.Message[Order]
	welcomes []Welcome
	tomorrow time.Time
	anything any
	id       string
	err      error

	_ = []any{json.Marshal, errors.Is, fmt.Sprint, slog.Default, os.Getenv}
)
`

// readmeProgram makes a package of the blocks: what begins a line with type or func stands for itself, the rest of each
// block in a function.
func readmeProgram(blocks [][]string) string {
	declaration := regexp.MustCompile(`(?m)^(?:type|func) (?:.*\n)(?:(?:\t.*)?\n)*?(?:\}\n)|^(?:type|func) .*\n`)
	var program strings.Builder
	program.WriteString(readmeAround)
	for i, block := range blocks {
		text := strings.ReplaceAll(block[1], "{ ... }", "{}")
		rest := declaration.ReplaceAllString(text, "")
		if strings.Contains(rest, "client.InSQL(tx)") {
			rest = "var tx weir.SQLQuerier\n" + rest
		}
		fmt.Fprintf(&program, "\n%s\nfunc block%d() {\n%s}\n",
			strings.Join(declaration.FindAllString(text, -1), "\n"), i+1, rest)
	}
	return program.String()
}

func TestTheBlocksOfTheReadmeCompile(t *testing.T) {
	t.Parallel()
	text := string(get(os.ReadFile("../README.md"))(t))
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(text, -1)
	if len(blocks) < 8 {
		t.Fatalf("%d blocks of Go", len(blocks))
	}
	dir := t.TempDir()
	file, overlay := filepath.Join(dir, "readme.go"), filepath.Join(dir, "overlay.json")
	must(t, os.WriteFile(file, []byte(readmeProgram(blocks)), 0o600))
	place := filepath.Join(get(filepath.Abs(".."))(t), "readme", "readme.go")
	put := get(json.Marshal(map[string]any{"Replace": map[string]string{place: file}}))(t)
	must(t, os.WriteFile(overlay, put, 0o600))
	build := exec.CommandContext(t.Context(), "go", "build", "-overlay", overlay, "-gcflags=-e", "./readme")
	build.Dir = ".."
	out, err := build.CombinedOutput()
	for line := range strings.Lines(string(out)) { // what a block leaves unused its reader uses
		if !strings.HasPrefix(line, "#") && !strings.Contains(line, "declared and not used: ") {
			t.Errorf("%s", line)
		}
	}
	if err != nil && len(out) == 0 {
		t.Error(err)
	}
}
