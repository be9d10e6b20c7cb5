package embedded

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// State is what a running server tells other processes through the file <data>.json.
type State struct {
	DSN      string `json:"dsn"`       // the superuser's, for the database that Announce named
	HTTP     string `json:"http"`      // address of the HTTP server, "" when there is none
	PID      int    `json:"pid"`       // PostgreSQL's first process
	OwnerPID int    `json:"owner_pid"` // the process that started it
	Major    int    `json:"major"`
}

func stateFile(dataDir string) string    { return dataDir + ".json" }
func lockFileName(dataDir string) string { return dataDir + ".lock" }
func logFile(dataDir string) string      { return dataDir + ".log" }

// Running returns the state of the server that runs on a data directory, or ErrNotRunning. It does not trust the file
// alone: the data directory must be locked, and its postmaster.pid name the same process, and that be alive.
func Running(dataDir string) (State, error) {
	dir, err := filepath.Abs(dataDir)
	if err != nil {
		return State{}, fmt.Errorf("resolve data directory: %w", err)
	}
	text, err := os.ReadFile(stateFile(dir))
	if errors.Is(err, os.ErrNotExist) {
		return State{}, fmt.Errorf("%w on %s", ErrNotRunning, dir)
	}
	if err != nil {
		return State{}, fmt.Errorf("read state: %w", err)
	}
	var st State
	if err := json.Unmarshal(text, &st); err != nil {
		return State{}, fmt.Errorf("read state %s: %w", stateFile(dir), err)
	}
	if pid, _ := postmaster(dir); pid != st.PID || !locked(lockFileName(dir)) || !processAlive(pid) {
		return State{}, fmt.Errorf("%w on %s", ErrNotRunning, dir)
	}
	return st, nil
}

func processAlive(pid int) bool { return processExists(pid) && !processEnded(pid) }

func (s *Server) writeState() error {
	text, err := json.MarshalIndent(State{
		DSN: s.dsnLocked(s.database), HTTP: s.http, Major: s.bin.Major,
		PID: s.proc.cmd.Process.Pid, OwnerPID: os.Getpid(),
	}, "", "  ")
	if err != nil {
		return fmt.Errorf("encode state: %w", err)
	}
	if err := writeFile(stateFile(s.opts.DataDir), append(text, '\n')); err != nil {
		return fmt.Errorf("write state: %w", err)
	}
	return nil
}

// postmaster reads postmaster.pid: the server's process id, 0 when there is none, and whether it accepts connections.
func postmaster(dataDir string) (pid int, ready bool) {
	const pidLine, statusLine = 0, 7 // miscadmin.h of PostgreSQL says so since version 10
	text, err := os.ReadFile(filepath.Join(dataDir, "postmaster.pid"))
	if err != nil {
		return 0, false
	}
	lines := strings.Split(string(text), "\n")
	pid, err = strconv.Atoi(strings.TrimSpace(lines[pidLine]))
	if err != nil {
		return 0, false
	}
	return pid, len(lines) > statusLine && strings.TrimSpace(lines[statusLine]) == "ready"
}

const (
	pollEvery  = 10 * time.Millisecond
	changeTime = time.Minute // how long another process may take to start its server, or a server to end after a kill
)

// acquireDataLock takes the data directory for this process. One that another live process serves is refused at once;
// one whose server is only starting, or still ending after a kill, is waited for.
func acquireDataLock(ctx context.Context, dataDir string) (*os.File, error) {
	f, err := os.OpenFile(lockFileName(dataDir), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open lock: %w", err)
	}
	waiting, cancel := context.WithTimeout(ctx, changeTime)
	defer cancel()
	err = poll(waiting, func() (bool, error) {
		if ok, lockErr := tryLock(f); ok || lockErr != nil {
			return ok, lockErr
		}
		st, runErr := Running(dataDir)
		if runErr == nil && processAlive(st.OwnerPID) {
			return false, &AlreadyRunningError{DataDir: dataDir, State: st, PID: st.PID}
		}
		return false, nil
	})
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		st, _ := Running(dataDir) // not running: the error tells what is known
		err = &AlreadyRunningError{DataDir: dataDir, State: st, PID: st.PID}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// lockFile waits for a lock that lives as long as the returned file is open.
func lockFile(ctx context.Context, path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open lock: %w", err)
	}
	if err = poll(ctx, func() (bool, error) { return tryLock(f) }); err != nil {
		f.Close()
		return nil, fmt.Errorf("wait for lock %s: %w", path, err)
	}
	return f, nil
}

// poll asks until the answer is yes or an error, or ctx ends.
func poll(ctx context.Context, ask func() (bool, error)) error {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		if ok, err := ask(); ok || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}
