package builtin

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/weirmq/weir/bench/adapter"
	"github.com/weirmq/weir/internal/bench/httpload"
)

// insist makes a call and, in a run in which something is killed, makes it again while the server says that it
// cannot.
func insist(c *adapter.Command, call func() ([]byte, error)) ([]byte, error) {
	for began := time.Now(); ; time.Sleep(redialEvery) {
		answer, err := call()
		if err == nil || c.LeaseS == 0 || !errors.Is(err, httpload.ErrServer) || time.Since(began) > redialFor {
			return answer, err
		}
	}
}

// runBeside runs a program that serves a system's clients until ctx ends: it calls ready when the program has been
// started, and then ends the program by SIGTERM. What it prints goes to standard error.
func runBeside(ctx context.Context, env []string, ready func() error, program string, args ...string) error {
	cmd := exec.Command(program, args...) //nolint:gosec,noctx // what the adapter's install put there; ends below
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", program, err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var stopped atomic.Bool
	failure := make(chan error, 1)
	go func() {
		err := ready()
		failure <- err
		if err == nil {
			<-ctx.Done()
		}
		stopped.Store(true)
		_ = cmd.Process.Signal(syscall.SIGTERM) // Wait tells if it is gone already
	}()
	err := cmd.Wait()
	if !stopped.Load() {
		return fmt.Errorf("%w: %s ended by itself: %w", errEnded, program, err)
	}
	return <-failure // how it ends after a signal is its own affair
}
