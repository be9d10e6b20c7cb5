package pgtest

import (
	"errors"
	"io/fs"
	"os"
	"testing"
	"time"
)

func TestADirectoryIsSweptWhenItIsOldAndNobodyHoldsIt(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	d, err := makeDir(true)
	if err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-2 * youngAge)
	if err := os.Chtimes(d.path, old, old); err != nil {
		t.Fatal(err)
	}
	sweep()
	if _, err := os.Stat(d.path); err != nil {
		t.Errorf("a directory that is held: %v", err)
	}
	d.lock.Close() // as the end of the process does
	young, err := makeDir(true)
	if err != nil {
		t.Fatal(err)
	}
	young.lock.Close()
	sweep()
	if _, err := os.Stat(d.path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an old directory that nobody holds: %v, want none", err)
	}
	if _, err := os.Stat(young.path); err != nil {
		t.Errorf("a directory that is being made: %v", err)
	}
}

func TestOnlyADirectoryInMemoryHasRoom(t *testing.T) {
	for _, dir := range []string{"/proc", "/nowhere"} {
		if n := room(dir); n != 0 {
			t.Errorf("%s has room for %d bytes in memory", dir, n)
		}
	}
}
