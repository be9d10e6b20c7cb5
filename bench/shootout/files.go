package shootout

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// WriteReports writes shootout.md, shootout.svg and shootout.html into a folder, with measurements enough also
// size.json, and returns their paths.
func (s *Shootout) WriteReports(dir string) ([]string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make directory for reports: %w", err)
	}
	var text, page bytes.Buffer
	if err := s.WriteMarkdown(&text, dir); err != nil {
		return nil, err
	}
	if err := s.WriteHTML(&page, dir); err != nil {
		return nil, err
	}
	overview, _ := s.overview()
	files := []reportFile{
		{"shootout.md", text.Bytes()}, {overviewFile, []byte(overview)}, {"shootout.html", page.Bytes()},
	}
	if model, err := s.Model(); err == nil {
		data, err := json.MarshalIndent(model, "", "  ")
		if err != nil {
			return nil, fmt.Errorf("encode model: %w", err)
		}
		files = append(files, reportFile{"size.json", append(data, '\n')})
	}
	var paths []string
	for _, f := range files {
		path := filepath.Join(dir, f.name)
		if err := os.WriteFile(path, f.data, 0o644); err != nil {
			return nil, fmt.Errorf("write report: %w", err)
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// reportFile is a file of the report.
type reportFile struct {
	name string
	data []byte
}

const overviewFile = "shootout.svg"

// Photograph has Chromium draw the folder's shootout.svg as shootout.png, two pixels a unit, and returns its path; ""
// when the machine has no Chromium.
func (s *Shootout) Photograph(ctx context.Context, dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("find folder: %w", err)
	}
	program := ""
	for _, name := range []string{"google-chrome", "chromium-browser", "chromium"} {
		if path, err := exec.LookPath(name); err == nil {
			program = path
		}
	}
	if program == "" {
		return "", nil
	}
	profile, err := os.MkdirTemp("", "weir-chromium-")
	if err != nil {
		return "", fmt.Errorf("make directory for Chromium: %w", err)
	}
	defer os.RemoveAll(profile) //nolint:errcheck // our own, and of no harm
	picture := filepath.Join(dir, "shootout.png")
	_, height := s.overview()
	//nolint:gosec // the browser of this machine, on a file of ours
	out, err := exec.CommandContext(ctx, program, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
		"--user-data-dir="+profile, fmt.Sprintf("--force-device-scale-factor=%d", pictureScale),
		fmt.Sprintf("--window-size=%.0f,%.0f", overviewWidth, height+windowSpare),
		"--screenshot="+picture, "file://"+filepath.Join(dir, overviewFile),
	).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("draw %s: %w: %s", picture, err, tail(string(out), 500))
	}
	return picture, shrink(picture, image.Rect(0, 0, pictureScale*int(overviewWidth), int(pictureScale*height)))
}

const (
	pictureScale = 2   // pixels a unit of the drawing
	windowSpare  = 200 // of height: a window's frame is no part of what Chromium draws in
)

// shrink cuts a frame out of a PNG and writes it with the 256 colours that it has most of: a chart needs no more, and
// is a fraction as large.
func shrink(picture string, frame image.Rectangle) error {
	data, err := os.ReadFile(picture)
	if err != nil {
		return fmt.Errorf("read picture: %w", err)
	}
	whole, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		return fmt.Errorf("read picture: %w", err)
	}
	frame = frame.Intersect(whole.Bounds())
	pixels := map[color.Color]int{}
	for y := frame.Min.Y; y < frame.Max.Y; y++ {
		for x := frame.Min.X; x < frame.Max.X; x++ {
			pixels[whole.At(x, y)]++
		}
	}
	colours := slices.SortedFunc(maps.Keys(pixels), func(a, b color.Color) int { return pixels[b] - pixels[a] })
	few := image.NewPaletted(frame, colours[:min(256, len(colours))])
	draw.Draw(few, frame, whole, frame.Min, draw.Src)
	var small bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	if err := encoder.Encode(&small, few); err != nil {
		return fmt.Errorf("write picture: %w", err)
	}
	if err := os.WriteFile(picture, small.Bytes(), 0o644); err != nil {
		return fmt.Errorf("write picture: %w", err)
	}
	return nil
}

