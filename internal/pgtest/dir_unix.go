//go:build unix

package pgtest

import (
	"os"
	"syscall"
)

// lockDir locks a directory against every other opening of it, until the returned file is closed.
func lockDir(path string) (*os.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
