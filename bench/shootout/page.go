package shootout

import (
	_ "embed"
	"fmt"
	"html"
	"html/template"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var (
	//go:embed report.html
	pageText string
	//go:embed report.css
	pageStyle string
	//go:embed report.js
	pageScript string
)

// page is what the template shows. The charts are drawn in the browser, from the data.
type page struct {
	When     string
	Machine  Machine
	Settings []string
	Notes    []note
	Data     pageData
	Style    template.CSS
	Script   template.JS
}

// note says why Weir loses to some system.
type note struct {
	Names string // of whom it is about, in lower case, with a | between them
	Text  template.HTML
}

// pageData is what report.js draws.
type pageData struct {
	Views    []pageView    `json:"views"`
	Entrants []pageEntrant `json:"entrants"`
	Figures  []pageFigure  `json:"figures"`
	Sections []pageSection `json:"sections"`
}

type pageView struct {
	Name  string `json:"name"`
	Title string `json:"title"`
}

type pageEntrant struct {
	System  string   `json:"system"`
	Title   string   `json:"title"`
	Setting string   `json:"setting"`
	Own     bool     `json:"own"`
	Views   []string `json:"views"`          // that it is seen in
	Free    bool     `json:"free,omitempty"` // it takes as many messages a call as it likes
}

type pageFigure struct {
	Key  string `json:"key"`
	Name string `json:"name"`
	Unit string `json:"unit"`
	More bool   `json:"more"` // is better

	of func(r *Row) Spread
}

type pageSection struct {
	Name  string     `json:"name"`
	Cards []pageCard `json:"cards"`
}

// pageCard is a workload on the page.
type pageCard struct {
	Name   string    `json:"name"`
	About  string    `json:"about"`
	Rate   float64   `json:"rate,omitempty"`   // of an open loop
	Steady bool      `json:"steady,omitempty"` // an open loop in which nothing happens
	Asks   bool      `json:"asks,omitempty"`   // it says how many messages a call may bring
	Watch  bool      `json:"watch,omitempty"`  // storage over time is what it is about
	Twice  bool      `json:"twice,omitempty"`  // it was done at both settings of some system
	Rows   []pageRow `json:"rows"`
}

type pageRow struct {
	Entrant int                 `json:"entrant"`
	Version string              `json:"version,omitempty"`
	Outcome string              `json:"outcome,omitempty"` // "no" or "failed": there are no figures
	Failed  string              `json:"failed,omitempty"`
	Workers int                 `json:"workers,omitempty"`
	Figures map[string][]figure `json:"figures,omitempty"` // median, least and most; the median alone of one run
	Faults  string              `json:"faults,omitempty"`
	Faulty  bool                `json:"faulty,omitempty"`
	Ramp    [][2]figure         `json:"ramp,omitempty"`    // workers and rate
	Storage [][3]figure         `json:"storage,omitempty"` // seconds, MB of tables, MB of indexes
}

// figure is written with as many digits as a chart can show.
type figure float64

// MarshalJSON implements json.Marshaler.
func (f figure) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, float64(f), 'g', 4, 64), nil
}

// pageFigures are what the page shows of every workload.
func pageFigures() []pageFigure {
	return []pageFigure{
		{"rate", "rate", "messages a second", true, func(r *Row) Spread { return r.Rate }},
		{"p50", "p50", "ms", false, func(r *Row) Spread { return r.P50 }},
		{"p95", "p95", "ms", false, func(r *Row) Spread { return r.P95 }},
		{"p99", "p99", "ms", false, func(r *Row) Spread { return r.P99 }},
		{"p999", "p99.9", "ms", false, func(r *Row) Spread { return r.P999 }},
		{"max", "max", "ms", false, func(r *Row) Spread { return r.Max }},
		{"server_cpu", "server CPU", "s a million", false, func(r *Row) Spread { return r.ServerCPU }},
		{"client_cpu", "client CPU", "s a million", false, func(r *Row) Spread { return r.ClientCPU }},
		{"wal", "WAL", "B a message", false, func(r *Row) Spread { return r.WAL }},
		{"commits", "commits", "a message", false, func(r *Row) Spread { return r.Commits }},
		{"dead_tuples", "dead tuples", "a message", false, func(r *Row) Spread { return r.DeadTuples }},
		{"storage", "storage", "MB", false, func(r *Row) Spread { return r.StorageMB }},
		{"indexes", "of it indexes", "MB", false, func(r *Row) Spread { return r.IndexMB }},
		{"server_mb", "server memory", "MB", false, func(r *Row) Spread { return r.ServerMB }},
		{"client_mb", "client memory", "MB", false, func(r *Row) Spread { return r.ClientMB }},
	}
}

// WriteHTML writes the report as a page that needs nothing else, with what a folder's notes say of where Weir loses.
func (s *Shootout) WriteHTML(w io.Writer, dir string) error {
	notes, err := readNotes(dir)
	if err != nil {
		return err
	}
	p := page{
		When: s.when(), Machine: s.Machine, Notes: losses(notes), Data: s.pageData(),
		Style: template.CSS(pageStyle), Script: template.JS(pageScript), //nolint:gosec // our own
	}
	for _, one := range s.Machine.settings() {
		p.Settings = append(p.Settings, strings.Trim(one, "`"))
	}
	text, err := template.New("report").Parse(pageText)
	if err != nil {
		return fmt.Errorf("read template: %w", err)
	}
	if err := text.Execute(w, p); err != nil {
		return fmt.Errorf("write page: %w", err)
	}
	return nil
}

