package bench

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/jackc/pgx/v5"

	adapters "github.com/weirmq/weir/bench"
	"github.com/weirmq/weir/internal/migrate"
	"github.com/weirmq/weir/internal/wheel"
)

// system is one of the queues that are compared. What it does in a workload stands in bench/adapters/<name>.
type system struct {
	name    string
	install func(ctx context.Context, conn *pgx.Conn) error
	version string
	upkeep  bool // it has an upkeep.sql, which somebody has to call
	settles bool // a receive finishes what it returns; there is no ack
	partial bool // a receive may return less than it asks for, and to count reads no messages
}

// weir is this repository's engine, as `weir install` puts it into a database.
func weir() system {
	return system{
		name: "weir", install: migrate.Install, upkeep: true, partial: true,
		version: migrate.Version(),
	}
}

// pgmq is PGMQ's own SQL, which its Python package carries.
func pgmq(ctx context.Context) (system, error) {
	dir, err := wheel.PGMQ.Fetch(ctx)
	if err != nil {
		return system{}, err
	}
	read := func(name string) (string, error) {
		text, err := os.ReadFile(filepath.Join(dir, "pgmq", "sql", name))
		return string(text), err
	}
	script, err := read("pgmq.sql")
	if err != nil {
		return system{}, fmt.Errorf("read PGMQ's SQL: %w", err)
	}
	number, err := read("VERSION")
	if err != nil {
		return system{}, fmt.Errorf("read PGMQ's version: %w", err)
	}
	return system{
		name: "pgmq",
		install: func(ctx context.Context, conn *pgx.Conn) error {
			_, err := conn.PgConn().Exec(ctx, script).ReadAll()
			return err
		},
		version: strings.TrimSpace(number),
	}, nil
}

// table is what one writes in an afternoon: INSERT, and DELETE of the oldest with SKIP LOCKED.
func table() system {
	return system{
		name: "table", install: func(context.Context, *pgx.Conn) error { return nil }, version: "-", settles: true,
	}
}

// systems returns Weir and those it is compared with.
func systems(ctx context.Context, against []string) ([]system, error) {
	all := []system{weir()}
	for _, name := range against {
		switch name {
		case "pgmq":
			s, err := pgmq(ctx)
			if err != nil {
				return nil, err
			}
			all = append(all, s)
		case "table":
			all = append(all, table())
		default:
			return nil, optionf("no system %q to compare with; there are pgmq and table", name)
		}
	}
	return all, nil
}

// text returns one of the system's SQL files.
func (s system) text(name string) (string, error) {
	text, err := fs.ReadFile(adapters.Adapters, path.Join("adapters", s.name, name+".sql"))
	if err != nil {
		return "", fmt.Errorf("read adapter: %w", err)
	}
	return string(text), nil
}

// writeScripts puts the SQL files of the systems where pgbench can read them.
func writeScripts(dir string) error {
	if err := os.CopyFS(dir, adapters.Adapters); err != nil {
		return fmt.Errorf("write pgbench scripts: %w", err)
	}
	return nil
}

// script returns the path of a file that writeScripts wrote.
func (s system) script(dir, name string) string {
	return filepath.Join(dir, "adapters", s.name, name+".sql")
}
