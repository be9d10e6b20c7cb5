package top

import (
	"context"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
)

const helpText = `  up, down, page up, page down, home, end   select a row
  enter                                     the groups of the selected queue
  esc                                       back: out of this help, the filter, the groups
  /                                         show only names that contain a text
  space                                     pause, and go on
  R                                         look now
  n w c l d o i u                           sort by name, waiting, claimed, delayed, dead, oldest, in, out
  r                                         turn the order round
  q                                         quit

  A queue's numbers are the sums of its groups'. ~ marks estimates. IN/S and OUT/S are messages sent and
  delivered a second since the last look, at first over the last minute. OLDEST is the longest wait. PAUSED shows
  queues that deliver nothing.
  STORAGE WAITS FOR says why the queue's oldest segment is not given back.`

const (
	keysOfQueues = "enter groups  / filter  n w c l d o i u sort  r turn  space pause  ? help  q quit"
	keysOfGroups = "esc queues  / filter  n w c l d o u sort  r turn  space pause  ? help  q quit"
)

// View draws the frame.
func (m *Model) View() tea.View {
	view := tea.NewView(strings.Join(m.lines(), "\n"))
	view.AltScreen = true
	view.WindowTitle = "weir top"
	return view
}

// Lines around the rows: two above the titles, the titles, and one below.
const linesAround = 4

// room is how many rows there is room for.
func (m *Model) room() int {
	around := linesAround
	if m.queue != "" {
		around++
	}
	return max(m.height-around, 1)
}

// lines are those of the frame, as many as the terminal has.
func (m *Model) lines() []string {
	lines := []string{m.top(), ""}
	switch {
	case m.err != nil:
		lines[1] = m.paint.bad.Render(cut("cannot look: "+oneLine(m.err.Error()), m.width))
	case m.typing:
		lines[1] = cut("filter: "+m.filter+"_   enter keeps it, esc drops it", m.width)
	case m.filter != "":
		lines[1] = cut("filter: "+m.filter+"   esc drops it", m.width)
	}
	if m.helping {
		for line := range strings.SplitSeq(helpText, "\n") {
			lines = append(lines, cut(line, m.width))
		}
	} else {
		lines = append(lines, m.body()...)
	}
	if m.height < 2 {
		return lines[:1]
	}
	lines = lines[:min(len(lines), m.height-1)]
	for len(lines) < m.height-1 {
		lines = append(lines, "")
	}
	keys := keysOfQueues
	if m.queue != "" {
		keys = keysOfGroups
	}
	return append(lines, m.paint.faint.Render(cut(keys, m.width)))
}

// top is the first line: what is shown, from where, and when it was looked at.
func (m *Model) top() string {
	what := "weir top"
	if m.queue != "" {
		what += " · " + m.queue
	}
	rest := "  " + m.opt.Name
	if !m.now.at.IsZero() {
		rest += "  " + m.now.at.Format(time.TimeOnly)
	}
	state := fmt.Sprintf("every %s", m.opt.Every)
	if m.paused {
		state = "PAUSED, space goes on"
	}
	space := m.width - len([]rune(what)) - len([]rune(state)) - 2
	line := m.paint.title.Render(cut(what, m.width))
	if space < 0 {
		return line
	}
	state = m.paint.faint.Render(state)
	if m.paused {
		state = m.paint.warn.Render("PAUSED, space goes on")
	}
	return line + m.paint.faint.Render(pad(rest, space, true)) + "  " + state
}

// body is the table, or what stands in its place.
func (m *Model) body() []string {
	rows := m.rows()
	var lines []string
	if m.queue != "" {
		lines = append(lines, m.about())
	}
	switch {
	case m.now.at.IsZero() && m.err == nil:
		return append(lines, "looking ...")
	case m.now.at.IsZero():
		return lines
	case len(m.now.list) == 0:
		return append(lines, cut("no queues yet: "+m.opt.Advice, m.width))
	case len(rows) == 0 && m.filter != "":
		return append(lines, cut("no name contains "+m.filter, m.width))
	case len(rows) == 0:
		return append(lines, cut("the queue "+m.queue+" is gone; esc leads back", m.width))
	}
	table := fit(columns(m.queue != ""), rows, m.width)
	lines = append(lines, table.heads(m.paint, m.order))
	selected := m.cursor(rows)
	m.first = min(max(m.first, selected-m.room()+1), selected, max(len(rows)-m.room(), 0))
	for i := m.first; i < min(m.first+m.room(), len(rows)); i++ {
		lines = append(lines, table.line(rows[i], m.paint, i == selected && !m.still, m.width))
	}
	return lines
}

// about tells of the queue whose groups are shown what they have in common.
func (m *Model) about() string {
	for _, r := range queueRows(m.now) {
		if r.name != m.queue {
			continue
		}
		text := ""
		if r.paused {
			text = "paused: nothing is delivered  "
		}
		text += fmt.Sprintf("in %s/s  log %s: %s in %d of 3 segments", perSecond(r.in), r.log, Size(r.bytes),
			r.segments)
		if r.blocked != "" {
			text += "  waits for " + oneLine(blocker(r))
		}
		if r.blocked == "" && !r.paused {
			return cut(text, m.width)
		}
		return m.paint.warn.Render(cut(text, m.width))
	}
	return ""
}

// oneLine keeps a text from breaking the frame.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, text)
}

// Frame takes one look and returns it as plain text, of as many lines as it takes: what --once prints.
func Frame(ctx context.Context, opt Options, width int) (string, error) {
	seen, err := read(ctx, opt.Source, opt.Queue)
	if err != nil {
		return "", err
	}
	m := New(ctx, opt)
	m.still, m.paint, m.width, m.height = true, palette{}, width, len(seen.list)+linesAround+1
	m.take(looked{seen, nil})
	var text strings.Builder
	for _, line := range m.body() {
		text.WriteString(line + "\n")
	}
	return text.String(), nil
}
