package shootout

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
)

// WriteReports writes shootout.md, shootout.svg and shootout.html into a folder and returns their paths.
func (s *Shootout) WriteReports(dir string) ([]string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make directory for reports: %w", err)
	}
	var text, page bytes.Buffer
	s.WriteMarkdown(&text)
	if err := s.WriteHTML(&page); err != nil {
		return nil, err
	}
	files := []struct {
		name string
		data []byte
	}{
		{"shootout.md", text.Bytes()}, {"shootout.svg", []byte(s.overview())}, {"shootout.html", page.Bytes()},
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

// overviewStyle colours the drawing by itself, because a README has no style for it.
const overviewStyle = `<style>text{font:12px system-ui,sans-serif;fill:#57606a}.label{text-anchor:end}
.head{font-weight:600;font-size:14px}.bar{fill:#9aa7b5}.own{fill:#0b7a75}.whisker{stroke:#57606a;stroke-width:1.2}
@media(prefers-color-scheme:dark){text{fill:#9da7b3}.bar{fill:#5c6b7a}.own{fill:#2fc2b8}}</style>`

// overview draws the workloads that tell most below each other.
func (s *Shootout) overview() string {
	const gap, head = 18.0, 26.0
	var body bytes.Buffer
	y := 4.0
	shown := map[string]bool{"send-100": true, "consume-100": true, "cycle-100": true, "cycle-1": true, "jobs": true}
	for _, t := range s.Tables() {
		charts := t.bars()
		if !shown[t.Name] || len(charts) == 0 {
			continue
		}
		fmt.Fprintf(&body, `<text class="head" x="0" y="%g">%s: %s, messages a second</text>`, y+16, t.Name, t.About)
		fmt.Fprintf(&body, `<svg x="0" y="%g" width="%g" height="%g">%s</svg>`, y+head, chartWidth,
			float64(len(charts))*barHeight, barChart(charts))
		y += head + float64(len(charts))*barHeight + gap
	}
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %g %g" width="%g">%s%s</svg>`+"\n",
		chartWidth, y, chartWidth, overviewStyle, body.String())
}

// bars are those of the workload's chart.
func (t *Table) bars() []bar {
	var bars []bar
	for i := range t.Rows {
		if len(t.Rows[i].best) > 0 {
			bars = append(bars, t.bar(&t.Rows[i], i))
		}
	}
	return bars
}
