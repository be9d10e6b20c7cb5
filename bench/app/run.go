package app

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirmq/weir/bench/shootout"
	"github.com/weirmq/weir/internal/migrate"
)

// run is one run and what it stands on.
type run struct {
	opts   Options
	host   *shootout.Host
	conn   *pgx.Conn // counts and samples
	dsn    string
	server *process // `weir serve`; nil over SQL
	load   *loader
	report *Report

	before  costs
	spent   costs      // so far
	started time.Time  // the server, or the load if that was later
	seen    time.Time  // when the database last answered
	open    []Question // of the load
}

// Run does a run. When ctx ends, so does the load, and the report is of what there is until then. With ErrWrong, too,
// there is a report.
func Run(ctx context.Context, opts Options) (_ *Report, err error) {
	interrupted := ctx.Done()
	ctx = context.WithoutCancel(ctx)
	if err := opts.complete(); err != nil {
		return nil, err
	}
	r := &run{opts: opts, report: &Report{
		Options: opts, Started: time.Now().UTC().Truncate(time.Second), Version: migrate.Version(),
	}}
	if opts.Via == ViaHTTP && opts.Program == "" {
		if opts.Program, err = buildServer(ctx, opts.Root); err != nil {
			return nil, err
		}
	}
	r.host, err = shootout.OpenHost(ctx, opts.DSN, opts.Log)
	switch {
	case errors.Is(err, shootout.ErrOptions):
		return nil, optionf("the DSN must be a URL with a host, such as postgres://user@host/database")
	case err != nil:
		return nil, fmt.Errorf("open server: %w", err)
	}
	defer func() { err = errors.Join(err, r.host.Close(ctx)) }()
	name, dsn, err := r.host.Create(ctx)
	if err != nil {
		return nil, fmt.Errorf("make database: %w", err)
	}
	defer func() { err = errors.Join(err, r.host.Drop(ctx, name)) }()
	if err := r.prepare(ctx, dsn); err != nil {
		return nil, err
	}
	defer func() { _ = r.conn.Close(ctx) }() // nothing is left to say; it may be a later one
	target := dsn
	if opts.Via == ViaHTTP {
		if r.server, target, err = startServer(ctx, opts.Program, dsn); err != nil {
			return nil, err
		}
		defer r.server.kill()
	}
	if err := r.costs(ctx); err != nil {
		return nil, err
	}
	r.before = r.spent
	if r.load, err = startLoad(Command{Options: opts, Target: target}); err != nil {
		return nil, err
	}
	defer r.load.end()
	r.started, r.seen = time.Now(), time.Now()
	if err := r.follow(ctx, interrupted); err != nil {
		return nil, err
	}
	if err := r.audit(ctx); err != nil {
		return nil, err
	}
	return r.report, r.report.judge()
}

// prepare installs the engine and makes the queues and groups.
func (r *run) prepare(ctx context.Context, dsn string) (err error) {
	if r.report.Machine, err = r.host.Machine(ctx); err != nil {
		return fmt.Errorf("ask for machine: %w", err)
	}
	r.dsn = dsn
	if r.conn, err = pgx.Connect(ctx, dsn); err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	if err := migrate.Install(ctx, r.conn); err != nil {
		return fmt.Errorf("install: %w", err)
	}
	o := r.opts
	if _, err := r.conn.Exec(ctx, `select weir.configure_log('main', retention => $1)`, o.Retention); err != nil {
		return fmt.Errorf("configure log: %w", err)
	}
	for _, queue := range []string{Queue, SecondQueue} {
		if _, err := r.conn.Exec(ctx, `select weir.create_queue($1, ttl => $2)`, queue, o.TTL); err != nil {
			return fmt.Errorf("make queue: %w", err)
		}
	}
	group := func(queue, name string) error {
		_, err := r.conn.Exec(ctx, `select weir.create_group($1, $2, ordered => true, max_attempts => $3,
			backoff_min => $4, backoff_max => $5)`, queue, name, o.MaxAttempts, o.BackoffMin, o.BackoffMax)
		return err
	}
	for i := range o.Groups {
		if err := group(Queue, Group(i)); err != nil {
			return fmt.Errorf("make group: %w", err)
		}
	}
	if err := group(SecondQueue, SecondGroup); err != nil {
		return fmt.Errorf("make group: %w", err)
	}
	for _, queue := range []string{Queue, SecondQueue} { // nobody reads it, and it would keep the log
		if _, err := r.conn.Exec(ctx, `select weir.drop_group($1, 'default')`, queue); err != nil {
			return fmt.Errorf("drop group: %w", err)
		}
	}
	if _, err := r.conn.Exec(ctx, "checkpoint"); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	return nil
}

