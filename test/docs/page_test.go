package docs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// block is one fenced block of a page.
type block struct {
	where    string // file:line
	language string
	session  string
	text     string
	want     string // the ```text block that follows it
}

var (
	fencePat  = regexp.MustCompile("^```(\\w*)(?: session=(\\w+))?$")
	dashesPat = regexp.MustCompile(`-+`)
)

// readPage returns the blocks of a page that are to be run, each with what it shall print.
func readPage(t *testing.T, path string) []block {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var blocks []block
	var open *block
	for i, line := range strings.Split(string(data), "\n") {
		if open != nil && line != "```" {
			open.text += line + "\n"
			continue
		}
		if open != nil {
			blocks = addBlock(t, blocks, *open)
			open = nil
			continue
		}
		if !strings.HasPrefix(line, "```") {
			continue
		}
		where := fmt.Sprintf("%s:%d", filepath.Base(path), i+1)
		m := fencePat.FindStringSubmatch(line)
		if m == nil {
			t.Fatalf("%s: %q opens no block that this test knows", where, line)
		}
		open = &block{where: where, language: m[1], session: m[2]}
	}
	return blocks
}

// addBlock puts a block behind those before it, or, when it is an output, into the one before it.
func addBlock(t *testing.T, blocks []block, b block) []block {
	t.Helper()
	switch b.language {
	case "sql", "sh", "python", "ts", "go":
		return append(blocks, b)
	case "console", "":
		return blocks
	case "text":
		if len(blocks) == 0 || blocks[len(blocks)-1].want != "" {
			t.Fatalf("%s: an output that belongs to no block", b.where)
		}
		blocks[len(blocks)-1].want = b.text
		return blocks
	default:
		t.Fatalf("%s: a block of the language %q, which this test does not run", b.where, b.language)
		return nil
	}
}

// matches compares two texts word by word line by line; … in want stands for anything within its line.
func matches(want, got string) bool {
	return slices.EqualFunc(lines(want), lines(got), lineMatches)
}

func lines(text string) []string { return strings.Split(strings.TrimSpace(text), "\n") }

func lineMatches(want, got string) bool {
	parts := strings.Split(squeeze(want), "…")
	for i, part := range parts {
		parts[i] = regexp.QuoteMeta(part)
	}
	return regexp.MustCompile("^" + strings.Join(parts, ".*") + "$").MatchString(squeeze(got))
}

// squeeze makes the width of columns irrelevant.
func squeeze(line string) string {
	if strings.Trim(line, "-+") == "" {
		return dashesPat.ReplaceAllString(line, "-")
	}
	return strings.Join(strings.Fields(line), " ")
}
