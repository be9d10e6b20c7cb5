package shootout

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"
)

// costs are what the server has spent so far.
type costs struct {
	wal, commits, dead int64
	cpu                time.Duration
	clients            time.Duration
}

// costsText reads them. Dead tuples are those that updates and deletes have made, whether or not they are still there.
const costsText = `select (pg_current_wal_insert_lsn() - '0/0')::bigint, d.xact_commit + d.xact_rollback,
	(select coalesce(sum(n_tup_upd + n_tup_del), 0)::bigint from pg_stat_user_tables)
	from pg_stat_database d where d.datname = current_database()`

func (r *run) costs(ctx context.Context) (c costs, err error) {
	if _, err := r.control.Exec(ctx, "select pg_stat_force_next_flush(), pg_stat_clear_snapshot()"); err != nil {
		return c, fmt.Errorf("flush statistics: %w", err)
	}
	if err := r.control.QueryRow(ctx, costsText).Scan(&c.wal, &c.commits, &c.dead); err != nil {
		return c, fmt.Errorf("read costs: %w", err)
	}
	if pid := r.server.postmaster(); pid > 0 {
		c.cpu, _ = serverUsage(pid)
	}
	if r.serve != nil {
		r.serve.meter()
		c.clients = r.serve.spent
	}
	return c, nil
}

// reconnect opens the control connection again.
func (r *run) reconnect(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, r.dsn)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	r.control = conn
	return nil
}

// account takes the counts and the costs when the load is over.
func (r *run) account(ctx context.Context, before costs) error {
	after, err := r.costs(ctx)
	if err != nil {
		return err
	}
	if r.result.Sent, r.result.Done, err = r.tally(ctx); err != nil {
		return err
	}
	if r.w.Kill == "postgres" { // sequences go on some numbers further after a crash
		r.result.Sent, r.result.Done = r.acked, min(r.acked, r.result.Done)
	}
	if r.cut {
		r.result.Left = max(0, r.result.Sent*int64(max(1, r.w.Groups))-r.result.Done)
	}
	messages := r.rate()
	if err := r.compare(); err != nil {
		return err
	}
	for _, p := range r.processes() {
		after.clients += p.spent
		r.result.ClientMB += float64(p.peak) / (1 << 20)
	}
	if r.w.Kill == "postgres" { // the statistics went with the server
		return nil
	}
	r.result.WAL = perMessage(float64(after.wal-before.wal), messages)
	r.result.Commits = perMessage(float64(after.commits-before.commits), messages)
	r.result.DeadTuples = perMessage(float64(after.dead-before.dead), messages)
	r.result.ClientCPU = perMessage((after.clients-before.clients).Seconds()*1e6, messages)
	if r.server.own != nil {
		r.result.ServerCPU = perMessage((after.cpu-before.cpu).Seconds()*1e6, messages)
	}
	return nil
}

// tally asks the database for the messages that were sent and that were finished, by all groups together. Where the
// database does not count what is sent, that is what the driver sent and, of jobs that send themselves again, what is
// done; what came again after a kill is finished once.
func (r *run) tally(ctx context.Context) (sent, done int64, err error) {
	text, err := os.ReadFile(filepath.Join(r.sys.statements, "tally.sql"))
	if err != nil {
		return 0, 0, fmt.Errorf("read tally: %w", err)
	}
	var counts [2]*int64
	if err := r.control.QueryRow(ctx, string(text)).Scan(&counts[0], &counts[1]); err != nil {
		return 0, 0, fmt.Errorf("count messages: %w", err)
	}
	if counts[1] == nil {
		return 0, 0, fmt.Errorf("%w: %s has no counts", ErrAdapter, r.sys.Name)
	}
	done = *counts[1]
	switch {
	case counts[0] != nil:
		sent = *counts[0]
	case r.w.Perpetual:
		sent = r.waiting + done
	default:
		sent = r.acked
		done = min(done, sent*int64(max(1, r.w.Groups)))
	}
	return sent, done, nil
}

// rate sets the rate and returns the messages that it is of.
func (r *run) rate() int64 {
	messages := r.result.Done
	switch {
	case len(r.consumers) == 0:
		messages = r.result.Sent - r.waiting
	case r.w.Perpetual: // each job that is done has sent another
		messages = r.result.Sent - r.waiting
	}
	r.result.Seconds = r.stopped.Sub(r.start).Seconds()
	if r.result.Seconds > 0 {
		r.result.Rate = float64(messages) / r.result.Seconds
	}
	return messages
}

// compare looks into the ledgers: what is lost, which is what a send that succeeded sent and nobody received, what came
// twice, what out of order, and how long it took. When all was to be received, the time of the rate ends with the last
// receipt and not when the driver saw it; else with the last receipt, when workers finish what they hold after a stop.
func (r *run) compare() error {
	if len(r.consumers) == 0 || r.w.Perpetual {
		return nil
	}
	complete := !r.cut && (r.w.Producers > 0 || !r.w.Timed)
	var last int64
	var all []entry
	for group := range max(1, r.w.Groups) {
		entries, err := readLedgers(r.ledgerDir(group))
		if err != nil {
			return err
		}
		f := look(entries, r.w.Keys)
		last = max(last, f.last)
		r.result.Duplicated += f.duplicated
		r.result.OutOfOrder += f.outOfOrder
		if complete {
			r.result.Lost += max(0, r.acked-f.distinct)
		}
		all = append(all, entries...)
	}
	if len(all) == 0 {
		return fmt.Errorf("%w: %s received nothing", ErrAdapter, r.sys.Name)
	}
	end := time.Unix(0, last)
	full := r.result.Sent * int64(max(1, r.w.Groups))
	if (complete || r.result.Done >= full || end.After(r.stopped)) && end.After(r.start) {
		r.result.Seconds = end.Sub(r.start).Seconds()
		r.result.Rate = float64(r.result.Done) / r.result.Seconds
	}
	if r.w.Processes > 1 {
		share, err := leastShare(r.ledgerDir(0), r.w.Processes)
		if err != nil {
			return err
		}
		r.result.LeastShare = &share
	}
	if r.plans == nil {
		return nil
	}
	var err error
	r.result.Latency, err = latencies(all, r.plans)
	return err
}
