package docs_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// programs make the programs that run all blocks of a language; each is given the names of those that it shall run.
type programs map[story]func() (command []string, err error)

func newPrograms(t *testing.T, blocks []block) programs {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	tools := sync.OnceValue(func() error {
		return execute(root, "make", "-s", "build/python/ready", "sdk/typescript/node_modules/.package-lock.json")
	})
	after := func(tools func() error, write func(root, dir string, blocks []block) ([]string, error), s story) func() (
		[]string, error,
	) {
		return sync.OnceValues(func() ([]string, error) {
			if err := tools(); err != nil {
				return nil, err
			}
			return write(root, filepath.Join(dir, string(s)), of(blocks, s))
		})
	}
	return programs{
		inPython:     after(tools, writePython, inPython),
		inTypeScript: after(tools, writeTypeScript, inTypeScript),
		inGo:         after(func() error { return nil }, writeGo, inGo),
	}
}

// execute runs a command in a folder.
func execute(dir, name string, arguments ...string) error {
	cmd := exec.Command(name, arguments...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", name, strings.Join(arguments, " "), err, out)
	}
	return nil
}

// put writes texts into files.
func put(dir string, texts map[string]string) error {
	for name, text := range texts {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// around returns what stands around the blocks of a language.
func around(name string) (string, error) {
	text, err := os.ReadFile(filepath.Join("testdata", name))
	return string(text), err
}

func writePython(root, dir string, blocks []block) ([]string, error) {
	main, err := around("around.py")
	texts := map[string]string{"around.py": main}
	for _, b := range blocks {
		texts[b.name()+".py"] = b.text
	}
	return []string{filepath.Join(root, "build", "python", "bin", "python"), filepath.Join(dir, "around.py")},
		errors.Join(err, put(dir, texts))
}

// writeTypeScript compiles the SDK as it is published, and the blocks against that.
func writeTypeScript(root, dir string, blocks []block) ([]string, error) {
	sdk := filepath.Join(root, "sdk", "typescript")
	tsc, modules := filepath.Join(sdk, "node_modules", ".bin", "tsc"), filepath.Join(dir, "node_modules")
	published := filepath.Join(modules, "@weirmq", "client")
	helper, err := around("around.ts")
	main, err1 := around("main.ts")
	description, err2 := os.ReadFile(filepath.Join(sdk, "package.json"))
	texts := map[string]string{
		"around.ts": helper, "main.ts": main, "package.json": `{"type": "module"}`,
		filepath.Join("node_modules", "@weirmq", "client", "package.json"): string(description),
	}
	for _, b := range blocks {
		texts[b.name()+".ts"] = "import { weir } from \"./around.js\";\n" + b.text + "export {};\n"
	}
	if err := errors.Join(err, err1, err2, put(dir, texts)); err != nil {
		return nil, err
	}
	for _, module := range []string{"pg", "@types"} {
		if err := os.Symlink(filepath.Join(sdk, "node_modules", module), filepath.Join(modules, module)); err != nil {
			return nil, err
		}
	}
	build := []string{"-p", "tsconfig.build.json", "--outDir", filepath.Join(published, "dist")}
	if err := execute(sdk, tsc, build...); err != nil {
		return nil, err
	}
	options := strings.Fields("--strict --skipLibCheck --module nodenext --target es2022 --types node")
	for name := range texts {
		if strings.HasSuffix(name, ".ts") {
			options = append(options, name)
		}
	}
	return []string{"node", filepath.Join(dir, "main.js")}, execute(dir, tsc, options...)
}

var errFormat = errors.New("gofmt writes it otherwise")

// goImports are what a page's blocks may use.
const goImports = `
import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	weir "github.com/weirmq/weir/sdk/go"
	"github.com/weirmq/weir/sdk/go/pages/around"
)

var _ = []any{context.Cause, json.Marshal, errors.Is, fmt.Sprint, slog.Info, time.Now, pgx.BeginFunc, around.UntilIdle,
	weir.New}
`

var (
	// What begins a line with type or func stands for itself, the rest of a block in a function.
	declarationPat = regexp.MustCompile(`(?m)^(?:type|func) (?:.*\n)(?:(?:\t.*)?\n)*?(?:[})].*\n)|^(?:type|func) .*\n`)
	workerPat      = regexp.MustCompile(`weir\.New(?:Job)?Worker\(client, ("\w+")`)
	runPat         = regexp.MustCompile(`\.Run\(ctx\)`)
)

// goProgram runs the blocks of all pages.
const goProgram = `package main

import "github.com/weirmq/weir/sdk/go/pages/around"
%s
func main() {
	around.Run(map[string]around.Block{
%s	})
}
`

// goFrame is what stands around a block: its declarations, and a function of the rest.
const goFrame = `
%s
func %s(ctx context.Context, pool *pgxpool.Pool, client *weir.Client) (err error) {
%sreturn nil
}
`

// writeGo lays a package for each page, and a program, over the module of the SDK.
func writeGo(root, dir string, blocks []block) ([]string, error) {
	helper, err := around("around.go")
	texts := map[string]string{"around/around.go": helper}
	var imports, table strings.Builder
	for _, b := range blocks {
		page, _, _ := strings.Cut(b.where, ".md")
		page = strings.ReplaceAll(page, "-", "_")
		path := page + "/" + page + ".go"
		if texts[path] == "" {
			texts[path] = "package " + page + "\n" + goImports
			fmt.Fprintf(&imports, "import %q\n", "github.com/weirmq/weir/sdk/go/pages/"+page)
		}
		text, err := goFunction(b)
		if err != nil {
			return nil, err
		}
		texts[path] += text
		fmt.Fprintf(&table, "\t%q: %s.%s,\n", b.name(), page, goName(b))
	}
	texts["main.go"] = fmt.Sprintf(goProgram, imports.String(), table.String())
	replace := map[string]string{}
	for name := range texts {
		replace[filepath.Join(root, "sdk", "go", "pages", name)] = filepath.Join(dir, name)
	}
	overlay, err2 := json.Marshal(map[string]any{"Replace": replace})
	texts["overlay.json"] = string(overlay)
	if err := errors.Join(err, err2, put(dir, texts)); err != nil {
		return nil, err
	}
	program := filepath.Join(dir, "pages")
	return []string{program}, execute(filepath.Join(root, "sdk", "go"), "go", "build", "-overlay",
		filepath.Join(dir, "overlay.json"), "-o", program, "./pages")
}

func goName(b block) string { return "Block" + b.where[strings.LastIndex(b.where, ":")+1:] }

// goFunction makes a function of a block, which returns the first error that the block leaves to its reader, and ends
// its workers when they have nothing left to do.
func goFunction(b block) (string, error) {
	declarations := strings.Join(declarationPat.FindAllString(b.text, -1), "\n")
	body := strings.TrimLeft(declarationPat.ReplaceAllString(b.text, ""), "\n")
	for _, text := range []string{declarations, body} {
		formatted, err := format.Source([]byte(text))
		if err != nil {
			return "", fmt.Errorf("%s: %w", b.where, err)
		}
		if string(formatted) != text {
			return "", fmt.Errorf("%s: %w:\n%s", b.where, errFormat, formatted)
		}
	}
	const head = "package page\nfunc _() {\n"
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, b.where, head+body+"}", parser.SkipObjectResolution)
	if err != nil {
		return "", err
	}
	function, ok := file.Decls[0].(*ast.FuncDecl)
	if !ok {
		return "", fmt.Errorf("%s: %w", b.where, errFormat)
	}
	statements := function.Body.List
	for i := len(statements) - 1; i >= 0; i-- {
		end := files.Position(statements[i].End()).Offset - len(head)
		body = body[:end] + leftOut(statements[i]) + body[end:]
	}
	if worker := workerPat.FindStringSubmatch(body); worker != nil {
		body = runPat.ReplaceAllString(body, ".Run(around.UntilIdle(ctx, client, "+worker[1]+"))")
	}
	return fmt.Sprintf(goFrame, declarations, goName(b), body), nil
}

// leftOut is what the reader does with what a statement assigns: nothing, but for an error.
func leftOut(statement ast.Stmt) string {
	assignment, ok := statement.(*ast.AssignStmt)
	if !ok {
		return ""
	}
	var text string
	for _, to := range assignment.Lhs {
		name, ok := to.(*ast.Ident)
		switch {
		case !ok || name.Name == "_":
		case name.Name == "err":
			text += "; if err != nil { return err }"
		case assignment.Tok == token.DEFINE:
			text += "; _ = " + name.Name
		}
	}
	return text
}
