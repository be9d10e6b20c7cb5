package embedded

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
)

// Superuser is the name of the bootstrap superuser of every data directory this package makes.
const Superuser = "postgres"

// Options say which PostgreSQL to run on which data. Only DataDir is required.
type Options struct {
	DataDir   string            // made when absent; see the package comment for the files beside it
	Major     int               // 0: the data directory's, or whatever Find prefers; else this one, downloaded if need be
	Port      int               // on 127.0.0.1; 0: a free one
	BinDir    string            // where initdb and postgres are, for a build of one's own; wins over WEIR_PG_BIN
	SocketDir string            // when set: a directory, made private, for a Unix socket that asks no password
	Settings  map[string]string // passed as -c name=value, so they win over postgresql.conf
	Logger    *slog.Logger      // nil: silent

	// Progress is told how many bytes of a download are there, and how many there will be, 0 when the server does not say.
	// nil: nobody is.
	Progress func(got, all int64)
}

// Server is a PostgreSQL server that this process started. Its methods may be called by several goroutines.
type Server struct {
	opts     Options
	bin      Binaries
	password string

	mu       sync.Mutex // guards what follows
	id       identity
	port     int
	lock     *os.File
	proc     *process
	http     string
	database string
}

// Start starts PostgreSQL on a data directory and returns when it accepts connections. The server lives until Stop or
// until this process ends; ctx bounds only the start, which after a crash includes the recovery.
func Start(ctx context.Context, opts Options) (*Server, error) {
	s, err := prepare(ctx, &opts)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.startLocked(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// Init makes the data directory, when it is not there yet, and starts nothing.
func Init(ctx context.Context, opts Options) error {
	s, err := prepare(ctx, &opts)
	if err != nil {
		return err
	}
	lock, err := acquireDataLock(ctx, opts.DataDir)
	if err != nil {
		return err
	}
	defer lock.Close()
	s.lock = lock
	return s.ensureDataDir(ctx)
}

func prepare(ctx context.Context, opts *Options) (*Server, error) {
	if opts.DataDir == "" {
		return nil, errors.New("start PostgreSQL: no data directory given")
	}
	dir, err := filepath.Abs(opts.DataDir)
	if err != nil {
		return nil, fmt.Errorf("resolve data directory: %w", err)
	}
	opts.DataDir = dir
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return nil, fmt.Errorf("make parent of data directory: %w", err)
	}
	bin, err := Find(ctx, *opts)
	if err != nil {
		return nil, err
	}
	return &Server{opts: *opts, bin: bin, port: opts.Port, database: "postgres"}, nil
}

// startLocked takes the data directory's lock, makes the directory if need be and brings the server up.
func (s *Server) startLocked(ctx context.Context) error {
	lock, err := acquireDataLock(ctx, s.opts.DataDir)
	if err != nil {
		return err
	}
	s.lock = lock
	if err = s.bringUp(ctx); err != nil {
		s.release()
		return err
	}
	return nil
}

func (s *Server) bringUp(ctx context.Context) error {
	if err := os.Remove(stateFile(s.opts.DataDir)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove state of a former server: %w", err)
	}
	if err := s.ensureDataDir(ctx); err != nil {
		return err
	}
	if err := refuseForeignServer(s.opts.DataDir); err != nil {
		return err
	}
	if err := s.launchReady(ctx); err != nil {
		return err
	}
	return s.writeState()
}

// Binaries returns the PostgreSQL this server runs.
func (s *Server) Binaries() Binaries { return s.bin }

// DataDir returns the absolute path of the data directory.
func (s *Server) DataDir() string { return s.opts.DataDir }

// Password returns the superuser's password.
func (s *Server) Password() string { return s.password }

// Port returns the port the server listens on, on 127.0.0.1 and as the name of its Unix socket.
func (s *Server) Port() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.port
}

// PID returns the process id of the server's first process.
func (s *Server) PID() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.proc.cmd.Process.Pid
}

// DSN returns the superuser's connection string for a database, through loopback and with the password.
func (s *Server) DSN(database string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dsnLocked(database)
}

func (s *Server) dsnLocked(database string) string {
	u := url.URL{
		Scheme: "postgres", User: url.UserPassword(Superuser, s.password), Path: "/" + database,
		Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)), RawQuery: "sslmode=disable",
	}
	return u.String()
}

// SocketDSN returns the connection string of a user through the Unix socket, for a server started with a SocketDir.
func (s *Server) SocketDSN(user, database string) string {
	q := url.Values{"host": {s.opts.SocketDir}, "port": {strconv.Itoa(s.Port())}, "user": {user}}
	return (&url.URL{Scheme: "postgres", Host: "", Path: "/" + database, RawQuery: q.Encode()}).String()
}

// Command prepares a program of PostgreSQL's to run as the user that runs the server, because some refuse root.
func (s *Server) Command(ctx context.Context, path string, args ...string) *exec.Cmd {
	return s.id.command(ctx, path, args...)
}

// SocketDir returns the directory of the Unix socket, "" when there is none.
func (s *Server) SocketDir() string { return s.opts.SocketDir }

// Announce records in the state file what the program above makes of this server: the database its users want and the
// address of its HTTP server, "" when it has none.
func (s *Server) Announce(database, http string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.database, s.http = database, http
	return s.writeState()
}

// Wait blocks until the server has ended and returns nil after Stop or Kill, else how it ended.
func (s *Server) Wait() error {
	s.mu.Lock()
	p := s.proc
	s.mu.Unlock()
	<-p.done
	if p.asked.Load() || p.err == nil {
		return nil
	}
	return fmt.Errorf("run PostgreSQL: %w: %s", p.err, logTail(logFile(s.opts.DataDir)))
}

// Stop shuts the server down (fast: open transactions are rolled back) and returns when it has ended. When ctx ends
// first the server is shut down at once, to be recovered at the next start, and ctx's error is returned.
func (s *Server) Stop(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stopLocked(ctx)
}

func (s *Server) stopLocked(ctx context.Context) error {
	err := s.proc.stop(ctx)
	if s.lock != nil { // else another server may have the data directory by now
		os.Remove(stateFile(s.opts.DataDir)) //nolint:errcheck // a stale one is recognised
	}
	s.release()
	return err
}

// Kill ends every process of the server with SIGKILL, as a crash of the machine would.
func (s *Server) Kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.proc.done: // its number may be another's by now
	default:
		s.proc.asked.Store(true)
		killTree(s.proc.cmd.Process)
		<-s.proc.done
	}
	s.release()
}

// Discard ends the server at once, for tests that have done with it. One that was killed starts again for that within
// the time of ctx: only a server itself gives back its shared memory.
func (s *Server) Discard(ctx context.Context) {
	if pid, _ := postmaster(s.opts.DataDir); pid != 0 {
		if _, err := Running(s.opts.DataDir); err != nil && s.Restart(ctx) != nil {
			return // it cannot start any more
		}
	}
	atOnce, cancel := context.WithCancel(ctx)
	cancel()
	s.Stop(atOnce) //nolint:errcheck // says only that it was at once
}

// Restart stops the server if it runs and starts it again on the same port.
func (s *Server) Restart(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.stopLocked(ctx); err != nil {
		return err
	}
	return s.startLocked(ctx)
}

// Signal sends a signal to the server's first process, for tests that stop or freeze it.
func (s *Server) Signal(sig syscall.Signal) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.proc.cmd.Process.Signal(sig)
}

// release gives up this process's hold on the data directory; processes of the server that still end keep theirs.
func (s *Server) release() {
	if s.lock != nil {
		s.lock.Close()
		s.lock = nil
	}
}
