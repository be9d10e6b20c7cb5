package cli_test

import (
	"context"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/creack/pty"

	"github.com/weirmq/weir/internal/cli"
	"github.com/weirmq/weir/internal/pgtest"
)

// terminal is what a person sits at.
type terminal struct {
	*shell

	master, slave *os.File
	screen        *seen
	ended         chan int
}

// atTerminal runs a command line whose streams are all a terminal.
func (s *shell) atTerminal(args ...string) *terminal {
	s.Helper()
	master, slave, err := pty.Open()
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { _ = master.Close() })
	if err := pty.Setsize(slave, &pty.Winsize{Rows: 24, Cols: 100}); err != nil {
		s.Fatal(err)
	}
	t := &terminal{s, master, slave, &seen{}, make(chan int, 1)}
	go func() { _, _ = io.Copy(t.screen, master) }()
	line := append([]string{"weir", "--dsn", s.db.DSN}, args...)
	ctx := context.WithoutCancel(s.Context())
	go func() { t.ended <- cli.Run(ctx, line, slave, slave, slave) }()
	return t
}

// shows waits until the terminal has been told something.
func (t *terminal) shows(what string) {
	t.Helper()
	pgtest.WaitFor(t, what, func() bool { return t.screen.has(what) })
}

// types sends a line.
func (t *terminal) types(text string) {
	t.Helper()
	if _, err := t.master.WriteString(text + "\n"); err != nil {
		t.Fatal(err)
	}
}

// exits waits for the end.
func (t *terminal) exits(code int) {
	t.Helper()
	if got := <-t.ended; got != code {
		t.Errorf("exit code %d, want %d", got, code)
	}
	_ = t.slave.Close()
}

func TestWhatGoesForGoodIsCountedAndAskedFor(t *testing.T) {
	t.Parallel()
	s := newShell(t, 0)
	s.ok("", "group", "create", "q", "g")
	s.ok("1\n2\n3\n", "send", "q")
	s.ok(s.ok("", "receive", "q"), "reject", "q")
	for _, c := range []struct{ args, asks string }{
		{"dead discard q --all", "1 dead letter of group default of queue q go for good. Go on? [y/N]"},
		{"group purge q g", "3 messages of group g of queue q go for good. Go on? [y/N]"},
		{"queue purge q", "5 messages of queue q go for good. Go on? [y/N]"},
		{"group drop q g", "group g of queue q goes, with 3 messages not finished and 0 dead letters, for good. Go on?"},
		{"queue drop q", "queue q goes, with 5 messages that its groups have not finished and 1 dead letter, for good. " +
			"Go on?"},
		{"uninstall", "the engine goes, with 1 queue, 5 messages that its groups have not finished and 1 dead letter, for " +
			"good. Go on?"},
	} {
		args := strings.Fields(c.args)
		wanted, _, _ := strings.Cut(c.asks, " Go on?")
		s.fails(2, strings.TrimSuffix(wanted, "."), "y\n", args...) // nobody sits there
		s.fails(2, "--yes", "", args...)
		for _, no := range []string{"", "n", "nay"} {
			at := s.atTerminal(args...)
			at.shows(c.asks)
			at.types(no)
			at.exits(130)
			at.shows("nothing was changed")
		}
	}
	if n := pgtest.QueryVal[int](t, s.db, "select sum(waiting)::int + sum(dead)::int from weir.stats('q')"); n != 6 {
		t.Fatalf("%d messages and dead letters are left of 6, although all was refused", n)
	}
	at := s.atTerminal("dead", "discard", "q", "--all")
	at.shows("Go on?")
	at.types("y")
	at.exits(0)
	at.shows("discarded 1 dead letter")
	for _, c := range []struct{ args, says string }{
		{"group drop q g --yes", "group g of queue q is gone, with 3 messages not finished and 0 dead letters\n"},
		{"queue purge q --yes", "purged 2 messages\n"},
		{"queue drop q --yes -o json", `{"queue":"q","messages":0,"dead":0}` + "\n"},
	} {
		if out := s.ok("", strings.Fields(c.args)...); out != c.says {
			t.Errorf("%s said %q, want %q", c.args, out, c.says)
		}
	}
	s.fails(3, "WR001", "", "queue", "drop", "q")
	s.fails(3, "WR001", "", "queue", "drop", "q", "--yes")
}

func TestSignalsEndAQuestionWithoutAnAnswer(t *testing.T) {
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
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	ended := make(chan int, 1)
	go func() {
		ended <- cli.Run(ctx, []string{"weir", "--dsn", s.db.DSN, "queue", "drop", "q"}, slave, slave, slave)
	}()
	pgtest.WaitFor(t, "the question", func() bool { return screen.has("Go on?") })
	interrupt()
	if code := <-ended; code != 130 {
		t.Errorf("exit code %d, want 130", code)
	}
	s.ok("", "queue", "show", "q")
}
