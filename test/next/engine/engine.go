// Package engine installs the engine for tests.
package engine

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/weirmq/weir/internal/migrate"
)

// Install brings the engine into the database of conn.
func Install(ctx context.Context, conn *pgx.Conn) error { return migrate.Install(ctx, conn) }
