package embedded

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ulikunitz/xz"
)

var silent = slog.New(slog.DiscardHandler)

// txz makes a compressed archive of entries; regular files say "text".
func txz(t *testing.T, entries ...tar.Header) []byte {
	t.Helper()
	var buf bytes.Buffer
	x, err := xz.NewWriter(&buf)
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(x)
	for _, h := range entries {
		if h.Typeflag == 0 {
			h.Typeflag = tar.TypeReg
		}
		if h.Typeflag == tar.TypeReg {
			h.Size = int64(len("text"))
		}
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeReg {
			if _, err := w.Write([]byte("text")); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := errors.Join(w.Close(), x.Close()); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func jarOf(t *testing.T, archive []byte) []byte {
	t.Helper()
	var buf bytes.Buffer
	z := zip.NewWriter(&buf)
	w, err := z.Create("postgres-test.txz")
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.Write(archive)
	if err := errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func sumOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// serve answers with the given statuses first, then with data, and counts the requests.
func serve(t *testing.T, data []byte, statuses ...int) (address string, requests *atomic.Int64) {
	t.Helper()
	requests = new(atomic.Int64)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if n := int(requests.Add(1)); n <= len(statuses) {
			w.WriteHeader(statuses[n-1])
			return
		}
		w.Write(data)
	}))
	t.Cleanup(srv.Close)
	return srv.URL, requests
}

func TestUntarRefusesWhatLeadsOutside(t *testing.T) {
	t.Parallel()
	link := func(name, to string) tar.Header {
		return tar.Header{Name: name, Linkname: to, Typeflag: tar.TypeSymlink}
	}
	for name, entries := range map[string][]tar.Header{
		"parent":           {{Name: "../evil", Mode: 0o644}},
		"hidden parent":    {{Name: "bin/../../evil", Mode: 0o644}},
		"absolute":         {{Name: "/tmp/weir-evil", Mode: 0o644}},
		"absolute link":    {link("a", "/etc")},
		"link to parent":   {link("a", "..")},
		"deep link":        {link("bin/a", "../../evil")},
		"link onto link":   {link("a", "."), link("b", "a/.."), {Name: "b/../evil", Mode: 0o644}, link("b/c", "../..")},
		"file over link":   {link("a", "b"), {Name: "a", Mode: 0o644}},
		"hard link":        {{Name: "a", Linkname: "/etc/passwd", Typeflag: tar.TypeLink}},
		"device":           {{Name: "a", Typeflag: tar.TypeChar}},
		"second file":      {{Name: "a", Mode: 0o644}, {Name: "a", Mode: 0o644}},
		"through file":     {{Name: "a", Mode: 0o644}, {Name: "a/b", Mode: 0o644}},
		"directory parent": {{Name: "../evil/", Typeflag: tar.TypeDir, Mode: 0o755}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			above := t.TempDir()
			err := untar(bytes.NewReader(txz(t, entries...)), filepath.Join(above, "tree"))
			if !errors.Is(err, ErrUnsafeArchive) {
				t.Errorf("untar: %v, want ErrUnsafeArchive", err)
			}
			if got, _ := os.ReadDir(above); len(got) != 1 {
				t.Errorf("outside the directory stand %v", got)
			}
		})
	}
}

func TestConcurrentDownloadsFetchOnceAndKeepModesAndLinks(t *testing.T) {
	t.Parallel()
	data := jarOf(t, txz(
		t, tar.Header{Name: "./bin/", Typeflag: tar.TypeDir, Mode: 0o700},
		tar.Header{Name: "./bin/postgres", Mode: 0o755},
		tar.Header{Name: "lib/lib.so.1", Mode: 0o600},
		tar.Header{Name: "lib/lib.so", Linkname: "lib.so.1", Typeflag: tar.TypeSymlink},
	))
	address, requests := serve(t, data)
	dir := filepath.Join(t.TempDir(), "new", "build")
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			if err := ensureUnpacked(t.Context(), address, sumOf(data), dir, silent); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if n := requests.Load(); n != 1 {
		t.Errorf("fetched %d times, want once", n)
	}
	info, err := os.Stat(filepath.Join(dir, "bin", "postgres"))
	if err != nil || info.Mode() != 0o755 {
		t.Errorf("program: %v, %v, want mode 0755", info, err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "lib", "lib.so")); err != nil || string(text) != "text" {
		t.Errorf("library through its link: %q, %v", text, err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(dir), ".unpack-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestWrongChecksumIsRefusedAndLeavesNothing(t *testing.T) {
	t.Parallel()
	data := jarOf(t, txz(t, tar.Header{Name: "bin/postgres", Mode: 0o755}))
	address, requests := serve(t, data)
	dir := filepath.Join(t.TempDir(), "build")
	err := ensureUnpacked(t.Context(), address, sumOf([]byte("another")), dir, silent)
	if !errors.Is(err, ErrChecksum) || requests.Load() != 1 {
		t.Errorf("download: %v after %d requests, want ErrChecksum after one", err, requests.Load())
	}
	if got, _ := filepath.Glob(filepath.Join(filepath.Dir(dir), "*")); len(got) != 1 || got[0] != dir+".lock" {
		t.Errorf("left behind: %v", got)
	}
}

func TestDownloadIsTriedAgainUnlessTheServerDoesNotHaveIt(t *testing.T) {
	t.Parallel()
	data := jarOf(t, txz(t, tar.Header{Name: "bin/postgres", Mode: 0o755}))
	address, requests := serve(t, data, http.StatusServiceUnavailable)
	if err := fetchRetrying(t.Context(), address, sumOf(data), filepath.Join(t.TempDir(), "jar"), silent); err != nil {
		t.Errorf("after a passing failure: %v", err)
	}
	if n := requests.Load(); n != 2 {
		t.Errorf("sent %d requests, want 2", n)
	}
	address, requests = serve(t, data, http.StatusNotFound)
	err := fetchRetrying(t.Context(), address, sumOf(data), filepath.Join(t.TempDir(), "jar"), silent)
	if !errors.Is(err, errNotServed) || requests.Load() != 1 {
		t.Errorf("not found: %v after %d requests, want errNotServed after one", err, requests.Load())
	}
}

func TestEveryMajorHasABuildForEveryPlatform(t *testing.T) {
	t.Parallel()
	for major := minMajor; major <= defaultMajor; major++ {
		for _, platform := range []string{"linux-amd64", "linux-arm64v8", "darwin-amd64", "darwin-arm64v8"} {
			if b := builds[major][platform]; len(b.sha256) != 2*sha256.Size || pathNumber(b.version) != major {
				t.Errorf("%d on %s: build %+v", major, platform, b)
			}
		}
	}
}
