package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// told is what tally says of files of results when stages failed, or only of stages after "-stage".
func told(t *testing.T, files map[string]string, stages ...string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	only := len(stages) > 0 && stages[0] == "-stage"
	if only {
		stages = stages[1:]
	}
	var said strings.Builder
	if err := tell(&said, dir, stages, only); err != nil {
		t.Fatal(err)
	}
	return said.String()
}

const goResults = `{"Action":"output","Package":"p","Test":"TestBad/one","Output":"the cause\n"}
{"Action":"output","Package":"p","Test":"TestGood","Output":"chatter\n"}
{"Action":"pass","Package":"p","Test":"TestGood"}
{"Action":"skip","Package":"p","Test":"TestSkipped"}
{"Action":"fail","Package":"p","Test":"TestBad/one"}
{"Action":"fail","Package":"p","Test":"TestBad"}
{"Action":"fail","Package":"p"}
{"ImportPath":"q [q.test]","Action":"build-output","Output":"q.go:1: undefined\n"}
{"ImportPath":"q [q.test]","Action":"build-fail"}
{"Action":"output","Package":"q","Output":"does not build\n"}
{"Action":"fail","Package":"q","FailedBuild":"q [q.test]"}
`

const junitResults = `<?xml version="1.0"?><testsuites><testsuite name="pytest">
<testcase classname="tests.test_worker" name="test_good"/>
<testcase classname="tests.test_worker" name="test_bad">
<failure message="assert 1">E  assert 1 == 2</failure></testcase>
<testcase classname="tests.test_worker" name="test_left"><skipped/></testcase>
<testsuite name="deeper"><testcase name="worse">
<error message="no end">at worker.test.js:1</error></testcase></testsuite>
</testsuite></testsuites>`

func TestEachTestThatFailedIsNamedWithTheEndOfItsOutputWhateverRanIt(t *testing.T) {
	t.Parallel()
	got := told(t, map[string]string{"unit.json": goResults, "sdk-python.xml": junitResults}, "unit", "sdk")
	for _, part := range []string{
		"--- FAILED p TestBad/one (unit)\n    the cause\n",
		"--- FAILED q (unit)\n    q.go:1: undefined\n    does not build\n",
		"--- FAILED tests.test_worker test_bad (sdk-python)\n    assert 1\n    E  assert 1 == 2\n",
		"--- FAILED worse (sdk-python)\n    no end\n    at worker.test.js:1\n", "2 passed, 4 failed, 2 skipped\n",
	} {
		if !strings.Contains(got, part) {
			t.Errorf("%q is missing in\n%s", part, got)
		}
	}
	for _, part := range []string{"TestBad (", "p (unit)", "chatter", "make "} {
		if strings.Contains(got, part) {
			t.Errorf("%q is in\n%s", part, got)
		}
	}
	if last := "failed: q\n"; !strings.HasSuffix(got, last) {
		t.Errorf("the end is not %q:\n%s", last, got)
	}
}

func TestAStageThatFailedWithoutATestIsToldByWhatItSaid(t *testing.T) {
	t.Parallel()
	got := told(t, map[string]string{
		"check.log":      "the linter's finding\nmake[1]: *** [Makefile:1: lint] Error 1\nother chatter\n",
		"sdk.log":        "all is well\n",
		"sdk-python.xml": junitResults,
		"e2e.xml":        "<testsu",
	}, "check", "sdk", "e2e")
	if !strings.Contains(got, "--- FAILED make check (check)\n    the linter's finding\n") ||
		!strings.Contains(got, "have no end") || strings.Contains(got, "all is well") || strings.Contains(got, "other") {
		t.Error(got)
	}
}

func TestAStageIsToldByItself(t *testing.T) {
	t.Parallel()
	files := map[string]string{"unit.json": goResults, "sdk-python.xml": junitResults}
	got := told(t, files, "-stage", "unit")
	if !strings.HasPrefix(got, "--- FAILED p TestBad/one (unit)\n    the cause\n") ||
		strings.Contains(got, "sdk-python") || strings.Contains(got, "passed") {
		t.Error(got)
	}
}

func TestWhatATestFoundIsToldHoweverMuchItSaidAfterwards(t *testing.T) {
	t.Parallel()
	var all strings.Builder
	said := func(line string) {
		fmt.Fprintf(&all, `{"Action":"output","Package":"p","Test":"TestBad","Output":"%s\n"}`+"\n", line)
	}
	said("    bad_test.go:12: lost message 7")
	for n := range 1000 {
		said(fmt.Sprintf("chatter %d", n))
	}
	all.WriteString(`{"Action":"fail","Package":"p","Test":"TestBad"}` + "\n")
	got := told(t, map[string]string{"unit.json": all.String()}, "unit")
	if !strings.Contains(got, "lost message 7") || !strings.Contains(got, "chatter 999") ||
		strings.Contains(got, "chatter 500") {
		t.Error(got)
	}
}

func TestWhatIsToldIsBounded(t *testing.T) {
	t.Parallel()
	var all strings.Builder
	for n := range 40 {
		for line := range 200 {
			fmt.Fprintf(&all, `{"Action":"output","Package":"p","Test":"Test%d","Output":"line %d of it ä\n"}`+"\n", n, line)
		}
		fmt.Fprintf(&all, `{"Action":"fail","Package":"p","Test":"Test%d"}`+"\n", n)
	}
	got := told(t, map[string]string{"unit.json": all.String()}, "unit")
	if len(got) > allMax+40*(linesMax*len("    ")+100) || strings.Count(got, "line 199 of it") != 40 ||
		strings.Contains(got, "line 100 of it") {
		t.Errorf("%d bytes:\n%s", len(got), got)
	}
}
