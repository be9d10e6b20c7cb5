package pgtest

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirmq/weir/internal/embedded"
)

// Owner is the ordinary role that owns every test database and that tests connect as.
const Owner = "weir_owner"

const (
	templateDatabase = "weir_template"
	startTime        = 5 * time.Minute // with a download on a slow line
	stopTime         = 30 * time.Second
)

// fastSettings are for servers that are thrown away with the test binary. Autovacuum never comes: while it holds a
// table's lock maintain passes that table over, and with its statistics plans change.
var fastSettings = map[string]string{
	"autovacuum_naptime": "7d",
	"fsync":              "off", "synchronous_commit": "off", "full_page_writes": "off", "deadlock_timeout": "50ms",
	"max_connections": "200", "shared_buffers": "64MB", "max_prepared_transactions": "20",
}

// ServerOptions say how StartServer starts a server.
type ServerOptions struct {
	Major    int               // 0: the newest that is tested
	BinDir   string            // where another build's programs are; it decides the version
	Fast     bool              // with fsync off: nothing survives a crash of the machine, all survives one of the server
	Settings map[string]string // as postgresql.conf has them
}

// Server is a PostgreSQL server for tests.
type Server struct {
	*embedded.Server

	install sync.Once  // makes the template database
	failed  error      // how that went
	admin   sync.Mutex // one at a time makes or drops databases
	bouncer *Bouncer   // nil unless connections shall go through it
}

// shared are the servers of this test binary by major version; each starts when it is first asked for.
var shared = struct {
	sync.Mutex

	dir      *ownDir // nil outside Main
	programs *ownDir // nil until asked for
	servers  map[int]func() (*Server, error)
	started  []*Server
}{servers: map[int]func() (*Server, error){}}

// Main runs a package's tests and stops the servers they started. It does not return. Call it from TestMain.
func Main(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	sweep()
	dir, err := makeDir(true)
	if err != nil {
		fmt.Fprintln(os.Stderr, "make directory for test servers:", err)
		return 1
	}
	defer dir.remove()
	shared.dir = dir
	defer func() {
		if shared.programs != nil {
			shared.programs.remove()
		}
	}()
	code := m.Run()
	var group sync.WaitGroup
	for _, s := range shared.started {
		group.Go(s.end)
	}
	group.Wait()
	return code
}

// end stops the server at once: nothing of it is kept.
func (s *Server) end() {
	if s.bouncer != nil {
		s.bouncer.stop()
	}
	ctx, cancel := context.WithTimeout(context.Background(), stopTime)
	defer cancel()
	s.Discard(ctx)
}

// ProgramDir returns a directory for programs that tests build once for all of them. It goes with the test binary.
func ProgramDir() (string, error) {
	shared.Lock()
	defer shared.Unlock()
	if shared.programs == nil {
		dir, err := makeDir(false) // from where there is memory, programs may not run
		if err != nil {
			return "", err
		}
		shared.programs = dir
	}
	return shared.programs.path, nil
}

// sharedServer returns this test binary's server of a major version.
func sharedServer(tb testing.TB, major int) *Server {
	tb.Helper()
	shared.Lock()
	if shared.dir == nil {
		shared.Unlock()
		tb.Fatal("pgtest: the package needs: func TestMain(m *testing.M) { pgtest.Main(m) }")
	}
	start, ok := shared.servers[major]
	if !ok {
		start = sync.OnceValues(func() (*Server, error) {
			dir := filepath.Join(shared.dir.path, strconv.Itoa(major))
			s, err := startServer(dir, ServerOptions{Major: major, Fast: true})
			if err != nil {
				return nil, err
			}
			shared.Lock()
			shared.started = append(shared.started, s)
			shared.Unlock()
			if Pooled() {
				s.bouncer, err = bounce(s)
			}
			return s, err
		})
		shared.servers[major] = start
	}
	shared.Unlock()
	s, err := start()
	if err != nil {
		tb.Fatalf("start PostgreSQL %d: %v", major, err)
	}
	return s
}

// StartServer starts a server for one test, durable unless asked otherwise, and ends it with the test. Kill it with
// Kill or Signal, start it again with Up; databases made by NewDB stay.
func StartServer(tb testing.TB, opts ServerOptions) *Server {
	tb.Helper()
	dir, err := makeDir(opts.Fast)
	if err != nil {
		tb.Fatalf("make directory for server: %v", err)
	}
	tb.Cleanup(dir.remove)
	s, err := startServer(filepath.Join(dir.path, "server"), opts) // a copy's own directory gets the age of the template's
	if err != nil {
		tb.Fatalf("start PostgreSQL %d: %v", opts.Major, err)
	}
	tb.Cleanup(s.end)
	return s
}

// Up starts the server again after Kill or a crash, or restarts it, and returns when it has recovered.
func (s *Server) Up(tb testing.TB) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), startTime)
	defer cancel()
	if err := s.Restart(ctx); err != nil {
		tb.Fatalf("restart PostgreSQL: %v", err)
	}
}

// Major returns the server's major version.
func (s *Server) Major() int { return s.Binaries().Major }

func startServer(dir string, opts ServerOptions) (*Server, error) {
	ctx, cancel := context.WithTimeout(context.Background(), startTime)
	defer cancel()
	if opts.BinDir == "" {
		if opts.Major == 0 {
			opts.Major = newestMajor()
		}
		if err := copyTemplate(ctx, dir, opts.Major); err != nil {
			return nil, err
		}
	}
	settings := map[string]string{}
	if opts.Fast {
		maps.Copy(settings, fastSettings)
	}
	maps.Copy(settings, opts.Settings)
	s, err := embedded.Start(ctx, embedded.Options{
		DataDir: filepath.Join(dir, "data"), SocketDir: filepath.Join(dir, "socket"), Major: opts.Major,
		BinDir: opts.BinDir, Settings: settings,
	})
	if err != nil {
		return nil, err
	}
	return &Server{Server: s}, nil
}

// copyTemplate puts a new data directory into dir.
func copyTemplate(ctx context.Context, dir string, major int) error {
	template, err := templateDir(ctx, major)
	if err != nil {
		return err
	}
	// cp keeps owners and modes, and shares the blocks where the file system can.
	if out, err := exec.CommandContext(ctx, "cp", "-Rp", template+"/.", dir+"/").CombinedOutput(); err != nil {
		return fmt.Errorf("copy template data directory: %w: %s", err, out)
	}
	return nil
}

// templateDir returns a directory, kept on the machine, with a data directory that is as initdb made it.
func templateDir(ctx context.Context, major int) (string, error) {
	const layout = "1" // raise when Init makes other files or settings than before
	bin, err := embedded.Find(ctx, embedded.Options{Major: major})
	if err != nil {
		return "", err
	}
	cache, err := embedded.CacheDir()
	if err != nil {
		return "", err
	}
	build := filepath.Base(filepath.Dir(bin.Dir)) // version and platform
	dir := filepath.Join(cache, "pgtest", layout, build)
	return dir, embedded.Init(ctx, embedded.Options{
		DataDir: filepath.Join(dir, "data"), SocketDir: filepath.Join(dir, "socket"), Major: major,
	})
}

// asSuperuser runs statements in a database of the server, one connection for all.
func (s *Server) asSuperuser(ctx context.Context, database string, statements ...string) error {
	conn, err := pgx.Connect(ctx, s.SocketDSN(embedded.Superuser, database))
	if err != nil {
		return err
	}
	defer conn.Close(ctx) //nolint:errcheck // nothing is left to say
	for _, sql := range statements {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return fmt.Errorf("%s: %w", sql, err)
		}
	}
	return nil
}
