//go:build linux

package embedded

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestKilledOwnerLeavesNoOrphanAndTheNextStartRecovers(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "pg")
	owner, st := child(t, dir)
	var running *AlreadyRunningError
	if _, err := Start(t.Context(), Options{DataDir: dir}); !errors.As(err, &running) || running.State != st {
		t.Errorf("start beside another process: %v, want AlreadyRunningError with its state", err)
	}
	run(t, st.DSN, "create table t as select 7 as n")
	if err := owner.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	owner.Wait()                         //nolint:errcheck // it was killed
	s := start(t, Options{DataDir: dir}) // waits for the server to end, which nobody asked to but the kernel
	if n := value[int](t, s.DSN("postgres"), "select n from t"); n != 7 {
		t.Errorf("row is %d, want 7", n)
	}
	if s.PID() == st.PID {
		t.Error("the same process serves")
	}
}

func TestKilledServerIsNoticedAndStartsAgainWithItsRows(t *testing.T) {
	t.Parallel()
	s := start(t, Options{DataDir: filepath.Join(t.TempDir(), "pg")})
	conn := connect(t, s.DSN("postgres")) // its backend is left behind for a moment
	if _, err := conn.Exec(t.Context(), "create table t as select 7 as n"); err != nil {
		t.Fatal(err)
	}
	if err := s.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := s.Wait(); err == nil {
		t.Error("wait: nil, want that it was killed")
	}
	if _, err := Running(s.DataDir()); !errors.Is(err, ErrNotRunning) {
		t.Errorf("running: %v, want ErrNotRunning", err)
	}
	if err := s.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := value[int](t, s.DSN("postgres"), "select n from t"); n != 7 {
		t.Errorf("row is %d, want 7", n)
	}
}

func TestKillEndsEveryProcess(t *testing.T) {
	t.Parallel()
	s := start(t, Options{DataDir: filepath.Join(t.TempDir(), "pg")})
	connect(t, s.DSN("postgres"))
	children := childrenOf(s.PID())
	if len(children) < 3 {
		t.Fatalf("the server has the children %v, want some", children)
	}
	for _, pid := range children { // stopped, they do not notice by themselves
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil && !errors.Is(err, syscall.ESRCH) { // it has ended
			t.Fatal(err)
		}
	}
	s.Kill()
	for _, pid := range children {
		waitFor(t, "end of process "+strconv.Itoa(pid), func() bool {
			serves, known := servesDir(pid, s.DataDir())
			return !serves || !known
		})
	}
}

func TestStalePidFileThatNamesAnotherProcessDoesNotPreventTheStart(t *testing.T) {
	t.Parallel()
	s := start(t, Options{DataDir: filepath.Join(t.TempDir(), "pg")})
	s.Kill()
	other := exec.CommandContext(t.Context(), "cat") // as after a restart of a container; it waits for its input
	if _, err := other.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(s.DataDir(), "postmaster.pid")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "\n")
	if err := os.WriteFile(path, []byte(strconv.Itoa(other.Process.Pid)+"\n"+rest), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.Restart(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestServerKeepsTheLockWhenItsOwnerHasNone(t *testing.T) {
	t.Parallel()
	s := start(t, Options{DataDir: filepath.Join(t.TempDir(), "pg")})
	s.release() // as the end of this process would
	if !locked(lockFileName(s.DataDir())) {
		t.Error("a running server does not hold its lock")
	}
	s.Kill()
	waitFor(t, "the lock", func() bool { return !locked(lockFileName(s.DataDir())) })
}

func TestAKilledServerThatNobodyWaitedForIsWaitedForUntilItsLastProcessEnds(t *testing.T) {
	t.Parallel()
	for name, holdsLock := range map[string]bool{"ours": true, "started by others": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, Options{DataDir: filepath.Join(t.TempDir(), "pg")})
			run(t, s.DSN("postgres"), "create table t as select 7 as n")
			if err := s.Stop(t.Context()); err != nil {
				t.Fatal(err)
			}
			backend := leaveUnwaited(t, s, holdsLock)
			impatient, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			other, err := Start(impatient, Options{DataDir: s.DataDir()})
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("start beside a backend: %v, want that it waits", err)
			}
			if err == nil {
				other.Kill()
			}
			if err := syscall.Kill(backend, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			again := start(t, Options{DataDir: s.DataDir()})
			if n := value[int](t, again.DSN("postgres"), "select n from t"); n != 7 {
				t.Errorf("row is %d, want 7", n)
			}
		})
	}
}

