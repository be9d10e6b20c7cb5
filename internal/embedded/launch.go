package embedded

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	maxLog       = 16 << 20 // bytes of server log kept before it moves to <data>.log.1
	portAttempts = 5        // a free port may be taken between the look and the use
	settleTime   = 10 * time.Second
	settleEvery  = 200 * time.Millisecond
)

// process is one run of the server.
type process struct {
	cmd   *exec.Cmd
	asked atomic.Bool   // this package ended it
	done  chan struct{} // closed when it has ended
	err   error         // valid after done
}

// launchReady starts the server, on a free port where none was given, and waits until it accepts connections.
func (s *Server) launchReady(ctx context.Context) error {
	for attempt := 1; ; attempt++ {
		if s.opts.Port == 0 && (s.port == 0 || attempt > 1) { // a restart keeps its port if it can
			var err error
			if s.port, err = freePort(ctx); err != nil {
				return err
			}
		}
		err := s.launchAlone(ctx)
		if !errors.Is(err, ErrPortInUse) || s.opts.Port != 0 || attempt == portAttempts {
			return err
		}
	}
}

// launchAlone gives the processes of a killed server that did not hold our lock some time to end. A server that runs is
// told of at once.
func (s *Server) launchAlone(ctx context.Context) error {
	deadline := time.Now().Add(settleTime)
	for {
		err := s.launch(ctx)
		var running *AlreadyRunningError
		if !errors.As(err, &running) || running.PID != 0 || time.Now().After(deadline) {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for the processes of a killed server: %w", ctx.Err())
		case <-time.After(settleEvery):
		}
	}
}

func (s *Server) launch(ctx context.Context) error {
	if err := s.makeSocketDir(); err != nil {
		return err
	}
	log, offset, err := openLog(logFile(s.opts.DataDir))
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := s.command() //nolint:contextcheck // ctx bounds the start, not the server's life
	cmd.Stdout, cmd.Stderr = log, log
	cmd.ExtraFiles = []*os.File{s.lock} // see the package comment: held while any process of the server lives
	p, err := spawn(cmd)
	if err != nil {
		return fmt.Errorf("start PostgreSQL: %w", err)
	}
	s.proc = p
	err = poll(ctx, func() (bool, error) {
		select {
		case <-p.done:
			return false, s.explainExit(offset)
		default:
			pid, ready := postmaster(s.opts.DataDir)
			return ready && pid == cmd.Process.Pid, nil
		}
	})
	if err != nil && ctx.Err() != nil {
		p.stop(ctx) //nolint:errcheck // ctx has ended, and its error is what the caller gets
		err = fmt.Errorf("wait for PostgreSQL to accept connections: %w", err)
	}
	return err
}

func (s *Server) command() *exec.Cmd {
	args := []string{
		"-D", s.opts.DataDir, "-c", "listen_addresses=127.0.0.1", "-c", "port=" + strconv.Itoa(s.port),
		"-c", "unix_socket_directories=" + s.opts.SocketDir,
	}
	for _, name := range slices.Sorted(maps.Keys(s.opts.Settings)) {
		args = append(args, "-c", name+"="+s.opts.Settings[name])
	}
	return s.id.command(context.Background(), filepath.Join(s.bin.Dir, program("postgres")), args...)
}

// makeSocketDir makes the directory that stands between everybody and a socket that asks no password.
func (s *Server) makeSocketDir() error {
	if s.opts.SocketDir == "" {
		return nil
	}
	if err := os.MkdirAll(s.opts.SocketDir, 0o700); err != nil {
		return fmt.Errorf("make socket directory: %w", err)
	}
	if err := os.Chmod(s.opts.SocketDir, 0o700); err != nil {
		return fmt.Errorf("make socket directory private: %w", err)
	}
	return s.id.own(s.opts.SocketDir)
}

// spawn starts a command on a thread of its own and keeps the thread until the command has ended: the kernel sends the
// signal of Pdeathsig when the starting thread ends, not the process, and Go ends threads as it likes.
func spawn(cmd *exec.Cmd) (*process, error) {
	p := &process{cmd: cmd, done: make(chan struct{})}
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			p.err = cmd.Wait()
			close(p.done)
		}
	}()
	return p, <-started
}

