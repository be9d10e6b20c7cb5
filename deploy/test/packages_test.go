package deploy_test

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

const packageMax = 25 << 20 // bytes

func TestPackagesAreOfABearableSize(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{
		"weir-*.tar.gz", "weir_*.deb", "weirmq_cli-*.whl", "weirmq-cli-[0-9]*.tgz", "weirmq-cli-linux-*.tgz",
	} {
		info, err := os.Stat(dist(t, pattern))
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %.1f MB", info.Name(), float64(info.Size())/1e6)
		if info.Size() > packageMax {
			t.Errorf("%s has %d bytes, at most %d", info.Name(), info.Size(), packageMax)
		}
	}
}

// venv makes a Python environment with nothing in it, and returns it with its programs at hand.
func venv(t *testing.T) *place {
	t.Helper()
	python := os.Getenv("PYTHON")
	if python == "" {
		t.Fatal("PYTHON names no program: run this through `make deploy`")
	}
	p := newPlace(t, python)
	p.run(python, "-m", "venv", p.dir)
	return p
}

func TestAWheelRunsWhereThereIsNothingElseAndBesideTheSDK(t *testing.T) {
	t.Parallel()
	p := venv(t)
	p.run("pip", "install", "--no-index", "--find-links", filepath.Dir(dist(t, "*.whl")), "weirmq-cli")
	p.runTheFirstMinute()
	if !isThere(p.dir + "/share/man/man1/weir-up.1") {
		t.Error("the manual is not installed")
	}
	sdk, err := filepath.Abs(root + "/sdk/python")
	if err != nil {
		t.Fatal(err)
	}
	p.run(installer(t, "pip"), "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", p.dir, sdk)
	p.run("pip", "install", "--no-index", "--no-deps", "--find-links", p.dir, "weirmq")
	const both = `import importlib.metadata as m; a, b = ({str(f) for f in m.files(n)} for n in ("weirmq", "weirmq-cli"))
assert "weir/__init__.py" in a and not a & b, a & b`
	p.run("python", "-c", both)
	p.run("weir", "version")
	p.run("pip", "uninstall", "--yes", "weirmq-cli")
	if isThere(filepath.Join(p.bin, "weir")) {
		t.Error("the program outlasts its package")
	}
}

// installer returns a program of deploy/test/requirements.txt.
func installer(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(os.Getenv("INSTALLERS"), name)
	if !filepath.IsAbs(path) {
		t.Fatal("INSTALLERS names no folder: run this through `make deploy`")
	}
	return path
}

func TestPipxInstallsTheWheel(t *testing.T) {
	t.Parallel()
	pipx := installer(t, "pipx")
	p := newPlace(t, pipx)
	p.run(pipx, "install", "--backend", "pip", dist(t, "*.whl"))
	p.runTheFirstMinute()
}

func TestUvRunsAndInstallsTheWheel(t *testing.T) {
	t.Parallel()
	uv := installer(t, "uv")
	p := newPlace(t, uv)
	links := []string{"--offline", "--no-index", "--find-links", filepath.Dir(dist(t, "*.whl"))}
	run := append(append([]string{"tool", "run"}, links...), "--from", "weirmq-cli", "weir", "version")
	if said := p.run(uv, run...); !strings.Contains(said, "weir 0.") {
		t.Errorf("uv tool run: %s", said)
	}
	p.run(uv, append(append([]string{"tool", "install"}, links...), "weirmq-cli")...)
	p.runTheFirstMinute()
}

// npmPackage reads the package.json of a package.
func npmPackage(t *testing.T, path string) map[string]any {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err != nil {
			t.Fatalf("find package.json: %v", err)
		}
		if h.Name == "package/package.json" {
			var about map[string]any
			if err := json.NewDecoder(r).Decode(&about); err != nil {
				t.Fatalf("read package.json: %v", err)
			}
			return about
		}
	}
}