// leaveUnwaited runs a server that has stopped, kills it without waiting for it, as a parent does that is busy, and
// returns a backend of its that does not notice.
func leaveUnwaited(t *testing.T, s *Server, holdsLock bool) (backend int) {
	t.Helper()
	runtime.LockOSThread() // the thread that starts the server must not end before it: see spawn
	cmd := s.command()
	if holdsLock {
		lock, err := acquireDataLock(t.Context(), s.DataDir())
		if err != nil {
			t.Fatal(err)
		}
		defer lock.Close()
		cmd.ExtraFiles = []*os.File{lock}
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill() //nolint:errcheck // fails only when it has ended
		cmd.Wait()         //nolint:errcheck // it was killed
	})
	s.proc = &process{cmd: cmd, done: make(chan struct{})}
	close(s.proc.done) // for Kill: the end of it is seen to here
	if err := s.writeState(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the server", func() bool { _, ready := postmaster(s.DataDir()); return ready })
	backend = value[int](t, s.DSN("postgres"), "select pg_backend_pid()") // open until the test ends
	err := errors.Join(syscall.Kill(backend, syscall.SIGSTOP), cmd.Process.Kill())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Kill(backend, syscall.SIGKILL) }) //nolint:errcheck // fails only when it has ended
	waitFor(t, "its end", func() bool { return processEnded(cmd.Process.Pid) })
	return backend
}

func TestServerStartedByOthersIsRefused(t *testing.T) {
	t.Parallel()
	s := start(t, Options{DataDir: filepath.Join(t.TempDir(), "pg")})
	if err := s.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	cmd := s.command()
	foreign, err := spawn(cmd)
	if err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the other server", func() bool { _, ready := postmaster(s.DataDir()); return ready })
	_, err = Start(t.Context(), Options{DataDir: s.DataDir()})
	var running *AlreadyRunningError
	if !errors.As(err, &running) || running.PID != cmd.Process.Pid {
		t.Errorf("start: %v, want AlreadyRunningError with process %d", err, cmd.Process.Pid)
	}
	if err := foreign.stop(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestRootRunsTheServerAsTheOwnerOfTheDataDirectory(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	for name, mode := range map[string]os.FileMode{"reachable": 0o755, "out of the owner's reach": 0o700} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			parent := t.TempDir()
			dir := filepath.Join(parent, "pg") // there and empty, as a mounted volume is
			err := errors.Join(os.Mkdir(dir, 0o700), os.Chown(dir, nobody, nobody), os.Chmod(parent, mode))
			if err != nil {
				t.Fatal(err)
			}
			s := start(t, Options{DataDir: dir})
			run(t, s.DSN("postgres"), "create table t as select 7 as n")
			info, err := os.Stat("/proc/" + strconv.Itoa(s.PID()))
			if err != nil {
				t.Fatal(err)
			}
			if uid := info.Sys().(*syscall.Stat_t).Uid; uid != nobody { //nolint:errcheck // always so on Linux
				t.Errorf("the server runs as user %d, want %d", uid, nobody)
			}
			s.Kill()
			if err := s.Restart(t.Context()); err != nil {
				t.Fatal(err)
			}
			if n := value[int](t, s.DSN("postgres"), "select n from t"); n != 7 {
				t.Errorf("row is %d, want 7", n)
			}
		})
	}
}

func TestOwnerOfANewDataDirectoryIsTheOtherUserWhereNamespacesAreRefused(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	opts := Options{DataDir: filepath.Join(t.TempDir(), "pg"), Major: defaultMajor}
	s, err := prepare(t.Context(), &opts)
	if err != nil {
		t.Fatal(err)
	}
	if s.id, err = tryUser(t.Context(), s.bin.Dir, s.DataDir(), nobody, nobody); err != nil {
		t.Fatal(err)
	}
	if err := s.makeDataDir(t.Context()); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(s.DataDir())
	if err != nil || info.Sys().(*syscall.Stat_t).Uid != nobody { //nolint:errcheck // always so on Linux
		t.Errorf("data directory: %v, %v, want nobody's", info, err)
	}
}