// overviewStyle colours the drawing by itself, because a README has no style for it.
const overviewStyle = `<style>svg{background:#fff}text{font:12px system-ui,sans-serif;fill:#57606a}` +
	`.label{text-anchor:end}.head{font-weight:600;font-size:14px;fill:#1c2430}` +
	`.bar{fill:#9aa7b5}.own{fill:#0b7a75}.whisker{stroke:#57606a;stroke-width:1.2}` +
	`@media(prefers-color-scheme:dark){svg{background:#0d1117}text{fill:#9da7b3}.head{fill:#e3e9ef}` +
	`.bar{fill:#5c6b7a}.own{fill:#2fc2b8}}</style>`

// Sizes of the overview.
const (
	overviewGap   = 24.0
	overviewHead  = 30.0
	overviewWidth = 2*overviewChart + 3*overviewGap
	overviewChart = 404.0
)

// overviewLayout is narrow, so that text is still large when a README shows both columns.
var overviewLayout = layout{width: overviewChart, label: 150, value: 104}

// overviewPanels are the workloads that tell most, two side by side.
var overviewPanels = []struct{ workload, head string }{
	{"send-100", "Send, batches of 100: messages a second"},
	{"cycle-100", "Send, receive and finish at once, batches of 100"},
	{"consume-100", "Receive and finish a backlog, batches of 100"},
	{"cycle-1", "Send, receive and finish at once, one a call"},
	{"jobs", "Jobs that send themselves again: jobs a second"},
	{"latency-100", "Planned send to handler, 100 a second: p50, ms"},
}

// overview draws those workloads, each system at its best; it returns the height, too.
func (s *Shootout) overview() (string, float64) {
	s = s.in(viewBest)
	tables := map[string]Table{}
	for _, t := range s.Tables() {
		tables[t.Name] = t
	}
	var body bytes.Buffer
	y, below, column := overviewGap/2, 0.0, 0
	for _, panel := range overviewPanels {
		t := tables[panel.workload]
		bars := t.bars()
		if len(bars) == 0 {
			continue
		}
		x := overviewGap + float64(column)*(overviewChart+overviewGap)
		height := float64(len(bars)) * barHeight
		fmt.Fprintf(&body, `<text class="head" x="%g" y="%g">%s</text>`, x, y+16, html.EscapeString(panel.head))
		fmt.Fprintf(&body, `<svg x="%g" y="%g" width="%g" height="%g">%s</svg>`, x, y+overviewHead, overviewChart, height,
			barChart(bars, overviewLayout))
		below = max(below, overviewHead+height+overviewGap)
		if column++; column == 2 {
			y, below, column = y+below, 0, 0
		}
	}
	height := y + below
	const tag = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %g %g" width="%g" height="%g">%s%s</svg>`
	return fmt.Sprintf(tag+"\n", overviewWidth, height, overviewWidth, height, overviewStyle, body.String()), height
}

// bars are those of the workload's chart.
func (t *Table) bars() []bar {
	var bars []bar
	for i := range t.Rows {
		r := &t.Rows[i]
		if len(r.best) == 0 {
			continue
		}
		b := bar{label: r.Title, own: r.isWeir()}
		if t.Rate > 0 && r.P50.N > 0 {
			b.size, b.value = r.P50.Median, fmt.Sprintf("%.1f (p99 %s)", r.P50.Median, short(r.P99.Median))
		} else {
			b.size, b.low, b.high, b.value = r.Rate.Median, r.Rate.Min, r.Rate.Max, thousands(r.Rate.Median)
		}
		bars = append(bars, b)
	}
	return bars
}
