package pgmq_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/weirmq/weir/internal/embedded"
	"github.com/weirmq/weir/internal/pgtest"
)

// The packages that the tests drive, as PyPI has them.
var (
	clientPackages = sync.OnceValues(func() (string, error) { return fetchPackages("requirements.txt") })
	celeryPackages = sync.OnceValues(func() (string, error) { return fetchPackages("testdata/celery.txt") })
)

// TestPGMQsClient runs programs with PGMQ's own client, as PyPI has it, on PGMQ and on the face, over each of its
// drivers: they are told the same.
func TestPGMQsClient(t *testing.T) {
	t.Parallel()
	packages, err := clientPackages()
	if err != nil {
		t.Fatal(err)
	}
	pgtest.EachMajor(t, func(t *testing.T, major int) {
		t.Parallel()
		want := runClient(t, packages, newOriginal(t, major))
		if got := runClient(t, packages, newFace(t, major)); got != want {
			t.Errorf("on PGMQ:\n%s\non the face:\n%s", want, got)
		}
	})
}

func runClient(t *testing.T, packages string, db *pgtest.DB) string {
	t.Helper()
	config, err := pgx.ParseConfig(db.DSN)
	if err != nil {
		t.Fatal(err)
	}
	dsn := fmt.Sprintf("host=%s port=%d dbname=%s user=%s", config.Host, config.Port, config.Database, config.User)
	tcp, _, _ := strings.Cut(db.TCP(), "?")
	return runPython(t, packages, []string{"client.py", dsn}) + runPython(t, packages, []string{"drivers.py", tcp})
}

// TestCeleryOnItsTransportOfPGMQ runs an application of Celery, whose broker is PGMQ, on PGMQ and on the face: two
// workers, tasks that fail and are tried again, one that is due later, and workers that are told to stop.
func TestCeleryOnItsTransportOfPGMQ(t *testing.T) {
	t.Parallel()
	packages, err := celeryPackages()
	if err != nil {
		t.Fatal(err)
	}
	run := func(db *pgtest.DB) string {
		dsn := db.TCP()
		broker, _, _ := strings.Cut("pgmq"+strings.TrimPrefix(dsn, "postgres"), "?")
		return runPython(t, packages, []string{"celery_client.py"}, "DSN="+dsn, "BROKER="+broker)
	}
	want := run(newOriginal(t, 0))
	if got := run(newFace(t, 0)); got != want || !strings.Contains(got, "(11, 0)") {
		t.Errorf("on PGMQ:\n%s\non the face:\n%s", want, got)
	}
}

// runPython runs a program in testdata with packages, and returns what it printed.
func runPython(t *testing.T, packages string, args []string, env ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "python3", args...)
	cmd.Dir = "testdata"
	cmd.Env = append(append(os.Environ(), "PYTHONPATH="+packages, "PYTHONDONTWRITEBYTECODE=1", "LC_ALL=C.UTF-8"), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("run %s: %v\n%s", args[0], err, out)
	}
	return string(out)
}

// fetchPackages returns the directory of what a file names, and gets it from PyPI when the cache has it not.
func fetchPackages(requirements string) (string, error) {
	wanted, err := os.ReadFile(requirements) //nolint:gosec // a file of ours
	if err != nil {
		return "", err
	}
	cache, err := embedded.CacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "python", fmt.Sprintf("pgmq-%.12x", sha256.Sum256(wanted)))
	if _, err := os.Stat(dir); err == nil { // whole, because it appears by a rename
		return dir, nil
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return "", err
	}
	fresh, err := os.MkdirTemp(filepath.Dir(dir), "fetch-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(fresh) //nolint:errcheck // it is gone when all went well
	out, err := exec.CommandContext(context.Background(), "python3", "-m", "pip", "install", "--quiet",
		"--disable-pip-version-check", "--no-deps", "--target", fresh, "-r", requirements).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("get the packages of %s: %w: %s", requirements, err, out)
	}
	if err := os.Rename(fresh, dir); err != nil {
		if _, statErr := os.Stat(dir); statErr == nil { // another was faster
			return dir, nil
		}
		return "", err
	}
	return dir, nil
}
