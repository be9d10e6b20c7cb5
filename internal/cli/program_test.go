package cli_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/weirmq/weir/internal/embedded"
)

// TestTheBuiltProgram runs the program as a user does, each time in a home directory of its own.
func TestTheBuiltProgram(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "weir")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", path, "github.com/weirmq/weir/cmd/weir")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build program: %v: %s", err, out)
	}
	for name, test := range map[string]func(*testing.T, *program){
		"what up prints works when typed":                           whatUpPrintsWorks,
		"messages and claims survive a stop and kill -9":            dataSurvive,
		"a second up on the same data says how to reach the first":  secondUpIsRefused,
		"an address in use is refused before anything is made":      takenAddressIsRefused,
		"data of another major version are refused and not touched": otherMajorIsRefused,
		"without a running up every command says how to get one":    nothingRuns,
		"the data directory may be chosen":                          chosenDataDirectory,
		"up ends with an error when PostgreSQL dies":                postgresDies,
		"what the README says to type works":                        readmeWorks,
		"a download shows how far it is and can be gone on with":    downloadShows,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &program{T: t, path: path, home: t.TempDir()}
			p.bin = p.postgres(18)
			test(t, p)
		})
	}
}

// program is the built program in a home directory.
type program struct {
	*testing.T

	path string
	home string
	bin  string // of PostgreSQL
}

// postgres returns the directory of the programs of a PostgreSQL.
func (p *program) postgres(major int) string {
	p.Helper()
	found, err := embedded.Find(p.Context(), embedded.Options{DataDir: filepath.Join(p.home, "none"), Major: major})
	if err != nil {
		p.Fatal(err)
	}
	return found.Dir
}

// command prepares a command line.
func (p *program) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(p.Context(), p.path, args...)
	cmd.Dir = p.home
	cmd.Env = []string{"HOME=" + p.home, "PATH=" + os.Getenv("PATH"), "WEIR_PG_BIN=" + p.bin}
	return cmd
}

// run runs a command line to its end.
func (p *program) run(args ...string) result {
	p.Helper()
	var out, errs bytes.Buffer
	cmd := p.command(args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		p.Fatal(err)
	}
	return result{code: cmd.ProcessState.ExitCode(), out: out.String(), errors: errs.String()}
}

// ok runs a command line that must succeed and returns its output.
func (p *program) ok(args ...string) string {
	p.Helper()
	r := p.run(args...)
	if r.code != 0 {
		p.Fatalf("weir %s: exit code %d: %s", strings.Join(args, " "), r.code, r.errors)
	}
	return r.out
}

// refused runs a command line that must end with an exit code and say something.
func (p *program) refused(code int, says []string, args ...string) {
	p.Helper()
	r := p.run(args...)
	if r.code != code {
		p.Errorf("weir %s: exit code %d, want %d: %s", strings.Join(args, " "), r.code, code, r.errors)
	}
	for _, what := range says {
		if !strings.Contains(r.errors, what) {
			p.Errorf("weir %s does not say %q: %s", strings.Join(args, " "), what, r.errors)
		}
	}
}

// running is a `weir up` that has said what to type next.
type running struct {
	*program

	cmd     *exec.Cmd
	printed string
	errors  *bytes.Buffer
}

// up starts `weir up` and returns when it has said what to type next.
func (p *program) up(args ...string) *running {
	p.Helper()
	cmd := p.command(append([]string{"up", "--port", "0", "--listen", "127.0.0.1:0"}, args...)...)
	r := &running{program: p, cmd: cmd, errors: &bytes.Buffer{}}
	cmd.Stderr = r.errors
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		p.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		p.Fatal(err)
	}
	p.Cleanup(func() { _ = cmd.Process.Kill() })
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		r.printed += lines.Text() + "\n"
		if strings.HasPrefix(lines.Text(), "^C") || strings.HasPrefix(lines.Text(), "{") {
			return r
		}
	}
	_ = cmd.Wait()
	p.Fatalf("weir up ended: %s", r.errors)
	return nil
}

