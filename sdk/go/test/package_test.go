package test

import (
	"archive/zip"
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/weirmq/weir/internal/pgtest"
)

const (
	modulePath    = "github.com/weirmq/weir/sdk/go"
	moduleVersion = "v0.1.0"
)

// around is what the README leaves to its reader.
const around = `package main

import (
	"context"
	"fmt"
	"os"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	weir "github.com/weirmq/weir/sdk/go"
)

type Email struct{ To string }

var ctx, stop = context.WithCancel(context.Background())

func deliver(_ context.Context, e Email) error {
	fmt.Println("to", e.To)
	stop()
	return nil
}

func main() {
	pool, err := pgxpool.New(ctx, os.Getenv("DATABASE_URL"))
	if err == nil {
		err = run(pool)
	}
	if err != nil {
		panic(err)
	}
}

func run(pool *pgxpool.Pool) error {
BEGINNING
	return err
}
`

// publish lays out a Go module proxy with the tree of the SDK as its only module, and returns its URL.
func publish(t *testing.T) string {
	t.Helper()
	proxy := t.TempDir()
	at := filepath.Join(proxy, modulePath, "@v")
	must(t, os.MkdirAll(at, 0o755))
	mod := get(os.ReadFile("../go.mod"))(t)
	must(t, os.WriteFile(filepath.Join(at, moduleVersion+".mod"), mod, 0o600))
	must(t, os.WriteFile(filepath.Join(at, "list"), []byte(moduleVersion+"\n"), 0o600))
	info := get(json.Marshal(map[string]string{"Version": moduleVersion}))(t)
	must(t, os.WriteFile(filepath.Join(at, moduleVersion+".info"), info, 0o600))
	pack(t, filepath.Join(at, moduleVersion+".zip"))
	return "file://" + proxy
}

// pack writes the tree of the SDK as proxies have it.
func pack(t *testing.T, to string) {
	t.Helper()
	file := get(os.Create(to))(t)
	archive := zip.NewWriter(file)
	must(t, filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		_, err = os.Stat(filepath.Join(path, "go.mod"))
		if entry.IsDir() && path != ".." && err == nil {
			return fs.SkipDir // a module of its own
		}
		if entry.IsDir() {
			return nil
		}
		name := strings.TrimPrefix(filepath.ToSlash(path), "../")
		w, err := archive.Create(modulePath + "@" + moduleVersion + "/" + name)
		if err != nil {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		_, err = w.Write(content)
		return err
	}))
	must(t, archive.Close())
	must(t, file.Close())
}

func TestTheModuleIsGotAndDoesWhatItsReadmeBeginsWith(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Options{})
	dir := t.TempDir()
	text := string(get(os.ReadFile("../README.md"))(t))
	found := regexp.MustCompile("(?s)```go\n(.*?)```").FindStringSubmatch(text)
	program := strings.Replace(around, "BEGINNING", found[1], 1)
	must(t, os.WriteFile(filepath.Join(dir, "main.go"), []byte(program), 0o600))

	env := goEnv(t)
	proxies := publish(t) + ",file://" + env["GOMODCACHE"] + "/cache/download," + env["GOPROXY"]
	call := func(name string, args ...string) string {
		t.Helper()
		command := exec.CommandContext(context.WithoutCancel(t.Context()), name, args...)
		command.Dir = dir
		command.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-modcacherw", "GOMODCACHE="+filepath.Join(dir, "mod"),
			"GOPROXY="+proxies, "GONOSUMDB="+modulePath, "DATABASE_URL="+db.DSN)
		out, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %v: %v\n%s", name, args, err, out)
		}
		return string(out)
	}
	call("go", "mod", "init", "example.org/shop")
	call("go", "get", modulePath)
	call("go", "mod", "tidy")
	call("go", "vet", ".")
	if out := call("go", "run", "."); out != "to ann@example.org\n" {
		t.Errorf("printed %q", out)
	}
	c := connect(t, db.DSN)
	stats := get(c.Stats(t.Context(), "emails"))(t)
	if len(stats) != 1 || stats[0].Waiting+stats[0].Claimed != 0 {
		t.Errorf("left: %+v", stats)
	}
}

// goEnv is what `go env` says.
func goEnv(t *testing.T) map[string]string {
	t.Helper()
	var env map[string]string
	must(t, json.Unmarshal(get(exec.CommandContext(t.Context(), "go", "env", "-json").Output())(t), &env))
	return env
}
