package tidy

import (
	"path/filepath"
	"slices"
	"testing"
)

// repository loads the tree that this package lies in.
func repository(t *testing.T) *Tree {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	tree, err := Load(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	if tree.file("internal/tidy/tidy_test.go") == nil {
		t.Fatalf("%s is not the root of the repository", root)
	}
	return tree
}

func TestRules(t *testing.T) {
	t.Parallel()
	tree := repository(t)
	for _, rule := range Rules() {
		findings := rule.Find(tree) // not in parallel: a tree keeps what it has parsed
		t.Run(rule.Name, func(t *testing.T) {
			t.Parallel()
			t.Log(rule.Text)
			for _, found := range findings {
				if !slices.ContainsFunc(exceptions(), func(e Exception) bool { return e.excuses(found) }) {
					t.Error(found)
				}
			}
		})
	}
}

func TestEveryExceptionIsNeededAndHasAReason(t *testing.T) {
	t.Parallel()
	tree := repository(t)
	var found []Finding
	for _, rule := range Rules() {
		found = append(found, rule.Find(tree)...)
	}
	for _, e := range exceptions() {
		if e.Reason == "" {
			t.Errorf("the exception from %s for %s has no reason", e.Rule, e.Path)
		}
		if !slices.ContainsFunc(found, e.excuses) {
			t.Errorf("the exception from %s for %s is not needed any more", e.Rule, e.Path)
		}
	}
	codes := tree.codes()
	for c, reason := range reserved() {
		if !codes[c] || reason == "" {
			t.Errorf("the reserved code %s is not in errors.csv or has no reason", c)
		}
	}
}
