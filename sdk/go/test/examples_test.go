package test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/weirmq/weir/internal/pgtest"
)

// Each example runs and prints what it says it does.
func TestExamples(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"quickstart":  "to ann\nto bob\nto cy\n",
		"exactlyonce": "invoice {\"order\":7}\n",
		"jobs":        "sum, done: 6\n",
	}
	dirs, err := filepath.Glob("../examples/*")
	must(t, err)
	if len(dirs) != len(want) {
		t.Errorf("%d examples, %d of them expected", len(dirs), len(want))
	}
	for _, dir := range dirs {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			db := pgtest.New(t, pgtest.Options{})
			db.Exec(t, "create table invoice (order_id int primary key, total int not null)")
			program := filepath.Join(t.TempDir(), "example")
			build := exec.Command("go", "build", "-o", program, ".")
			build.Dir = dir
			if out, err := build.CombinedOutput(); err != nil {
				t.Fatalf("build: %v\n%s", err, out)
			}
			run := exec.CommandContext(t.Context(), program)
			run.Env = append(os.Environ(), "WEIR_DSN="+db.DSN)
			out, err := run.CombinedOutput()
			if err != nil || string(out) != want[filepath.Base(dir)] {
				t.Errorf("printed %q, %v", out, err)
			}
		})
	}
}
