package shootout

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strings"
)

// Sizes of charts, in the units of their viewBox.
const (
	chartWidth = 520.0
	barsWidth  = 430.0 // of a bar chart, narrow, so that text is still large on a phone

	letterWidth = 6.6 // at most, on average
	barHeight   = 21.0
	plotHeight  = 260.0
	plotLeft    = 64.0
	plotBottom  = 36.0
)

// chartTag begins a drawing.
const chartTag = `<svg class="chart" viewBox="0 0 %g %g" role="img" xmlns="http://www.w3.org/2000/svg">`

// bar is one of a bar chart.
type bar struct {
	label, value, note string // note: shown when the pointer rests on it
	size, low, high    float64
	own                bool
	series             int // what a page's legend calls it by
}

// layout is how wide a bar chart and its parts are.
type layout struct{ width, label, value float64 }

// roomFor leaves as much of a page's chart to the bars as the texts do.
func roomFor(bars []bar) layout {
	in := layout{width: barsWidth}
	for _, b := range bars {
		in.label = max(in.label, letterWidth*float64(len(b.label))+8)
		in.value = max(in.value, letterWidth*float64(len(b.value))+16)
	}
	return in
}

// barChart draws horizontal bars from 0, with a whisker from the smallest to the largest run.
func barChart(bars []bar, in layout) string {
	most := 0.0
	for _, b := range bars {
		most = max(most, b.size, b.high)
	}
	scale := (in.width - in.label - in.value) / max(most, 1e-9)
	var out strings.Builder
	height := float64(len(bars)) * barHeight
	fmt.Fprintf(&out, chartTag, in.width, height)
	for i, b := range bars {
		y := float64(i) * barHeight
		class := "bar"
		if b.own {
			class += " own"
		}
		fmt.Fprintf(&out, `<g class="item" data-series="%d"><title>%s</title>`, b.series, html.EscapeString(b.note))
		fmt.Fprintf(&out, `<text class="label" x="%g" y="%g">%s</text>`, in.label-8, y+15, html.EscapeString(b.label))
		fmt.Fprintf(&out, `<rect class="%s" x="%g" y="%g" width="%.1f" height="%g" rx="2"/>`, class, in.label, y+4,
			max(1, b.size*scale), barHeight-8)
		if b.high > b.low {
			fmt.Fprintf(&out, `<path class="whisker" d="M%.1f %g H%.1f"/>`, in.label+b.low*scale, y+barHeight/2,
				in.label+b.high*scale)
		}
		fmt.Fprintf(&out, `<text class="value" x="%.1f" y="%g">%s</text></g>`, in.label+max(b.size, b.high)*scale+6, y+15,
			html.EscapeString(b.value))
	}
	out.WriteString(`</svg>`)
	return out.String()
}

// point is one of a line.
type point struct{ x, y float64 }

// line is one of a line chart.
type line struct {
	label  string
	points []point
	series int // what a page's legend calls it by
	colour int
	own    bool
}

// axis is what a line chart shows in one direction.
type axis struct {
	label     string
	low, high float64
	log       bool
}

func (a axis) place(v float64) float64 {
	if a.log {
		return (math.Log(max(v, a.low)) - math.Log(a.low)) / max(1e-9, math.Log(a.high)-math.Log(a.low))
	}
	return (v - a.low) / max(1e-9, a.high-a.low)
}

// ticks are the values with a line of their own.
func (a axis) ticks() []float64 {
	var all []float64
	if a.log {
		steps := []float64{1, 2, 5}
		if a.high > 1000*a.low {
			steps = steps[:1]
		}
		for decade := math.Pow(10, math.Floor(math.Log10(a.low))); decade <= a.high; decade *= 10 {
			for _, step := range steps {
				if v := step * decade; v >= a.low*0.999 && v <= a.high*1.001 {
					all = append(all, v)
				}
			}
		}
		return all
	}
	step := math.Pow(10, math.Floor(math.Log10(max(a.high-a.low, 1e-9))))
	for (a.high-a.low)/step < 4 {
		step /= 2
	}
	for v := math.Ceil(a.low/step) * step; v <= a.high*1.001; v += step {
		all = append(all, v)
	}
	return all
}

func bounds(label string, log bool, values []float64) axis {
	a := axis{label: label, log: log}
	if len(values) > 0 {
		a.low, a.high = slices.Min(values), slices.Max(values)
	}
	if log {
		a.low = math.Pow(10, math.Floor(math.Log10(max(a.low, 1e-3))))
		a.high = math.Pow(10, math.Ceil(math.Log10(max(a.high, a.low*10))))
		return a
	}
	a.low = 0
	return a
}

// lineChart draws lines over a common horizontal axis.
func lineChart(lines []line, xLabel, yLabel string, xLog, yLog bool) string {
	var xs, ys []float64
	for _, l := range lines {
		for _, p := range l.points {
			xs, ys = append(xs, p.x), append(ys, p.y)
		}
	}
	x, y := bounds(xLabel, xLog, xs), bounds(yLabel, yLog, ys)
	if xLog {
		x.low, x.high = max(slices.Min(xs), 1e-3), slices.Max(xs)
	}
	at := func(p point) (float64, float64) {
		return plotLeft + x.place(p.x)*(chartWidth-plotLeft-16), 16 + (1-y.place(p.y))*(plotHeight-16-plotBottom)
	}
	var out strings.Builder
	fmt.Fprintf(&out, chartTag, chartWidth, plotHeight)
	for _, v := range y.ticks() {
		_, py := at(point{x.low, v})
		fmt.Fprintf(&out, `<path class="grid" d="M%g %.1f H%g"/>`, plotLeft, py, chartWidth-16)
		fmt.Fprintf(&out, `<text class="tick" x="%g" y="%.1f" text-anchor="end">%s</text>`, plotLeft-6, py+4, short(v))
	}
	for _, v := range x.ticks() {
		px, _ := at(point{v, y.low})
		fmt.Fprintf(&out, `<text class="tick" x="%.1f" y="%g" text-anchor="middle">%s</text>`, px,
			plotHeight-plotBottom+16, short(v))
	}
	fmt.Fprintf(&out, `<text class="tick" x="%g" y="%g" text-anchor="end">%s</text>`, chartWidth-16, plotHeight-4,
		html.EscapeString(xLabel))
	fmt.Fprintf(&out, `<text class="tick" x="4" y="11">%s</text>`, html.EscapeString(yLabel))
	for _, l := range lines {
		class := "line"
		if l.own {
			class += " own"
		}
		fmt.Fprintf(&out, `<g class="item s%d" data-series="%d"><polyline class="%s" points="`, l.colour%palette,
			l.series, class)
		for _, p := range l.points {
			px, py := at(p)
			fmt.Fprintf(&out, "%.1f,%.1f ", px, py)
		}
		out.WriteString(`"/>`)
		for _, p := range l.points {
			px, py := at(p)
			fmt.Fprintf(&out, `<circle class="dot" cx="%.1f" cy="%.1f" r="3"><title>%s: %s at %s</title></circle>`, px, py,
				html.EscapeString(l.label), short(p.y), short(p.x))
		}
		out.WriteString(`</g>`)
	}
	out.WriteString(`</svg>`)
	return out.String()
}

// palette is how many colours of lines there are.
const palette = 16

// short writes a number in few characters.
func short(v float64) string {
	switch {
	case v >= 1e6:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", v/1e6), ".0") + "M"
	case v >= 1e4:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", v/1e3), ".0") + "k"
	case v >= 100 || v == math.Trunc(v):
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.3g", v)
}
