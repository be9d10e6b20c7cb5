package app

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/weirmq/weir/bench/shootout"
)

// Report is what a run did and found.
type Report struct {
	Options     Options          `json:"options"`
	Machine     shootout.Machine `json:"machine"`
	Version     string           `json:"version"`
	Started     time.Time        `json:"started"`
	Interrupted bool             `json:"interrupted"` // sending was ended early
	Drained     bool             `json:"drained"`     // all groups finished all that was sent
	Kills       int              `json:"kills"`       // of PostgreSQL
	Outcome     Outcome          `json:"outcome"`
	Audit       Audit            `json:"audit"`
	Wrong       []string         `json:"wrong"` // everything that does not fit; nothing, when all is well
	CPU         CPU              `json:"cpu"`
	WAL         int64            `json:"wal"` // bytes
	ServerMB    float64          `json:"server_mb"`
	HTTPMB      float64          `json:"http_mb,omitempty"`
	LoadMB      float64          `json:"load_mb"`
	Samples     []Sample         `json:"samples"`
}

// CPU is the time that processes spent, in seconds.
type CPU struct {
	Postgres float64 `json:"postgres_s"`
	HTTP     float64 `json:"http_s,omitempty"`
	Load     float64 `json:"load_s"`
	Driver   float64 `json:"driver_s"`
}

// Total is that of all processes.
func (c CPU) Total() float64 { return c.Postgres + c.HTTP + c.Load + c.Driver }

// wrongMax is how many things that are wrong are told in words.
const wrongMax = 50

func (r *Report) wrong(format string, args ...any) {
	if len(r.Wrong) < wrongMax {
		r.Wrong = append(r.Wrong, fmt.Sprintf(format, args...))
	}
}

// shaken reports whether the database went away while the run was on, so that calls may have been lost.
func (r *Report) shaken() bool { return r.Kills > 0 || r.Outcome.Cut > 0 }

// judge adds what was seen to what is wrong, and returns ErrWrong when anything is.
func (r *Report) judge() error {
	if r.Outcome.Errors > 0 {
		r.wrong("%d calls failed: %s", r.Outcome.Errors, strings.Join(r.Outcome.LastErrors, "; "))
	}
	if !r.Drained && !r.Interrupted {
		r.wrong("the consumers did not finish in time")
	}
	if len(r.Wrong) == 0 {
		return nil
	}
	return fmt.Errorf("%w: %s", ErrWrong, strings.Join(r.Wrong, "; "))
}

// Figures are what a run comes to.
type Figures struct {
	Seconds    float64 `json:"seconds"`     // of sending
	DrainS     float64 `json:"drain_s"`     // from the last send until all was finished
	Pushed     float64 `json:"pushed_rate"` // messages a second, while sending
	Delivered  float64 `json:"delivered_rate"`
	Acked      float64 `json:"acked_rate"`
	Operations int64   `json:"operations"`         // pushes, deliveries and acks of both queues
	Rate       float64 `json:"operations_rate"`    // a second, while sending
	PerCore    float64 `json:"operations_core"`    // the same for each core of the machine
	PerCPU     float64 `json:"operations_cpu_s"`   // for each second of CPU time of all processes, of the whole run
	WAL        float64 `json:"wal_operation"`      // bytes
	Postgres   float64 `json:"postgres_s_million"` // CPU seconds a million operations
	HTTP       float64 `json:"http_s_million,omitempty"`
	Load       float64 `json:"load_s_million"`
	Backlog    int64   `json:"backlog_max"` // of the slowest group
	Bytes      int64   `json:"bytes_max"`
	BytesLast  int64   `json:"bytes_last"`
}

// Figures computes them.
func (r *Report) Figures() Figures {
	f := Figures{Seconds: r.Outcome.Seconds, Operations: r.Outcome.operations()}
	last := Sample{Tick: r.Outcome.Tick} // of those while messages were sent
	last.At = f.Seconds
	for _, s := range r.Samples {
		if s.Pushing {
			last = s
		}
		f.Bytes, f.BytesLast = max(f.Bytes, s.Bytes), s.Bytes
		f.Backlog = max(f.Backlog, slices.Max(s.Backlog))
	}
	if n := len(r.Samples); n > 0 {
		f.DrainS = max(0, r.Samples[n-1].At-f.Seconds)
	}
	if last.At > 0 {
		f.Pushed, f.Delivered = float64(last.Pushed)/last.At, float64(last.deliveries())/last.At
		f.Acked, f.Rate = float64(last.done())/last.At, float64(last.operations())/last.At
		f.PerCore = f.Rate / float64(r.Machine.CPUs)
	}
	millions := float64(max(1, f.Operations)) / 1e6
	f.WAL = float64(r.WAL) / millions / 1e6
	f.Postgres, f.HTTP, f.Load = r.CPU.Postgres/millions, r.CPU.HTTP/millions, r.CPU.Load/millions
	if total := r.CPU.Total(); total > 0 {
		f.PerCPU = float64(f.Operations) / total
	}
	return f
}