// stop ends the server in the fast way, or at once when ctx ends first.
func (p *process) stop(ctx context.Context) error {
	p.asked.Store(true)
	p.cmd.Process.Signal(syscall.SIGINT) //nolint:errcheck // fails only when it has ended
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
		p.cmd.Process.Signal(syscall.SIGQUIT) //nolint:errcheck // likewise
		<-p.done
		return fmt.Errorf("stop PostgreSQL: %w", ctx.Err())
	}
}

// explainExit says from the log why the server did not start.
func (s *Server) explainExit(offset int64) error {
	text := logSince(logFile(s.opts.DataDir), offset)
	if strings.Contains(text, "could not bind") || strings.Contains(text, "Address already in use") {
		return fmt.Errorf("start PostgreSQL: %w: 127.0.0.1:%d. Give another port, or 0 for a free one", ErrPortInUse, s.port)
	}
	if strings.Contains(text, "pre-existing shared memory block") {
		return &AlreadyRunningError{DataDir: s.opts.DataDir}
	}
	return fmt.Errorf("start PostgreSQL: it ended before it accepted connections: %w: %s", s.proc.err, text)
}

// refuseForeignServer looks for a server that was started by other means and so does not hold our lock.
func refuseForeignServer(dataDir string) error {
	pid, _ := postmaster(dataDir)
	if pid == 0 || !processExists(pid) {
		return nil // none, or stale: PostgreSQL sees to it
	}
	if mine, known := servesDir(pid, dataDir); (mine || !known) && processAlive(pid) {
		return &AlreadyRunningError{DataDir: dataDir, PID: pid}
	}
	// After a restart of a container or the machine the number may belong to any process, even to a thread of this one;
	// or the server was killed, and its parent has not waited for it yet. PostgreSQL would refuse as long as that is so.
	if err := strikeOut(filepath.Join(dataDir, "postmaster.pid")); err != nil {
		return fmt.Errorf("strike out stale postmaster.pid: %w", err)
	}
	return nil
}

// strikeOut puts a number that no process has into the first line of a postmaster.pid. The others stay: by the shared
// memory that they name PostgreSQL knows whether processes of that server are left, and refuses while they are.
func strikeOut(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	_, rest, _ := strings.Cut(string(text), "\n")
	f, err := os.OpenFile(path, os.O_WRONLY, 0) // in place, so that it stays its owner's; no number is longer
	if err != nil {
		return err
	}
	_, err = f.WriteString(strconv.Itoa(math.MaxInt32) + "\n" + rest)
	return errors.Join(err, f.Close())
}

// serverEnv is the environment without what would redirect the server, and with messages this package can read.
func serverEnv() []string {
	env := slices.DeleteFunc(os.Environ(), func(kv string) bool {
		return strings.HasPrefix(kv, "PG") || strings.HasPrefix(kv, "LC_") || strings.HasPrefix(kv, "LANG")
	})
	return append(env, "LC_ALL=C")
}

func freePort(ctx context.Context) (int, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("find free port: %w", err)
	}
	defer l.Close() //nolint:errcheck // nothing was accepted

	return l.Addr().(*net.TCPAddr).Port, nil //nolint:errcheck // a TCP listener
}

// openLog opens the server's log to append and returns where this run's part begins.
func openLog(path string) (*os.File, int64, error) {
	if info, err := os.Stat(path); err == nil && info.Size() > maxLog {
		if err := os.Rename(path, path+".1"); err != nil {
			return nil, 0, fmt.Errorf("rotate server log: %w", err)
		}
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, 0, fmt.Errorf("open server log: %w", err)
	}
	offset, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		f.Close()
		return nil, 0, fmt.Errorf("seek server log: %w", err)
	}
	return f, offset, nil
}

const tailBytes = 2000

// logTail returns the end of the log, for an error message.
func logTail(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	return logSince(path, max(0, info.Size()-tailBytes))
}

// logSince returns what the log says from an offset on, the last of it when it is long; "" when it cannot be read.
func logSince(path string, offset int64) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	text, err := io.ReadAll(io.NewSectionReader(f, offset, maxLog))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text[max(0, len(text)-tailBytes):]))
}
