package wheel

import (
	"archive/zip"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestArchiveCannotWriteOutside(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := writeZip(t, dir, "../outside")
	if err := unzip(file, dir+"/tree"); err == nil {
		t.Error("an entry outside the directory was written")
	}
}

// writeZip makes a zip file with one entry of the given name.
func writeZip(t *testing.T, dir, name string) string {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, "x.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z := zip.NewWriter(f)
	w, err := z.Create(name)
	if err == nil {
		_, err = w.Write([]byte("x"))
	}
	if err = errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	return f.Name()
}
