package cli_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/creack/pty"

	"github.com/weirmq/weir/internal/pgtest"
)

// slowMirror serves half of a file, then nothing until it is told to cut the connection; the rest it does not have.
func slowMirror(t *testing.T) (address string, cut, ranges chan string) {
	t.Helper()
	const size = 4_000_000
	cut, ranges = make(chan string), make(chan string, 1)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked := r.Header.Get("Range"); asked != "" {
			ranges <- asked
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Length", strconv.Itoa(size))
		w.Write(make([]byte, size/2))
		_ = http.NewResponseController(w).Flush()
		<-cut
		panic(http.ErrAbortHandler)
	}))
	t.Cleanup(srv.Close)
	return srv.URL, cut, ranges
}

// missingMajor writes the mark of a data directory of a version that this machine does not have.
func missingMajor(t *testing.T, home string) {
	t.Helper()
	for major := 14; major <= 18; major++ {
		found, _ := filepath.Glob("/usr/lib/postgresql/" + strconv.Itoa(major) + "/bin")
		if len(found) > 0 {
			continue
		}
		if err := os.WriteFile(filepath.Join(home, "PG_VERSION"), []byte(strconv.Itoa(major)+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Fatal("every PostgreSQL is installed on this machine")
}

func downloadShows(t *testing.T, p *program) {
	missingMajor(t, p.home)
	address, cut, ranges := slowMirror(t)
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	screen := &seen{}
	go func() { _, _ = io.Copy(screen, master) }()
	cmd := p.command("up", "--data-dir", p.home, "--port", "0", "--listen", "127.0.0.1:0")
	cmd.Env = []string{"HOME=" + p.home, "WEIR_MAVEN=" + address, "WEIR_CACHE=" + filepath.Join(p.home, "cache")}
	cmd.Stderr = slave
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	slave.Close()
	pgtest.WaitFor(t, "the progress", func() bool { return screen.has("\r2.0 of 4.0 MB downloaded\x1b[K") })
	close(cut)
	if asked := <-ranges; asked != "bytes=2000000-" {
		t.Errorf("it went on with %s", asked)
	}
	if err := cmd.Wait(); err == nil || !screen.has("\r\x1b[Kweir: download failed, trying again") {
		t.Errorf("ended with %v", err)
	}
	if parts, _ := filepath.Glob(p.home + "/cache/postgres/*.part"); len(parts) != 1 {
		t.Errorf("what had come is not kept: %q", parts)
	}
}
