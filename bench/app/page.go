package app

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/weirmq/weir/bench/shootout"
)

//go:embed report.html
var pageText string

// CheckFolder makes a folder for WriteFiles and tries whether files can be made in it: better before a run of an hour
// than after it.
func CheckFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make directory for reports: %w", err)
	}
	f, err := os.CreateTemp(dir, ".app-")
	if err != nil {
		return fmt.Errorf("try directory for reports: %w", err)
	}
	if err := errors.Join(f.Close(), os.Remove(f.Name())); err != nil {
		return fmt.Errorf("try directory for reports: %w", err)
	}
	return nil
}

// WriteFiles writes app.html and app.json, which has the figures of every second, into a folder.
func (r *Report) WriteFiles(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make directory for reports: %w", err)
	}
	var page bytes.Buffer
	if err := r.writePage(&page); err != nil {
		return err
	}
	text, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("encode report: %w", err)
	}
	for name, data := range map[string][]byte{"app.html": page.Bytes(), "app.json": text} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			return fmt.Errorf("write report: %w", err)
		}
	}
	return nil
}

// chart is a drawing on the page.
type chart struct {
	Title, About string
	Curves       []shootout.Curve
	SVG          template.HTML
}

// curvePoints is how many points a curve has at most; longer runs are drawn by the means of as many stretches.
const curvePoints = 240

// curve draws a figure of every sample.
func (r *Report) curve(label string, colour int, figure func(s *Sample) float64) shootout.Curve {
	c := shootout.Curve{Label: label, Colour: colour}
	step := max(1, (len(r.Samples)+curvePoints-1)/curvePoints)
	for from := 0; from < len(r.Samples); from += step {
		part := r.Samples[from:min(len(r.Samples), from+step)]
		var at, value float64
		for i := range part {
			at, value = at+part[i].At, value+figure(&part[i])
		}
		n := float64(len(part))
		if math.IsNaN(value) {
			continue // nothing was measured
		}
		c.XY = append(c.XY, [2]float64{at / n, value / n})
	}
	return c
}

// taken is a time of a second in which something was measured.
func taken(q Quantiles, v float64) float64 {
	if q.N == 0 {
		return math.NaN()
	}
	return v
}

// charts draws rates, backlogs, times and storage over the run.
func (r *Report) charts() []chart {
	var behind []shootout.Curve
	for i, g := range r.Audit.Groups {
		behind = append(behind, r.curve(g.Group, i, func(s *Sample) float64 { return float64(s.Backlog[i]) }))
	}
	all := []chart{
		{Title: "Rates", About: "Messages a second, of all groups together.", Curves: []shootout.Curve{
			r.curve("pushed", 0, func(s *Sample) float64 { return s.Rates.Pushed }),
			r.curve("delivered", 1, func(s *Sample) float64 { return s.Rates.Delivered }),
			r.curve("acked", 2, func(s *Sample) float64 { return s.Rates.Acked }),
		}},
		{Title: "Backlog", About: "Messages that a group has not finished.", Curves: behind},
		{Title: "Latency", About: "Milliseconds from when a message was due, of each second.", Curves: []shootout.Curve{
			r.curve("to its handler, p50", 0, func(s *Sample) float64 { return taken(s.Delivery, s.Delivery.P50) }),
			r.curve("to its handler, p99", 1, func(s *Sample) float64 { return taken(s.Delivery, s.Delivery.P99) }),
			r.curve("until finished, p50", 4, func(s *Sample) float64 { return taken(s.Finish, s.Finish.P50) }),
			r.curve("until finished, p99", 2, func(s *Sample) float64 { return taken(s.Finish, s.Finish.P99) }),
		}},
		{Title: "Push", About: "Milliseconds that a call takes that sends a batch.", Curves: []shootout.Curve{
			r.curve("p50", 0, func(s *Sample) float64 { return taken(s.Push, s.Push.P50) }),
			r.curve("p99", 1, func(s *Sample) float64 { return taken(s.Push, s.Push.P99) }),
		}},
		{
			Title: "Storage", About: "MB of all tables and indexes, finished messages included while they are kept.",
			Curves: []shootout.Curve{r.curve("storage", 0, func(s *Sample) float64 { return float64(s.Bytes) / 1e6 })},
		},
		{Title: "CPU", About: "Seconds of CPU time since the beginning.", Curves: []shootout.Curve{
			r.curve("PostgreSQL", 0, func(s *Sample) float64 { return s.ServerCPU }),
			r.curve("weir serve", 1, func(s *Sample) float64 { return s.HTTPCPU }),
			r.curve("load", 2, func(s *Sample) float64 { return s.LoadCPU }),
		}},
	}
	for i := range all {
		unit := "ms"
		switch all[i].Title {
		case "Rates":
			unit = "messages/s"
		case "Backlog":
			unit = "messages"
		case "Storage":
			unit = "MB"
		case "CPU":
			unit = "s"
		}
		all[i].Curves = slices.DeleteFunc(all[i].Curves, func(c shootout.Curve) bool { return len(c.XY) == 0 })
		if len(all[i].Curves) > 0 {
			svg := shootout.Chart(all[i].Curves, "seconds", unit)
			all[i].SVG = template.HTML(svg) //nolint:gosec // it escapes what comes from elsewhere
		}
	}
	return all
}

func (r *Report) writePage(w *bytes.Buffer) error {
	page, err := template.New("report").Parse(pageText)
	if err != nil {
		return fmt.Errorf("read template: %w", err)
	}
	options, err := json.MarshalIndent(r.Options, "", "  ")
	if err != nil {
		return fmt.Errorf("encode options: %w", err)
	}
	err = page.Execute(w, map[string]any{
		"Report": r, "Headline": r.headline(), "Rows": r.rows(), "Charts": r.charts(), "Options": string(options),
		"Figures": r.Figures(),
	})
	if err != nil {
		return fmt.Errorf("write page: %w", err)
	}
	return nil
}
