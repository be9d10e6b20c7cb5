package deploy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// root is that of the repository.
const root = "../.."

// read returns a file of the repository.
func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// program is the built program, named by WEIR, as the Makefile does.
func program(t *testing.T) string {
	t.Helper()
	path := os.Getenv("WEIR")
	if path == "" {
		t.Fatal("WEIR names no program: run this through `make deploy`")
	}
	return path
}

// flagPat finds flags in the help of a command.
var flagPat = regexp.MustCompile(`(?m)^\s+(?:-\w, )?(--[a-z-]+)`)

// helpOf returns the flags of a command.
var helpOf = sync.OnceValues(func() (map[string][]string, error) {
	flags := map[string][]string{}
	for _, command := range []string{"serve", "install", "ready"} {
		out, err := exec.Command(os.Getenv("WEIR"), command, "--help").Output()
		if err != nil {
			return nil, err
		}
		for _, m := range flagPat.FindAllStringSubmatch(string(out), -1) {
			flags[command] = append(flags[command], m[1])
		}
	}
	return flags, nil
})

// wantArguments fails the test unless a command line is one that the program knows.
func wantArguments(t *testing.T, where string, arguments []string) {
	t.Helper()
	program(t)
	flags, err := helpOf()
	if err != nil {
		t.Fatal(err)
	}
	if len(arguments) == 0 || flags[arguments[0]] == nil {
		t.Errorf("%s: %q is no command", where, arguments)
		return
	}
	for _, argument := range arguments[1:] {
		name, _, _ := strings.Cut(argument, "=")
		if strings.HasPrefix(name, "--") && !slices.Contains(flags[arguments[0]], name) {
			t.Errorf("%s: weir %s has no flag %s", where, arguments[0], name)
		}
	}
}
