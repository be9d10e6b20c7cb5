package deploy_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// dist returns a file that deploy/dist.sh made for this machine, in the folder that DIST names, as the Makefile does.
func dist(t *testing.T, pattern string) string {
	t.Helper()
	dir := os.Getenv("DIST")
	if dir == "" {
		t.Fatal("DIST names no folder: run this through `make deploy`")
	}
	found, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(found) != 1 {
		t.Fatalf("%s in %s: %q, %v", pattern, dir, found, err)
	}
	return found[0]
}

// place is an environment with nothing in it but what a package put there: programs are found in bin, then among those
// of the system, and settings and data stay inside.
type place struct {
	t                *testing.T
	dir, bin, system string
}

// newPlace makes one where a program of this machine is at hand, wherever that stands.
func newPlace(t *testing.T, program string) *place {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	return &place{
		t: t, dir: dir, bin: filepath.Join(dir, "bin"), system: filepath.Dir(path) + ":/usr/bin:/bin:/usr/sbin:/sbin",
	}
}

// command prepares a program to run there.
func (p *place) command(name string, args ...string) *exec.Cmd {
	if path := filepath.Join(p.bin, name); !strings.Contains(name, "/") && isThere(path) {
		name = path
	}
	cmd := exec.CommandContext(p.t.Context(), name, args...)
	cmd.Dir = p.dir
	cmd.Env = []string{
		"PATH=" + p.bin + ":" + p.system, "XDG_DATA_HOME=" + p.dir + "/share",
		"HOME=" + p.dir, "WEIR_CACHE=" + p.cache(), "PIPX_HOME=" + p.dir + "/pipx", "PIPX_BIN_DIR=" + p.bin,
		"UV_TOOL_DIR=" + p.dir + "/uv", "UV_TOOL_BIN_DIR=" + p.bin, "UV_CACHE_DIR=" + p.dir + "/uv-cache",
		"npm_config_cache=" + p.dir + "/npm-cache",
	}
	for _, name := range os.Environ() { // where this machine's registries and their certificates are
		if strings.HasPrefix(name, "PIP_") || strings.HasPrefix(name, "SSL_") || strings.Contains(name, "_proxy=") {
			cmd.Env = append(cmd.Env, name)
		}
	}
	return cmd
}

// cache is where this machine keeps the PostgreSQL that it has downloaded: the only thing taken from outside.
func (p *place) cache() string {
	if dir := os.Getenv("WEIR_CACHE"); dir != "" {
		return dir
	}
	if os.Geteuid() == 0 {
		return "/var/cache/weir"
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		p.t.Fatal(err)
	}
	return filepath.Join(dir, "weir")
}

func isThere(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// run runs a program there, which must succeed, and returns what it printed.
func (p *place) run(name string, args ...string) string {
	p.t.Helper()
	out, err := p.command(name, args...).CombinedOutput()
	if err != nil {
		p.t.Fatalf("%s %q: %v: %s", name, args, err, out)
	}
	return string(out)
}

// minutePat finds what the README has one type into another terminal.
var minutePat = regexp.MustCompile("(?s)\n## In another terminal\n.*?\n```sh\n(.*?)```\n")

// runTheFirstMinute starts `weir up` of what is installed, types what the README says, and stops it.
func (p *place) runTheFirstMinute() {
	p.t.Helper()
	if path, err := p.command("sh", "-c", "command -v weir").Output(); err != nil ||
		strings.TrimSpace(string(path)) != filepath.Join(p.bin, "weir") {
		p.t.Fatalf("weir is %s, %v", path, err)
	}
	up := p.command("weir", "up", "-o", "json", "--port", "0", "--listen", "127.0.0.1:0")
	var said bytes.Buffer
	up.Stderr = &said
	out, err := up.StdoutPipe()
	if err == nil {
		err = up.Start()
	}
	if err != nil {
		p.t.Fatal(err)
	}
	var where struct {
		DataDir string `json:"data_dir"`
	}
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &where)
	}
	if err != nil || !strings.HasPrefix(where.DataDir, p.dir) {
		p.t.Fatalf("weir up: %v: %s, ended with %v: %s", err, line, up.Wait(), said.String())
	}
	p.typeTheMinute()
	if err := up.Process.Signal(os.Interrupt); err != nil {
		p.t.Error(err)
	}
	if err := up.Wait(); err != nil || !strings.Contains(said.String(), "stopped; the data stay") {
		p.t.Errorf("weir up ended with %v: %s", err, said.String())
	}
}

// interruptAtATerminal starts `weir up` at a terminal of its own and types ^C, which must stop it in order.
func (p *place) interruptAtATerminal() {
	p.t.Helper()
	up := p.command("script", "-qec", "exec weir up --port 0 --listen 127.0.0.1:0", "/dev/null")
	keys, err := up.StdinPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	out, err := up.StdoutPipe()
	if err == nil {
		err = up.Start()
	}
	if err != nil {
		p.t.Fatal(err)
	}
	var screen strings.Builder
	for lines := bufio.NewScanner(out); lines.Scan(); {
		screen.WriteString(lines.Text() + "\n")
		if strings.HasPrefix(lines.Text(), "^C stops it") {
			if _, err := keys.Write([]byte{'C' - '@'}); err != nil {
				p.t.Error(err)
			}
		}
	}
	if err := up.Wait(); err != nil || !strings.Contains(screen.String(), "stopped; the data stay") {
		p.t.Errorf("weir up at a terminal ended with %v: %s", err, screen.String())
	}
}

// typeTheMinute sends and receives as the README does.
func (p *place) typeTheMinute() {
	p.t.Helper()
	m := minutePat.FindStringSubmatch(read(p.t, "README.md"))
	if m == nil {
		p.t.Fatal("the README does not say what to type in another terminal")
	}
	typed := strings.ReplaceAll(m[1], "build/weir ", "weir ")
	out, err := p.command("bash", "-euo", "pipefail", "-c", typed).CombinedOutput()
	for _, part := range []string{`"payload":{"hello":"world"}`, "finished 1 message"} {
		if err != nil || !bytes.Contains(out, []byte(part)) {
			p.t.Errorf("%s is missing, %v: %s", part, err, out)
		}
	}
}
