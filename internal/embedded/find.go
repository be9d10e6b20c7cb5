package embedded

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// The oldest PostgreSQL that Weir works with, and the one that is downloaded when nothing decides otherwise.
const (
	minMajor     = 14
	defaultMajor = 18
)

// Binaries are the programs of one PostgreSQL.
type Binaries struct {
	Dir   string // holds initdb and postgres
	Major int
}

// Find returns the PostgreSQL that Start would run. In this order: Options.BinDir, the environment's WEIR_PG_BIN, one
// installed on the machine, one downloaded earlier, a download. An existing data directory decides the major version;
// where Options.Major does, the machine's own are passed over, so that tests run the same builds everywhere.
func Find(ctx context.Context, opts Options) (Binaries, error) {
	data, err := dataMajor(opts.DataDir)
	if err != nil {
		return Binaries{}, err
	}
	given := opts.BinDir
	if given == "" && opts.Major == 0 {
		given = os.Getenv("WEIR_PG_BIN")
	}
	if given != "" {
		return findGiven(ctx, given, data, opts)
	}
	if opts.Major != 0 && data != 0 && data != opts.Major {
		return Binaries{}, &OtherMajorError{DataDir: opts.DataDir, Data: data, Server: opts.Major}
	}
	if opts.Major == 0 {
		if b, ok := findInstalled(ctx, data); ok {
			return b, nil
		}
	}
	major := max(opts.Major, data)
	if major == 0 {
		major = defaultMajor
	}
	dir, err := download(ctx, major, opts)
	if errors.Is(err, ErrNoPostgres) && data != 0 && data < defaultMajor {
		err = fmt.Errorf("%w: %w", err, &OtherMajorError{DataDir: opts.DataDir, Data: data, Server: defaultMajor})
	}
	if err != nil {
		return Binaries{}, err
	}
	return Binaries{Dir: dir, Major: major}, nil
}

func findGiven(ctx context.Context, dir string, data int, opts Options) (Binaries, error) {
	b, err := inspect(ctx, dir)
	switch {
	case err != nil:
		return b, err
	case b.Major < minMajor:
		return b, fmt.Errorf("%w: %s is version %d, Weir needs %d or newer", ErrNoPostgres, dir, b.Major, minMajor)
	case opts.Major != 0 && b.Major != opts.Major:
		return b, fmt.Errorf("%w: %s is version %d, asked for was %d", ErrNoPostgres, dir, b.Major, opts.Major)
	case data != 0 && b.Major != data:
		return b, &OtherMajorError{DataDir: opts.DataDir, Data: data, Server: b.Major, BinDir: b.Dir}
	}
	return b, nil
}

// findInstalled looks for PostgreSQL on the machine, of the given major version or, for 0, of any that will do.
func findInstalled(ctx context.Context, major int) (Binaries, bool) {
	for _, dir := range installedDirs() {
		b, err := inspect(ctx, dir)
		if err == nil && (b.Major == major || major == 0 && b.Major >= minMajor) {
			return b, true
		}
	}
	return Binaries{}, false
}

// installedDirs lists where packages put PostgreSQL: what PATH says first, then the newest version first.
func installedDirs() []string {
	var dirs []string
	if p, err := exec.LookPath("postgres"); err == nil {
		if p, err = filepath.EvalSymlinks(p); err == nil {
			dirs = append(dirs, filepath.Dir(p))
		}
	}
	var globbed []string
	for _, pattern := range []string{
		"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/usr/libexec/postgresql*", // Debian, Red Hat, Alpine
		"/opt/homebrew/opt/postgresql@*/bin", "/usr/local/opt/postgresql@*/bin", // Homebrew
	} {
		found, _ := filepath.Glob(pattern) // fails only for a malformed pattern
		globbed = append(globbed, found...)
	}
	slices.SortStableFunc(globbed, func(a, b string) int { return pathNumber(b) - pathNumber(a) })
	return append(dirs, globbed...)
}

var digits = regexp.MustCompile(`\d+`)

func pathNumber(path string) int {
	n, _ := strconv.Atoi(digits.FindString(path)) // no digits: 0, the oldest
	return n
}

var versionOutput = regexp.MustCompile(`\(PostgreSQL\) (\d+)`)

// inspect asks the programs in a directory for their version.
func inspect(ctx context.Context, dir string) (Binaries, error) {
	if _, err := os.Stat(filepath.Join(dir, program("initdb"))); err != nil {
		return Binaries{}, fmt.Errorf("%w: find initdb: %w", ErrNoPostgres, err)
	}
	out, err := exec.CommandContext(ctx, filepath.Join(dir, program("postgres")), "--version").Output()
	if err != nil {
		return Binaries{}, fmt.Errorf("%w: run %s/postgres --version: %w", ErrNoPostgres, dir, err)
	}
	m := versionOutput.FindSubmatch(out)
	if m == nil {
		return Binaries{}, fmt.Errorf("%w: %s/postgres --version says %q", ErrNoPostgres, dir, out)
	}
	major, err := strconv.Atoi(string(m[1]))
	if err != nil {
		return Binaries{}, fmt.Errorf("read version of %s/postgres: %w", dir, err)
	}
	return Binaries{Dir: dir, Major: major}, nil
}

func program(name string) string {
	if runtime.GOOS == "windows" {
		return name + ".exe"
	}
	return name
}

// dataMajor returns the major version of a data directory, 0 for one that is absent or empty.
func dataMajor(dir string) (int, error) {
	if dir == "" {
		return 0, nil
	}
	text, err := os.ReadFile(filepath.Join(dir, "PG_VERSION"))
	if err == nil {
		major, convErr := strconv.Atoi(strings.TrimSpace(string(text)))
		if convErr != nil {
			return 0, fmt.Errorf("%w: %s: PG_VERSION says %q", ErrNotDataDir, dir, text)
		}
		return major, nil
	}
	if !errors.Is(err, os.ErrNotExist) {
		return 0, fmt.Errorf("read version of data directory: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return 0, fmt.Errorf("read data directory: %w", err)
	}
	if len(entries) > 0 {
		return 0, fmt.Errorf("%w: %s has files but no PG_VERSION; it was left untouched. Give an empty or a new directory",
			ErrNotDataDir, dir)
	}
	return 0, nil
}