// idle is how long nothing may become of what is left before the drain is given up.
const idle = 2 * time.Minute

// follow watches the load until its queues are drained, their time is over or the run is interrupted, and takes what it
// reports.
func (r *run) follow(ctx context.Context, interrupted <-chan struct{}) error {
	var w watch
	for {
		select {
		case <-interrupted:
			interrupted = nil
			r.report.Interrupted = true
			if err := r.finish(&w); err != nil {
				return err
			}
		case e, ok := <-r.load.events:
			switch {
			case !ok:
				return errors.Join(fmt.Errorf("%w: it ended early", ErrLoad), r.load.wait())
			case e.Outcome != nil:
				return r.ended(ctx, e.Outcome)
			case e.Question != nil:
				r.open = append(r.open, *e.Question)
			case e.Tick != nil:
				if err := r.second(ctx, e.Tick, &w); err != nil {
					return err
				}
			}
		}
	}
}

// second does what is to be done each second: look, tell, answer, kill, and finish when all is drained.
func (r *run) second(ctx context.Context, t *Tick, w *watch) error {
	s, err := r.sample(ctx, t)
	if err != nil {
		return err
	}
	r.show(s)
	if s.Away && r.report.Interrupted {
		return fmt.Errorf("%w: interrupted while the database was away, so that nothing could be checked", ErrLoad)
	}
	if !s.Away {
		if _, err := r.reach(ctx, func() error { return r.answer(ctx) }); err != nil {
			return err
		}
	}
	kills := r.report.Kills
	if err := r.crash(ctx, s); err != nil || r.report.Kills > kills {
		return err
	}
	r.report.Drained = !s.Pushing && len(r.open) == 0 && s.drained()
	if r.report.Drained || w.over(s, r.opts.Drain) {
		return r.finish(w)
	}
	return nil
}

// watch decides when to wait for a drain no more.
type watch struct {
	stopped, moved time.Time // when the producers had ended, and when something last came to an end
	progress       int64
	told           bool // the load was told to finish
}

// over reports whether the consumers have had their time.
func (w *watch) over(s *Sample, drain time.Duration) bool {
	if s.Pushing {
		return false
	}
	if w.stopped.IsZero() {
		w.stopped, w.moved = time.Now(), time.Now()
	}
	if n := s.finished(); n != w.progress {
		w.progress, w.moved = n, time.Now()
	}
	return time.Since(w.stopped) > drain || time.Since(w.moved) > idle
}

// finish tells the load to finish, once.
func (r *run) finish(w *watch) error {
	if w.told {
		return nil
	}
	w.told = true
	return r.load.say(FinishLine)
}

// ended takes the costs and the outcome, and lets the load and the server go.
func (r *run) ended(ctx context.Context, o *Outcome) error {
	r.report.Outcome = *o
	if err := r.spend(ctx); err != nil {
		return err
	}
	if err := r.load.in.Close(); err != nil && !errors.Is(err, syscall.EPIPE) {
		return fmt.Errorf("end load: %w", err)
	}
	for range r.load.events { //nolint:revive // the outcome was the last
	}
	if err := r.load.wait(); err != nil {
		return err
	}
	if r.server != nil {
		return r.server.drain()
	}
	return nil
}
