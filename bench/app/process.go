package app

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/weirmq/weir/bench/shootout"
)

// process is a program that takes part in the run, in a process group of its own: a ^C in the terminal reaches only the
// driver, which tells the others what to do.
type process struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    io.Reader
	stderr *said
	gone   bool
	spent  time.Duration // CPU time, once it is gone
	peak   int64         // bytes, of memory
}

func startProcess(env []string, program string, args ...string) (*process, error) {
	p := &process{stderr: &said{url: make(chan string, 1)}}
	p.cmd = exec.Command(program, args...) //nolint:gosec,noctx // our own programs; kill stops them
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.Stderr = p.stderr
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("start %s: %w", filepath.Base(program), err)
	}
	if p.out, err = p.cmd.StdoutPipe(); err != nil {
		return nil, fmt.Errorf("start %s: %w", filepath.Base(program), err)
	}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", filepath.Base(program), err)
	}
	return p, nil
}

// usage returns the CPU time so far, and notes the memory.
func (p *process) usage() time.Duration {
	if p == nil {
		return 0
	}
	if !p.gone {
		spent, bytes := shootout.GroupUsage(p.cmd.Process.Pid)
		p.spent, p.peak = max(p.spent, spent), max(p.peak, bytes)
	}
	return p.spent
}

// wait waits for the end of the process. Its output must have been read.
func (p *process) wait() error {
	if p.gone {
		return nil
	}
	err := p.cmd.Wait()
	p.gone = true
	if state := p.cmd.ProcessState; state != nil {
		p.spent = max(p.spent, state.UserTime()+state.SystemTime())
	}
	if err != nil {
		return fmt.Errorf("%w: %w: %s", ErrLoad, err, p.stderr)
	}
	return nil
}

// kill ends the process and all that it started, at once.
func (p *process) kill() {
	if p != nil && !p.gone {
		_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
		_ = p.wait() // it was killed
	}
}

// loader is the load at work.
type loader struct {
	*process

	events chan Event // closed at the end of its output
}

// LoadArgument is what this program is started with to be the load.
const LoadArgument = "load"

// startLoad starts the load, which begins at once.
func startLoad(c Command) (*loader, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find own program: %w", err)
	}
	p, err := startProcess(nil, program, LoadArgument)
	if err != nil {
		return nil, err
	}
	l := &loader{process: p, events: make(chan Event)}
	text, err := json.Marshal(c)
	if err == nil {
		err = l.say(string(text))
	}
	if err != nil {
		l.kill()
		return nil, fmt.Errorf("start load: %w", err)
	}
	go func() {
		defer close(l.events)
		lines := bufio.NewReader(p.out)
		for {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				return
			}
			var e Event
			if json.Unmarshal(line, &e) == nil {
				l.events <- e
			}
		}
	}()
	return l, nil
}

func (l *loader) say(line string) error {
	if _, err := io.WriteString(l.in, line+"\n"); err != nil {
		return fmt.Errorf("%w: %w: %s", ErrLoad, err, l.stderr)
	}
	return nil
}

// end kills the load if it has not ended, and reads what it still says.
func (l *loader) end() {
	l.kill()
	for range l.events { //nolint:revive // nobody waits for it any more
	}
}

// buildServer builds the `weir` of the checkout and returns its path.
func buildServer(ctx context.Context, root string) (string, error) {
	root, err := shootout.Root(root)
	if err != nil {
		return "", optionf("%v", err)
	}
	program := filepath.Join(root, "build", "bench", "weir")
	cmd := exec.CommandContext(ctx, "go", "build", "-C", root, "-o", program, "./cmd/weir")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: build the server: %w: %s", ErrLoad, err, out)
	}
	return program, nil
}

// said is what a process writes to its standard error. It tells of the first URL in it.
type said struct {
	mu   sync.Mutex
	text bytes.Buffer
	url  chan string // gets one
	told bool
}

// Write implements io.Writer.
func (s *said) Write(text []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, err := s.text.Write(text)
	if _, rest, ok := strings.Cut(s.text.String(), "http://"); ok && !s.told && strings.Contains(rest, "\n") {
		address, _, _ := strings.Cut(rest, "\n")
		s.told = true
		s.url <- "http://" + strings.TrimSpace(address)
	}
	return n, err
}

// String returns the end of what was said.
func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := strings.TrimSpace(s.text.String())
	return text[max(0, len(text)-2000):]
}

// startWithin is how long a server may take to begin.
const startWithin = 2 * time.Minute

// startServer starts a `weir serve` and returns it with its URL.
func startServer(ctx context.Context, program, dsn string) (*process, string, error) {
	p, err := startProcess([]string{"WEIR_DSN=" + dsn}, program, "serve", "--direct", "--listen", "127.0.0.1:0")
	if err != nil {
		return nil, "", err
	}
	ctx, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	select {
	case url := <-p.stderr.url:
		return p, url, nil
	case <-ctx.Done():
		p.kill()
		return nil, "", fmt.Errorf("start server: %w: %s", ctx.Err(), p.stderr)
	}
}

// drain has a server end as it does when it is told to.
func (p *process) drain() error {
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // wait tells if it is gone already
	return p.wait()
}
