package shootout

import (
	"context"
	"fmt"
	"log/slog"
	"syscall"
	"time"
)

// Host is a server to measure on, for benchmarks that have a driver of their own.
type Host struct {
	server *server
	spent  time.Duration // CPU time of what was killed
}

// OpenHost starts a server, or uses the one that the DSN, a URL, names.
func OpenHost(ctx context.Context, dsn string, log *slog.Logger) (*Host, error) {
	s, err := openServer(ctx, dsn, "", log)
	if err != nil {
		return nil, err
	}
	return &Host{server: s}, nil
}

// Close stops the server if it was started here, and removes its data.
func (h *Host) Close(ctx context.Context) error { return h.server.close(ctx) }

// Create makes an empty database and returns its name and DSN.
func (h *Host) Create(ctx context.Context) (name, dsn string, err error) {
	name, err = h.server.create(ctx, "template0")
	return name, h.server.database(name), err
}

// Drop removes a database that Create made.
func (h *Host) Drop(ctx context.Context, name string) error { return h.server.drop(ctx, name) }

// Machine tells what is measured on.
func (h *Host) Machine(ctx context.Context) (Machine, error) { return h.server.machine(ctx) }

// Usage returns the CPU time of the server's processes, those that have ended too, and the private memory of those that
// live; false when the server is not ours to look at.
func (h *Host) Usage() (spent time.Duration, bytes int64, ok bool) {
	pid := h.server.postmaster()
	if pid == 0 {
		return 0, 0, false
	}
	spent, bytes = serverUsage(pid)
	return h.spent + spent, bytes, true
}

// Kill ends the first process of the server, which must have been started here, by SIGKILL, and starts it again on its
// data.
func (h *Host) Kill(ctx context.Context) error {
	own := h.server.own
	spent, _ := serverUsage(own.PID())
	if err := own.Signal(syscall.SIGKILL); err != nil {
		return fmt.Errorf("kill server: %w", err)
	}
	_ = own.Wait() // it tells of the kill
	h.spent += spent
	return h.Restart(ctx)
}

// Restart stops the server if it runs, which must have been started here, and starts it again.
func (h *Host) Restart(ctx context.Context) error {
	if err := h.server.own.Restart(ctx); err != nil {
		return fmt.Errorf("start server again: %w", err)
	}
	return nil
}

// GroupUsage returns the CPU time of a process group, its processes that have ended too, and the memory it occupies.
func GroupUsage(group int) (spent time.Duration, bytes int64) { return groupUsage(group) }
