package shootout

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// WriteMarkdown writes the report as a page, with the notes that a folder has.
func (s *Shootout) WriteMarkdown(w io.Writer, dir string) error {
	m := s.Machine
	fmt.Fprintf(w, "# Shootout\n\nWritten by `weir bench shootout`; "+
		"[METHODOLOGY.md](../METHODOLOGY.md) says how it measures.\n\n")
	fmt.Fprintf(w, "%s.\n%d CPUs (%s), %d MB of memory, %s. Server: %s.\n\n", s.when(), m.CPUs, m.CPU,
		m.MemoryMB, m.OS, m.Build)
	for _, one := range m.settings() {
		fmt.Fprintf(w, "- %s\n", one)
	}
	fmt.Fprintln(w)
	fmt.Fprintf(w, "![Messages a second](shootout.svg)\n\n")
	fmt.Fprintf(w, "Medians of the repetitions (smallest - largest). *of best other*: Weir's rate over that of the "+
		"fastest\nother system. CPU: seconds a million messages, of PostgreSQL "+
		"and of the clients. \"no\": the system has no such thing.\n")
	s.writeVerdict(w)
	if err := writeNotes(w, dir); err != nil {
		return err
	}
	section := ""
	for _, t := range s.Tables() {
		if t.Section != section {
			section = t.Section
			fmt.Fprintf(w, "\n## %s\n", section)
		}
		fmt.Fprintf(w, "\n### %s\n\n%s.\n\n", t.Name, t.About)
		t.writeMarkdown(w)
	}
	return nil
}

// when tells the dates and the numbers of runs.
func (s *Shootout) when() string {
	if len(s.Results) == 0 {
		return "No runs"
	}
	first, last := s.Results[0].Began, s.Results[len(s.Results)-1].Began
	failed := 0
	for _, r := range s.Results {
		if r.Error != "" && !s.redone(r) {
			failed++
		}
		if r.Began.Before(first) {
			first = r.Began
		}
		if r.Began.After(last) {
			last = r.Began
		}
	}
	return fmt.Sprintf("%d runs, %s to %s UTC, %d of them failed", len(s.Results), first.Format("2006-01-02 15:04"),
		last.Format("2006-01-02 15:04"), failed)
}

// redone reports whether a run that failed was done again with success.
func (s *Shootout) redone(failed Result) bool {
	return slices.ContainsFunc(s.Results, func(r Result) bool {
		return r.Error == "" && r.System == failed.System && r.Setting == failed.Setting && r.Workload == failed.Workload &&
			r.Repetition == failed.Repetition
	})
}

// settings lists the server's.
func (m *Machine) settings() []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(m.Settings)) {
		all = append(all, "`"+name+"="+m.Settings[name]+"`")
	}
	return all
}

// column is a figure of a table.
type column struct {
	head string
	text func(r *Row) string
}

func number(format string, of func(r *Row) Spread) func(r *Row) string {
	return func(r *Row) string {
		if s := of(r); s.N > 0 {
			return fmt.Sprintf(format, s.Median)
		}
		return ""
	}
}

// columns are the figures that are of interest in a workload.
func (t *Table) columns() []column {
	all := []column{{"messages/s", func(r *Row) string {
		text := fmt.Sprintf("%s (%s - %s)", thousands(r.Rate.Median), thousands(r.Rate.Min), thousands(r.Rate.Max))
		if r.Workers > 0 {
			text += fmt.Sprintf(", %d workers", r.Workers)
		}
		return text
	}}, {"of best other", func(r *Row) string {
		if r.Ratio == 0 || t.Rate > 0 {
			return ""
		}
		return fmt.Sprintf("%.2f", r.Ratio)
	}}}
	if t.Rate > 0 {
		all = append(all, column{"p50 ms", number("%.2f", func(r *Row) Spread { return r.P50 })},
			column{"p95", number("%.1f", func(r *Row) Spread { return r.P95 })},
			column{"p99", number("%.1f", func(r *Row) Spread { return r.P99 })},
			column{"p99.9", number("%.1f", func(r *Row) Spread { return r.P999 })},
			column{"max", number("%.1f", func(r *Row) Spread { return r.Max })})
	}
	return append(all,
		column{"server CPU", number("%.1f", func(r *Row) Spread { return r.ServerCPU })},
		column{"client CPU", number("%.1f", func(r *Row) Spread { return r.ClientCPU })},
		column{"WAL B", number("%.1f", func(r *Row) Spread { return r.WAL })},
		column{"commits", number("%.3f", func(r *Row) Spread { return r.Commits })},
		column{"dead tuples", number("%.3f", func(r *Row) Spread { return r.DeadTuples })},
		column{"storage MB", number("%.1f", func(r *Row) Spread { return r.StorageMB })},
		column{"lost, twice, disordered", func(r *Row) string {
			text := fmt.Sprintf("%d, %d, %d", r.Lost, r.Duplicated, r.OutOfOrder)
			if r.Left > 0 {
				text += fmt.Sprintf("; %d left", r.Left)
			}
			return text
		}})
}

func (t *Table) writeMarkdown(w io.Writer) {
	columns := t.columns()
	fmt.Fprint(w, "| system | version |")
	for _, c := range columns {
		fmt.Fprintf(w, " %s |", c.head)
	}
	fmt.Fprintf(w, "\n|---|---|%s\n", strings.Repeat("---|", len(columns)))
	for i := range t.Rows {
		r := &t.Rows[i]
		fmt.Fprintf(w, "| %s | %s |", r.Label(), r.Version)
		for k, c := range columns {
			switch {
			case r.Outcome() == "":
				fmt.Fprintf(w, " %s |", c.text(r))
			case k == 0:
				fmt.Fprintf(w, " %s |", r.Outcome())
			default:
				fmt.Fprint(w, " |")
			}
		}
		fmt.Fprintln(w)
	}
}
