package top

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// column is one column of the table.
type column struct {
	title string
	text  func(row) string
	mood  func(row) mood // nil: plain
	left  bool           // aligned left
	worth int            // the least worthy goes first where the width does not suffice; 0 never goes
}

// mood is how a cell is coloured.
type mood int

const (
	plain mood = iota
	warn
	bad
)

// Ages from which a waiting message is worth a look, in seconds.
const (
	oldWarn = 60
	oldBad  = 600
)

// columns are those of a table of queues, or of the groups of a queue.
func columns(ofGroups bool) []column {
	number := func(n func(row) int64) func(row) string {
		return func(r row) string { return count(n(r), r.exact) }
	}
	name := column{title: "QUEUE", text: func(r row) string { return r.name }, left: true}
	if ofGroups {
		name.title = "GROUP"
	}
	list := []column{name}
	if !ofGroups {
		list = append(list, column{title: "GROUPS", text: func(r row) string { return strconv.Itoa(r.groups) }, worth: 3})
	}
	list = append(list,
		column{title: "PAUSED", text: pause, mood: pausedMood, left: true, worth: 12},
		column{title: "WAITING", text: number(func(r row) int64 { return r.waiting }), worth: 11},
		column{title: "CLAIMED", text: number(func(r row) int64 { return r.claimed }), worth: 7},
		column{title: "DELAYED", text: number(func(r row) int64 { return r.delayed }), worth: 5},
		column{title: "PARKED", text: number(func(r row) int64 { return r.parked }), worth: 2},
		column{title: "DEAD", text: number(func(r row) int64 { return r.dead }), mood: deadMood, worth: 9},
		column{title: "OLDEST", text: func(r row) string { return Age(r.oldest) }, mood: oldMood, worth: 10})
	if !ofGroups {
		list = append(list, column{title: "IN/S", text: func(r row) string { return perSecond(r.in) }, worth: 8})
	}
	list = append(list, column{title: "OUT/S", text: func(r row) string { return perSecond(r.out) }, worth: 8})
	if !ofGroups {
		list = append(list,
			column{title: "STORAGE WAITS FOR", text: blocker, mood: blockedMood, left: true, worth: 4})
	}
	return list
}

func deadMood(r row) mood {
	if r.dead > 0 {
		return bad
	}
	return plain
}

func oldMood(r row) mood {
	switch {
	case r.oldest >= oldBad:
		return bad
	case r.oldest >= oldWarn:
		return warn
	}
	return plain
}

func blockedMood(row) mood { return warn }

// pause is empty where nothing is, so that the column is there only when it has something to say.
func pause(r row) string {
	if r.paused {
		return "paused"
	}
	return ""
}

func pausedMood(row) mood { return warn }

// blocker says what keeps the oldest segment, and for how long when it is a transaction.
func blocker(r row) string {
	if r.blocked == "" || r.blockedAge == 0 {
		return r.blocked
	}
	return r.blocked + " (" + Age(r.blockedAge) + ")"
}

// layout is a table that fits a width.
type layout struct {
	columns []column
	widths  []int
}

// nameMin is to what width names are cut before a column is left out.
const nameMin = 20

// gap is between two columns.
const gap = "  "

// fit leaves out what has nothing to say, and what is worth least until the rest fits the width; a name that does not
// fit even so is cut off.
func fit(list []column, rows []row, width int) layout {
	list = slices.DeleteFunc(list, func(c column) bool {
		return !slices.ContainsFunc(rows, func(r row) bool { return c.text(r) != "" })
	})
	widths := make([]int, len(list))
	for i, c := range list {
		widths[i] = utf8.RuneCountInString(c.title)
		for _, r := range rows {
			widths[i] = max(widths[i], utf8.RuneCountInString(c.text(r)))
		}
	}
	l := layout{list, widths}
	if l.width() > width {
		widths[0] = min(widths[0], max(nameMin, width/4)) // a long name must not drive out the numbers
	}
	for l.width() > width {
		least := -1
		for i, c := range l.columns {
			if c.worth > 0 && (least < 0 || c.worth < l.columns[least].worth) {
				least = i
			}
		}
		if least < 0 {
			break
		}
		l = l.without(least)
	}
	if over := l.width() - width; over > 0 {
		l.widths[0] = max(l.widths[0]-over, 1)
	}
	return l
}

