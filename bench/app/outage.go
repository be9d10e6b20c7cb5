package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// awayMost is how long the database may be away before the run is given up.
const awayMost = 10 * time.Minute

// away reports whether a call of the driver failed because the database was not there or went away.
func away(err error) bool {
	var refused *pgconn.ConnectError
	var answer *pgconn.PgError
	switch {
	case errors.As(err, &answer):
		return strings.HasPrefix(answer.Code, "08") || strings.HasPrefix(answer.Code, "57P")
	case errors.As(err, &refused), pgconn.SafeToRetry(err):
		return true
	}
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// reach calls do with the driver's connection, a new one when the last has broken, and returns whether the database was
// there.
func (r *run) reach(ctx context.Context, do func() error) (there bool, err error) {
	if r.conn.IsClosed() {
		conn, err := pgx.Connect(ctx, r.dsn)
		if err == nil {
			r.conn = conn
		} else if !away(err) {
			return false, fmt.Errorf("connect: %w", err)
		}
	}
	if !r.conn.IsClosed() {
		err := do()
		if err == nil || !away(err) && !r.conn.IsClosed() {
			r.seen = time.Now()
			return true, err
		}
	}
	if time.Since(r.seen) > awayMost {
		return false, fmt.Errorf("%w: the database has been away for %v", ErrLoad, awayMost)
	}
	return false, nil
}

// crash kills the server, when its time has come, and starts it again: now and then while messages are sent, but once
// at least.
func (r *run) crash(ctx context.Context, s *Sample) error {
	if r.opts.KillPostgres == 0 || r.report.Interrupted {
		return nil
	}
	if s.Pushing && time.Since(r.started) < r.opts.KillPostgres || !s.Pushing && r.report.Kills > 0 {
		return nil
	}
	if err := r.load.say(ShakenLine); err != nil {
		return err
	}
	if err := r.host.Kill(ctx); err != nil {
		return err
	}
	r.started, r.report.Kills = time.Now(), r.report.Kills+1
	return nil
}

// Texts that look for messages: a group of its own reads what was sent since a time.
const (
	probesText    = `select count(*) from weir.list_groups($1) where group_name = 'probe'`
	dropProbeText = `select weir.drop_group($1, 'probe')`
	probeText     = `select weir.create_group($1, 'probe', start => (clock_timestamp() - $2::interval)::text)`
	soughtText    = `select (payload->>'session')::int, (payload->>'seq')::bigint from weir.pop($1, 'probe', max => $2)`
)

const (
	probeMargin = 10 * time.Second // before a send began that is looked for
	probeEmpty  = 3                // receives in a row that bring nothing: then there is nothing more
)

// answer answers the load's questions, once the database can be asked. What is not there by then will not be: the
// sessions that could have sent it ended with the server, or with the connection.
func (r *run) answer(ctx context.Context) error {
	for _, queue := range []string{Queue, SecondQueue} {
		var since time.Time
		for _, q := range r.open {
			if q.Queue == queue && (since.IsZero() || q.Began.Before(since)) {
				since = q.Began
			}
		}
		if since.IsZero() {
			continue
		}
		there, err := r.probe(ctx, queue, time.Since(since)+probeMargin)
		if err != nil {
			return err
		}
		var rest []Question
		for _, q := range r.open {
			if q.Queue != queue {
				rest = append(rest, q)
				continue
			}
			line, err := json.Marshal(Answer{ID: q.ID, There: there[q.Place]})
			if err != nil {
				return fmt.Errorf("encode answer: %w", err)
			}
			if err := r.load.say(string(line)); err != nil {
				return err
			}
		}
		r.open = rest
	}
	return nil
}

// probe returns what was sent to a queue in the last time. An earlier probe may not have got to its end.
func (r *run) probe(ctx context.Context, queue string, last time.Duration) (there map[Place]bool, err error) {
	left := 0
	if err := r.conn.QueryRow(ctx, probesText, queue).Scan(&left); err != nil {
		return nil, fmt.Errorf("look for probe: %w", err)
	}
	if left > 0 {
		if _, err := r.conn.Exec(ctx, dropProbeText, queue); err != nil {
			return nil, fmt.Errorf("drop probe: %w", err)
		}
	}
	if _, err := r.conn.Exec(ctx, probeText, queue, last); err != nil {
		return nil, fmt.Errorf("make probe: %w", err)
	}
	there = map[Place]bool{}
	for empty := 0; empty < probeEmpty; {
		rows, err := r.conn.Query(ctx, soughtText, queue, page)
		if err != nil {
			return nil, fmt.Errorf("look for messages: %w", err)
		}
		var p Place
		empty++
		_, err = pgx.ForEachRow(rows, []any{&p.Session, &p.Seq}, func() error {
			there[p], empty = true, 0
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("look for messages: %w", err)
		}
	}
	if _, err := r.conn.Exec(ctx, dropProbeText, queue); err != nil {
		return nil, fmt.Errorf("drop probe: %w", err)
	}
	return there, nil
}
