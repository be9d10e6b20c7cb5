package main

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/weirmq/weir/internal/cli"
)

const cliIntro = "What `weir help COMMAND` prints. Every command also has the flags of `weir` itself, and `-o json`\n" +
	"prints one JSON value instead of a table.\n\n"

var (
	helpFlagPat = regexp.MustCompile(`(?m)^  -h, --help .*\n?`)
	commandPat  = regexp.MustCompile(`(?m)^  ([a-z-]+) {2,}`)
	topicPat    = regexp.MustCompile(`(?m)^  weir ([a-z-]+) `)
)

// renderCLI writes the help of every command, as the program prints it.
func renderCLI(string) ([]byte, error) {
	var b bytes.Buffer
	opening(&b, "the help of cmd/weir", "Command line")
	b.WriteString(cliIntro)
	if err := writeHelp(&b, nil); err != nil {
		return nil, err
	}
	return append(bytes.TrimRight(b.Bytes(), "\n"), '\n'), nil
}

// writeHelp writes one command and those below it.
func writeHelp(b *bytes.Buffer, command []string) error {
	var out, errs bytes.Buffer
	args := append([]string{"weir", "help"}, command...)
	if code := cli.Run(context.Background(), args, strings.NewReader(""), &out, &errs); code != 0 {
		return fmt.Errorf("%w: %s: exit code %d: %s", errHelp, strings.Join(args, " "), code, &errs)
	}
	help := out.String()
	shown, _, _ := strings.Cut(help, "\nGlobal Flags:\n")
	shown, _, _ = strings.Cut(shown, "\nUse \"weir ")
	shown = strings.TrimSpace(helpFlagPat.ReplaceAllString(shown, ""))
	shown = strings.TrimSuffix(shown, "\n\nFlags:")
	name := strings.Join(append([]string{"weir"}, command...), " ")
	fmt.Fprintf(b, "## %s\n\n```text\n%s\n```\n\n", name, shown)

	_, list, _ := strings.Cut(help, "\nAvailable Commands:\n")
	list, _, _ = strings.Cut(list, "\nFlags:\n")
	for _, m := range commandPat.FindAllStringSubmatch(list, -1) {
		if m[1] == "help" || m[1] == "bench" { // measuring is the business of bench/METHODOLOGY.md
			continue
		}
		if err := writeHelp(b, append(command, m[1])); err != nil {
			return err
		}
	}
	_, topics, _ := strings.Cut(help, "\nAdditional help topics:\n")
	for _, m := range topicPat.FindAllStringSubmatch(topics, -1) {
		if err := writeHelp(b, append(command, m[1])); err != nil {
			return err
		}
	}
	return nil
}
