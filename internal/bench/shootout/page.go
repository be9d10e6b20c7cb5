package shootout

import (
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
)

//go:embed report.html
var pageText string

// card is a workload on the page.
type card struct {
	Name, About    string
	Views          string // those that it is seen in
	Drawings       []drawing
	Faults         []fault
	Cannot, Failed string
	Heads          []string
	Rows           []cells
}

// drawing is a chart of one of the figures, in one of the views, that the reader chooses among.
type drawing struct {
	Figure, View string
	Chart        template.HTML
}

// fault is what an entrant lost, delivered twice or out of order, or left.
type fault struct{ Views, Text string }

type cells struct {
	Own   bool
	Views string
	Cells []string
}

type section struct {
	Name  string
	Cards []card
}

// page is what the template shows.
type page struct {
	When     string
	Machine  Machine
	Entrants []Entrant
	Sections []section
	Settings []string
	Figures  []string // the first is what a workload is about: its rate or its latency
	Views    []view

	shootout *Shootout
}

// Colour is the class of an entrant's lines.
func (p page) Colour(i int) int { return colour(p.Entrants, i) % palette }

// colour is the place of an entrant's system among the systems: it has one colour in all its settings.
func colour(entrants []Entrant, i int) int {
	var systems []string
	for _, e := range entrants {
		if !slices.Contains(systems, e.System) {
			systems = append(systems, e.System)
		}
	}
	return slices.Index(systems, entrants[i].System)
}

// Seen names the views that an entrant is seen in.
func (p page) Seen(e Entrant) string {
	var names []string
	for _, v := range p.Views {
		if p.shootout.shows(v, e) {
			names = append(names, v.Name)
		}
	}
	return strings.Join(names, " ")
}

// WriteHTML writes the report as a page that needs nothing else.
func (s *Shootout) WriteHTML(w io.Writer) error {
	p := page{
		When: s.when(), Machine: s.Machine, Entrants: s.entrants(), Figures: []string{mainFigure}, Views: s.views(),
		shootout: s,
	}
	for _, one := range prices {
		p.Figures = append(p.Figures, one.name)
	}
	p.Figures = append(p.Figures, storageFigure)
	for _, one := range s.Machine.settings() {
		p.Settings = append(p.Settings, strings.Trim(one, "`"))
	}
	for _, t := range s.Tables() {
		at := slices.IndexFunc(p.Sections, func(one section) bool { return one.Name == t.Section })
		if at < 0 {
			p.Sections = append(p.Sections, section{Name: t.Section})
			at = len(p.Sections) - 1
		}
		p.Sections[at].Cards = append(p.Sections[at].Cards, t.card(p))
	}
	for i := range p.Sections {
		if p.Sections[i].Name == sectionLatency {
			p.Sections[i].Cards = append(p.Sections[i].Cards, p.byLoad()...)
		}
	}
	page, err := template.New("report").Parse(pageText)
	if err != nil {
		return fmt.Errorf("read template: %w", err)
	}
	if err := page.Execute(w, p); err != nil {
		return fmt.Errorf("write page: %w", err)
	}
	return nil
}

func (t *Table) card(p page) card {
	c := card{Name: t.Name, About: t.about()}
	columns := t.columns()
	c.Heads = append(c.Heads, "version")
	for _, col := range columns {
		c.Heads = append(c.Heads, col.head)
	}
	var cannot, failed []string
	for i := range t.Rows {
		r := &t.Rows[i]
		switch r.Outcome() {
		case "no":
			cannot = append(cannot, r.Label())
			continue
		case "failed":
			failed = append(failed, r.Label()+": … "+tail(r.Failed, 160))
			continue
		}
		row := cells{Own: r.isWeir(), Views: p.Seen(r.Entrant), Cells: []string{r.Label(), r.Version}}
		for _, col := range columns {
			row.Cells = append(row.Cells, col.text(r))
		}
		c.Rows = append(c.Rows, row)
		if r.Lost+r.Duplicated+r.OutOfOrder+r.Left > 0 {
			c.Faults = append(c.Faults, fault{row.Views, r.Label() + " " + r.faults()})
		}
	}
	c.Cannot, c.Failed = strings.Join(cannot, ", "), strings.Join(failed, "; ")
	for _, v := range p.Views {
		if v == viewDefault && !p.shootout.twice(t.Name) {
			continue
		}
		c.Views = strings.TrimSpace(c.Views + " " + v.Name)
		seen := Table{Workload: t.Workload, Rows: slices.DeleteFunc(slices.Clone(t.Rows), func(r Row) bool {
			return !p.shootout.shows(v, r.Entrant)
		})}
		c.Drawings = append(c.Drawings, seen.drawings(v, p.Entrants)...)
	}
	return c
}

