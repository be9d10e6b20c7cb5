package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weirmq/weir/bench/builtin"
	"github.com/weirmq/weir/bench/shootout"
)

func TestAShootoutThatIsInterruptedSaysHowToGoOn(t *testing.T) {
	t.Parallel()
	text := told(&shootout.InterruptedError{
		At: "in send-100 on pgmq, best, repetition 2", Raw: "raw.jsonl", Kept: 3, Err: context.Canceled,
	})
	if !strings.Contains(text, "in send-100 on pgmq, best, repetition 2; raw") ||
		!strings.Contains(text, "`weir-bench report raw.jsonl`") {
		t.Errorf("it says %s", text)
	}
}

func TestEveryAdapterHasACommandOrIsBuiltIn(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("adapters/*/adapter.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("adapters %v: %v", files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var a struct{ Command []string }
		if err := json.Unmarshal(text, &a); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		if _, ok := builtin.Systems()[filepath.Base(filepath.Dir(file))]; ok == (len(a.Command) > 0) {
			t.Errorf("%s: command %v, built in %v", file, a.Command, ok)
		}
	}
}
