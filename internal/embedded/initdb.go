package embedded

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// ensureDataDir makes the data directory unless it is there, and settles who runs the server and with what password.
func (s *Server) ensureDataDir(ctx context.Context) error {
	dir := s.opts.DataDir
	var err error
	if s.id, err = chooseIdentity(ctx, s.bin.Dir, dir); err != nil {
		return err
	}
	major, err := dataMajor(dir)
	if err != nil {
		return err
	}
	if major != 0 && major != s.bin.Major { // changed since Find looked
		return &OtherMajorError{DataDir: dir, Data: major, Server: s.bin.Major, BinDir: s.bin.Dir}
	}
	if s.password, err = ensurePassword(dir + ".password"); err != nil {
		return err
	}
	if major != 0 {
		return nil
	}
	s.opts.Logger.Info("making data directory", "dir", dir, "major", s.bin.Major)
	return s.makeDataDir(ctx)
}

// makeDataDir runs initdb under another name and renames, so that a crash in between leaves no half of a data
// directory. An empty one may be a mount point, which cannot be renamed onto: initdb then works in place.
func (s *Server) makeDataDir(ctx context.Context) error {
	dir, work := s.opts.DataDir, s.opts.DataDir
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		if work, err = os.MkdirTemp(filepath.Dir(dir), ".initdb-"); err != nil {
			return fmt.Errorf("make data directory: %w", err)
		}
		defer os.RemoveAll(work) //nolint:errcheck // still there only after a failure, and then never used
	}
	if err := s.id.own(work); err != nil {
		return err
	}
	if err := s.initdb(ctx, work, "C.UTF-8"); err != nil {
		return err
	}
	if work == dir {
		return nil
	}
	if err := os.Rename(work, dir); err != nil {
		return fmt.Errorf("put data directory in place: %w", err)
	}
	return syncDir(filepath.Dir(dir))
}

// initdb fills dir. Without the locale C.UTF-8 it takes C: the same order, but only ASCII has upper and lower case.
func (s *Server) initdb(ctx context.Context, dir, locale string) error {
	pw, err := os.CreateTemp("", "weir-initdb-") // <data>.password may be out of the other user's reach
	if err != nil {
		return fmt.Errorf("make password file: %w", err)
	}
	defer os.Remove(pw.Name()) //nolint:errcheck // worth no failure
	_, err = pw.WriteString(s.password + "\n")
	if err = errors.Join(err, pw.Close(), s.id.own(pw.Name())); err != nil {
		return fmt.Errorf("write password file: %w", err)
	}
	local := "scram-sha-256"
	if s.opts.SocketDir != "" {
		local = "trust"
	}
	args := []string{
		"-D", dir, "-k", "-E", "UTF8", "--locale=" + locale, "-U", Superuser, "--pwfile=" + pw.Name(),
		"--auth-host=scram-sha-256", "--auth-local=" + local,
	}
	out, err := s.id.command(ctx, filepath.Join(s.bin.Dir, program("initdb")), args...).CombinedOutput()
	if err != nil && bytes.Contains(out, []byte("invalid locale")) && locale != "C" {
		return s.initdb(ctx, dir, "C")
	}
	if err != nil {
		return fmt.Errorf("run initdb: %w: %s", err, strings.TrimSpace(string(out)))
	}
	return nil
}

// ensurePassword returns the password in a file of mode 0600, which it makes when there is none.
func ensurePassword(path string) (string, error) {
	text, err := os.ReadFile(path)
	if err == nil {
		return strings.TrimSpace(string(text)), nil
	}
	if !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("read password: %w", err)
	}
	password := rand.Text()
	if err := writeFile(path, []byte(password+"\n")); err != nil {
		return "", fmt.Errorf("write password: %w", err)
	}
	return password, nil
}

// writeFile puts a private file in place whole and on disk.
func writeFile(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) //nolint:errcheck // there only after a failure
	_, err = f.Write(data)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("open directory to sync: %w", err)
	}
	defer d.Close()
	if err := d.Sync(); err != nil {
		return fmt.Errorf("sync directory: %w", err)
	}
	return nil
}
