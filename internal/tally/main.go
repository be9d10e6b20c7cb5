// Command tally says what the stages of `make test` ran and, last of all, what failed and why: the name and the end of
// the output of each test that failed, and the end of what a stage said that failed without one.
//
//	go run ./internal/tally build/tests unit sdk    reads the results there; the stages unit and sdk failed
//
// A stage leaves STAGE*.json (test2json's form) or STAGE*.xml (JUnit's), and all that it said in STAGE.log.
package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// How much is shown: of a test or a stage, and of all together.
const (
	linesMax = 30
	bytesMax = 3000
	allMax   = 15_000
)

// outcome is how one test ended.
type outcome struct {
	source string // the file of results, without its ending
	name   string // with its package, file or class
	state  string // "pass", "fail" or "skip"
	output string // of what failed
}

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: tally FOLDER [FAILED STAGE]...")
		os.Exit(2)
	}
	if err := tell(os.Stdout, os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "tally:", err)
		os.Exit(1)
	}
}

// tell writes the counts and what failed.
func tell(w io.Writer, dir string, stages []string) error {
	outcomes, err := readAll(dir)
	if err != nil {
		return err
	}
	counts := map[string]int{}
	var failed []outcome
	for _, o := range outcomes {
		counts[o.state]++
		if o.state == "fail" {
			failed = append(failed, o)
		}
	}
	for _, stage := range stages {
		if explained(failed, stage) {
			continue
		}
		said, err := os.ReadFile(filepath.Join(dir, stage+".log"))
		if err != nil {
			return fmt.Errorf("read what a stage said: %w", err)
		}
		failed = append(failed, outcome{source: stage, name: "make " + stage, output: untilFirst(string(said))})
	}
	room := allMax
	for i, o := range failed {
		output := end(o.output, min(bytesMax, room/(len(failed)-i)))
		room -= len(output)
		fmt.Fprintf(w, "--- FAILED %s (%s)\n%s", o.name, o.source, output)
	}
	fmt.Fprintf(w, "%d passed, %d failed, %d skipped\n", counts["pass"], counts["fail"], counts["skip"])
	for _, o := range failed {
		fmt.Fprintf(w, "failed: %s\n", o.name)
	}
	return nil
}

// explained reports whether a test of a stage failed.
func explained(failed []outcome, stage string) bool {
	for _, o := range failed {
		if o.source == stage || strings.HasPrefix(o.source, stage+"-") {
			return true
		}
	}
	return false
}

// untilFirst returns what a stage said until make told of the first failure: other parts of the stage went on after it.
func untilFirst(said string) string {
	if before, _, failed := strings.Cut(said, ": *** ["); failed {
		return before
	}
	return said
}

// end returns the last lines of a text, so many and so long at most.
func end(text string, size int) string {
	text = strings.TrimSpace(text)
	if cut := len(text) - size; cut > 0 {
		text = text[cut:]
		if _, whole, ok := strings.Cut(text, "\n"); ok {
			text = whole
		}
	}
	if text == "" {
		return ""
	}
	lines := strings.Split(strings.ToValidUTF8(text, ""), "\n")
	return "    " + strings.Join(lines[max(0, len(lines)-linesMax):], "\n    ") + "\n"
}
