package bench

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/weirmq/weir/internal/bench/httpload"
)

func httpMetrics(rate, p50 string) []metric {
	return []metric{
		{"rate", "full cycles", "messages/s", "%.0f", rate},
		{"p50", "end to end p50", "ms", "%.2f", p50},
		{"p99", "end to end p99", "ms", "%.2f", "<= 100"},
		{"max", "end to end max", "ms", "%.2f", ""},
		{"lost", "lost", "messages", "%.0f", "<= 0"},
		{"duplicated", "duplicated", "messages", "%.0f", "<= 0"},
		{"rss", "server memory, peak", "MB", "%.0f", "<= 100"},
		{"server_cpu", "server CPU", "us/message", "%.1f", ""},
		{"cpu", "backend CPU", "us/message", "%.1f", ""},
	}
}

// httpCase measures a server of this program with HTTP clients: in a closed loop, or with an open one of so many
// batches a second.
func httpCase(batch int, open bool) func(context.Context, *runner) (values, error) {
	return func(ctx context.Context, r *runner) (values, error) {
		return r.inScratch(ctx, func(s *scratch) (_ values, err error) {
			server, err := startServer(ctx, r.opts.Program, r.databaseDSN(s.name))
			if err != nil {
				return nil, err
			}
			defer func() { err = errors.Join(err, server.stop()) }()
			load := httpload.Load{
				Address: server.address, Queue: queue, Producers: r.opts.Producers, Consumers: r.opts.Consumers,
				Batch: batch, Duration: time.Second, PayloadBytes: r.opts.PayloadBytes,
			}
			if _, err := httpload.Run(ctx, load); err != nil { // plans and connections are made
				return nil, fmt.Errorf("warm up: %w", err)
			}
			load.Duration = r.opts.Duration
			if open {
				load.Rate = r.opts.Rate
			}
			before := server.cpu()
			var meter *cpuMeter
			if s.local {
				meter = startMeter(ctx, s.admin, s.name)
			}
			got, err := httpload.Run(ctx, load)
			var backends usage
			if meter != nil {
				var meterErr error
				backends, meterErr = meter.finish()
				err = errors.Join(err, meterErr)
			}
			if err != nil {
				return nil, fmt.Errorf("run load: %w", err)
			}
			perMessage := func(t time.Duration) float64 { return float64(t.Microseconds()) / float64(max(1, got.Received)) }
			return values{
				"rate": float64(got.Cycled) / got.Elapsed.Seconds(), "lost": float64(got.Lost),
				"duplicated": float64(got.Duplicated), "p50": quantile(got.Times, 0.5), "p99": quantile(got.Times, 0.99),
				"max": quantile(got.Times, 1), "rss": server.peakMB(), "server_cpu": perMessage(server.cpu() - before),
				"cpu": perMessage(backends.load),
			}, nil
		})
	}
}

// httpServer is a `weir serve` of this program.
type httpServer struct {
	cmd     *exec.Cmd
	address string
	log     *bytes.Buffer
	read    chan struct{} // closed when its log has ended
}

// startServer starts a server and waits until it says where it listens.
func startServer(ctx context.Context, program, dsn string) (*httpServer, error) {
	if program == "" {
		var err error
		if program, err = os.Executable(); err != nil {
			return nil, fmt.Errorf("find own program: %w", err)
		}
	}
	s := &httpServer{log: &bytes.Buffer{}, read: make(chan struct{})}
	s.cmd = exec.CommandContext(ctx, program, "serve", "--direct", "--listen", "127.0.0.1:0")
	s.cmd.Env = append(os.Environ(), "WEIR_DSN="+dsn, "PGAPPNAME="+loadApp)
	stderr, err := s.cmd.StderrPipe()
	if err != nil {
		return nil, fmt.Errorf("start server: %w", err)
	}
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start server: %w", err)
	}
	lines := bufio.NewReader(stderr)
	for s.address == "" {
		line, err := lines.ReadString('\n')
		s.log.WriteString(line)
		if err != nil {
			close(s.read)
			return nil, errors.Join(fmt.Errorf("%w: the server did not start: %s", ErrLoad, s.log), s.stop())
		}
		_, s.address, _ = strings.Cut(strings.TrimSpace(line), "http://")
	}
	go func() {
		defer close(s.read)
		_, _ = io.Copy(s.log, lines) // ends with the process
	}()
	return s, nil
}

// stop has the server drain and says how it ended.
func (s *httpServer) stop() error {
	_ = s.cmd.Process.Signal(syscall.SIGTERM) // Wait tells if it is gone already
	<-s.read
	if err := s.cmd.Wait(); err != nil {
		return fmt.Errorf("server ended: %w: %s", err, s.log)
	}
	return nil
}

// peakMB is the most memory that the server had, 0 where that cannot be known.
func (s *httpServer) peakMB() float64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return 0
	}
	kb, _ := strconv.ParseFloat(fields[0], 64) // the kernel writes numbers
	return kb / 1024
}

// cpu is the CPU time of all threads of the server, 0 where that cannot be known.
func (s *httpServer) cpu() time.Duration {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid)) // none where there is no /proc
	spent, _ := parseStat(string(text))
	return spent
}
