package adapter

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

const (
	entryBytes  = 16
	windowBytes = 1 << 20 // of a ledger that are mapped at a time; whole pages
)

// Ledger is a file that says which message was received when. The driver finds in it what was lost, came twice or came
// out of order, and how long it took. An entry is the message's number and the time, both int64, little-endian. It is
// written through a mapping of the file: an entry is the kernel's as soon as it is made, so that a killed worker's are
// there, and makes no system call, which takes longer than some handle a message.
type Ledger struct {
	mu     sync.Mutex
	file   *os.File
	mapped []byte // the window
	free   []byte // what is left of it
	bytes  int64  // of the file, with the window
	count  int64
	err    error
}

// OpenLedger makes a ledger of this process in a directory; with "" it only counts.
func OpenLedger(dir string) (*Ledger, error) {
	l := &Ledger{}
	if dir == "" {
		return l, nil
	}
	var err error
	l.file, err = os.Create(filepath.Join(dir, fmt.Sprintf("%d-%d", os.Getpid(), time.Now().UnixNano())))
	if err != nil {
		return nil, fmt.Errorf("make ledger: %w", err)
	}
	return l, nil
}

// Add enters messages that were received together, now.
func (l *Ledger) Add(numbers ...int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.count += int64(len(numbers))
	if l.file == nil {
		return
	}
	now := uint64(time.Now().UnixNano()) //nolint:gosec // after 1970
	for _, n := range numbers {
		if len(l.free) == 0 && l.err == nil {
			l.err = l.extend()
		}
		if l.err != nil {
			return
		}
		binary.LittleEndian.PutUint64(l.free, uint64(n)) //nolint:gosec // a number of this run
		binary.LittleEndian.PutUint64(l.free[8:], now)
		l.free = l.free[entryBytes:]
	}
}

// extend makes the file longer by a window and maps that.
func (l *Ledger) extend() error {
	if err := l.unmap(); err != nil {
		return err
	}
	if err := l.file.Truncate(l.bytes + windowBytes); err != nil {
		return err
	}
	window, err := syscall.Mmap(int(l.file.Fd()), l.bytes, windowBytes, //nolint:gosec // a file's number is small
		syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return fmt.Errorf("map %s: %w", l.file.Name(), err)
	}
	l.bytes += windowBytes
	l.mapped, l.free = window, window
	return nil
}

func (l *Ledger) unmap() error {
	if l.mapped == nil {
		return nil
	}
	window := l.mapped
	l.mapped = nil
	return syscall.Munmap(window)
}

// Count returns how many messages were entered.
func (l *Ledger) Count() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.count
}

// Close ends the ledger.
func (l *Ledger) Close() error {
	if l.file == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	used := l.bytes - int64(len(l.free))
	l.free = nil
	if err := errors.Join(l.err, l.unmap(), l.file.Truncate(used), l.file.Close()); err != nil {
		return fmt.Errorf("write ledger: %w", err)
	}
	return nil
}
