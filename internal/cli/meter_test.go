package cli_test

import (
	"context"
	"io"
	"testing"

	"github.com/creack/pty"

	"github.com/weirmq/weir/internal/cli"
	"github.com/weirmq/weir/internal/pgtest"
)

func TestALongSendAndALongReceiveTellHowFarTheyAreAtATerminal(t *testing.T) {
	t.Parallel()
	s := newShell(t, 0)
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	defer slave.Close()
	screen := &seen{}
	go func() { _, _ = io.Copy(screen, master) }()
	input, typed := io.Pipe()
	ended := make(chan int, 1)
	line := []string{"weir", "--dsn", s.db.DSN}
	go func() { ended <- cli.Run(t.Context(), append(line, "send", "q"), input, io.Discard, slave) }()
	if _, err := io.WriteString(typed, "1\n2\n"); err != nil {
		t.Fatal(err)
	}
	pgtest.WaitFor(t, "what was sent", func() bool { return screen.has("\r2 messages sent, ") })
	_ = typed.Close()
	if code := <-ended; code != 0 {
		t.Errorf("send: exit code %d", code)
	}
	pgtest.WaitFor(t, "the line to go", func() bool { return screen.has("\r\x1b[K") })

	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	go func() {
		ended <- cli.Run(ctx, append(line, "receive", "q", "--follow", "--ack"), input, io.Discard, slave)
	}()
	pgtest.WaitFor(t, "what was received", func() bool { return screen.has("\r2 messages received, ") })
	interrupt()
	if code := <-ended; code != 0 {
		t.Errorf("receive: exit code %d", code)
	}
}
