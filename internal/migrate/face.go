package migrate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/jackc/pgx/v5"

	"github.com/weirmq/weir/internal/engine"
	"github.com/weirmq/weir/sql"
)

// Faces returns the names of the faces that can be installed.
func Faces() ([]string, error) {
	entries, err := fs.ReadDir(sql.FS, "faces")
	if err != nil {
		return nil, fmt.Errorf("list faces: %w", err)
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names, nil
}

// FaceScript returns a face as one SQL text, which is to run where the engine is.
func FaceScript(face string) (string, error) {
	s, err := expandFace(face)
	if err != nil {
		return "", err
	}
	return s.text.String(), nil
}

func expandFace(face string) (*script, error) {
	s, err := expand(sql.FS, path.Join("faces", face, entry))
	if errors.Is(err, fs.ErrNotExist) || !fs.ValidPath(face) {
		return nil, fmt.Errorf("%w: %q", ErrNoFace, face)
	}
	return s, err
}

// InstallFace brings a face into the database of conn, which has the engine, or brings the one it has up to date.
func InstallFace(ctx context.Context, conn *pgx.Conn, face string) error {
	s, err := expandFace(face)
	if err != nil {
		return err
	}
	return run(ctx, conn, s)
}

// UninstallFace removes a face with its queues and messages. A queue at a time is gone for good, so that what is
// interrupted is continued by the next call. Where it is not there it does nothing.
func UninstallFace(ctx context.Context, conn *pgx.Conn, face string) error {
	s, err := expand(sql.FS, path.Join("faces", face, "uninstall.sql"))
	if errors.Is(err, fs.ErrNotExist) || !fs.ValidPath(face) {
		return fmt.Errorf("%w: %q", ErrNoFace, face)
	} else if err != nil {
		return err
	}
	// The script is one statement, which commits on its way: the simple protocol lets it.
	if _, err := conn.PgConn().Exec(ctx, s.text.String()).ReadAll(); err != nil {
		return engine.Wrap("uninstall face", err)
	}
	return nil
}

// InstallFaceDSN installs a face into the database of a DSN.
func InstallFaceDSN(ctx context.Context, dsn, face string) error {
	return changeFace(ctx, dsn, face, InstallFace)
}

// UninstallFaceDSN removes a face from the database of a DSN.
func UninstallFaceDSN(ctx context.Context, dsn, face string) error {
	return changeFace(ctx, dsn, face, UninstallFace)
}

func changeFace(
	ctx context.Context, dsn, face string, change func(ctx context.Context, conn *pgx.Conn, face string) error,
) error {
	cfg, err := engine.ConnConfig(dsn)
	if err != nil {
		return err
	}
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return engine.Wrap("connect", err)
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // all work is done or has failed by then
	return change(ctx, conn, face)
}
