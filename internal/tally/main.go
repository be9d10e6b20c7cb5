// Command tally says what the stages of `make test` ran and what failed and why: the name of each test that failed with
// what it found and the end of its output, and the end of what a stage said that failed without one.
//
//	go run ./internal/tally build/tests unit sdk    reads the results there; the stages unit and sdk failed
//	go run ./internal/tally -stage build/tests unit tells only what failed in the stage unit
//
// A stage leaves STAGE*.json (test2json's form) or STAGE*.xml (JUnit's), and all that it said in STAGE.log.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// How much is shown at most: of a test or a stage, and of all together.
const (
	linesMax = 20
	bytesMax = 2000
	allMax   = 5000
)

// outcome is how one test ended.
type outcome struct {
	source string // the file of results, without its ending
	name   string // with its package, file or class
	state  string // "pass", "fail" or "skip"
	output string // of what failed
}

func main() {
	only := flag.Bool("stage", false, "tell only what failed in the stages, and count nothing")
	flag.Parse()
	if flag.NArg() < 1 {
		fmt.Fprintln(os.Stderr, "usage: tally [-stage] FOLDER [FAILED STAGE]...")
		os.Exit(2)
	}
	if err := tell(os.Stdout, flag.Arg(0), flag.Args()[1:], *only); err != nil {
		fmt.Fprintln(os.Stderr, "tally:", err)
		os.Exit(1)
	}
}

// tell writes what failed and the counts, or only what failed in the stages.
func tell(w io.Writer, dir string, stages []string, only bool) error {
	outcomes, err := readAll(dir)
	if err != nil {
		return err
	}
	counts := map[string]int{}
	var failed []outcome
	for _, o := range outcomes {
		counts[o.state]++
		if o.state == "fail" && (!only || slices.ContainsFunc(stages, o.within)) {
			failed = append(failed, o)
		}
	}
	for _, stage := range stages {
		if slices.ContainsFunc(failed, func(o outcome) bool { return o.within(stage) }) {
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
		output := short(o.output, min(bytesMax, room/(len(failed)-i)))
		room -= len(output)
		fmt.Fprintf(w, "--- FAILED %s (%s)\n%s", o.name, o.source, output)
	}
	if only {
		return nil
	}
	fmt.Fprintf(w, "%d passed, %d failed, %d skipped\n", counts["pass"], counts["fail"], counts["skip"])
	for _, o := range failed {
		fmt.Fprintf(w, "failed: %s\n", o.name)
	}
	return nil
}

// within reports whether an outcome is of a stage.
func (o outcome) within(stage string) bool {
	return o.source == stage || strings.HasPrefix(o.source, stage+"-")
}

// untilFirst returns what a stage said until make told of the first failure: other parts of the stage went on after it.
func untilFirst(said string) string {
	if before, _, failed := strings.Cut(said, ": *** ["); failed {
		return before
	}
	return said
}

// telling is a line that says what a test found: a place in a test, an assertion, a panic, a race.
var telling = regexp.MustCompile(
	`_test\.(go|py):\d+: |\.test\.[jt]s:\d+|^E  |Error: |^panic: |DATA RACE|^\s+Test\w+ \(`)

// short returns a text that is so long at most: all of it, or the first lines that tell and the last of all lines.
func short(text string, size int) string {
	text = strings.TrimRight(strings.ToValidUTF8(text, ""), "\n ")
	lines := strings.Split(text, "\n")
	if len(text) > size || len(lines) > linesMax {
		told := slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return !telling.MatchString(line) })
		lines = slices.Concat(head(told, linesMax/2, size/2), tail(lines, linesMax/2, size/2))
	}
	if text == "" {
		return ""
	}
	return "    " + strings.Join(lines, "\n    ") + "\n"
}

// head returns the first lines, so many and so long together at most; the first may be cut.
func head(lines []string, count, size int) []string {
	var some []string
	for _, line := range lines[:min(count, len(lines))] {
		if size -= len(line); size < 0 {
			if len(some) == 0 {
				some = append(some, strings.ToValidUTF8(line[:len(line)+size], ""))
			}
			break
		}
		some = append(some, line)
	}
	return some
}

// tail is head from the end.
func tail(lines []string, count, size int) []string {
	some := slices.Clone(lines)
	slices.Reverse(some)
	some = head(some, count, size)
	slices.Reverse(some)
	return some
}
