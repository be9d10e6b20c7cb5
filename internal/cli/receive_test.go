package cli_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/weirmq/weir/internal/pgtest"
)

func TestReceiveTakesAsManyAsAskedForAndNoMore(t *testing.T) {
	t.Parallel()
	s := newShell(t, 0)
	s.ok("", "queue", "create", "wide")
	for i := range 5 {
		s.ok("", "send", "wide", strconv.Itoa(i))
	}
	if got := strings.Count(s.ok("", "receive", "wide", "--max", "4"), "\n"); got != 4 {
		t.Errorf("received %d of 4", got)
	}
	if got := strings.Count(s.ok("", "receive", "wide", "--max", "4"), "\n"); got != 1 {
		t.Errorf("received %d of the 1 that was left", got)
	}
	s.fails(2, "--max 0", "", "receive", "wide", "--max", "0")
}

func TestReceiveWithAckFinishesWhatItWrote(t *testing.T) {
	t.Parallel()
	s := newShell(t, 0)
	s.ok("1\n2\n", "send", "q")
	if got := payloads(t, s.ok("", "receive", "q", "--max", "2", "--ack")); got != "1 2" {
		t.Errorf("received %s", got)
	}
	want := `"waiting":0,"expired":0,"claimed":0,"delayed":0,"parked":0,"dead":0`
	if out := s.ok("", "status", "-o", "json"); !strings.Contains(out, want) {
		t.Errorf("status %s", out)
	}
}

// closed is an output that nobody reads any more.
type closed struct{}

func (closed) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestWhatCouldNotBeWrittenIsNotAcknowledgedAndDueAgain(t *testing.T) {
	t.Parallel()
	s := newShell(t, 0)
	s.ok("1\n", "send", "q")
	if r := s.run(t.Context(), strings.NewReader(""), closed{}, "receive", "q", "--ack"); r.code != 1 ||
		!strings.Contains(r.errors, "broken pipe") {
		t.Errorf("exit code %d: %s", r.code, r.errors)
	}
	if list := lines[received](t, s.ok("", "receive", "q")); len(list) != 1 || list[0].Attempt != 1 {
		t.Errorf("received %+v", list)
	}
}

func TestFollowWritesWhatIsSentMeanwhileUntilItIsInterrupted(t *testing.T) {
	t.Parallel()
	s := newShell(t, 0)
	ctx, interrupt := context.WithCancel(t.Context())
	reader, writer := io.Pipe()
	done := make(chan result, 1)
	go func() { done <- s.run(ctx, strings.NewReader(""), writer, "receive", "q", "--follow", "--ack") }()
	written := json.NewDecoder(reader)
	for i := range 3 {
		s.ok("", "send", "q", strconv.Itoa(i))
		var m received
		if err := written.Decode(&m); err != nil || string(m.Payload) != strconv.Itoa(i) {
			t.Fatalf("%+v, %v", m, err)
		}
	}
	pgtest.WaitForRow(t, s.db, `select exists (select from pg_stat_activity
		where datname = current_database() and application_name = 'weir listener')`)
	interrupt()
	if r := <-done; r.code != 0 || r.errors != "" {
		t.Errorf("interrupted: %+v", r)
	}
	pgtest.WaitFor(t, "the last ack", func() bool {
		return strings.Contains(s.ok("", "status", "-o", "json"), `"waiting":0,"expired":0,"claimed":0`)
	})
}

func TestReceiveWaitsForAFirstMessageWhenAskedTo(t *testing.T) {
	t.Parallel()
	s := newShell(t, 0)
	done := make(chan result, 1)
	go func() { done <- s.run(t.Context(), strings.NewReader(""), nil, "receive", "q", "--wait", "1m") }()
	s.ok("", "send", "q", "1")
	if r := <-done; r.code != 0 || payloads(t, r.out) != "1" {
		t.Errorf("%+v", r)
	}
}

func TestTailShowsWhatComesAndTakesNothingAway(t *testing.T) {
	t.Parallel()
	s := newShell(t, 0)
	s.ok("", "send", "q", "1")
	ctx, stop := context.WithCancel(t.Context())
	reader, writer := io.Pipe()
	ended := make(chan result, 1)
	go func() { ended <- s.run(ctx, nil, writer, "tail", "q") }()
	pgtest.WaitForRow(t, s.db, `select exists (select from pg_stat_activity
		where datname = current_database() and state = 'idle' and query like '%receive_records%')`)
	s.ok("", "send", "q", "2")
	line, err := bufio.NewReader(reader).ReadString('\n')
	if err != nil || payloads(t, line) != "2" {
		t.Errorf("tail wrote %q: %v", line, err)
	}
	stop()
	if r := <-ended; r.code != 0 || r.errors != "" {
		t.Errorf("tail ended with %d: %s", r.code, r.errors)
	}
	if groups := s.ok("", "group", "list", "q"); strings.Contains(groups, "tail-") {
		t.Errorf("it left a group behind: %s", groups)
	}
	if got := payloads(t, s.ok("", "receive", "q", "--max", "5")); got != "1 2" {
		t.Errorf("the default group is left %s", got)
	}
	if got := payloads(t, s.ok("", "tail", "q", "--start", "start", "--max", "2")); got != "1 2" {
		t.Errorf("from the start: %s", got)
	}
}

func TestAReaderThatHasEnoughEndsACommandQuietlyAndCostsNoAttempt(t *testing.T) {
	t.Parallel()
	s := newShell(t, 0)
	s.ok("1\n2\n", "send", "q")
	for _, args := range [][]string{
		{"receive", "q", "--ack"},
		{"receive", "q", "--follow", "--ack"},
		{"queue", "list"},
		{"peek", "q", "-o", "json"},
		{"status"},
	} {
		read, write, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		_ = read.Close() // as head does
		r := s.run(t.Context(), strings.NewReader(""), write, args...)
		_ = write.Close()
		if r.code != 141 || r.errors != "" {
			t.Errorf("%v: exit code %d, said %q", args, r.code, r.errors)
		}
	}
	list := lines[received](t, s.ok("", "receive", "q", "--max", "2"))
	if len(list) != 2 || list[0].Attempt != 1 || list[1].Attempt != 1 {
		t.Errorf("received %v, want both as their first attempt", list)
	}
}

func TestAReaderWhoHasSeenEnoughIdsKeepsNoLineFromBeingSent(t *testing.T) {
	t.Parallel()
	s := newShell(t, 0)
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer write.Close()
	_ = read.Close()
	if r := s.run(t.Context(), strings.NewReader(strings.Repeat("1\n", 2500)), write, "send", "q"); r.code != 0 ||
		r.errors != "" {
		t.Errorf("exit code %d, said %q", r.code, r.errors)
	}
	if n := pgtest.QueryVal[int](t, s.db, "select waiting::int from weir.stats('q')"); n != 2500 {
		t.Errorf("%d messages are sent, want 2500", n)
	}
}
