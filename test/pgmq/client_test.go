package pgmq_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/weirmq/weir/internal/embedded"
	"github.com/weirmq/weir/internal/pgtest"
)

// TestPGMQsClient runs a program with PGMQ's own client, as PyPI has it, on PGMQ and on the face: it is told the same.
func TestPGMQsClient(t *testing.T) {
	t.Parallel()
	packages, err := fetchPackages()
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
	cmd := exec.CommandContext(t.Context(), "python3", "testdata/client.py", dsn)
	cmd.Env = append(os.Environ(), "PYTHONPATH="+packages, "PYTHONDONTWRITEBYTECODE=1", "LC_ALL=C.UTF-8")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("run client: %v\n%s", err, out)
	}
	return string(out)
}

// fetchPackages returns the directory of what requirements.txt names, and gets it from PyPI when the cache has it not.
var fetchPackages = sync.OnceValues(func() (string, error) {
	wanted, err := os.ReadFile("requirements.txt")
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
		"--disable-pip-version-check", "--no-deps", "--target", fresh, "-r", "requirements.txt").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("get the packages of requirements.txt: %w: %s", err, out)
	}
	if err := os.Rename(fresh, dir); err != nil {
		if _, statErr := os.Stat(dir); statErr == nil { // another was faster
			return dir, nil
		}
		return "", err
	}
	return dir, nil
})
