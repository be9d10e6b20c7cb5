package main

import (
	"bufio"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// readAll reads all files of results in a folder, in the order of their names.
func readAll(dir string) ([]outcome, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		return nil, fmt.Errorf("list results: %w", err)
	}
	var all []outcome
	for _, path := range files {
		kind := filepath.Ext(path)
		read, ok := map[string]func([]byte) ([]outcome, error){".json": readGo, ".xml": readJUnit}[kind]
		if !ok {
			continue
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("read results: %w", err)
		}
		outcomes, err := read(data)
		if err != nil {
			return nil, fmt.Errorf("read results of %s: %w", path, err)
		}
		for _, o := range outcomes {
			o.source = strings.TrimSuffix(filepath.Base(path), kind)
			all = append(all, o)
		}
	}
	return all, nil
}

// event is a line of test2json. See `go doc test2json`.
type event struct {
	Action, Package, Test, Output, ImportPath, FailedBuild string
}

// readGo reads what test2json wrote. A test that failed for its subtests, and a package for its tests, is not told
// again; a package that failed without any, as one that does not build, is.
func readGo(data []byte) ([]outcome, error) {
	var all []outcome
	var failures []event
	output := map[event]string{} // by package and test
	builds := map[string]string{}
	lines := bufio.NewScanner(strings.NewReader(string(data)))
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var e event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return nil, fmt.Errorf("line %q: %w", lines.Text(), err)
		}
		of := event{Package: e.Package, Test: e.Test}
		switch {
		case e.Action == "build-output":
			builds[e.ImportPath] += e.Output
		case e.Action == "output":
			output[of] += e.Output
		case e.Action == "fail":
			output[of] = builds[e.FailedBuild] + output[of]
			failures = append(failures, of)
		case e.Test != "" && (e.Action == "pass" || e.Action == "skip"):
			all = append(all, outcome{name: e.Package + " " + e.Test, state: e.Action})
			delete(output, of)
		}
	}
	for _, of := range failures {
		if !withinFails(failures, of) {
			name := strings.TrimSpace(of.Package + " " + of.Test)
			all = append(all, outcome{name: name, state: "fail", output: output[of]})
		}
	}
	return all, lines.Err()
}

// withinFails reports whether something failed within what failed.
func withinFails(failures []event, of event) bool {
	for _, f := range failures {
		if f.Package == of.Package && f.Test != of.Test && (of.Test == "" || strings.HasPrefix(f.Test, of.Test+"/")) {
			return true
		}
	}
	return false
}

// suite is JUnit's testsuite or testsuites, of whatever depth.
type suite struct {
	Suites []suite `xml:"testsuite"`
	Cases  []struct {
		Class    string   `xml:"classname,attr"`
		Name     string   `xml:"name,attr"`
		Failures []reason `xml:"failure"`
		Errors   []reason `xml:"error"`
		Skipped  *reason  `xml:"skipped"`
		Out      string   `xml:"system-out"`
		Err      string   `xml:"system-err"`
	} `xml:"testcase"`
}

// reason is why a test case failed or was left out.
type reason struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// readJUnit reads what pytest and node wrote. A runner that was killed leaves a file without an end, or an empty one.
func readJUnit(data []byte) ([]outcome, error) {
	var top suite
	if broken := xml.Unmarshal(data, &top); broken != nil {
		said := "its results have no end: " + broken.Error()
		return []outcome{{name: "the runner", state: "fail", output: said}}, nil //nolint:nilerr // it is told
	}
	return outcomesOf(top), nil
}

func outcomesOf(s suite) []outcome {
	var all []outcome
	for _, c := range s.Cases {
		o := outcome{name: strings.TrimSpace(c.Class + " " + c.Name), state: "pass"}
		for _, r := range append(c.Failures, c.Errors...) {
			o.state, o.output = "fail", o.output+c.Out+c.Err+r.Message+"\n"+r.Text+"\n"
		}
		if c.Skipped != nil {
			o.state = "skip"
		}
		all = append(all, o)
	}
	for _, within := range s.Suites {
		all = append(all, outcomesOf(within)...)
	}
	return all
}
