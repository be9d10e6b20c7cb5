package app

import (
	"context"
	"fmt"
	"slices"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// Sample is how the run stood at a moment: what the load said, and what the database did.
type Sample struct {
	Tick

	Backlog   []int64   `json:"backlog"`         // of each group, and of the second queue, as the load counts
	Stats     []Backlog `json:"stats,omitempty"` // the same as the database says, once the load counts nothing
	Bytes     int64     `json:"bytes"`           // of all tables and indexes
	WAL       int64     `json:"wal"`             // bytes since the beginning
	ServerCPU float64   `json:"server_cpu_s"`
	HTTPCPU   float64   `json:"http_cpu_s,omitempty"`
	LoadCPU   float64   `json:"load_cpu_s"`
	Rates     Rates     `json:"rates"`          // of the last second
	Away      bool      `json:"away,omitempty"` // the database was, so that its figures are those before
}

// Rates are messages a second, of all groups together.
type Rates struct {
	Pushed    float64 `json:"pushed"`
	Delivered float64 `json:"delivered"`
	Acked     float64 `json:"acked"`
}

// Backlog is what a group has before it, as the database says.
type Backlog struct {
	Group   string `json:"group"`
	Waiting int64  `json:"waiting"`
	Claimed int64  `json:"claimed"`
	Delayed int64  `json:"delayed"`
	Parked  int64  `json:"parked"`
	Dead    int64  `json:"dead"`
	Exact   bool   `json:"exact"`

	OldestAge float64 `json:"oldest_age_s"`
}

// left is what is neither done nor dead.
func (b Backlog) left() int64 { return b.Waiting + b.Claimed + b.Delayed + b.Parked }

const (
	statsText = `select group_name, waiting, claimed, delayed, parked, dead, exact,
		coalesce(extract(epoch from oldest_age), 0)::float8
		from weir.stats($1) order by group_name`
	spaceText = `select coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint,
		(pg_current_wal_insert_lsn() - '0/0')::bigint
		from pg_class c join pg_namespace n on n.oid = c.relnamespace
		where c.relkind in ('r', 'S') and n.nspname in ('weir', 'weir_internal', 'weir_log')`
)

// backlogs asks the database how the groups stand.
func (r *run) backlogs(ctx context.Context) ([]Backlog, error) {
	var all []Backlog
	for _, queue := range []string{Queue, SecondQueue} {
		rows, err := r.conn.Query(ctx, statsText, queue)
		if err != nil {
			return nil, fmt.Errorf("ask for statistics: %w", err)
		}
		list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (b Backlog, err error) {
			err = row.Scan(&b.Group, &b.Waiting, &b.Claimed, &b.Delayed, &b.Parked, &b.Dead, &b.Exact, &b.OldestAge)
			return b, err
		})
		if err != nil {
			return nil, fmt.Errorf("ask for statistics: %w", err)
		}
		all = append(all, list...)
	}
	return all, nil
}

// shaken reports whether calls may have been lost by now.
func (r *run) shaken(t *Tick) bool { return r.report.Kills > 0 || t.Cut > 0 }

// sample adds to a tick what the database and the machine say.
func (r *run) sample(ctx context.Context, t *Tick) (*Sample, error) {
	s := Sample{Tick: *t, Backlog: t.backlog()}
	there, err := r.reach(ctx, func() (err error) {
		if !s.Pushing && (s.settled() || r.shaken(t) && len(r.report.Samples)%statsEvery == 0) {
			if s.Stats, err = r.backlogs(ctx); err != nil {
				return err
			}
		}
		return r.costs(ctx)
	})
	if err != nil {
		return nil, err
	}
	s.Away = !there
	c := r.spent
	s.Bytes, s.WAL = c.bytes, c.wal-r.before.wal
	s.ServerCPU = (c.postgres - r.before.postgres).Seconds()
	s.HTTPCPU, s.LoadCPU = c.http.Seconds(), c.load.Seconds()
	last := Sample{}
	if n := len(r.report.Samples); n > 0 {
		last = r.report.Samples[n-1]
	}
	if seconds := s.At - last.At; seconds > 0 {
		s.Rates.Pushed = float64(s.Pushed-last.Pushed) / seconds
		s.Rates.Delivered = float64(s.deliveries()-last.deliveries()) / seconds
		s.Rates.Acked = float64(s.done()-last.done()) / seconds
	}
	r.report.Samples = append(r.report.Samples, s)
	return &s, nil
}

