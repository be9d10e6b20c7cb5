package shootout

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
	"sync/atomic"
	"syscall"
	"time"

	"github.com/weirmq/weir/bench/adapter"
)

// answerWithin is how long an adapter may take to get ready, and to end after it was told to stop.
const answerWithin = 60 * time.Second

// process is an adapter at work.
type process struct {
	sys    *System
	cmd    *exec.Cmd
	in     io.WriteCloser
	stderr bytes.Buffer
	events chan adapter.Event // all but counts; closed at the end of its output
	count  atomic.Int64       // the latest count
	read   chan struct{}      // closed when its output has ended
	ended  bool
	spent  time.Duration // CPU time of what has ended
	peak   int64         // bytes, of memory
}

// spawn starts the system's adapter and gives it its command. Its temporary files are the run's, which removes them:
// most adapters end by being killed.
func (r *run) spawn(c adapter.Command) (*process, error) {
	sys := r.sys
	argv, err := sys.argv()
	if err != nil {
		return nil, err
	}
	p := &process{sys: sys, events: make(chan adapter.Event, 4), read: make(chan struct{})}
	p.cmd = exec.Command(argv[0], argv[1:]...) //nolint:gosec,noctx // the adapter's own command; end and kill stop it
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	adapters := filepath.Dir(sys.dir)
	p.cmd.Env = append(os.Environ(), "PYTHONPATH="+adapters, "PYTHONDONTWRITEBYTECODE=1", "BENCH_ADAPTERS="+adapters,
		"BUILD="+sys.build, "TMPDIR="+r.dir)
	p.cmd.Stderr = &p.stderr
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("start adapter: %w", err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start adapter: %w", err)
	}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start adapter: %w", err)
	}
	go p.listen(out)
	c.Dir, c.Build = sys.statements, sys.build
	if err := p.say(c); err != nil {
		p.kill()
		return nil, err
	}
	return p, nil
}

func (p *process) listen(out io.Reader) {
	defer close(p.read)
	defer close(p.events)
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var e adapter.Event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			continue // a library that writes to standard output
		}
		if e.Event == "count" {
			p.count.Store(e.Count)
			continue
		}
		p.events <- e
	}
}

func (p *process) say(what any) error {
	line, err := json.Marshal(what)
	if err != nil {
		return fmt.Errorf("encode command: %w", err)
	}
	if _, err := p.in.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("%w: tell %s: %w: %s", ErrAdapter, p.sys.Name, err, tail(p.stderr.String(), 1000))
	}
	return nil
}

// expect waits for an event.
func (p *process) expect(ctx context.Context, want string, within time.Duration) (adapter.Event, error) {
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case e, ok := <-p.events:
		switch {
		case !ok:
			return e, fmt.Errorf("%w: %s ended: %s", ErrAdapter, p.sys.Name, tail(p.stderr.String(), 2000))
		case e.Event == "cannot":
			return e, fmt.Errorf("%w: %s", errCannot, e.Text)
		case e.Event != want:
			return e, fmt.Errorf("%w: %s said %s %s where %s was due", ErrAdapter, p.sys.Name, e.Event, e.Text, want)
		}
		return e, nil
	case <-ctx.Done():
		return adapter.Event{}, ctx.Err()
	case <-timer.C:
		return adapter.Event{}, fmt.Errorf("%w: %s did not say %s within %v: %s", ErrAdapter, p.sys.Name, want, within,
			tail(p.stderr.String(), 2000))
	}
}

// meter notes the CPU time and the memory of the adapter and of what it started.
func (p *process) meter() {
	if !p.ended {
		spent, memory := groupUsage(p.cmd.Process.Pid)
		p.spent, p.peak = max(p.spent, spent), max(p.peak, memory)
	}
}

// end closes the adapter's input and waits until it is gone.
func (p *process) end() {
	if p.ended {
		return
	}
	p.meter()
	_ = p.in.Close() // the adapter ends when its input does
	killer := time.AfterFunc(answerWithin, p.kill)
	defer killer.Stop()
	for range p.events { //nolint:revive // what it still says is of no interest
	}
	<-p.read
	_ = p.cmd.Wait() // how it went is known from what it said
	p.ended = true
}

// kill ends the adapter and all that it started, at once.
func (p *process) kill() { _ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) }
