package migrate

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/weirmq/weir/internal/engine"
	"github.com/weirmq/weir/sql"
)

// Uninstall removes the engine with all queues and messages from the database of conn. A queue at a time is gone for
// good, so that what is interrupted is continued by the next call. Where there is no engine it does nothing.
func Uninstall(ctx context.Context, conn *pgx.Conn) error {
	script, err := sql.FS.ReadFile("uninstall.sql")
	if err != nil {
		return fmt.Errorf("read uninstall script: %w", err)
	}
	// The script is one statement, which commits on its way: the simple protocol lets it.
	if _, err := conn.PgConn().Exec(ctx, string(script)).ReadAll(); err != nil {
		return engine.Wrap("uninstall engine", err)
	}
	return nil
}

// UninstallDSN removes the engine from the database of a DSN.
func UninstallDSN(ctx context.Context, dsn string) error {
	cfg, err := engine.ConnConfig(dsn)
	if err != nil {
		return err
	}
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return engine.Wrap("connect", err)
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // all work is done or has failed by then
	return Uninstall(ctx, conn)
}
