package top

import "charm.land/lipgloss/v2"

// palette are the styles of a frame. The zero palette styles nothing.
type palette struct {
	title, head, sorted, selected, faint, warn, bad lipgloss.Style
}

// colours returns the styles for a dark or a light terminal. What they tell stands in the text too, so that nothing is
// lost where there are no colours.
func colours(dark bool) palette {
	pick := lipgloss.LightDark(dark)
	plain := lipgloss.NewStyle()
	return palette{
		title:    plain.Bold(true),
		head:     plain.Bold(true),
		sorted:   plain.Bold(true).Underline(true),
		selected: plain.Reverse(true),
		faint:    plain.Foreground(pick(lipgloss.Color("#5f5f5f"), lipgloss.Color("#9e9e9e"))),
		warn:     plain.Foreground(pick(lipgloss.Color("#875f00"), lipgloss.Color("#ffd75f"))),
		bad:      plain.Foreground(pick(lipgloss.Color("#af0000"), lipgloss.Color("#ff8787"))).Bold(true),
	}
}

// of returns the style of a mood.
func (p palette) of(m mood) lipgloss.Style {
	styles := map[mood]lipgloss.Style{warn: p.warn, bad: p.bad}
	return styles[m]
}