// stop interrupts it and waits for its end, which must be a good one.
func (r *running) stop(signal os.Signal) {
	r.Helper()
	if err := r.cmd.Process.Signal(signal); err != nil {
		r.Fatal(err)
	}
	if err := r.cmd.Wait(); err != nil {
		r.Fatalf("weir up ended with %v: %s", err, r.errors)
	}
}

// kill ends it as a crash would.
func (r *running) kill() {
	r.Helper()
	if err := r.cmd.Process.Kill(); err != nil {
		r.Fatal(err)
	}
	_ = r.cmd.Wait()
}

// address finds the address of the HTTP server.
func (r *running) address() string {
	r.Helper()
	_, after, found := strings.Cut(r.printed, "http://")
	if !found {
		r.Fatalf("no address in %s", r.printed)
	}
	return strings.Fields(after)[0]
}

func whatUpPrintsWorks(t *testing.T, p *program) {
	r := p.up()
	_, advice, _ := strings.Cut(r.printed, "In another terminal:\n")
	tried := 0
	for line := range strings.Lines(advice) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "^C") {
			continue
		}
		name := strings.Fields(line)[0]
		if _, err := exec.LookPath(name); err != nil {
			t.Logf("not tried, there is no %s: %s", name, line)
			continue
		}
		if strings.Contains(line, "--follow") {
			line += " --max 2" // what is left, instead of ^C
		}
		cmd := exec.CommandContext(t.Context(), "sh", "-c", line)
		cmd.Env = p.command().Env
		out, err := cmd.CombinedOutput()
		if err != nil || bytes.Contains(out, []byte(`"status":4`)) || len(out) == 0 {
			t.Errorf("%s: %v: %s", line, err, out)
		}
		tried++
	}
	if tried < 5 {
		t.Errorf("%d lines to type in %s", tried, advice)
	}
	r.stop(os.Interrupt)
}

func dataSurvive(t *testing.T, p *program) {
	first := p.up()
	p.ok("queue", "create", "q")
	p.ok("send", "q", `"kept"`)
	p.ok("send", "q", `"claimed"`)
	claim := strconv.FormatInt(lines[received](t, p.ok("receive", "q", "--lease", "1h"))[0].ClaimID, 10)
	first.kill()
	second := p.up()
	if out := p.ok("ack", "q", claim, "--all"); out != "finished 1 message\n" {
		t.Errorf("a claim from before the crash: %s", out)
	}
	second.stop(syscall.SIGTERM)
	if !strings.Contains(second.errors.String(), "stopped; the data stay") {
		t.Errorf("stopped with %s", second.errors)
	}
	third := p.up()
	if list := lines[received](t, p.ok("receive", "q", "--max", "5", "--ack")); len(list) != 1 || list[0].Attempt != 1 {
		t.Errorf("received %+v", list)
	}
	third.stop(os.Interrupt)
}

func secondUpIsRefused(t *testing.T, p *program) {
	first := p.up()
	p.refused(4, []string{"is in use", "weir dsn"}, "up", "--port", "0", "--listen", "127.0.0.1:0")
	p.refused(4, []string{first.address(), "--listen"}, "up", "--listen", first.address())
	if out := p.ok("status"); !strings.Contains(out, first.address()) {
		t.Errorf("the first one does not go on: %s", out)
	}
	first.stop(os.Interrupt)
}

func takenAddressIsRefused(t *testing.T, p *program) {
	var config net.ListenConfig
	taken, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	p.refused(4, []string{"taken by another program", "--listen"}, "up", "--listen", taken.Addr().String())
	p.refused(4, []string{"no authentication"}, "up", "--listen", "0.0.0.0:0")
	if entries, err := os.ReadDir(p.home); err != nil || len(entries) > 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
	port := strconv.Itoa(taken.Addr().(*net.TCPAddr).Port) //nolint:errcheck // a TCP listener has no other
	p.refused(4, []string{"port", "--port"}, "up", "--listen", "127.0.0.1:0", "--port", port)
}