// drawings are the charts of all figures in a view.
func (t *Table) drawings(v view, entrants []Entrant) []drawing {
	var all []drawing
	draw := func(figure, chart string) {
		all = append(all, drawing{figure, v.Name, template.HTML(chart)}) //nolint:gosec // chart.go escapes
	}
	for _, chart := range t.charts(entrants) {
		draw(mainFigure, chart)
	}
	for _, one := range prices {
		if bars := t.priceBars(one, entrants); len(bars) > 0 {
			draw(one.name, barChart(bars, roomFor(bars)))
		}
	}
	for _, part := range []struct {
		unit string
		of   func(Sample) float64
	}{{"MB of tables", Sample.tableMB}, {"MB of indexes", Sample.indexMB}} {
		if lines := t.overTime(part.of, entrants); len(lines) > 0 {
			draw(storageFigure, lineChart(lines, "seconds", part.unit, false, false))
		}
	}
	return all
}

// byLoad shows how latency goes with the load, over the open loops of a steady rate; nothing where there is but one.
func (p page) byLoad() []card {
	c := card{Name: "latency by load", About: "p50, and below it p99, of the open loops of a steady rate."}
	for _, v := range p.Views {
		charts := p.shootout.in(v).loadCharts(p.Entrants)
		if len(charts) > 0 {
			c.Views += v.Name + " "
		}
		for _, chart := range charts {
			c.Drawings = append(c.Drawings, drawing{mainFigure, v.Name, template.HTML(chart)}) //nolint:gosec // chart.go escapes
		}
	}
	if len(c.Drawings) == 0 {
		return nil
	}
	return []card{c}
}

// loadCharts draws p50 and p99 over the rates of the open loops.
func (s *Shootout) loadCharts(entrants []Entrant) []string {
	middle, tails := make([]line, len(entrants)), make([]line, len(entrants))
	rates := 0
	for _, t := range s.Tables() {
		if t.Rate == 0 || t.Burst > 0 || t.Kill != "" {
			continue
		}
		rates++
		for _, r := range t.Rows {
			if r.P50.N == 0 {
				continue
			}
			i := slices.Index(entrants, r.Entrant)
			middle[i].points = append(middle[i].points, point{t.Rate, r.P50.Median})
			tails[i].points = append(tails[i].points, point{t.Rate, r.P99.Median})
		}
	}
	if rates < 2 {
		return nil
	}
	var charts []string
	for _, lines := range [][]line{middle, tails} {
		for i := range lines {
			lines[i].label, lines[i].series, lines[i].own = entrants[i].Label(), i, entrants[i].isWeir()
			lines[i].colour = colour(entrants, i)
			slices.SortFunc(lines[i].points, func(a, b point) int { return cmp.Compare(a.x, b.x) })
		}
		charts = append(charts, lineChart(lines, "messages a second", "ms", true, true))
	}
	return charts
}

const (
	mainFigure    = "rate and latency" // what a workload is about
	storageFigure = "storage over time"
)

// price is a figure of which less is better.
type price struct {
	name, unit string
	of         func(r *Row) Spread
}

var prices = []price{
	{"p95", "ms", func(r *Row) Spread { return r.P95 }},
	{"p99", "ms", func(r *Row) Spread { return r.P99 }},
	{"p99.9", "ms", func(r *Row) Spread { return r.P999 }},
	{"max", "ms", func(r *Row) Spread { return r.Max }},
	{"server CPU", "s a million", func(r *Row) Spread { return r.ServerCPU }},
	{"client CPU", "s a million", func(r *Row) Spread { return r.ClientCPU }},
	{"WAL", "B a message", func(r *Row) Spread { return r.WAL }},
	{"dead tuples", "a message", func(r *Row) Spread { return r.DeadTuples }},
	{"storage", "MB", func(r *Row) Spread { return r.StorageMB }},
	{"server memory", "MB", func(r *Row) Spread { return r.ServerMB }},
	{"client memory", "MB", func(r *Row) Spread { return r.ClientMB }},
}

