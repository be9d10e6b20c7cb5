// Package migrate installs and upgrades the engine: it joins the files that sql/install.sql names and runs them as
// one transaction. The script decides everything else itself: it waits for its own lock, so that any number may
// install at once, keeps what is there, and refuses a database that a newer version has written (SQLSTATE WR013).
package migrate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/weirmq/weir/internal/engine"
	"github.com/weirmq/weir/sql"
)

// entry is the table of contents of the engine.
const entry = "install.sql"

// Script returns the whole engine as one SQL text, which psql and any other client can run.
func Script() (string, error) {
	s, err := expand(sql.FS, entry)
	if err != nil {
		return "", err
	}
	return s.text.String(), nil
}

// Install brings the engine into the database of conn, or brings the one it has up to date.
// Nothing is changed when it fails.
func Install(ctx context.Context, conn *pgx.Conn) error {
	return InstallFrom(ctx, conn, sql.FS, entry)
}

// InstallFrom is Install of an engine whose table of contents is a file of fsys.
func InstallFrom(ctx context.Context, conn *pgx.Conn, fsys fs.FS, entry string) error {
	s, err := expand(fsys, entry)
	if err != nil {
		return err
	}
	return run(ctx, conn, s)
}

// InstallDSN installs into the database of a DSN and returns the version that is there then.
func InstallDSN(ctx context.Context, dsn string) (string, error) {
	cfg, err := engine.ConnConfig(dsn)
	if err != nil {
		return "", err
	}
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return "", engine.Wrap("connect", err)
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // all work is done or has failed by then
	if err := Install(ctx, conn); err != nil {
		return "", err
	}
	return engine.New(conn).Version(ctx)
}

// run sends the script through the simple protocol, which takes many statements in one go.
func run(ctx context.Context, conn *pgx.Conn, s *script) error {
	_, err := conn.PgConn().Exec(ctx, s.text.String()).ReadAll()
	if err == nil {
		return nil
	}
	// The script's own BEGIN left a failed transaction behind.
	_, rollbackErr := conn.PgConn().Exec(context.WithoutCancel(ctx), "rollback").ReadAll()
	doing := "install engine"
	var pg *pgconn.PgError
	if errors.As(err, &pg) && pg.Position > 0 {
		file, line := s.locate(int(pg.Position))
		doing = fmt.Sprintf("install engine: sql/%s line %d", file, line)
	}
	err = engine.Wrap(doing, err)
	if rollbackErr != nil {
		err = errors.Join(err, engine.Wrap("roll back", rollbackErr))
	}
	return err
}

// script is the joined text, and where in it each piece of a file begins.
type script struct {
	text   strings.Builder
	chars  int // length of text in characters, the unit of a PostgreSQL error's position
	pieces []piece
}

// piece is a line of a file, remembered by its place in the joined text.
type piece struct {
	start int // in characters from 0
	file  string
	line  int
}

// add appends one line of a file.
func (s *script) add(file string, line int, text string) {
	s.pieces = append(s.pieces, piece{start: s.chars, file: file, line: line})
	s.text.WriteString(text)
	s.text.WriteByte('\n')
	s.chars += len([]rune(text)) + 1
}

// locate finds the file and line of a position, which counts characters from 1.
func (s *script) locate(position int) (file string, line int) {
	for _, p := range s.pieces {
		if p.start >= position {
			break
		}
		file, line = p.file, p.line
	}
	return file, line
}

// expand reads the table of contents with all that its `\ir` lines include.
func expand(fsys fs.FS, entry string) (*script, error) {
	s := &script{}
	if err := s.include(fsys, entry, nil); err != nil {
		return nil, err
	}
	return s, nil
}

// include appends a file, following `\ir`, which psql reads relative to the file it stands in.
func (s *script) include(fsys fs.FS, name string, above []string) error {
	for _, outer := range above {
		if outer == name {
			return fmt.Errorf("expand sql/%s: it includes itself through %s", name, strings.Join(above, ", "))
		}
	}
	content, err := fs.ReadFile(fsys, name)
	if err != nil {
		return fmt.Errorf("expand engine script: %w", err)
	}
	if len(above) > 0 {
		s.add(name, 0, "-- sql/"+name)
	}
	for i, line := range strings.Split(strings.TrimSuffix(string(content), "\n"), "\n") {
		if !strings.HasPrefix(line, `\`) {
			s.add(name, i+1, line)
			continue
		}
		word, rest, _ := strings.Cut(strings.TrimPrefix(line, `\`), " ")
		switch word {
		case "ir", "include_relative":
			next := path.Join(path.Dir(name), strings.Trim(strings.TrimSpace(rest), `'"`))
			if err := s.include(fsys, next, append(above, name)); err != nil {
				return err
			}
		case "set", "unset", "echo", "pset", "timing", "encoding":
			// These only concern psql's session and its output.
		default:
			return fmt.Errorf("expand sql/%s line %d: only psql can run %q", name, i+1, line)
		}
	}
	return nil
}
