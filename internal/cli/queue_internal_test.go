package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/weirmq/weir/internal/engine"
)

func TestTheStatusMarksEstimatesAndNamesWhatKeepsASegment(t *testing.T) {
	t.Parallel()
	by, query, age := "transaction of process 7", "update\nstock", 61.2
	var text strings.Builder
	groupStats(&text, []engine.GroupStats{
		{
			Queue: "q", Group: "a", Waiting: 5, Exact: true, OldestAge: 5400, SentRate: 2.5, Log: "main", Expired: 2,
			BlockedBy: &by, BlockerAge: &age, BlockerQuery: &query,
		},
		{
			Queue: "q", Group: "b", Waiting: 1e6, Claimed: 3, Log: "main",
			BlockedBy: &by, BlockerAge: &age, BlockerQuery: &query,
		},
	})
	_, rows, _ := strings.Cut(text.String(), "\n")
	const want = "q\ta\t5\t0\t0\t0\t0\t90m\t2.5\t0.0\nq\tb\t~1000000\t3\t~0\t~0\t~0\t-\t0.0\t0.0\n" +
		"\n2 waiting for a of q were in the hands of consumers whose lease has ended\n" +
		"\nthe log main keeps its oldest segment: transaction of process 7, open for 61s: update stock\n"
	if rows != want {
		t.Errorf("printed\n%s\nwant\n%s", rows, want)
	}
}

func TestTablesWriteTimesAndSizesInOneWay(t *testing.T) {
	t.Parallel()
	for want, value := range map[string]any{
		"1m": engine.Millis(time.Minute), "48h": engine.Millis(48 * time.Hour), "1h30m": engine.Millis(90 * time.Minute),
		"10ms": engine.Millis(10 * time.Millisecond), "0s": engine.Millis(0), "1m30s": engine.Millis(90 * time.Second),
		"64 MiB": bytesOf(64 << 20), "512 B": bytesOf(512), "1.5 KiB": bytesOf(1536), "30s": engine.Millis(30 * time.Second),
	} {
		if got := cell(value); got != want {
			t.Errorf("%v is %q, want %q", value, got, want)
		}
	}
}

func TestATextDoesNothingToATerminalButToBeRead(t *testing.T) {
	t.Parallel()
	if got := cell("a\x1b[2Jb\u009bc\u202eevil\u2066"); got != "a [2Jb c\ufffdevil\ufffd" {
		t.Errorf("it is %q", got)
	}
}