// priceBars show a price, the lowest first.
func (t *Table) priceBars(p price, entrants []Entrant) []bar {
	var bars []bar
	for i := range t.Rows {
		r := &t.Rows[i]
		v := p.of(r)
		if v.N == 0 {
			continue
		}
		bars = append(bars, bar{
			label: t.label(r), value: short(v.Median) + " " + p.unit, own: r.isWeir(), size: v.Median, low: v.Min, high: v.Max,
			series: slices.Index(entrants, r.Entrant),
			note: fmt.Sprintf("%s: %s %s %s (%s - %s)", r.Label(), p.name, short(v.Median), p.unit, short(v.Min),
				short(v.Max)),
		})
	}
	slices.SortStableFunc(bars, func(a, b bar) int { return cmp.Compare(a.size, b.size) })
	return bars
}

// charts draws what is of interest in the workload.
func (t *Table) charts(entrants []Entrant) []string {
	var bars []bar
	var ramps, stores []line
	for i := range t.Rows {
		r := &t.Rows[i]
		if len(r.best) == 0 {
			continue
		}
		series := slices.Index(entrants, r.Entrant)
		bars = append(bars, t.bar(r, series))
		if t.Ramp != nil {
			ramps = append(ramps, t.line(r, r.steps(), entrants))
		}
		if t.Hold != "" || t.Late || t.Long > 5 {
			stores = append(stores, t.line(r, r.overTime(Sample.storageMB), entrants))
		}
	}
	if len(bars) == 0 {
		return nil
	}
	charts := []string{barChart(bars, roomFor(bars))}
	if len(ramps) > 0 {
		charts = append(charts, lineChart(ramps, "workers", "jobs a second", true, false))
	}
	if len(stores) > 0 {
		charts = append(charts, lineChart(stores, "seconds", "MB of tables and indexes", false, false))
	}
	return charts
}

// label names a row: with its setting only where the system is there in another one, too.
func (t *Table) label(r *Row) string {
	for i := range t.Rows {
		if t.Rows[i].System == r.System && t.Rows[i].Setting != r.Setting {
			return r.Label()
		}
	}
	return r.Title
}

// bar shows the rate or, where that is given, the latency.
func (t *Table) bar(r *Row, series int) bar {
	b := bar{label: t.label(r), own: r.isWeir(), series: series}
	if t.Rate > 0 && r.P50.N > 0 {
		b.size, b.low, b.high = r.P50.Median, r.P50.Median, r.P99.Median
		b.value = fmt.Sprintf("p50 %s, p99 %s ms", short(r.P50.Median), short(r.P99.Median))
		b.high = 0 // one far tail would hide the rest
		b.note = fmt.Sprintf("%s: p50 %.2f, p95 %.2f, p99 %.2f, p99.9 %.2f, max %.2f ms", r.Label(), r.P50.Median,
			r.P95.Median, r.P99.Median, r.P999.Median, r.Max.Median)
		return b
	}
	b.size, b.low, b.high, b.value = r.Rate.Median, r.Rate.Min, r.Rate.Max, thousands(r.Rate.Median)
	b.note = fmt.Sprintf("%s: %s messages/s (%s - %s, %d runs), WAL %.1f B, server CPU %.1f s/M", r.Label(),
		thousands(r.Rate.Median), thousands(r.Rate.Min), thousands(r.Rate.Max), r.Rate.N, r.WAL.Median, r.ServerCPU.Median)
	return b
}

func (t *Table) line(r *Row, points []point, entrants []Entrant) line {
	series := slices.Index(entrants, r.Entrant)
	return line{label: t.label(r), points: points, series: series, colour: colour(entrants, series), own: r.isWeir()}
}

// steps are the medians of the rates of a ramp.
func (row *Row) steps() []point {
	by := map[int][]float64{}
	for _, one := range row.all {
		if one.Error == "" && one.Cannot == "" {
			by[one.Workers] = append(by[one.Workers], one.Rate)
		}
	}
	var points []point
	for _, n := range workers() {
		if rates := by[n]; len(rates) > 0 {
			points = append(points, point{float64(n), spread(rates).Median})
		}
	}
	return points
}

// overTime is how a figure of the first repetition's samples went.
func (row *Row) overTime(of func(Sample) float64) []point {
	var points []point
	for _, s := range row.best[0].Samples {
		points = append(points, point{s.At, of(s)})
	}
	return points
}

// overTime is how a figure of the samples went with all who have some.
func (t *Table) overTime(of func(Sample) float64, entrants []Entrant) []line {
	var lines []line
	for i := range t.Rows {
		r := &t.Rows[i]
		if len(r.best) > 0 && len(r.best[0].Samples) > 0 {
			lines = append(lines, t.line(r, r.overTime(of), entrants))
		}
	}
	return lines
}
