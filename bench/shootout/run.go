package shootout

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirmq/weir/bench/adapter"
)

const (
	settleWithin   = 10 * time.Minute      // of setup and preload
	headStart      = 30 * time.Millisecond // between "go" and the beginning
	lookEvery      = 10 * time.Millisecond // at the progress
	patience       = 30 * time.Second      // without progress in a drain; the longest default poll is 5 s
	drainMost      = time.Minute           // however much is left then: some defaults do two messages a second
	lastSends      = 120 * time.Second     // for producers to end when their time is over
	preloadBatch   = 100                   // messages
	preloadSeconds = 5.0                   // a system that cannot send them all within them has less to consume
	numberSpace    = int64(100_000_000)    // numbers of the messages that a burst adds begin here
	burstBegin     = 0.4                   // of the run
	burstLength    = 0.2                   // of the run
	killAt         = 0.5                   // of the run
	rescue         = 75 * time.Second      // patience when something was killed; pgqd tries again after 60 s
)

// driver runs workloads on systems.
type driver struct {
	server   *server
	seconds  float64       // of a timed run
	drain    time.Duration // at most, of a drain
	log      *slog.Logger
	shootout string
	cores    int

	installations map[string]installation
}

// run is one workload on one system.
type run struct {
	*driver

	sys     *System
	setting string
	w       Workload
	workers int // of a ramp
	result  Result

	database, dsn string
	dir           string // of the ledgers and of the adapters' temporary files
	address       string
	control       *pgx.Conn // counts and samples
	serve         *process
	senders       []*process
	mu            sync.Mutex
	consumers     []*process // one a group, and those that took the place of killed ones
	plans         []planned
	waiting       int64 // messages before the load
	acked         int64 // messages whose sends succeeded
	cut           bool  // the drain was ended with messages left
	start         time.Time
	stopped       time.Time
}

// measure does one run. What the system cannot do and what fails is in the result; an error ends the shootout.
func (d *driver) measure(ctx context.Context, sys *System, setting string, w Workload, workers int) (Result, error) {
	r := &run{driver: d, sys: sys, setting: setting, w: w, workers: workers, result: Result{
		Shootout: d.shootout, Began: time.Now().UTC().Truncate(time.Second), System: sys.Name, Title: sys.Title,
		Setting: setting, Batches: sys.Batches, Workload: w.Name, Workers: workers, LoadBefore: loadAverage(),
	}}
	err := r.whole(ctx)
	switch {
	case ctx.Err() != nil:
		return r.result, ctx.Err()
	case errors.Is(err, errCannot):
		r.result.Cannot = err.Error()
	case err != nil:
		r.result.Error = err.Error()
	}
	return r.result, nil
}

// whole makes the database, does the run and removes all traces of it.
func (r *run) whole(ctx context.Context) (err error) {
	defer func() {
		for _, p := range r.processes() {
			if !p.ended {
				p.kill()
				p.end()
			}
		}
		if r.control != nil {
			_ = r.control.Close(ctx) // nothing is left to say
		}
		if r.database != "" {
			err = errors.Join(err, r.server.drop(context.WithoutCancel(ctx), r.database))
		}
		err = errors.Join(err, os.RemoveAll(r.dir))
	}()
	if r.w.HandlerMS > 0 && !r.sys.Handlers {
		return fmt.Errorf("%w: its adapter has no handlers that take time", errCannot)
	}
	if r.dir, err = os.MkdirTemp("", "weir-run-"); err != nil {
		return fmt.Errorf("make directory for ledgers: %w", err)
	}
	if err := r.prepare(ctx); err != nil {
		return err
	}
	before, err := r.costs(ctx)
	if err != nil {
		return err
	}
	if err := r.load(ctx); err != nil {
		return err
	}
	return r.account(ctx, before)
}

func (r *run) processes() []*process {
	all := append(append([]*process{}, r.senders...), r.consumers...)
	if r.serve != nil {
		all = append(all, r.serve)
	}
	return all
}

// command is what every adapter of this run is told.
func (r *run) command(op string) adapter.Command {
	return adapter.Command{
		Op: op, DSN: r.dsn, Setting: r.setting, Address: r.address, Batch: r.w.Batch, Bytes: r.w.Bytes, Keys: r.w.Keys,
		Ordered: r.w.Keys > 0, Groups: r.w.Groups, Perpetual: r.w.Perpetual, LeaseS: r.w.LeaseS,
		HandlerMS: r.w.HandlerMS,
	}
}

// installation is a database in which a system was set up and nothing was done: the template of those of its runs.
type installation struct{ database, version string }

// install makes the run's database: a copy of one in which the system's adapter has installed it.
func (r *run) install(ctx context.Context) error {
	c := r.command(adapter.OpSetup)
	key := fmt.Sprint(r.sys.Name, " ", r.setting, " ", c.Groups, " ", c.Ordered)
	have, ok := r.installations[key]
	if !ok {
		var err error
		if have.database, err = r.server.create(ctx, "template0"); err != nil {
			return err
		}
		c.DSN = r.server.database(have.database)
		p, err := r.spawn(c)
		if err != nil {
			return err
		}
		e, err := p.expect(ctx, "done", settleWithin)
		p.end()
		if err == nil {
			err = r.server.rest(ctx, have.database)
		}
		if err != nil {
			return errors.Join(err, r.server.drop(context.WithoutCancel(ctx), have.database))
		}
		have.version = e.Version
		r.installations[key] = have
	}
	var err error
	r.result.Version = have.version
	if r.database, err = r.server.create(ctx, have.database); err != nil {
		return err
	}
	r.dsn = r.server.database(r.database)
	if r.w.CommitOff {
		return r.server.admin(ctx, "alter database "+r.database+" set synchronous_commit = off")
	}
	return nil
}

