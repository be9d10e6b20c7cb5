package deploy_test

import (
	"bytes"
	"debug/elf"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/linter"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
	"github.com/moby/patternmatcher"
	"github.com/moby/patternmatcher/ignorefile"
)

// stages reads the Dockerfile as BuildKit does, with what its linter finds.
func stages(t *testing.T) []instructions.Stage {
	t.Helper()
	file, err := parser.Parse(strings.NewReader(read(t, "Dockerfile")))
	if err != nil {
		t.Fatal(err)
	}
	lint := linter.New(&linter.Config{
		Warn: func(rule, description, _, message string, _ []parser.Range) {
			t.Errorf("Dockerfile: %s: %s: %s", rule, description, message)
		},
	})
	found, _, err := instructions.Parse(file.AST, lint)
	if err != nil {
		t.Fatal(err)
	}
	for _, warning := range file.Warnings {
		t.Errorf("Dockerfile: %s", warning.Short)
	}
	return found
}

func TestTheImageRunsTheProgramAsNobodyAndAsksItWhetherItIsReady(t *testing.T) {
	t.Parallel()
	all := stages(t)
	last := all[len(all)-1]
	if last.BaseName != "scratch" {
		t.Errorf("the image is made of %s", last.BaseName)
	}
	var user string
	var arguments []string
	for _, command := range last.Commands {
		switch command := command.(type) {
		case *instructions.UserCommand:
			user = command.User
		case *instructions.HealthCheckCommand:
			if test := command.Health.Test; test[0] != "CMD" || test[1] != "/weir" {
				t.Errorf("health check %q", test)
			}
			wantArguments(t, "the health check", command.Health.Test[2:])
		case *instructions.CmdCommand:
			arguments = command.CmdLine
		}
	}
	if user != "65532:65532" {
		t.Errorf("it runs as %q", user)
	}
	wantArguments(t, "the image", arguments)
}

func TestTheImageIsBuiltFromWhatDockerignoreLeavesAndNeedsNothingElse(t *testing.T) {
	t.Parallel()
	context := buildContext(t)
	var build string
	for _, stage := range stages(t) {
		for _, command := range stage.Commands {
			if run, ok := command.(*instructions.RunCommand); ok && strings.Contains(run.CmdLine[0], "go build") {
				build = run.CmdLine[0]
			}
		}
	}
	if build == "" {
		t.Fatal("no step builds the program")
	}
	path := filepath.Join(t.TempDir(), "weir")
	cmd := exec.CommandContext(t.Context(), "sh", "-ec", strings.Replace(build, "-o /weir", "-o "+path, 1))
	cmd.Dir = context
	cmd.Env = append(os.Environ(), "TARGETOS=linux", "TARGETARCH=amd64", "REVISION=0123abc", "GOFLAGS=", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", build, err, out)
	}
	if out, err := exec.CommandContext(t.Context(), path, "version").Output(); err != nil ||
		!bytes.Contains(out, []byte("(0123abc)")) {
		t.Errorf("%v: %s", err, out)
	}
	alone := exec.CommandContext(t.Context(), "/weir", "version") // as in the image, where there is nothing else
	alone.Dir = "/"
	alone.SysProcAttr = &syscall.SysProcAttr{
		Chroot: filepath.Dir(path), Cloneflags: syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Geteuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getegid(), Size: 1}},
	}
	if out, err := alone.CombinedOutput(); err != nil {
		t.Errorf("alone: %v: %s", err, out)
	}
	file, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, part := range file.Progs {
		if part.Type == elf.PT_INTERP {
			t.Error("the program wants a loader, which the image does not have")
		}
	}
}

// buildContext copies what Docker would be sent.
func buildContext(t *testing.T) string {
	t.Helper()
	patterns, err := ignorefile.ReadAll(strings.NewReader(read(t, ".dockerignore")))
	if err != nil {
		t.Fatal(err)
	}
	ignored, err := patternmatcher.New(patterns)
	if err != nil {
		t.Fatal(err)
	}
	to := t.TempDir()
	list, err := exec.CommandContext(t.Context(), "git", "-C", root, "ls-files", "-coz", "--exclude-standard").Output()
	if err != nil {
		t.Fatal(err)
	}
	copied := 0
	for path := range strings.SplitSeq(strings.TrimRight(string(list), "\x00"), "\x00") {
		skip, err := ignored.MatchesOrParentMatches(path)
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(root, path))
		if skip || os.IsNotExist(err) {
			continue
		}
		if err == nil {
			err = os.MkdirAll(filepath.Dir(filepath.Join(to, path)), 0o755)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(to, path), text, fs.FileMode(0o644))
		}
		if err != nil {
			t.Fatal(err)
		}
		copied++
	}
	if copied < 100 || copied > 900 {
		t.Errorf("the context has %d files", copied)
	}
	return to
}
