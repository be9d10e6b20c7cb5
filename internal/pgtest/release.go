package pgtest

import (
	"compress/gzip"
	"context"
	"io"
	"os"

	"github.com/jackc/pgx/v5"
)

// RunRelease runs the install script of an older release, as `weir install --print` wrote it and gzip packed it.
func RunRelease(ctx context.Context, conn *pgx.Conn, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		return err
	}
	script, err := io.ReadAll(unzipped)
	if err != nil {
		return err
	}
	_, err = conn.PgConn().Exec(ctx, string(script)).ReadAll()
	return err
}