// prepare makes the database, starts what serves the system, and sends what is to wait.
func (r *run) prepare(ctx context.Context) error {
	if err := r.install(ctx); err != nil {
		return err
	}
	if r.sys.Upkeep {
		var err error
		if r.serve, err = r.spawn(r.command(adapter.OpServe)); err != nil {
			return err
		}
		e, err := r.serve.expect(ctx, "ready", answerWithin)
		if err != nil {
			return err
		}
		r.address = e.Address
	}
	if err := r.reconnect(ctx); err != nil {
		return err
	}
	if r.w.Preload > 0 {
		if err := r.preload(ctx); err != nil {
			return err
		}
		if err := r.analyze(ctx); err != nil {
			return err
		}
	}
	if err := r.hold(ctx); err != nil {
		return err
	}
	if _, err := r.control.Exec(ctx, "checkpoint"); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	return nil
}

// preload sends the messages that are to wait.
func (r *run) preload(ctx context.Context) error {
	c := r.command(adapter.OpSend)
	c.Count, c.Clients, c.Batch, c.Seconds = r.w.Preload, 2, max(r.w.Batch, preloadBatch), preloadSeconds
	p, err := r.spawn(c)
	if err != nil {
		return err
	}
	defer p.end()
	if _, err := p.expect(ctx, "ready", answerWithin); err != nil {
		return err
	}
	if err := p.say(adapter.Signal{Op: "go", At: time.Now().UnixNano()}); err != nil {
		return err
	}
	e, err := p.expect(ctx, "done", settleWithin)
	r.waiting = e.Count
	return err
}

// analyze gives the tables the statistics that they have in a queue at work: what waits was sent faster than autovacuum
// looks, and a plan made for an empty table would be measured.
func (r *run) analyze(ctx context.Context) error {
	if _, err := r.control.Exec(ctx, "analyze"); err != nil {
		return fmt.Errorf("analyze: %w", err)
	}
	return nil
}

// The ways in which a transaction can be held open. What it opens stays open for the whole run, idle.
var holders = map[string][]string{
	"reader": {"begin isolation level repeatable read", "select count(*) from pg_class"},
	"writer": {"create table held (x int)", "begin", "insert into held values (1)", "select pg_current_xact_id()"},
}

// hold opens the transaction that the workload wants. Dropping the database ends it.
func (r *run) hold(ctx context.Context) error {
	if r.w.Hold == "" {
		return nil
	}
	conn, err := pgx.Connect(ctx, r.dsn)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	for _, text := range holders[r.w.Hold] {
		if _, err := conn.Exec(ctx, text, pgx.QueryExecModeSimpleProtocol); err != nil {
			return fmt.Errorf("hold transaction open: %w", err)
		}
	}
	return nil
}

// length is how long the load lasts, in seconds.
func (r *run) length() float64 { return r.seconds * float64(max(1, r.w.Long)) }

// startConsumers starts the workers of each group and waits until they are ready.
func (r *run) startConsumers(ctx context.Context) error {
	for group := range max(1, r.w.Groups) {
		for _, clients := range r.shares() {
			p, err := r.startConsumer(ctx, group, clients)
			if err != nil {
				return err
			}
			r.add(p)
		}
	}
	return nil
}

// shares are the workers of each process of a group: all in one, or spread over those that the system's setting has,
// but over no more than there are cores, because more are slower.
func (r *run) shares() []int {
	if r.w.Processes > 0 {
		return slices.Repeat([]int{r.w.Consumers}, r.w.Processes)
	}
	workers := max(r.w.Consumers, r.workers)
	shares := make([]int, min(workers, max(1, min(r.cores, r.sys.Processes[r.setting]))))
	for i := range workers {
		shares[i%len(shares)]++
	}
	return shares
}

// add notes a worker's process.
func (r *run) add(p *process) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.consumers = append(r.consumers, p)
}

func (r *run) startConsumer(ctx context.Context, group, clients int) (*process, error) {
	c := r.command(adapter.OpWork)
	c.Clients = clients
	if r.w.Groups > 0 {
		c.Group = adapter.GroupName(group)
	}
	if !r.w.Perpetual { // its numbers are all the same
		c.Ledger = r.ledgerDir(group)
		if err := os.MkdirAll(c.Ledger, 0o755); err != nil {
			return nil, fmt.Errorf("make directory for ledgers: %w", err)
		}
	}
	p, err := r.spawn(c)
	if err != nil {
		return nil, err
	}
	if _, err := p.expect(ctx, "ready", answerWithin); err != nil {
		p.kill()
		p.end()
		return nil, err
	}
	return p, nil
}

func (r *run) ledgerDir(group int) string {
	return filepath.Join(r.dir, "ledgers", adapter.GroupName(group))
}

// startProducers starts the producers and waits until they are ready.
func (r *run) startProducers(ctx context.Context) error {
	if r.w.Producers == 0 {
		return nil
	}
	c := r.command(adapter.OpSend)
	c.First, c.Clients, c.Rate, c.Seconds, c.Window = r.waiting, r.w.Producers, r.w.Rate, r.length(), r.w.Window > 0
	commands := []adapter.Command{c}
	if r.w.Burst > 0 {
		c.First, c.Rate, c.Seconds = numberSpace, r.w.Burst, r.length()*burstLength
		commands = append(commands, c)
	}
	for _, c := range commands {
		p, err := r.spawn(c)
		if err != nil {
			return err
		}
		r.senders = append(r.senders, p)
		if _, err := p.expect(ctx, "ready", answerWithin); err != nil {
			return err
		}
		if c.Rate > 0 {
			r.plans = append(r.plans, planned{first: c.First, count: int64(c.Rate * c.Seconds), rate: c.Rate})
		}
	}
	return nil
}
