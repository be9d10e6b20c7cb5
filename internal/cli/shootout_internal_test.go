package cli

import (
	"context"
	"strings"
	"testing"

	"github.com/weirmq/weir/internal/bench/shootout"
)

func TestAShootoutThatIsInterruptedSaysHowToGoOn(t *testing.T) {
	t.Parallel()
	a := &app{name: "weir"}
	f := a.failureOf(nil, a.endOfShootout(&shootout.InterruptedError{
		At: "in send-100 on pgmq, best, repetition 2", Raw: "raw.jsonl", Kept: 3, Err: context.Canceled,
	}))
	if f.ExitCode != exitInterrupted || !strings.Contains(f.Message, "in send-100 on pgmq, best, repetition 2; raw") ||
		!strings.Contains(f.Hint, "`weir bench report raw.jsonl`") {
		t.Errorf("it says %+v", f)
	}
}
