// Package engine installs the engine of sql/next for tests.
package engine

import (
	"context"
	"io/fs"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/weirmq/weir/internal/migrate"
	"github.com/weirmq/weir/sql"
	"github.com/weirmq/weir/sql/next"
)

// files is sql with its folder next.
type files struct{}

// Open opens a file by its path in sql.
func (files) Open(name string) (fs.File, error) {
	if inside, ok := strings.CutPrefix(name, "next/"); ok {
		return next.FS.Open(inside)
	}
	return sql.FS.Open(name)
}

// Install brings the engine into the database of conn.
func Install(ctx context.Context, conn *pgx.Conn) error {
	return migrate.InstallFrom(ctx, conn, files{}, "next/install.sql")
}
