package shootout

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// System is one of the queues that are compared, as its folder in bench/adapters describes it.
type System struct {
	Name       string            `json:"-"`
	Title      string            `json:"title"`
	Settings   map[string]string `json:"settings"`   // "default" and "best": what they are
	Command    []string          `json:"command"`    // $BUILD and $DIR are replaced; none: built into this program
	Statements string            `json:"statements"` // folder whose SQL files it uses, if not its own
	Upkeep     bool              `json:"upkeep"`     // it has a part of its own that serves its clients
	Handlers   bool              `json:"handlers"`   // its adapter runs handlers, which may take time
	Batches    string            `json:"batches"`    // batchesTicks or batchesOwn; else as calls ask
	Processes  map[string]int    `json:"processes"`  // of a group's workers, by setting, if more than one

	dir, build, statements string
}

// How many messages a system's workers take at once, where a workload does not decide it.
const (
	batchesTicks = "ticks" // all that came between two ticks, for one reader
	batchesOwn   = "own"   // as many as they like
)

// loadSystems reads the folders of adapters.
func loadSystems(root string) ([]*System, error) {
	files, err := filepath.Glob(filepath.Join(root, "bench", "adapters", "*", "adapter.json"))
	if err != nil || len(files) == 0 {
		return nil, optionf("no adapters below %s; run it in a checkout of the repository or name one with --root", root)
	}
	var all []*System
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("read adapter: %w", err)
		}
		s := &System{dir: filepath.Dir(file)}
		if err := json.Unmarshal(data, s); err != nil {
			return nil, fmt.Errorf("read %s: %w", file, err)
		}
		s.Name = filepath.Base(s.dir)
		s.build = filepath.Join(root, "build", "bench", s.Name)
		s.statements = s.dir
		if s.Statements != "" {
			s.statements = filepath.Join(filepath.Dir(s.dir), s.Statements)
		}
		all = append(all, s)
	}
	slices.SortStableFunc(all, func(a, b *System) int { return own(b) - own(a) })
	return all, nil
}

// own puts Weir before the others.
func own(s *System) int {
	if s.isWeir() {
		return 1
	}
	return 0
}

func (s *System) isWeir() bool { return s.Name == "weir" || strings.HasPrefix(s.Name, "weir-") }

// settings are the names of the system's settings that were asked for: all, or the best it has.
func (s *System) settings(want string) []string {
	names := slices.Sorted(maps.Keys(s.Settings)) // the best first
	if want == "best" {
		return names[:1]
	}
	if want == "default" {
		return names[len(names)-1:]
	}
	return names
}

// argv is the command line of the adapter.
func (s *System) argv() ([]string, error) {
	if len(s.Command) == 0 {
		program, err := os.Executable()
		if err != nil {
			return nil, fmt.Errorf("find own program: %w", err)
		}
		return []string{program, "adapter", s.Name}, nil
	}
	argv := make([]string, len(s.Command))
	for i, word := range s.Command {
		argv[i] = strings.NewReplacer("$BUILD", s.build, "$DIR", s.dir).Replace(word)
	}
	return argv, nil
}

// install runs the system's install script when there is one and its folder has changed since it last ran, or, being
// Weir's, this checkout may have.
func (s *System) install(ctx context.Context, log *slog.Logger) error {
	script := filepath.Join(s.dir, "install")
	if _, err := os.Stat(script); err != nil {
		return nil //nolint:nilerr // nothing to install
	}
	sum, err := fingerprint(s.dir)
	if err != nil {
		return err
	}
	mark := filepath.Join(s.build, "installed")
	if text, err := os.ReadFile(mark); err == nil && string(text) == sum && !s.isWeir() {
		return nil
	}
	log.Info("install", "system", s.Name)
	if err := os.MkdirAll(s.build, 0o755); err != nil {
		return fmt.Errorf("make directory: %w", err)
	}
	cmd := exec.CommandContext(ctx, "bash", "-euo", "pipefail", script)
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "BUILD="+s.build)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: install %s: %w: %s", ErrAdapter, s.Name, err, tail(string(out), 2000))
	}
	if err := os.WriteFile(mark, []byte(sum), 0o644); err != nil {
		return fmt.Errorf("note installation: %w", err)
	}
	return nil
}

// fingerprint is a hash of the files in a folder.
func fingerprint(dir string) (string, error) {
	h := sha256.New()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		fmt.Fprintf(h, "%s %d\n", rel, len(data))
		h.Write(data)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("read adapter: %w", err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func tail(text string, most int) string {
	return text[max(0, len(text)-most):]
}
