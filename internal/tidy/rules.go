package tidy

import (
	"fmt"
	"strings"
)

// Rule is one thing that holds everywhere.
type Rule struct {
	Name  string
	Text  string // the rule in a sentence
	Check func(t *Tree, report Report)
}

// Report takes a place where a rule is broken; line 0 means the whole file.
type Report func(path string, line int, format string, args ...any)

// Finding is a place where a rule is broken.
type Finding struct {
	Rule string
	Path string
	Line int
	Text string
}

// String writes the finding as compilers do.
func (f Finding) String() string {
	return fmt.Sprintf("%s:%d: %s [%s]", f.Path, f.Line, f.Text, f.Rule)
}

// Rules returns all rules.
func Rules() []Rule {
	var all []Rule
	all = append(all, sqlRules()...)
	all = append(all, raiseRules()...)
	all = append(all, queryRules()...)
	all = append(all, goRules()...)
	all = append(all, errorRules()...)
	all = append(all, treeRules()...)
	return all
}

// Find runs one rule, without looking at exceptions.
func (r Rule) Find(t *Tree) []Finding {
	var found []Finding
	r.Check(t, func(path string, line int, format string, args ...any) {
		found = append(found, Finding{Rule: r.Name, Path: path, Line: line, Text: fmt.Sprintf(format, args...)})
	})
	return found
}

// excuses reports whether the exception is about this finding.
func (e Exception) excuses(f Finding) bool {
	return e.Rule == f.Rule && e.Path == f.Path && strings.Contains(f.Text, e.About)
}
