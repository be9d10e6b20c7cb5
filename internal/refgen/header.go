package main

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// object is what one SQL file defines and says about it.
type object struct {
	name       string      // as called: weir.ack
	purpose    string      // one paragraph
	params     [][2]string // name and meaning
	returns    string
	raises     string
	locks      string
	signatures []string    // create or replace function ... returns ..., without the verb
	fields     [][3]string // of a type: name, type and meaning
}

// title is a heading of install.sql with the files below it.
type title struct {
	name  string
	paths []string // relative to sql/
}

// readTitles reads the table of contents.
func readTitles(root string) ([]title, error) {
	text, err := os.ReadFile(filepath.Join(root, "sql", "install.sql"))
	if err != nil {
		return nil, fmt.Errorf("read table of contents: %w", err)
	}
	var titles []title
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "-- "); ok {
			titles = append(titles, title{name: name})
		}
		if path, ok := strings.CutPrefix(line, `\ir `); ok && len(titles) > 0 {
			last := &titles[len(titles)-1]
			last.paths = append(last.paths, path)
		}
	}
	return titles, nil
}

// readObject reads one file of the table of contents.
func readObject(root, path string) (object, error) {
	text, err := os.ReadFile(filepath.Join(root, "sql", filepath.FromSlash(path)))
	if err != nil {
		return object{}, fmt.Errorf("read object: %w", err)
	}
	o, err := parseObject(string(text))
	if err != nil {
		return o, fmt.Errorf("parse sql/%s: %w", path, err)
	}
	return o, nil
}

var (
	sectionPat   = regexp.MustCompile(`^(Parameters|Returns|Raises|Locks):\s*(.*)$`)
	paramPat     = regexp.MustCompile(`^  (\w+)\s+(.*)$`)
	signaturePat = regexp.MustCompile(`(?s)create or replace (?:function|procedure) (.*?)\nlanguage `)
	fieldPat     = regexp.MustCompile(`^\s+(\w+)\s+([\w.]+(?:\[\])?),?\s+-- (.*)$`)
)

// parseObject takes a file apart: its header of comments, its signatures, the fields of a type.
func parseObject(text string) (object, error) {
	var o object
	section := "purpose"
	lines := strings.Split(text, "\n")
	o.name, _, _ = strings.Cut(strings.TrimPrefix(lines[0], "-- "), "(")
	rest := lines[1:]
	for open := lines[0]; strings.Count(open, "(") > strings.Count(open, ")") && len(rest) > 0; rest = rest[1:] {
		open += rest[0]
	}
	for _, line := range rest {
		line, ok := strings.CutPrefix(line, "--")
		if !ok {
			break
		}
		line = strings.TrimPrefix(line, " ")
		if m := sectionPat.FindStringSubmatch(line); m != nil {
			section, line = m[1], m[2]
		}
		o.add(section, line)
	}
	for _, m := range signaturePat.FindAllStringSubmatch(text, -1) {
		o.signatures = append(o.signatures, m[1])
	}
	for _, line := range lines {
		if m := fieldPat.FindStringSubmatch(line); m != nil && len(o.signatures) == 0 {
			o.fields = append(o.fields, [3]string{m[1], m[2], m[3]})
		}
	}
	if o.purpose == "" || !strings.HasPrefix(o.name, "weir") || len(o.signatures)+len(o.fields) == 0 {
		return o, fmt.Errorf("%w: it needs a name, a purpose, and a function or a type below", errHeader)
	}
	if len(o.signatures) > 0 && (o.returns == "" || o.raises == "" || o.locks == "") {
		return o, fmt.Errorf("%w: it needs the lines Returns, Raises and Locks", errHeader)
	}
	return o, nil
}

// add puts a line of the header where it belongs.
func (o *object) add(section, line string) {
	join := func(text *string) { *text = strings.TrimSpace(*text + " " + strings.TrimSpace(line)) }
	switch section {
	case "Parameters":
		if m := paramPat.FindStringSubmatch(line); m != nil && !strings.HasPrefix(m[0], "   ") {
			o.params = append(o.params, [2]string{m[1], m[2]})
		} else if n := len(o.params); n > 0 && strings.TrimSpace(line) != "" {
			join(&o.params[n-1][1])
		}
	case "Returns":
		join(&o.returns)
	case "Raises":
		join(&o.raises)
	case "Locks":
		join(&o.locks)
	default:
		join(&o.purpose)
	}
}

// readErrorNames returns the names of the SQLSTATEs in errors.csv.
func readErrorNames(root string) (map[string]string, error) {
	f, err := os.Open(filepath.Join(root, "errors.csv"))
	if err != nil {
		return nil, fmt.Errorf("read errors: %w", err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("parse errors: %w", err)
	}
	names := map[string]string{}
	for _, row := range rows {
		names[row[0]] = row[1]
	}
	return names, nil
}
