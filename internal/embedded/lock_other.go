//go:build !unix

package embedded

import (
	"errors"
	"fmt"
	"os"
)

// Without a lock that the server inherits, two servers on one data directory could not be told from one.
func tryLock(f *os.File) (bool, error) {
	return false, fmt.Errorf("lock %s: %w: give weir the address of a PostgreSQL server", f.Name(), errors.ErrUnsupported)
}

func locked(string) bool { return false }

func processExists(int) bool { return false }
