package cli

import (
	"strings"
	"testing"

	"github.com/weirmq/weir/internal/engine"
)

func TestTheStatusMarksEstimatesAndNamesWhatKeepsASegment(t *testing.T) {
	t.Parallel()
	by, query, age := "transaction of process 7", "update\nstock", 61.2
	var text strings.Builder
	groupStats(&text, []engine.GroupStats{
		{Queue: "q", Group: "a", Waiting: 5, Exact: true, BlockedBy: &by, BlockerAge: &age, BlockerQuery: &query},
		{Queue: "q", Group: "b", Waiting: 1e6, Claimed: 3, BlockedBy: &by, BlockerAge: &age, BlockerQuery: &query},
	})
	_, rows, _ := strings.Cut(text.String(), "\n")
	const want = "q\ta\t5\t0\t0\t0\t0\t-\t0\t0\nq\tb\t~1000000\t3\t~0\t~0\t~0\t-\t0\t0\n" +
		"\nq keeps its oldest segment: transaction of process 7, open for 61s: update stock\n"
	if rows != want {
		t.Errorf("printed\n%s\nwant\n%s", rows, want)
	}
}
