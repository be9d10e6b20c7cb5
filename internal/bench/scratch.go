package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirmq/weir/internal/migrate"
)

// Names that connections of the driver show in pg_stat_activity.
const (
	controlApp = "weir-bench"
	upkeepApp  = "weir-bench-upkeep"
	loadApp    = "weir-bench-load"
)

// upkeepEvery is how often a server calls maintain.
const upkeepEvery = time.Second

// scratch is a fresh database with the engine and a queue, and with the upkeep running as a server would run it.
type scratch struct {
	*runner

	name       string
	conn       *pgx.Conn
	stopUpkeep func() error
}

// inScratch runs something in a fresh database.
func (r *runner) inScratch(ctx context.Context, do func(s *scratch) (values, error)) (_ values, err error) {
	s, err := r.newScratch(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.drop(context.WithoutCancel(ctx))) }()
	return do(s)
}

// newScratch makes the database. The checkpoint ends what the run before left to write; what is loaded after it is on
// pages made since, so that no run pays for full-page images of its backlog.
func (r *runner) newScratch(ctx context.Context) (_ *scratch, err error) {
	r.scratches++
	s := &scratch{runner: r, name: fmt.Sprintf("weir_bench_%d_%d", os.Getpid(), r.scratches)}
	if _, err = r.admin.Exec(ctx, "create database "+s.name+" template template0"); err != nil {
		return nil, fmt.Errorf("make scratch database: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.drop(context.WithoutCancel(ctx)))
		}
	}()
	if s.conn, err = r.connect(ctx, s.name, controlApp); err != nil {
		return nil, err
	}
	if err = migrate.Install(ctx, s.conn); err != nil {
		return nil, fmt.Errorf("install: %w", err)
	}
	if _, err = s.conn.Exec(ctx, makeQueueText, queue); err != nil {
		return nil, fmt.Errorf("make queue: %w", err)
	}
	if _, err = s.conn.Exec(ctx, "checkpoint"); err != nil {
		return nil, fmt.Errorf("checkpoint: %w", err)
	}
	err = s.startUpkeep(ctx)
	return s, err
}

// drop ends the upkeep, says how it failed if it did, and drops the database.
func (s *scratch) drop(ctx context.Context) error {
	var err error
	if s.stopUpkeep != nil {
		err = s.stopUpkeep()
	}
	if s.conn != nil {
		err = errors.Join(err, s.conn.Close(ctx))
	}
	if _, dropErr := s.admin.Exec(ctx, "drop database "+s.name+" with (force)"); dropErr != nil {
		err = errors.Join(err, fmt.Errorf("drop scratch database: %w", dropErr))
	}
	return err
}

// startUpkeep calls maintain once a second, and again at once while it finds something to do.
func (s *scratch) startUpkeep(ctx context.Context) error {
	conn, err := s.connect(ctx, s.name, upkeepApp)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() {
		defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // nothing is left to say
		done <- upkeep(ctx, conn)
	}()
	s.stopUpkeep = func() error {
		cancel()
		return <-done
	}
	return nil
}

func upkeep(ctx context.Context, conn *pgx.Conn) error {
	ticker := time.NewTicker(upkeepEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		for steps := 1; steps > 0; {
			if err := conn.QueryRow(ctx, upkeepText).Scan(&steps); err != nil {
				if ctx.Err() != nil {
					return nil
				}
				return fmt.Errorf("call upkeep: %w", err)
			}
		}
	}
}

// space returns the dead tuples and the bytes of Weir's tables.
func (s *scratch) space(ctx context.Context) (dead, bytes int64, err error) {
	err = s.conn.QueryRow(ctx, `select coalesce(sum(pg_stat_get_dead_tuples(c.oid)), 0)::bigint,
			coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint
		from pg_class c join pg_namespace n on n.oid = c.relnamespace
		where n.nspname in ('weir', 'weir_internal', 'weir_log') and c.relkind in ('r', 'S')`).Scan(&dead, &bytes)
	if err != nil {
		return 0, 0, fmt.Errorf("read space: %w", err)
	}
	return dead, bytes, nil
}

// walPosition returns how many bytes of WAL the server has written since its first.
func (s *scratch) walPosition(ctx context.Context) (at int64, err error) {
	err = s.conn.QueryRow(ctx, "select (pg_current_wal_insert_lsn() - '0/0')::bigint").Scan(&at)
	if err != nil {
		return 0, fmt.Errorf("read WAL position: %w", err)
	}
	return at, nil
}
