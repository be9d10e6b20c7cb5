package shootout

import (
	"fmt"
	"html"
	"math"
	"strings"
)

// Sizes of charts, in the units of their viewBox.
const (
	chartWidth = 520.0
	barHeight  = 21.0
	plotHeight = 260.0
	plotLeft   = 64.0
	plotBottom = 36.0
)

// chartTag begins a drawing.
const chartTag = `<svg class="chart" viewBox="0 0 %g %g" role="img" xmlns="http://www.w3.org/2000/svg">`

// bar is one of a bar chart.
type bar struct {
	label, value    string
	size, low, high float64
	own             bool
}

// layout is how wide a bar chart and its parts are.
type layout struct{ width, label, value float64 }

// barChart draws horizontal bars from 0, with a whisker from the smallest to the largest run.
func barChart(bars []bar, in layout) string {
	most := 0.0
	for _, b := range bars {
		most = max(most, b.size, b.high)
	}
	scale := (in.width - in.label - in.value) / max(most, 1e-9)
	var out strings.Builder
	fmt.Fprintf(&out, chartTag, in.width, float64(len(bars))*barHeight)
	for i, b := range bars {
		y := float64(i) * barHeight
		class := "bar"
		if b.own {
			class += " own"
		}
		fmt.Fprintf(&out, `<text class="label" x="%g" y="%g">%s</text>`, in.label-8, y+15, html.EscapeString(b.label))
		fmt.Fprintf(&out, `<rect class="%s" x="%g" y="%g" width="%.1f" height="%g" rx="2"/>`, class, in.label, y+4,
			max(1, b.size*scale), barHeight-8)
		if b.high > b.low {
			fmt.Fprintf(&out, `<path class="whisker" d="M%.1f %g H%.1f"/>`, in.label+b.low*scale, y+barHeight/2,
				in.label+b.high*scale)
		}
		fmt.Fprintf(&out, `<text class="value" x="%.1f" y="%g">%s</text>`, in.label+max(b.size, b.high)*scale+6, y+15,
			html.EscapeString(b.value))
	}
	out.WriteString(`</svg>`)
	return out.String()
}

// axis is what a line chart shows in one direction, from 0.
type axis struct{ high float64 }

func (a axis) place(v float64) float64 { return v / max(1e-9, a.high) }

// ticks are the values with a line of their own.
func (a axis) ticks() []float64 {
	var all []float64
	step := math.Pow(10, math.Floor(math.Log10(max(a.high, 1e-9))))
	for a.high/step < 4 {
		step /= 2
	}
	for v := 0.0; v <= a.high*1.001; v += step {
		all = append(all, v)
	}
	return all
}

// Curve is a line of a chart; XY are its points.
type Curve struct {
	Label  string
	Colour int // 0 to 9, the class s0 to s9
	XY     [][2]float64
}

// Chart draws curves over a common horizontal axis, both from 0.
func Chart(curves []Curve, xLabel, yLabel string) string {
	var x, y axis
	for _, c := range curves {
		for _, p := range c.XY {
			x.high, y.high = max(x.high, p[0]), max(y.high, p[1])
		}
	}
	left := func(v float64) float64 { return plotLeft + x.place(v)*(chartWidth-plotLeft-16) }
	top := func(v float64) float64 { return 16 + (1-y.place(v))*(plotHeight-16-plotBottom) }
	var out strings.Builder
	fmt.Fprintf(&out, chartTag, chartWidth, plotHeight)
	for _, v := range y.ticks() {
		fmt.Fprintf(&out, `<path class="grid" d="M%g %.1f H%g"/>`, plotLeft, top(v), chartWidth-16)
		fmt.Fprintf(&out, `<text class="tick" x="%g" y="%.1f" text-anchor="end">%s</text>`, plotLeft-6, top(v)+4, short(v))
	}
	for _, v := range x.ticks() {
		fmt.Fprintf(&out, `<text class="tick" x="%.1f" y="%g" text-anchor="middle">%s</text>`, left(v),
			plotHeight-plotBottom+16, short(v))
	}
	fmt.Fprintf(&out, `<text class="tick" x="%g" y="%g" text-anchor="end">%s</text>`, chartWidth-16, plotHeight-4,
		html.EscapeString(xLabel))
	fmt.Fprintf(&out, `<text class="tick" x="4" y="11">%s</text>`, html.EscapeString(yLabel))
	for _, c := range curves {
		fmt.Fprintf(&out, `<g class="s%d"><polyline class="line" points="`, c.Colour)
		for _, p := range c.XY {
			fmt.Fprintf(&out, "%.1f,%.1f ", left(p[0]), top(p[1]))
		}
		out.WriteString(`"/>`)
		for _, p := range c.XY {
			fmt.Fprintf(&out, `<circle class="dot" cx="%.1f" cy="%.1f" r="3"><title>%s: %s at %s</title></circle>`, left(p[0]),
				top(p[1]), html.EscapeString(c.Label), short(p[1]), short(p[0]))
		}
		out.WriteString(`</g>`)
	}
	out.WriteString(`</svg>`)
	return out.String()
}

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