// row is a line of the table: what, and how much.
type row struct{ Name, Value string }

// rows are those of the table.
func (r *Report) rows() []row {
	f, o := r.Figures(), r.Outcome
	rows := []row{
		{"pushed", fmt.Sprintf("%d messages in %.1f s, %.0f a second", o.Pushed, f.Seconds, f.Pushed)},
		{"delivered", fmt.Sprintf("%d, %.0f a second while sending", o.deliveries(), f.Delivered)},
		{"acked", fmt.Sprintf("%d, %.0f a second while sending", o.done(), f.Acked)},
		{"forwarded", fmt.Sprintf("%d transactions; second queue: %d delivered, %d acked", o.Commits, o.Second.Deliveries,
			o.Second.Done)},
		{"drained", fmt.Sprintf("%v, %.1f s after the last send; largest backlog of a group %d", r.Drained, f.DrainS,
			f.Backlog)},
		{"push call", o.Push.String()},
		{"planned to handler", o.Delivery.String()},
		{"planned to finished", o.Finish.String()},
		{"operations", fmt.Sprintf("%d: %.0f a second, %.0f a second and core", f.Operations, f.Rate, f.PerCore)},
		{"operations a CPU second", fmt.Sprintf("%.0f, of all processes", f.PerCPU)},
		{"CPU s a million operations", fmt.Sprintf("PostgreSQL %.1f, weir serve %.1f, load %.1f", f.Postgres, f.HTTP,
			f.Load)},
		{"WAL", fmt.Sprintf("%.0f MB, %.0f bytes an operation", float64(r.WAL)/1e6, f.WAL)},
		{"storage", fmt.Sprintf("%.0f MB at most, %.0f MB at the end", float64(f.Bytes)/1e6, float64(f.BytesLast)/1e6)},
		{"memory", fmt.Sprintf("PostgreSQL %.0f MB private, weir serve %.0f MB, load %.0f MB", r.ServerMB, r.HTTPMB,
			r.LoadMB)},
		{"claims lost", fmt.Sprintf("%d calls found that a lease had ended before the handlers had", o.Lost)},
	}
	if r.shaken() {
		rows = append(rows, row{"database away", fmt.Sprintf(
			"PostgreSQL killed %d times; %d calls failed and were made again; of %d sends it was unknown whether they had "+
				"happened, and %d had", r.Kills, o.Cut, o.Asked, o.Found)})
	}
	for i, g := range r.Audit.Groups {
		seen := o.Findings[i]
		rows = append(rows, row{"group " + g.Group, fmt.Sprintf(
			"sent %d = acked %d + dead %d + left %d; %d deliveries, %d again, %d failed, faults %d", g.Sent, g.Acked, g.Dead,
			g.Left, seen.Deliveries, seen.Again, seen.Failed, seen.Faults)})
	}
	for _, l := range r.Audit.Logs {
		rows = append(rows, row{"log of " + l.Queue, fmt.Sprintf("%d messages read back, %d of %d sessions from their first",
			l.Messages, l.Whole, l.Sessions)})
	}
	return rows
}

// headline says in a sentence what was run.
func (r *Report) headline() string {
	o := r.Options
	rate := fmt.Sprintf("%d messages a second", o.Rate)
	if o.Rate == 0 {
		rate = fmt.Sprintf("as many messages as leave no group more than %d behind", o.Ahead)
	}
	return fmt.Sprintf("%s via %s, acks %s; %s in batches of %d by %d producers for %d sessions, %d groups of "+
		"%d handlers, which could do %.0f a second each", o.Mode, o.Via, o.Acks, rate, o.PushBatch, o.Producers,
		o.Sessions, o.Groups, o.Consumers, o.capacity())
}

// WriteTable writes the report for a terminal, with a tab between columns.
func (r *Report) WriteTable(w io.Writer) {
	fmt.Fprintf(w, "weir %s, %s\n%d CPUs, %d MB; scale %.4g of 32 cores\n%s\n\n", r.Version, r.Machine.Server,
		r.Machine.CPUs, r.Machine.MemoryMB, r.Options.Scale, r.headline())
	for _, line := range r.rows() {
		fmt.Fprintf(w, "%s\t%s\n", line.Name, line.Value)
	}
	if len(r.Wrong) == 0 {
		fmt.Fprintln(w, "verdict\tnothing lost, invented, out of order or unaccounted for")
	}
	for _, text := range r.Wrong {
		fmt.Fprintf(w, "WRONG\t%s\n", text)
	}
}
