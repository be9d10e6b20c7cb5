package tidy

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Limits of any file.
const (
	fileLinesMax = 600
	lineMax      = 120
	blobMax      = 256 << 10
	readmeTop    = 20
)

// written are the kinds of files that people write and whose length counts.
var written = []string{".go", ".sql", ".ts", ".tsx", ".js", ".css", ".py", ".sh", ".yml", ".yaml", ".md", ".mk"}

// treeRules are about the repository as a whole.
func treeRules() []Rule {
	return []Rule{
		{"file-length", "A file has at most 600 lines.", checkFileLength},
		{"line-length", "A line has at most 120 characters; tables and links may have more.", checkLineLength},
		{"blob-size", "No tracked file is over 256 KiB.", checkBlobs},
		{"build-output", "No build output is tracked.", checkBuildOutput},
		{"generated-mark", "Generated files carry the mark and have _generated in their name or a folder.", checkMarks},
		{"readme-commands", "The README opens with make up and make test; documents name real targets.", checkCommands},
		{"readme-map", "The README's map names every folder of the root and of internal/.", checkMap},
	}
}

// counted returns the files whose lines are counted.
func (t *Tree) counted() []*File {
	var found []*File
	for _, f := range t.files {
		known := slices.Contains(written, path.Ext(f.Path)) || path.Base(f.Path) == "Makefile" || f.in(".ci/")
		if known && !f.generated() && !f.in("sql/golden/") && !strings.Contains("/"+f.Path, "/testdata/") {
			found = append(found, f)
		}
	}
	return found
}

func checkFileLength(t *Tree, report Report) {
	for _, f := range t.counted() {
		if n := len(f.lines()); n > fileLinesMax {
			report(f.Path, 0, "%d lines, at most %d", n, fileLinesMax)
		}
	}
}

func checkLineLength(t *Tree, report Report) {
	for _, f := range t.counted() {
		for i, line := range f.lines() {
			if n := utf8.RuneCountInString(line); n > lineMax && !mayBeLong(line, path.Ext(f.Path)) {
				report(f.Path, i+1, "%d characters, at most %d", n, lineMax)
			}
		}
	}
}

// mayBeLong reports whether a line cannot be broken: a table, a link, a directive.
func mayBeLong(line, ext string) bool {
	line = strings.TrimSpace(line)
	if ext == ".md" && strings.HasPrefix(line, "|") {
		return true
	}
	return strings.Contains(line, "https://") || strings.HasPrefix(line, "//go:")
}

func checkBlobs(t *Tree, report Report) {
	for _, f := range t.files {
		if len(f.Data) > blobMax {
			report(f.Path, 0, "%d bytes, at most %d", len(f.Data), blobMax)
		}
	}
}

var outputPat = regexp.MustCompile(`(^|/)(node_modules|__pycache__|build)/|(^|/)dist/(.*/)?[^./][^/]*\.(js|css|map)$|` +
	`\.(exe|so|dll|dylib|o|a|pyc|whl|tgz|test|prof)$`)

func checkBuildOutput(t *Tree, report Report) {
	for _, f := range t.files {
		if outputPat.MatchString(f.Path) {
			report(f.Path, 0, "build output")
		}
	}
}

func checkMarks(t *Tree, report Report) {
	for _, f := range t.files {
		named := strings.Contains(path.Base(f.Path), "_generated.")
		apart := f.in("docs/reference/", "sql/golden/", "bench/results/") || strings.Contains(f.Path, "/generated/")
		switch {
		case named && !f.generated():
			report(f.Path, 1, "has no `Code generated ... DO NOT EDIT.`")
		case f.generated() && !named && !apart:
			report(f.Path, 1, "is generated and stands among files that are not")
		}
	}
}

var (
	targetPat = regexp.MustCompile(`(?m)^([a-z][a-z0-9-]*)\s*:([^=]|$)`)
	makePat   = regexp.MustCompile("(?m)(^|`)make ([a-z][a-z0-9-]*)")
)

func checkCommands(t *Tree, report Report) {
	readme, makefile, ci := t.file("README.md"), t.file("Makefile"), t.file(".ci/run")
	if readme == nil || makefile == nil || ci == nil {
		report("README.md", 0, "README.md, Makefile and .ci/run are needed, one is not there")
		return
	}
	targets := map[string]bool{}
	for _, m := range targetPat.FindAllStringSubmatch(string(makefile.Data), -1) {
		targets[m[1]] = true
	}
	lines := readme.lines()
	top := strings.Join(lines[:min(readmeTop, len(lines))], "\n")
	for _, command := range []string{"make up", "make test"} {
		if !regexp.MustCompile(`(?m)^` + command + `\b`).MatchString(top) {
			report("README.md", 1, "`%s` does not stand in the first %d lines", command, readmeTop)
		}
	}
	if !regexp.MustCompile(`(?m)\bmake test\b`).Match(ci.Data) {
		report(".ci/run", 0, "does not call `make test`")
	}
	for _, f := range t.under(".md", "") {
		for _, m := range makePat.FindAllStringSubmatch(string(f.Data), -1) {
			if !targets[m[2]] {
				report(f.Path, 0, "names `make %s`, which the Makefile does not have", m[2])
			}
		}
	}
}

func checkMap(t *Tree, report Report) {
	readme := t.file("README.md")
	if readme == nil {
		return
	}
	seen := map[string]bool{}
	for _, f := range t.files {
		parts := strings.Split(f.Path, "/")
		if len(parts) == 1 || strings.HasPrefix(parts[0], ".") {
			continue
		}
		folder := parts[0] + "/"
		if parts[0] == "internal" {
			folder += parts[1] + "/"
		}
		if !seen[folder] && !strings.Contains(string(readme.Data), folder) {
			report("README.md", 0, "the map does not name %s", folder)
		}
		seen[folder] = true
	}
}