func (t *Tick) deliveries() (n int64) {
	for _, g := range t.Groups {
		n += g.Deliveries
	}
	return n
}

func (t *Tick) done() (n int64) {
	for _, g := range t.Groups {
		n += g.Done
	}
	return n
}

// finished is what came to an end so far, in all groups.
func (t *Tick) finished() int64 {
	n := t.Second.Done + t.Second.Dead
	for _, g := range t.Groups {
		n += g.Done + g.Dead
	}
	return n
}

// operations are the pushes, deliveries and acks of both queues.
func (t *Tick) operations() int64 {
	return t.Pushed + t.deliveries() + t.done() + t.Commits + t.Second.Deliveries + t.Second.Done
}

// backlog is what each group, and the second queue's, has yet to finish.
func (t *Tick) backlog() []int64 {
	var all []int64
	for _, g := range t.Groups {
		all = append(all, t.Pushed-g.Done-g.Dead)
	}
	return append(all, t.Commits-t.Second.Done-t.Second.Dead)
}

// settled reports whether the load knows of nothing that is left.
func (t *Tick) settled() bool { return slices.Max(t.backlog()) <= 0 }

// statsEvery is how many seconds apart the database is asked what is left when calls were lost: then messages may have
// died that the load waits for.
const statsEvery = 5

// drained reports whether all groups have finished all that was sent, as the load and the database say, or, after calls
// were lost, the database alone.
func (s *Sample) drained() bool {
	return !s.Away && s.Stats != nil &&
		!slices.ContainsFunc(s.Stats, func(b Backlog) bool { return b.left() > 0 })
}

// show writes the line of a second.
func (r *run) show(s *Sample) {
	var retries, dead int64
	faults := s.Second.Faults
	for _, g := range s.Groups {
		retries, dead, faults = retries+g.Failed, dead+g.Dead, faults+g.Faults
	}
	fmt.Fprintf(r.opts.Live, "%5.0f s  pushed %6.0f/s  delivered %6.0f/s  acked %6.0f/s  backlog %v  retries %d  dead %d"+
		"  p50 %.0f ms  p99 %.0f ms  faults %d  errors %d\n", s.At, s.Rates.Pushed, s.Rates.Delivered, s.Rates.Acked,
		s.Backlog, retries, dead, s.Delivery.P50, s.Delivery.P99, faults, s.Errors)
}

// costs are what the processes have spent so far.
type costs struct {
	postgres, http, load, driver time.Duration
	bytes, wal                   int64
}

// costs notes what was spent so far. What it cannot read stays as it was.
func (r *run) costs(ctx context.Context) error {
	c := &r.spent
	if err := r.conn.QueryRow(ctx, spaceText).Scan(&c.bytes, &c.wal); err != nil {
		return fmt.Errorf("read sizes: %w", err)
	}
	var memory int64
	c.postgres, memory, _ = r.host.Usage()
	r.report.ServerMB = max(r.report.ServerMB, float64(memory)/(1<<20))
	c.http = r.server.usage()
	if r.load != nil {
		c.load = r.load.usage()
	}
	var own syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &own); err == nil {
		c.driver = time.Duration(own.Utime.Nano() + own.Stime.Nano())
	}
	return nil
}

// spend notes what the run cost.
func (r *run) spend(ctx context.Context) error {
	if err := r.costs(ctx); err != nil {
		return err
	}
	after := r.spent
	r.report.WAL = after.wal - r.before.wal
	r.report.CPU = CPU{
		Postgres: (after.postgres - r.before.postgres).Seconds(), HTTP: after.http.Seconds(),
		Load: after.load.Seconds(), Driver: (after.driver - r.before.driver).Seconds(),
	}
	r.report.LoadMB = float64(r.load.peak) / (1 << 20)
	if r.server != nil {
		r.report.HTTPMB = float64(r.server.peak) / (1 << 20)
	}
	return nil
}
