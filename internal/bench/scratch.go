package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/jackc/pgx/v5"
)

// Names that connections of the driver show in pg_stat_activity.
const (
	controlApp = "weir-bench"
	upkeepApp  = "weir-bench-upkeep"
)

// upkeepEvery is how often a server calls the upkeep of a system that has one.
const upkeepEvery = time.Second

// scratch is a fresh database with one system and its queue, and with the upkeep running as a server would run it.
type scratch struct {
	env        *env
	sys        system
	name       string
	conn       *pgx.Conn
	stopUpkeep func() error

	sent, consumed int64 // by the loads that were applied and not measured
}

// newScratch makes the database. The checkpoint ends what the run before left to write; what is loaded after it is on
// pages made since, so that no run pays for full-page images of its backlog.
func (e *env) newScratch(ctx context.Context, sys system) (_ *scratch, err error) {
	e.scratch++
	s := &scratch{env: e, sys: sys, name: fmt.Sprintf("weir_bench_%d_%d", os.Getpid(), e.scratch)}
	if _, err = e.admin.Exec(ctx, "create database "+s.name+" template template0"); err != nil {
		return nil, fmt.Errorf("make scratch database: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.drop(context.WithoutCancel(ctx)))
		}
	}()
	if s.conn, err = e.connect(ctx, s.name, controlApp); err != nil {
		return nil, err
	}
	if err = sys.install(ctx, s.conn); err != nil {
		return nil, fmt.Errorf("install %s: %w", sys.name, err)
	}
	setup, err := sys.text("setup")
	if err != nil {
		return nil, err
	}
	if _, err = s.conn.PgConn().Exec(ctx, setup).ReadAll(); err != nil {
		return nil, fmt.Errorf("make queue of %s: %w", sys.name, err)
	}
	if _, err = s.conn.Exec(ctx, "checkpoint"); err != nil {
		return nil, fmt.Errorf("checkpoint: %w", err)
	}
	if sys.upkeep {
		err = s.startUpkeep(ctx)
	}
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
	if _, dropErr := s.env.admin.Exec(ctx, "drop database "+s.name+" with (force)"); dropErr != nil {
		err = errors.Join(err, fmt.Errorf("drop scratch database: %w", dropErr))
	}
	return err
}

// startUpkeep calls the system's upkeep once a second, and again at once while it finds something to do.
func (s *scratch) startUpkeep(ctx context.Context) error {
	text, err := s.sys.text("upkeep")
	if err != nil {
		return err
	}
	conn, err := s.env.connect(ctx, s.name, upkeepApp)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() {
		defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // nothing is left to say
		done <- upkeep(ctx, conn, text)
	}()
	s.stopUpkeep = func() error {
		cancel()
		return <-done
	}
	return nil
}

func upkeep(ctx context.Context, conn *pgx.Conn, text string) error {
	ticker := time.NewTicker(upkeepEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		for steps := 1; steps > 0; {
			if err := conn.QueryRow(ctx, text).Scan(&steps); err != nil {
				if ctx.Err() != nil {
					return nil
				}
				return fmt.Errorf("call upkeep: %w", err)
			}
		}
	}
}

// counts is what the database says about the queue.
type counts struct {
	sent, consumed, claimed int64
	uncounted               bool // the database does not know how many were sent
}

func (s *scratch) counts(ctx context.Context) (counts, error) {
	text, err := s.sys.text("counts")
	if err != nil {
		return counts{}, err
	}
	var sent *int64 // none yet
	var consumed *int64
	var c counts
	if err := s.conn.QueryRow(ctx, text).Scan(&sent, &consumed, &c.claimed); err != nil {
		return c, fmt.Errorf("count messages: %w", err)
	}
	c.uncounted = sent == nil && consumed != nil
	if sent != nil {
		c.sent = *sent
	}
	if consumed != nil {
		c.consumed = *consumed
	}
	if c.consumed < 0 || c.claimed < 0 || !c.uncounted && c.consumed+c.claimed > c.sent {
		return c, fmt.Errorf("%w: %s has %d sent, %d consumed, %d claimed", ErrCounts, s.sys.name, c.sent, c.consumed,
			c.claimed)
	}
	return c, nil
}

// space returns the dead tuples and the bytes of the system's tables.
func (s *scratch) space(ctx context.Context) (dead, bytes int64, err error) {
	text, err := s.sys.text("space")
	if err != nil {
		return 0, 0, err
	}
	if err := s.conn.QueryRow(ctx, text).Scan(&dead, &bytes); err != nil {
		return 0, 0, fmt.Errorf("read space: %w", err)
	}
	return dead, bytes, nil
}

// walPosition returns how many bytes of WAL the server has written since its first.
func (s *scratch) walPosition(ctx context.Context) (int64, error) {
	var at int64
	err := s.conn.QueryRow(ctx, "select (pg_current_wal_insert_lsn() - '0/0')::bigint").Scan(&at)
	if err != nil {
		return 0, fmt.Errorf("read WAL position: %w", err)
	}
	return at, nil
}
