package shootout

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// The project's goals: how many times as fast as the best other system Weir is to be, and what a transaction that is
// held open may do to it.
var leads = []struct {
	workload string
	least    float64
}{{"send-100", 4}, {"consume-100", 6}, {"cycle-100", 6}, {"cycle-1", 4}, {"jobs", 1.5}}

const (
	heldRateLeast    = 0.95 // of the rate without
	heldStorageMost  = 1.05 // of the storage a message without
	keepsUp          = 0.95 // of the workload's rate: a system that does is below its saturation
	goalsExplanation = "\n## Goals\n\n" +
		"What Weir is to reach, of the figures with each system at its best. The second column leaves out systems whose\n" +
		"readers take all between two ticks: the others hand out single messages to several workers. Bold: not\n" +
		"reached.\n\n" +
		"| goal | beside all others | beside those that hand out single messages |\n|---|---|---|\n"
)

// writeGoals writes how far each goal is reached.
func (s *Shootout) writeGoals(w io.Writer) {
	all := s.Tables()
	var single []Table
	for _, t := range all {
		single = append(single, t.handingOut())
	}
	fmt.Fprint(w, goalsExplanation)
	for _, goal := range leads {
		fmt.Fprintf(w, "| %s: messages/s at least %g times the best | %s | %s |\n", goal.workload, goal.least,
			lead(all, goal.workload, goal.least), lead(single, goal.workload, goal.least))
	}
	for _, goal := range []struct {
		title string
		of    func(t *Table) against
	}{
		{"messages/s the most wherever they are measured", (*Table).rates},
		{"p50 the shortest at every rate below saturation", (*Table).steady},
		{"server CPU a message the least", (*Table).cpu},
		{"WAL a message the least", (*Table).wal},
	} {
		fmt.Fprintf(w, "| %s | %s | %s |\n", goal.title, everywhere(all, goal.of), everywhere(single, goal.of))
	}
	s.writeHeldGoals(w)
}

// handingOut returns the table without the systems whose batches are what came between two ticks.
func (t *Table) handingOut() Table {
	less := *t
	less.Rows = slices.DeleteFunc(slices.Clone(t.Rows), func(r Row) bool {
		return r.all[len(r.all)-1].Batches == batchesTicks
	})
	return less
}

// steady compares the p50 of open loops that are even, where some system keeps up with the rate.
func (t *Table) steady() against {
	kept := slices.ContainsFunc(t.Rows, func(r Row) bool { return r.Rate.Median >= keepsUp*t.Rate })
	if t.Burst > 0 || t.Kill != "" || !kept {
		return against{}
	}
	return t.middles()
}

// lead is a workload's rate over the best other's and whether it is as large as it is to be.
func lead(tables []Table, workload string, least float64) string {
	at := slices.IndexFunc(tables, func(t Table) bool { return t.Name == workload })
	if at < 0 {
		return "not measured"
	}
	a := tables[at].rates()
	if a.ratio == 0 {
		return "not measured"
	}
	return reached(fmt.Sprintf("%.2f", a.ratio), a.ratio >= least) + " (" + a.own + " / " + a.other + ")"
}

// reached marks a figure.
func reached(figure string, is bool) string {
	if is {
		return figure + ", reached"
	}
	return "**" + figure + "**"
}

// everywhere counts the workloads in which Weir is not behind and names the others.
func everywhere(tables []Table, of func(t *Table) against) string {
	measured, behind := 0, []string{}
	for i := range tables {
		a := of(&tables[i])
		if a.ratio == 0 {
			continue
		}
		measured++
		if a.behind() {
			behind = append(behind, fmt.Sprintf("%s %.2f", tables[i].Name, a.ratio))
		}
	}
	if measured == 0 {
		return "not measured"
	}
	text := reached(fmt.Sprintf("%d of %d", measured-len(behind), measured), len(behind) == 0)
	if len(behind) > 0 {
		text += "; not " + strings.Join(behind, ", ")
	}
	return text
}

// writeHeldGoals writes what a transaction that is held open does to the fastest of Weir's entrants.
func (s *Shootout) writeHeldGoals(w io.Writer) {
	rate, storage := "not measured", "not measured"
	held := s.held()
	at := slices.IndexFunc(held, func(h heldRow) bool { return h.free.isWeir() })
	if at >= 0 && slices.Min(held[at].mb[:]) > 0 && held[at].free.StorageMB.Median > 0 {
		h := held[at]
		least, most := slices.Min(h.ratios[:]), 0.0
		for i, ratio := range h.ratios {
			most = max(most, h.mb[i]/h.free.StorageMB.Median/ratio)
		}
		rate = reached(fmt.Sprintf("%.3f", least), least >= heldRateLeast) + " (" + h.free.Title + ")"
		storage = reached(fmt.Sprintf("%.3f", most), most <= heldStorageMost) + " (" + h.free.Title + ")"
	}
	fmt.Fprintf(w, "| rate beside a held transaction at least %g of that without | %s | |\n", heldRateLeast, rate)
	fmt.Fprintf(w, "| storage a message beside it at most %g times that without | %s | |\n", heldStorageMost, storage)
}
