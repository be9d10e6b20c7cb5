package top

import (
	"context"
	"slices"
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
)

// Options say what to show, and how.
type Options struct {
	Source Source
	Name   string        // of the source, for the first line
	Advice string        // what to type to make a queue, shown where there is none
	Every  time.Duration // between two looks
	Sort   rune          // one of SortKeys
	Filter string
	Queue  string // show this queue's groups
}

// timeout bounds one look.
const timeout = 30 * time.Second

// Model is the program: what is shown, and how keys, looks and the terminal change it.
type Model struct {
	opt Options
	ctx context.Context
	now sample // the last look, and the one before
	err error  // of the last look

	queue    string // whose groups are shown, empty: all queues
	order    order
	filter   string
	typing   bool // the filter is being typed
	paused   bool
	helping  bool
	looking  bool
	still    bool   // one frame for no one to move in
	selected string // the name of the row
	first    int    // the topmost row shown
	width    int
	height   int
	paint    palette
}

// New returns the program's first state. The context ends its looks.
func New(ctx context.Context, opt Options) *Model {
	return &Model{
		opt: opt, ctx: ctx, queue: opt.Queue, filter: opt.Filter, order: orderOf(opt.Sort),
		width: 80, height: 24, paint: colours(true),
	}
}

// SortKeys are the letters that Options.Sort may be.
func SortKeys() []rune {
	var keys []rune
	for key := range sortKeys() {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

func orderOf(key rune) order { return order{key: key} }

// looked is the message that a look has ended.
type looked struct {
	sample

	err error
}

// due is the message that it is time to look again.
type due struct{}

// Init asks for the background's colour and takes the first look.
func (m *Model) Init() tea.Cmd { return tea.Batch(tea.RequestBackgroundColor, m.look()) }

// look asks the source, unless it is being asked.
func (m *Model) look() tea.Cmd {
	if m.looking {
		return nil
	}
	m.looking = true
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(m.ctx, timeout)
		defer cancel()
		seen, err := read(ctx, m.opt.Source, "")
		return looked{seen, err}
	}
}

// read takes a look at one queue, or at all.
func read(ctx context.Context, source Source, queue string) (sample, error) {
	list, err := source.Stats(ctx, queue)
	if err != nil {
		return sample{}, err //nolint:wrapcheck // it says what was being done
	}
	queues, err := source.ListQueues(ctx)
	if err != nil {
		return sample{}, err //nolint:wrapcheck // likewise
	}
	s := sample{at: time.Now(), list: list, paused: map[string]bool{}}
	for _, q := range queues {
		s.paused[q.Name] = q.Paused
	}
	return s, nil
}

// Update takes a message.
func (m *Model) Update(message tea.Msg) (tea.Model, tea.Cmd) {
	switch message := message.(type) {
	case looked:
		m.take(message)
		return m, tea.Tick(m.opt.Every, func(time.Time) tea.Msg { return due{} })
	case due:
		if m.paused {
			return m, tea.Tick(m.opt.Every, func(time.Time) tea.Msg { return due{} })
		}
		next := m.look()
		return m, next
	case tea.WindowSizeMsg:
		m.width, m.height = message.Width, message.Height
	case tea.BackgroundColorMsg:
		m.paint = colours(message.IsDark())
	case tea.KeyPressMsg:
		if m.typing {
			m.write(message)
			return m, nil
		}
		next := m.press(message.String())
		return m, next
	}
	return m, nil
}

// take keeps what a look has found. After an error the last figures stay.
func (m *Model) take(l looked) {
	m.looking, m.err = false, l.err
	if l.err == nil {
		m.now = l.sample
	}
}

// write takes a key while the filter is typed.
func (m *Model) write(key tea.KeyPressMsg) {
	switch key.String() {
	case "enter":
		m.typing = false
	case "esc", "ctrl+c":
		m.typing, m.filter = false, ""
	case "backspace":
		_, last := utf8.DecodeLastRuneInString(m.filter)
		m.filter = m.filter[:len(m.filter)-last]
	default:
		m.filter += key.Text
	}
}

// press takes a key.
func (m *Model) press(key string) tea.Cmd {
	if m.helping {
		return m.pressHelp(key)
	}
	letter, _ := utf8.DecodeRuneInString(key)
	switch key {
	case "q", "ctrl+c":
		return tea.Quit
	case "esc", "left", "h", "backspace":
		m.back()
	case "enter", "right":
		m.open()
	case "up", "k", "down", "j", "pgup", "pgdown", "home", "g", "end", "G":
		m.move(key)
	case "/":
		m.typing = true
	case "space", "p":
		m.paused = !m.paused
	case "r":
		m.order.upward = !m.order.upward
	case "R", "ctrl+l":
		return m.look()
	case "?":
		m.helping = true
	default:
		if _, known := sortKeys()[letter]; known && len(key) == 1 {
			m.order = orderOf(letter)
		}
	}
	return nil
}

// pressHelp takes a key while the help hides what the others would change.
func (m *Model) pressHelp(key string) tea.Cmd {
	switch key {
	case "q", "ctrl+c":
		return tea.Quit
	case "?", "esc", "left", "h", "backspace", "enter", "space":
		m.helping = false
	}
	return nil
}

// back leaves the filter, or the groups.
func (m *Model) back() {
	switch {
	case m.filter != "":
		m.filter = ""
	case m.queue != "":
		m.selected, m.queue = m.queue, ""
	}
}

// open shows the groups of the selected queue.
func (m *Model) open() {
	rows := m.rows()
	if i := m.cursor(rows); m.queue == "" && i >= 0 {
		m.queue, m.selected, m.filter, m.first = rows[i].name, "", "", 0
	}
}

// rows are those to show, in their order.
func (m *Model) rows() []row {
	if m.queue != "" {
		return arrange(groupRows(m.now, m.queue), m.filter, m.order)
	}
	return arrange(queueRows(m.now), m.filter, m.order)
}

// cursor is the place of the selected row, the first one unless it is there; -1 where there are no rows.
func (m *Model) cursor(rows []row) int {
	i := slices.IndexFunc(rows, func(r row) bool { return r.name == m.selected })
	if i < 0 && len(rows) > 0 {
		return 0
	}
	return i
}

// move selects another row.
func (m *Model) move(key string) {
	rows := m.rows()
	i := m.cursor(rows)
	if i < 0 {
		return
	}
	switch key {
	case "up", "k":
		i--
	case "down", "j":
		i++
	case "pgup":
		i -= m.room()
	case "pgdown":
		i += m.room()
	case "home", "g":
		i = 0
	case "end", "G":
		i = len(rows) - 1
	}
	m.selected = rows[min(max(i, 0), len(rows)-1)].name
}
