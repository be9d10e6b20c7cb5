package docs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/weirmq/weir/internal/cli"
)

var (
	// A command begins a line of a block, a span of code or a part of a pipe, with variables set before it or not.
	commandPat = regexp.MustCompile("(?:^|[`;|(]) *(?:[A-Z_]+=(?:'[^']*'|\"[^\"]*\"|[^ `'\"]*) +)*" +
		"(?:build/)?weir +([a-z][^`;|()<>#]*)")
	spanPat   = regexp.MustCompile("`[^`]+`")
	fencedPat = regexp.MustCompile("(?s)\n```[a-z]*[^\n]*\n.*?\n```")
	flagPat   = regexp.MustCompile(`^(--?)([a-z][a-z-]*)`)
	quotedPat = regexp.MustCompile(`'[^']*'|"[^"]*"`)
	namePat   = regexp.MustCompile(`^[a-z-]+$`)
)

// TestEveryCommandThatThePagesNameExistsWithItsFlags reads all commands, also those that no test runs.
func TestEveryCommandThatThePagesNameExistsWithItsFlags(t *testing.T) {
	t.Parallel()
	count := 0
	for _, path := range pages(t, ".", "bench", "docs", "docs/tasks", "sdk", "sdk/go", "sdk/python", "sdk/typescript") {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range codeLines(string(data)) {
			for _, m := range commandPat.FindAllStringSubmatch(line, -1) {
				count++
				if err := known(m[1]); err != nil {
					t.Errorf("%s:%d: weir %s: %v", filepath.Base(path), i+1, m[1], err)
				}
			}
		}
	}
	if count < 100 {
		t.Errorf("only %d commands were found", count)
	}
}

// codeLines returns the lines of a page; outside blocks it leaves of them the spans of code, within their marks.
func codeLines(page string) []string {
	at := 0
	var out strings.Builder
	for _, block := range append(fencedPat.FindAllStringIndex(page, -1), []int{len(page), len(page)}) {
		prose := spanPat.ReplaceAllStringFunc(page[at:block[0]], func(span string) string { // on the line where it begins
			return strings.ReplaceAll(span, "\n", " ") + strings.Repeat("\n", strings.Count(span, "\n"))
		})
		for line := range strings.Lines(prose) {
			out.WriteString(strings.Join(spanPat.FindAllString(line, -1), " ") + "\n")
		}
		out.WriteString(page[block[0]:block[1]])
		at = block[1]
	}
	return strings.Split(out.String(), "\n")
}

// known tells what of a command line does not exist.
func known(line string) error {
	command := cli.Command()
	command.InitDefaultCompletionCmd("")
	command.InitDefaultHelpCmd()
	words := strings.Fields(quotedPat.ReplaceAllString(line, "X"))
	for len(words) > 0 && command.HasSubCommands() && namePat.MatchString(words[0]) {
		at := slices.IndexFunc(command.Commands(), func(c *cobra.Command) bool {
			return c.Name() == words[0] || c.HasAlias(words[0])
		})
		if at < 0 {
			return fmt.Errorf("%s has no command %s", command.CommandPath(), words[0])
		}
		command, words = command.Commands()[at], words[1:]
	}
	command.InitDefaultHelpFlag()
	command.InheritedFlags() // adds them to its own
	for _, word := range words {
		m := flagPat.FindStringSubmatch(word)
		if m == nil {
			continue
		}
		if flag := command.Flags().Lookup(m[2]); m[1] == "--" && flag == nil {
			return fmt.Errorf("%s has no flag --%s", command.CommandPath(), m[2])
		}
		if flag := command.Flags().ShorthandLookup(m[2][:1]); m[1] == "-" && flag == nil {
			return fmt.Errorf("%s has no flag -%s", command.CommandPath(), m[2])
		}
	}
	return nil
}
