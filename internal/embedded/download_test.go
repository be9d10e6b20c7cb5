package embedded

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

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
	d := transfer{src: address, sum: sumOf(data), log: silent}
	dir := filepath.Join(t.TempDir(), "new", "build")
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			if err := d.ensureUnpacked(t.Context(), dir); err != nil {
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
	if left, _ := filepath.Glob(dir + ".*"); len(left) != 1 || left[0] != dir+".lock" {
		t.Errorf("left behind: %v", left)
	}
}

func TestWrongChecksumIsRefusedAndLeavesNothing(t *testing.T) {
	t.Parallel()
	data := jarOf(t, txz(t, tar.Header{Name: "bin/postgres", Mode: 0o755}))
	address, requests := serve(t, data)
	dir := filepath.Join(t.TempDir(), "build")
	err := transfer{src: address, sum: sumOf([]byte("another")), log: silent}.ensureUnpacked(t.Context(), dir)
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
	d := transfer{src: address, sum: sumOf(data), log: silent}
	if err := d.fetchRetrying(t.Context(), filepath.Join(t.TempDir(), "jar")); err != nil {
		t.Errorf("after a passing failure: %v", err)
	}
	if n := requests.Load(); n != 2 {
		t.Errorf("sent %d requests, want 2", n)
	}
	address, requests = serve(t, data, http.StatusNotFound)
	d.src = address
	err := d.fetchRetrying(t.Context(), filepath.Join(t.TempDir(), "jar"))
	if !errors.Is(err, errNotServed) || requests.Load() != 1 {
		t.Errorf("not found: %v after %d requests, want errNotServed after one", err, requests.Load())
	}
}

// cutting serves data and cuts each answer off after some bytes. It notes what was asked for.
type cutting struct {
	data    []byte
	after   int
	noRange bool // it sends everything, whatever is asked for
	asked   []string
}

func (c *cutting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.asked = append(c.asked, r.Header.Get("Range"))
	if c.noRange {
		r.Header.Del("Range")
	}
	http.ServeContent(&cut{ResponseWriter: w, left: c.after}, r, "", time.Time{}, bytes.NewReader(c.data))
}

// cut breaks a connection off.
type cut struct {
	http.ResponseWriter

	left int
}

func (c *cut) Write(p []byte) (int, error) {
	n, err := c.ResponseWriter.Write(p[:min(len(p), c.left)])
	if c.left -= n; c.left == 0 {
		_ = http.NewResponseController(c.ResponseWriter).Flush()
		panic(http.ErrAbortHandler)
	}
	return n, err
}

func TestADownloadGoesOnWhereItWasCutOff(t *testing.T) {
	t.Parallel()
	data := jarOf(t, txz(t, tar.Header{Name: "bin/postgres", Mode: 0o755}))
	third := len(data)/3 + 1
	server := &cutting{data: data, after: third}
	srv := httptest.NewServer(server)
	defer srv.Close()
	var told []int64
	d := transfer{src: srv.URL, sum: sumOf(data), log: silent, progress: func(got, all int64) {
		if told = append(told, got); all != int64(len(data)) {
			t.Errorf("%d of %d bytes, want of %d", got, all, len(data))
		}
	}}
	dir := filepath.Join(t.TempDir(), "build")
	if err := d.ensureUnpacked(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	want := []string{"", fmt.Sprintf("bytes=%d-", third), fmt.Sprintf("bytes=%d-", 2*third)}
	if !slices.Equal(server.asked, want) {
		t.Errorf("asked for %q, want %q", server.asked, want)
	}
	if !slices.IsSorted(told) || len(told) < 3 || told[len(told)-1] != int64(len(data)) {
		t.Errorf("progress %d of %d", told, len(data))
	}
	if got, _ := filepath.Glob(dir + ".*"); len(got) != 1 || got[0] != dir+".lock" {
		t.Errorf("left behind: %v", got)
	}
}

func TestADownloadGoesOnWithWhatAnotherProcessLeft(t *testing.T) {
	t.Parallel()
	data := jarOf(t, txz(t, tar.Header{Name: "bin/postgres", Mode: 0o755}))
	for name, c := range map[string]struct {
		left    []byte
		noRange bool
		asks    int
	}{
		"a part":                      {data[:10], false, 1},
		"all of it":                   {data, false, 1},
		"a part, no ranges":           {data[:10], true, 1},
		"something else":              {[]byte("<html>sign in</html>"), false, 2},
		"something else, and longer":  {append(bytes.Repeat([]byte("?"), 9), data...), false, 2},
		"something else of that size": {bytes.Repeat([]byte("?"), len(data)), false, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := &cutting{data: data, after: len(data) + 1, noRange: c.noRange}
			srv := httptest.NewServer(server)
			defer srv.Close()
			path := filepath.Join(t.TempDir(), "jar")
			if err := os.WriteFile(path, c.left, 0o600); err != nil {
				t.Fatal(err)
			}
			d := transfer{src: srv.URL, sum: sumOf(data), log: silent}
			if err := d.fetchRetrying(t.Context(), path); err != nil {
				t.Fatal(err)
			}
			if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, data) || len(server.asked) != c.asks {
				t.Errorf("%d bytes, want %d, %v; asked for %q", len(got), len(data), err, server.asked)
			}
		})
	}
}

func TestADownloadThatIsCutOffBeforeAnythingCameIsGivenUp(t *testing.T) {
	t.Parallel()
	data := jarOf(t, txz(t, tar.Header{Name: "bin/postgres", Mode: 0o755}))
	address, requests := serve(t, data, http.StatusBadGateway, http.StatusBadGateway, http.StatusBadGateway)
	d := transfer{src: address, sum: sumOf(data), log: silent}
	if err := d.fetchRetrying(t.Context(), filepath.Join(t.TempDir(), "jar")); err == nil || requests.Load() != 3 {
		t.Errorf("%v after %d requests, want an error after 3", err, requests.Load())
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