func (l layout) width() int {
	total := len(gap) * (len(l.widths) - 1)
	for _, w := range l.widths {
		total += w
	}
	return total
}

func (l layout) without(i int) layout {
	var less layout
	less.columns = append(append(less.columns, l.columns[:i]...), l.columns[i+1:]...)
	less.widths = append(append(less.widths, l.widths[:i]...), l.widths[i+1:]...)
	return less
}

// heads are the titles; the one that rows are sorted by has a mark.
func (l layout) heads(paint palette, by order) string {
	cells := make([]string, len(l.columns))
	for i, c := range l.columns {
		text := pad(c.title, l.widths[i], c.left)
		if title := sortKeys()[by.key]; c.title == title || i == 0 && by.key == 'n' {
			cells[i] = paint.sorted.Render(text)
		} else {
			cells[i] = paint.head.Render(text)
		}
	}
	return strings.TrimRight(strings.Join(cells, gap), " ")
}

// line is a row; without colours where it is the selected one, which is turned round as a whole.
func (l layout) line(r row, paint palette, selected bool, width int) string {
	cells := make([]string, len(l.columns))
	for i, c := range l.columns {
		cells[i] = pad(c.text(r), l.widths[i], c.left)
		if c.mood != nil && !selected {
			cells[i] = paint.of(c.mood(r)).Render(cells[i])
		}
	}
	text := strings.Join(cells, gap)
	if selected {
		return paint.selected.Render(pad(text, width, true))
	}
	return strings.TrimRight(text, " ")
}

// pad brings a text to a width, cutting it where it is longer.
func pad(text string, width int, left bool) string {
	n := utf8.RuneCountInString(text)
	switch {
	case n > width:
		return cut(text, width)
	case left:
		return text + strings.Repeat(" ", width-n)
	}
	return strings.Repeat(" ", width-n) + text
}

// cut shortens a text to a width, and shows that it did.
func cut(text string, width int) string {
	runes := []rune(text)
	if len(runes) <= width {
		return text
	}
	if width < 1 {
		return ""
	}
	return string(runes[:width-1]) + "…"
}

// count writes a number of messages, an estimate with a mark.
func count(n int64, exact bool) string {
	text := short(float64(n))
	if !exact && n >= 1000 {
		return "~" + text
	}
	return text
}

// short writes a number in at most six characters.
func short(n float64) string {
	switch {
	case n < 100_000:
		return strconv.FormatFloat(n, 'f', 0, 64)
	case n < 10_000_000:
		return fmt.Sprintf("%.0fk", n/1e3)
	case n < 10_000_000_000:
		return fmt.Sprintf("%.0fM", n/1e6)
	}
	return fmt.Sprintf("%.0fG", n/1e9)
}

// perSecond writes a rate.
func perSecond(rate float64) string {
	if rate > 0 && rate < 10 {
		return strconv.FormatFloat(rate, 'f', 1, 64)
	}
	return short(rate)
}

// Age writes a time span in seconds.
func Age(seconds float64) string {
	s := int64(seconds)
	switch {
	case seconds <= 0:
		return "-"
	case s < 120:
		return fmt.Sprintf("%ds", s)
	case s < 7200:
		return fmt.Sprintf("%dm", s/60)
	case s < 172_800:
		return fmt.Sprintf("%dh", s/3600)
	}
	return fmt.Sprintf("%dd", s/86_400)
}

// Size writes a number of bytes.
func Size(n int64) string {
	value, unit := float64(n), 0
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	for value >= 1024 && unit < len(units)-1 {
		value, unit = value/1024, unit+1
	}
	if unit == 0 || value >= 10 {
		return fmt.Sprintf("%.0f %s", value, units[unit])
	}
	return fmt.Sprintf("%.1f %s", value, units[unit])
}