// registry serves packages as npm's does, and those of the platforms that were not built as far as their names and
// what they are for: a client that wants to have one of them fails.
func registry(t *testing.T, built ...string) string {
	t.Helper()
	known, files := map[string]map[string]any{}, map[string][]byte{}
	for _, path := range built {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		about := npmPackage(t, path)
		name, _ := about["name"].(string)
		known[name], files["/"+name+".tgz"] = about, text
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if text := files[r.URL.Path]; text != nil {
			w.Write(text)
			return
		}
		name := strings.TrimPrefix(r.URL.Path, "/")
		about := maps.Clone(known[name])
		os, cpu, platform := strings.Cut(strings.TrimPrefix(name, "@weirmq/cli-"), "-")
		if about == nil && platform {
			about = map[string]any{"version": known["@weirmq/cli"]["version"], "os": []string{os}, "cpu": []string{cpu}}
		}
		version, ok := about["version"].(string)
		if !ok {
			http.NotFound(w, r)
			return
		}
		sum := sha512.Sum512(files[r.URL.Path+".tgz"])
		about["name"], about["dist"] = name, map[string]any{
			"tarball":   "http://" + r.Host + r.URL.Path + ".tgz",
			"integrity": "sha512-" + base64.StdEncoding.EncodeToString(sum[:]),
		}
		err := json.NewEncoder(w).Encode(map[string]any{
			"name": name, "dist-tags": map[string]any{"latest": version}, "versions": map[string]any{version: about},
		})
		if err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

func TestNpmInstallsThePackageOfThePlatformAndItRuns(t *testing.T) {
	t.Parallel()
	cpu := strings.Replace(runtime.GOARCH, "amd64", "x64", 1)
	ours := dist(t, "weirmq-cli-"+runtime.GOOS+"-"+cpu+"-*.tgz")
	about := npmPackage(t, ours)
	if got := fmt.Sprint(about["os"], about["cpu"]); got != fmt.Sprintf("[%s] [%s]", runtime.GOOS, cpu) {
		t.Errorf("the package of this platform is for %s", got)
	}
	main := dist(t, "weirmq-cli-[0-9]*.tgz")
	address := registry(t, main, ours)
	p := newPlace(t, "npm")
	npm := []string{"--registry", address, "--no-audit", "--no-fund", "--fetch-retries=0", "--prefix", p.dir}
	p.run("npm", append(npm, "install", "--global", "--omit=optional", main, ours)...) // as long as none is published
	p.run("weir", "version")
	p.run("npm", append(npm, "uninstall", "--global", "@weirmq/cli", "@weirmq/cli-"+runtime.GOOS+"-"+cpu)...)
	p.run("npm", append(npm, "install", "--global", "@weirmq/cli")...)
	installed, err := filepath.Glob(p.dir + "/lib/node_modules/@weirmq/cli/node_modules/@weirmq/*")
	if err != nil || len(installed) != 1 || !strings.HasSuffix(installed[0], "/cli-"+runtime.GOOS+"-"+cpu) {
		t.Errorf("installed for a platform: %q, %v", installed, err)
	}
	p.runTheFirstMinute()
	p.interruptAtATerminal()
	if err := os.RemoveAll(installed[0]); err != nil {
		t.Fatal(err)
	}
	out, err := p.command("weir", "version").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "--omit=optional") {
		t.Errorf("without the platform's package: %v: %s", err, out)
	}
}

func TestDpkgInstallsTheProgramAndTheUnitAndTakesThemAway(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "dpkg")
	p.bin = p.dir + "/usr/bin"
	if err := os.MkdirAll(p.dir+"/var/lib/dpkg/updates", 0o755); err != nil {
		t.Fatal(err)
	}
	dpkg := []string{"dpkg", "--root=" + p.dir, "--force-script-chrootless", "--log=/dev/null"}
	if os.Geteuid() != 0 {
		dpkg = append([]string{"unshare", "--map-root-user"}, dpkg...)
	}
	p.run(dpkg[0], append(dpkg[1:], "--install", dist(t, "*.deb"))...)
	p.runTheFirstMinute()
	unit, err := os.ReadFile(p.dir + "/usr/lib/systemd/system/weir.service")
	if err != nil || string(unit) != read(t, "deploy/systemd/weir.service") {
		t.Errorf("unit: %v: %s", err, unit)
	}
	if info, err := os.Stat(p.dir + "/etc/weir/weir.env"); err != nil || info.Mode() != 0o600 {
		t.Errorf("settings: %v, %v", info, err)
	}
	if said := p.run(dpkg[0], append(dpkg[1:], "--verify", "weir")...); said != "" {
		t.Errorf("what is installed is not what the package says: %s", said)
	}
	p.run(dpkg[0], append(dpkg[1:], "--remove", "weir")...)
	if isThere(filepath.Join(p.bin, "weir")) || !isThere(p.dir+"/etc/weir/weir.env") {
		t.Error("the program stays, or the settings do not")
	}
}

func TestTheArchiveHasTheProgramItsManualAndCompletion(t *testing.T) {
	t.Parallel()
	f, err := os.Open(dist(t, "weir-*.tar.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		_, name, _ := strings.Cut(h.Name, "/")
		found[name] = true
	}
	for _, name := range []string{"weir", "LICENSE", "man/man1/weir-serve.1", "completion/weir.zsh"} {
		if !found[name] {
			t.Errorf("the archive has no %s", name)
		}
	}
}
