package adapter

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Ledger is a file that says which message was received when. The driver finds in it what was lost, came twice or came
// out of order, and how long it took. An entry is the message's number and the time, both int64, little-endian.
type Ledger struct {
	mu    sync.Mutex
	file  *os.File
	buf   []byte
	count int64
	err   error
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

// Add enters messages that were received together, now. They are written at once, so that a killed worker's are there.
func (l *Ledger) Add(numbers ...int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.count += int64(len(numbers))
	if l.file == nil {
		return
	}
	now := uint64(time.Now().UnixNano()) //nolint:gosec // after 1970
	l.buf = l.buf[:0]
	for _, n := range numbers {
		l.buf = binary.LittleEndian.AppendUint64(l.buf, uint64(n)) //nolint:gosec // a number of this run
		l.buf = binary.LittleEndian.AppendUint64(l.buf, now)
	}
	if _, err := l.file.Write(l.buf); err != nil {
		l.err = errors.Join(l.err, err)
	}
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
	if err := errors.Join(l.err, l.file.Close()); err != nil {
		return fmt.Errorf("write ledger: %w", err)
	}
	return nil
}