func (s *Shootout) pageData() pageData {
	d := pageData{Figures: pageFigures()}
	views := s.views()
	for _, v := range views {
		d.Views = append(d.Views, pageView(v))
	}
	entrants := s.entrants()
	for _, e := range entrants {
		one := pageEntrant{System: e.System, Title: e.Title, Setting: e.Setting, Own: e.isWeir()}
		for _, v := range views {
			if s.shows(v, e) {
				one.Views = append(one.Views, v.Name)
			}
		}
		d.Entrants = append(d.Entrants, one)
	}
	for _, t := range s.Tables() {
		at := slices.IndexFunc(d.Sections, func(one pageSection) bool { return one.Name == t.Section })
		if at < 0 {
			d.Sections = append(d.Sections, pageSection{Name: t.Section})
			at = len(d.Sections) - 1
		}
		card := pageCard{
			Name: t.Name, About: t.about(), Rate: t.Rate, Steady: t.Rate > 0 && t.Burst == 0 && t.Kill == "",
			Asks:  t.asks(),
			Watch: t.Hold != "" || t.Late || t.Long > 5, Twice: s.twice(t.Name),
		}
		for i := range t.Rows {
			at := slices.Index(entrants, t.Rows[i].Entrant)
			d.Entrants[at].Free = d.Entrants[at].Free || t.Rows[i].free()
			card.Rows = append(card.Rows, t.Rows[i].onPage(at, d.Figures))
		}
		d.Sections[at].Cards = append(d.Sections[at].Cards, card)
	}
	return d
}

func (row *Row) onPage(entrant int, figures []pageFigure) pageRow {
	p := pageRow{Entrant: entrant, Version: row.Version, Outcome: row.Outcome(), Workers: row.Workers}
	if p.Outcome != "" {
		p.Failed = tail(row.Failed, 160)
		return p
	}
	p.Figures = map[string][]figure{}
	for _, f := range figures {
		switch v := f.of(row); {
		case v.N > 1:
			p.Figures[f.Key] = []figure{figure(v.Median), figure(v.Min), figure(v.Max)}
		case v.N == 1:
			p.Figures[f.Key] = []figure{figure(v.Median)}
		}
	}
	p.Faults, p.Faulty = row.faults(), row.Lost+row.Duplicated+row.OutOfOrder+row.Left > 0
	if row.Workers > 0 {
		p.Ramp = row.steps()
	}
	for _, sample := range row.best[0].Samples { // of the first repetition
		p.Storage = append(p.Storage, [3]figure{figure(sample.At), figure(sample.tableMB()), figure(sample.indexMB())})
	}
	return p
}

// steps are the medians of the rates of a ramp.
func (row *Row) steps() [][2]figure {
	by := map[int][]float64{}
	for _, one := range row.all {
		if one.Error == "" && one.Cannot == "" {
			by[one.Workers] = append(by[one.Workers], one.Rate)
		}
	}
	var points [][2]figure
	for _, n := range workers() {
		if rates := by[n]; len(rates) > 0 {
			points = append(points, [2]figure{figure(n), figure(spread(rates).Median)})
		}
	}
	return points
}

// lossesHead begins the part of the notes that says of each system why it is ahead of Weir; each of its paragraphs
// begins with the names of those that it is about, in bold.
const lossesHead = "## Where Weir loses, and why\n"

var marks = []struct {
	mark *regexp.Regexp
	as   string
}{
	{regexp.MustCompile("`([^`]+)`"), "<code>$1</code>"},
	{regexp.MustCompile(`\*\*([^*]+)\*\*`), "<b>$1</b>"},
	{regexp.MustCompile(`\*([^*]+)\*`), "<em>$1</em>"},
	{regexp.MustCompile(`\[([^\]]+)\]\([^)]+\)`), "$1"},
}

// losses are the paragraphs of that part.
func losses(notes string) []note {
	_, part, _ := strings.Cut("\n"+notes, "\n"+lossesHead)
	part, _, _ = strings.Cut(part, "\n## ")
	var all []note
	for paragraph := range strings.SplitSeq(strings.TrimSpace(part), "\n\n") {
		if paragraph == "" {
			continue
		}
		var one note
		if rest, ok := strings.CutPrefix(paragraph, "**"); ok {
			names, _, _ := strings.Cut(rest, "**")
			names = strings.TrimPrefix(strings.ToLower(names), "the ")
			one.Names = strings.NewReplacer(", ", "|", " and ", "|").Replace(names)
		}
		text := html.EscapeString(paragraph)
		for _, m := range marks {
			text = m.mark.ReplaceAllString(text, m.as)
		}
		one.Text = template.HTML(text) //nolint:gosec // escaped above
		all = append(all, one)
	}
	return all
}
