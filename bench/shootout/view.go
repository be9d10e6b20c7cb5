package shootout

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// view is the part of a shootout in which each system is there in one of its settings, or the whole of it.
type view struct{ Name, Title string }

var (
	viewBest    = view{"best", "each at its best"}
	viewDefault = view{"default", "each at its defaults"}
	viewBoth    = view{"both", "both settings"}
)

// views are the ways to look at the results: only the whole where no system is there in both its settings.
func (s *Shootout) views() []view {
	for _, e := range s.entrants() {
		if e.Setting == viewDefault.Name && s.has(e.System, viewBest.Name) {
			return []view{viewBest, viewDefault, viewBoth}
		}
	}
	return []view{viewBoth}
}

// has reports whether there are results of a system in a setting.
func (s *Shootout) has(system, setting string) bool {
	return slices.ContainsFunc(s.Results, func(r Result) bool { return r.System == system && r.Setting == setting })
}

// shows reports whether an entrant is seen in a view. A system that has but one setting is at its best in it.
func (s *Shootout) shows(v view, e Entrant) bool {
	switch v {
	case viewBest:
		return e.Setting == viewBest.Name || !s.has(e.System, viewBest.Name)
	case viewDefault:
		return e.Setting == viewDefault.Name
	}
	return true
}

// twice reports whether a workload was done in both settings of a system. The others are not looked at for defaults:
// they have those systems only that have no other setting.
func (s *Shootout) twice(workload string) bool {
	return slices.ContainsFunc(s.Results, func(r Result) bool {
		return r.Workload == workload && r.Setting == viewDefault.Name && s.has(r.System, viewBest.Name)
	})
}

// in returns what is seen of the shootout in a view.
func (s *Shootout) in(v view) *Shootout {
	seen := *s
	seen.Results = slices.DeleteFunc(slices.Clone(s.Results), func(r Result) bool {
		return !s.shows(v, Entrant{r.System, r.Setting, r.Title}) || v == viewDefault && !s.twice(r.Workload)
	})
	return &seen
}

// writeSettings writes what each system's best settings are worth, workload by workload.
func (s *Shootout) writeSettings(w io.Writer) {
	if len(s.views()) == 1 {
		return
	}
	var tables []Table
	for _, t := range s.Tables() {
		if s.twice(t.Name) {
			tables = append(tables, t)
		}
	}
	fmt.Fprint(w, "\n## Defaults beside best settings\n\n"+
		"At its defaults, and after the arrow at its best: messages a second or, where a workload has a rate, p50 in ms.\n"+
		"One figure: the system has no other setting.\n\n| system |")
	for _, t := range tables {
		fmt.Fprintf(w, " %s |", t.Name)
	}
	fmt.Fprintf(w, "\n|---|%s\n", strings.Repeat("---|", len(tables)))
	for _, e := range s.in(viewDefault).entrants() {
		fmt.Fprintf(w, "| %s |", e.Title)
		for _, t := range tables {
			fmt.Fprintf(w, " %s |", t.settings(e.System))
		}
		fmt.Fprintln(w)
	}
}

// settings are a system's figures at its defaults and at its best.
func (t *Table) settings(system string) string {
	var texts []string
	for _, setting := range []string{viewDefault.Name, viewBest.Name} {
		at := slices.IndexFunc(t.Rows, func(r Row) bool { return r.System == system && r.Setting == setting })
		if at < 0 {
			continue
		}
		r := &t.Rows[at]
		switch {
		case r.Outcome() != "":
			texts = append(texts, r.Outcome())
		case t.Rate > 0:
			texts = append(texts, fmt.Sprintf("%.1f", r.P50.Median))
		default:
			texts = append(texts, thousands(r.Rate.Median))
		}
	}
	return strings.Join(slices.Compact(texts), " → ")
}
