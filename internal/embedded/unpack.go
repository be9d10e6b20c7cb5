package embedded

import (
	"archive/tar"
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ulikunitz/xz"
)

const maxUnpacked = 1 << 30 // bytes; the largest build has a quarter of it

// unpack extracts the one .txz inside a jar into a new directory.
func unpack(jar, dir string) error {
	z, err := zip.OpenReader(jar)
	if err != nil {
		return fmt.Errorf("open jar: %w", err)
	}
	defer z.Close() //nolint:errcheck // only read from
	i := slices.IndexFunc(z.File, func(f *zip.File) bool { return strings.HasSuffix(f.Name, ".txz") })
	if i < 0 {
		return errors.New("open jar: it holds no .txz")
	}
	r, err := z.File[i].Open()
	if err != nil {
		return fmt.Errorf("open archive in jar: %w", err)
	}
	defer r.Close()
	return untar(r, dir)
}

// untar extracts an xz-compressed tar. Entries are written through os.Root, so that even a chain of symbolic links
// cannot lead outside; names and links that try are an error and not skipped.
func untar(r io.Reader, dir string) error {
	x, err := xz.NewReader(r)
	if err != nil {
		return fmt.Errorf("open xz stream: %w", err)
	}
	if err = os.Mkdir(dir, 0o755); err != nil {
		return fmt.Errorf("make directory: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("open directory: %w", err)
	}
	defer root.Close() //nolint:errcheck // only a handle
	left := int64(maxUnpacked)
	for t := tar.NewReader(x); ; {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read archive: %w", err)
		}
		if left -= h.Size; left < 0 {
			return fmt.Errorf("%w: more than %d bytes", ErrUnsafeArchive, maxUnpacked)
		}
		if err = extract(root, h, t); err != nil {
			return fmt.Errorf("extract %q: %w", h.Name, err)
		}
	}
}

func extract(root *os.Root, h *tar.Header, r io.Reader) error {
	name := path.Clean(h.Name)
	if !filepath.IsLocal(name) {
		return fmt.Errorf("%w: name leads outside", ErrUnsafeArchive)
	}
	if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return fmt.Errorf("%w: %w", ErrUnsafeArchive, err)
	}
	switch h.Typeflag {
	case tar.TypeDir:
		return root.MkdirAll(name, 0o755)
	case tar.TypeSymlink:
		if path.IsAbs(h.Linkname) || !filepath.IsLocal(path.Join(path.Dir(name), h.Linkname)) {
			return fmt.Errorf("%w: link to %q leads outside", ErrUnsafeArchive, h.Linkname)
		}
		return root.Symlink(h.Linkname, name)
	case tar.TypeReg:
		f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, h.FileInfo().Mode().Perm()&0o755|0o644)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrUnsafeArchive, err)
		}
		_, err = io.Copy(f, r)
		return errors.Join(err, f.Close())
	default:
		return fmt.Errorf("%w: entry of type %q", ErrUnsafeArchive, h.Typeflag)
	}
}