func otherMajorIsRefused(t *testing.T, p *program) {
	newer := p.bin
	p.bin = p.postgres(17)
	p.up().stop(os.Interrupt)
	before := tree(t, p.home)
	p.refused(4, []string{"PostgreSQL 17", "pg_upgrade", "WEIR_PG_BIN="}, "up", "--pg-bin", newer, "--port", "0",
		"--listen", "127.0.0.1:0")
	if after := tree(t, p.home); after != before {
		t.Errorf("the data changed from\n%s\nto\n%s", before, after)
	}
	p.up().stop(os.Interrupt)
}

// tree lists all files below a directory with their sizes and times.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var list strings.Builder
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			list.WriteString(path + " " + strconv.FormatInt(info.Size(), 10) + " " + info.ModTime().String() + "\n")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list.String()
}

func nothingRuns(_ *testing.T, p *program) {
	for _, args := range [][]string{{"status"}, {"send", "q", "1"}, {"dsn"}, {"install"}} {
		p.refused(5, []string{"no database", "up` in another terminal", "--dsn"}, args...)
	}
}

func postgresDies(t *testing.T, p *program) {
	r := p.up("-o", "json")
	var view struct {
		DSN     string `json:"dsn"`
		HTTP    string `json:"http"`
		DataDir string `json:"data_dir"`
	}
	if err := json.Unmarshal([]byte(r.printed), &view); err != nil || view.DSN == "" || view.HTTP == "" {
		t.Fatalf("%v: %s", err, r.printed)
	}
	state, err := embedded.Running(view.DataDir)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(state.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	err = r.cmd.Wait()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.Contains(r.errors.String(), "PostgreSQL ended") {
		t.Errorf("%v: %s", err, r.errors)
	}
}

// readmeWorks runs the commands of the README that are meant for another terminal, from a directory like a clone's.
func readmeWorks(t *testing.T, p *program) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(readme), "## In another terminal")
	section, _, _ = strings.Cut(section, "\n## ")
	r := p.up()
	if err := os.Mkdir(filepath.Join(p.home, "build"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(p.path, filepath.Join(p.home, "build", "weir")); err != nil {
		t.Fatal(err)
	}
	var script strings.Builder
	script.WriteString("set -eux -o pipefail\n")
	for i, block := range strings.Split(section, "```") {
		if commands, ok := strings.CutPrefix(block, "sh\n"); ok && i%2 == 1 {
			script.WriteString(commands)
		}
	}
	text := strings.ReplaceAll(script.String(), "127.0.0.1:9347", r.address())
	for _, name := range []string{"bash", "curl", "psql"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("there is no %s", name)
		}
	}
	cmd := exec.CommandContext(t.Context(), "bash", "-c", text)
	cmd.Dir, cmd.Env = p.home, p.command().Env
	out, err := cmd.CombinedOutput()
	if err != nil || strings.Count(script.String(), "\n") < 8 || bytes.Contains(out, []byte(`"status":4`)) {
		t.Errorf("%v: %s\n%s", err, text, out)
	}
	r.stop(os.Interrupt)
}

func chosenDataDirectory(t *testing.T, p *program) {
	dir := filepath.Join(p.home, "a place")
	first := p.up("--data-dir", dir)
	p.refused(5, []string{"no database"}, "status")
	p.ok("queue", "create", "q", "--data-dir", dir)
	if out := p.ok("status", "--data-dir", dir); !strings.Contains(out, "q      default") {
		t.Errorf("status %s", out)
	}
	if !strings.Contains(first.printed, "--data-dir '"+dir+"' queue create orders") {
		t.Errorf("printed %s", first.printed)
	}
	first.stop(os.Interrupt)
}
