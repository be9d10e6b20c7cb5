package docs_test

import (
	"context"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// story is what runs together on a page, in a database of its own.
type story string

const (
	inSQL        story = "sql" // with scripts
	overHTTP     story = "http"
	inPython     story = "python"
	inTypeScript story = "ts"
	inGo         story = "go"
)

// endOfBlock is a line that the program of a language prints after each block.
const endOfBlock = "\x1e\n"

// programTimeout is long enough for the blocks of a page on a busy machine.
const programTimeout = 3 * time.Minute

// shownPat is a comment that shows a line of what its block prints.
var shownPat = regexp.MustCompile(`(?m)(?:#|//) -> (.*)$`)

var tablePat = regexp.MustCompile(`(?ms)^create table [^;]*;`)

// story returns what a block belongs to.
func (b block) story() story {
	switch {
	case b.language == "sh" && b.session == "http":
		return overHTTP
	case b.language == "sh" || b.language == "sql":
		return inSQL
	default:
		return story(b.language)
	}
}

// of returns the blocks of a story.
func of(blocks []block, s story) []block {
	return slices.DeleteFunc(slices.Clone(blocks), func(b block) bool { return b.story() != s })
}

// name is that of the program that a block of an SDK becomes.
func (b block) name() string {
	return strings.NewReplacer(".md:", "_", "-", "_").Replace(b.where)
}

// tables are the statements of a page that make tables of the reader's own.
func tables(blocks []block) []string {
	var all []string
	for _, b := range of(blocks, inSQL) {
		if b.language == "sql" {
			all = append(all, tablePat.FindAllString(b.text, -1)...)
		}
	}
	return all
}

// shown is what a block of an SDK says that it prints, in a text behind it or in comments.
func (b block) shown() string {
	if b.want != "" {
		return b.want
	}
	var all []string
	for _, m := range shownPat.FindAllStringSubmatch(b.text, -1) {
		all = append(all, m[1])
	}
	return strings.Join(all, "\n")
}

// runProgram runs the blocks of a page in one language, in a database of their own with the reader's tables.
func runProgram(t *testing.T, program func() ([]string, error), tables []string, blocks []block) {
	t.Helper()
	command, err := program()
	if err != nil {
		t.Fatal(err)
	}
	db := newDatabase(t)
	for _, statement := range tables {
		if _, err := db.Conn(t).Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	for _, b := range blocks {
		command = append(slices.Clip(command), b.name())
	}
	ctx, cancel := context.WithTimeout(t.Context(), programTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir = t.TempDir()
	cmd.Env = append(cmd.Environ(), "WEIR_DSN="+db.DSN)
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	parts := strings.Split(string(out), endOfBlock)
	for i, part := range parts[:len(parts)-1] {
		if !matches(blocks[i].shown(), part) {
			t.Errorf("%s: the page shows\n%s\nbut it prints\n%s", blocks[i].where, blocks[i].shown(), part)
		}
	}
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", blocks[min(len(parts), len(blocks))-1].where, err, parts[len(parts)-1], errs.String())
	}
	if len(parts) != len(blocks)+1 {
		t.Fatalf("%d of %d blocks were run", len(parts)-1, len(blocks))
	}
}

// TestEveryTaskIsShownInEachLanguage holds that a reader finds his language on the page of his task.
func TestEveryTaskIsShownInEachLanguage(t *testing.T) {
	t.Parallel()
	for _, path := range pages(t, "docs/tasks") {
		if filepath.Base(path) == "http.md" { // is about HTTP
			continue
		}
		blocks, curls := readPage(t, path), false
		for _, b := range blocks {
			curls = curls || b.language == "sh" && strings.Contains(b.text, "curl ")
		}
		for _, s := range []story{inSQL, inPython, inTypeScript, inGo} {
			if len(of(blocks, s)) == 0 {
				t.Errorf("%s has no block of %s", filepath.Base(path), s)
			}
		}
		if !curls && filepath.Base(path) != "maintenance.md" { // a server does that by itself
			t.Errorf("%s does not show HTTP", filepath.Base(path))
		}
	}
}
