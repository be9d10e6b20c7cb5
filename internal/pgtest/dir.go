package pgtest

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/weirmq/weir/internal/embedded"
)

const (
	dirPrefix = "weir-pgtest-"
	// memoryDir lies in memory on Linux. A database is hundreds of files, and a journaling file system spends more on
	// making and removing them than PostgreSQL on the tests.
	memoryDir  = "/dev/shm"
	memoryRoom = 4 << 30          // far more than the servers of two test binaries take
	youngAge   = 10 * time.Minute // between making a directory and its lock there is a moment
)

// ownDir is a directory of this process for servers or a pooler. Its path is short enough for a socket's.
type ownDir struct {
	path string
	lock *os.File
}

// makeDir makes a directory; fast ones, for what no crash of the machine need spare, are in memory where there is room,
// unless TMPDIR says where temporary files go.
func makeDir(fast bool) (*ownDir, error) {
	root := ""
	if fast && os.Getenv("TMPDIR") == "" && room(memoryDir) >= memoryRoom {
		root = memoryDir
	}
	path, err := os.MkdirTemp(root, dirPrefix)
	if err != nil {
		return nil, err
	}
	lock, err := lockDir(path)
	if err != nil {
		os.RemoveAll(path) //nolint:errcheck // the other error tells more
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return &ownDir{path, lock}, nil
}

// remove removes the directory; sweep gets what is left.
func (d *ownDir) remove() {
	os.RemoveAll(d.path) //nolint:errcheck // as said
	d.lock.Close()
}

// sweep removes what test binaries left that were killed: directories that nobody holds and no server runs in.
func sweep() {
	for _, root := range []string{os.TempDir(), memoryDir} {
		dirs, _ := filepath.Glob(filepath.Join(root, dirPrefix+"*")) // fails only for a malformed pattern
		for _, dir := range dirs {
			sweepDir(dir)
		}
	}
}

func sweepDir(dir string) {
	info, err := os.Stat(dir)
	if err != nil || time.Since(info.ModTime()) < youngAge || inUse(dir) {
		return
	}
	lock, err := lockDir(dir)
	if err != nil {
		return
	}
	defer lock.Close()
	os.RemoveAll(dir) //nolint:errcheck // the next one may
}

func inUse(dir string) bool {
	data, _ := filepath.Glob(filepath.Join(dir, "*", "data"))
	for _, d := range data {
		if _, err := embedded.Running(d); err == nil {
			return true
		}
	}
	return false
}
