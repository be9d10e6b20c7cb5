package shootout

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// against is a figure of Weir's best row over that of the others' best.
type against struct {
	ratio      float64 // 0: one of the two has no such figure
	own, other string  // whose
	more       bool    // is better
}

// behind reports whether another system is better.
func (a against) behind() bool {
	return a.ratio > 0 && (a.more && a.ratio < 1 || !a.more && a.ratio > 1)
}

func (a against) String() string {
	if a.ratio == 0 {
		return ""
	}
	text := fmt.Sprintf("%.2f", a.ratio)
	if a.behind() {
		text = "**" + text + "**"
	}
	return text + " (" + a.own + " / " + a.other + ")"
}

// against compares a figure of Weir's best row with that of the best other row.
func (t *Table) against(of func(r *Row) Spread, more bool) against {
	var own, other *Row
	for i := range t.Rows {
		r := &t.Rows[i]
		if of(r).Median <= 0 {
			continue
		}
		best := &other
		if r.isWeir() {
			best = &own
		}
		if *best == nil || more == (of(r).Median > of(*best).Median) {
			*best = r
		}
	}
	if own == nil || other == nil {
		return against{}
	}
	return against{of(own).Median / of(other).Median, own.Title, other.Title, more}
}

// rates compares messages a second, where they are not the workload's own.
func (t *Table) rates() against {
	if t.Rate > 0 {
		return against{}
	}
	return t.against(func(r *Row) Spread { return r.Rate }, true)
}

// middles compares the p50 of open loops.
func (t *Table) middles() against {
	if t.Rate == 0 {
		return against{}
	}
	return t.against(func(r *Row) Spread { return r.P50 }, false)
}

// cpu compares the server's CPU a message.
func (t *Table) cpu() against { return t.against(func(r *Row) Spread { return r.ServerCPU }, false) }

// wal compares the WAL a message.
func (t *Table) wal() against { return t.against(func(r *Row) Spread { return r.WAL }, false) }

// writeVerdict writes how Weir stands beside the best of the others in each workload, at best settings and, where they
// were measured, at defaults, and what a transaction that is held open does to each system.
func (s *Shootout) writeVerdict(w io.Writer) {
	fmt.Fprint(w, "\n## Weir beside the best of the others\n\n"+
		"The better of Weir's entrants over the best of all others, figure by figure. Of rates more is better, of p50, CPU\n"+
		"and WAL less. Bold: Weir is behind.\n")
	for _, v := range s.views() {
		switch v {
		case viewBoth:
			if len(s.views()) == 1 {
				s.writeRatios(w)
			}
		default:
			fmt.Fprintf(w, "\n### %s%s\n", strings.ToUpper(v.Title[:1]), v.Title[1:])
			s.in(v).writeRatios(w)
		}
	}
	s.writeSettings(w)
	s.in(viewBest).writeGoals(w)
	s.in(viewBest).writeHeld(w)
}

// writeRatios writes the comparisons, a workload a line.
func (s *Shootout) writeRatios(w io.Writer) {
	fmt.Fprint(w, "\n| workload | messages/s | p50 | server CPU | WAL |\n|---|---|---|---|---|\n")
	for _, t := range s.Tables() {
		rate, middle, cpu, wal := t.rates(), t.middles(), t.cpu(), t.wal()
		if rate.ratio+middle.ratio > 0 {
			fmt.Fprintf(w, "| %s | %s | %s | %s | %s |\n", t.Name, rate, middle, cpu, wal)
		}
	}
}

// heldRow is what a transaction that is held open does to an entrant.
type heldRow struct {
	free   Row        // nothing held
	ratios [2]float64 // the rate beside a reader, beside a writer, over that without, run by run; 0: not measured
	mb     [2]float64 // likewise the most storage
}

// held returns the entrants that were measured with nothing held open, the fastest first; none when nobody was
// measured beside a held transaction.
func (s *Shootout) held() []heldRow {
	rows := map[string][]Row{}
	for _, t := range s.Tables() {
		rows[t.Name] = t.Rows
	}
	names := []string{"held-reader", "held-writer"}
	var all []heldRow
	for _, free := range rows[heldFree] {
		if free.Rate.Median == 0 || len(rows[names[0]])+len(rows[names[1]]) == 0 {
			continue
		}
		h := heldRow{free: free}
		for i, name := range names {
			at := slices.IndexFunc(rows[name], func(r Row) bool { return r.Entrant == free.Entrant })
			if at >= 0 && rows[name][at].Rate.N > 0 {
				h.ratios[i] = ratioOf(rows[name][at], free)
				h.mb[i] = rows[name][at].StorageMB.Median
			}
		}
		all = append(all, h)
	}
	return all
}

// ratioOf returns the median of the ratios of rates of the runs of one repetition, which came one after the other.
func ratioOf(row, free Row) float64 {
	var ratios []float64
	for _, a := range row.best {
		for _, b := range free.best {
			if a.Repetition == b.Repetition && b.Rate > 0 {
				ratios = append(ratios, a.Rate/b.Rate)
			}
		}
	}
	return spread(ratios).Median
}

// writeHeld writes each system's rate beside an open transaction over that without, and its storage.
func (s *Shootout) writeHeld(w io.Writer) {
	all := s.held()
	if len(all) == 0 {
		return
	}
	fmt.Fprint(w, "\n## Beside a transaction that is held open\n\n"+
		"The cycle's rate over that of the run without such a transaction, which came just before or after it (the median\n"+
		"of these ratios), and the most storage that it took.\n\n"+
		"| system | beside a reader | beside a writer | MB, nothing held | MB, reader | MB, writer |\n"+
		"|---|---|---|---|---|---|\n")
	for _, h := range all {
		var ratios, sizes [2]string
		for i, ratio := range h.ratios {
			if ratio > 0 {
				ratios[i], sizes[i] = fmt.Sprintf("%.2f", ratio), fmt.Sprintf("%.1f", h.mb[i])
			}
		}
		fmt.Fprintf(w, "| %s | %s | %s | %.1f | %s | %s |\n", h.free.Label(), ratios[0], ratios[1],
			h.free.StorageMB.Median, sizes[0], sizes[1])
	}
}

// notesFile is what somebody wrote about the figures; the report has it as a part.
const notesFile = "shootout-notes.md"

// readNotes returns what a folder's notes say; "" when it has none.
func readNotes(dir string) (string, error) {
	text, err := os.ReadFile(filepath.Join(dir, notesFile))
	if err != nil && !os.IsNotExist(err) {
		return "", fmt.Errorf("read notes: %w", err)
	}
	return string(text), nil
}
