package top

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"github.com/weirmq/weir/internal/engine"
)

// noon is when the first look of a test was taken.
var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// scripted is a Source that is never asked: tests send the looks themselves.
type scripted struct{}

func (scripted) Stats(context.Context, string) ([]engine.GroupStats, error) {
	return nil, errors.New("asked")
}

func (scripted) ListQueues(context.Context) ([]engine.Queue, error) { return nil, errors.New("asked") }

// screen drives a Model as a terminal of a size would.
type screen struct {
	*testing.T
	*Model

	stopped map[string]bool // queues that are paused
}

func newScreen(t *testing.T, width, height int) *screen {
	t.Helper()
	opt := Options{Source: scripted{}, Name: "test on here", Every: time.Second, Sort: 'w', Advice: "make one"}
	s := &screen{T: t, Model: New(t.Context(), opt)}
	s.paint = palette{}
	s.Update(tea.WindowSizeMsg{Width: width, Height: height})
	return s
}

// see takes a look, some seconds after noon.
func (s *screen) see(seconds int, list ...engine.GroupStats) {
	s.Helper()
	s.looking = true
	s.Update(looked{sample: sample{at: noon.Add(time.Duration(seconds) * time.Second), list: list, paused: s.stopped}})
}

// keys presses keys by their names; the text of a name of one letter is that letter.
func (s *screen) keys(names ...string) tea.Cmd {
	s.Helper()
	var last tea.Cmd
	codes := map[string]rune{
		"enter": tea.KeyEnter, "esc": tea.KeyEscape, "up": tea.KeyUp, "down": tea.KeyDown, "space": tea.KeySpace,
		"backspace": tea.KeyBackspace, "end": tea.KeyEnd, "pgup": tea.KeyPgUp, "home": tea.KeyHome,
	}
	for _, name := range names {
		letter, _ := utf8.DecodeRuneInString(name)
		key := tea.Key{Code: letter, Text: name}
		if code, named := codes[name]; named {
			key = tea.Key{Code: code}
		}
		_, last = s.Update(tea.KeyPressMsg(key))
	}
	return last
}

// text is the frame, which must fit the terminal.
func (s *screen) text() string {
	s.Helper()
	lines := strings.Split(s.View().Content, "\n")
	if len(lines) != s.height {
		s.Errorf("%d lines on a terminal of %d", len(lines), s.height)
	}
	for _, line := range lines {
		if n := len([]rune(line)); n > s.width {
			s.Errorf("%d characters on a terminal of %d: %q", n, s.width, line)
		}
	}
	return strings.Join(lines, "\n")
}

// shows fails the test unless the frame has all texts.
func (s *screen) shows(texts ...string) {
	s.Helper()
	frame := s.text()
	for _, text := range texts {
		if !strings.Contains(frame, text) {
			s.Errorf("no %q in\n%s", text, frame)
		}
	}
}

// order returns the names of some queues as they stand below each other.
func (s *screen) order(names string) string {
	s.Helper()
	var found []string
	for line := range strings.SplitSeq(s.text(), "\n") {
		for name := range strings.FieldsSeq(names) {
			if strings.HasPrefix(line, name+" ") {
				found = append(found, name)
			}
		}
	}
	return strings.Join(found, " ")
}

// group makes figures: waiting, dead, and the counters sent and delivered.
func group(queue, name string, waiting, dead int64, in, out float64) engine.GroupStats {
	return engine.GroupStats{
		Queue: queue, Group: name, Waiting: waiting, Dead: dead, SentRate: in, DeliveredRate: out, Exact: true,
		Log: "main", Segments: 1, Bytes: 2048, OldestAge: float64(waiting),
	}
}

func TestARowIsTheSumOfItsGroups(t *testing.T) {
	t.Parallel()
	s := newScreen(t, 120, 10)
	s.see(0, group("orders", "audit", 5, 1, 0, 0), group("orders", "default", 7, 2, 0, 0))
	s.shows("orders       2       12", "test on here", "12:00:00", "every 1s")
	s.see(2, group("orders", "audit", 5, 1, 20, 5), group("orders", "default", 7, 2, 20, 5))
	s.shows("12:00:02")
	fields := strings.Fields(strings.Split(s.text(), "\n")[3])
	if got := strings.Join(fields, " "); got != "orders 2 12 0 0 0 3 7s 20 10" {
		t.Errorf("the row is %q", got)
	}
}

func TestKeysSortFilterAndOpenAQueue(t *testing.T) {
	t.Parallel()
	s := newScreen(t, 120, 20)
	s.see(0, group("a", "g1", 1, 9, 0, 0), group("b", "g1", 3, 0, 0, 0), group("b", "g2", 1, 0, 0, 0),
		group("cb", "g1", 2, 5, 0, 0))
	for _, c := range []struct{ key, want string }{
		{"w", "b cb a"}, {"d", "a cb b"}, {"r", "b cb a"}, {"n", "a b cb"}, {"r", "cb b a"}, {"w", "b cb a"},
	} {
		s.keys(c.key)
		if got := s.order("a b cb"); got != c.want {
			t.Errorf("after %s: %s, want %s", c.key, got, c.want)
		}
	}
	s.keys("/", "b", "x", "backspace", "enter")
	if got := s.order("a b cb"); got != "b cb" {
		t.Errorf("filtered: %s", got)
	}
	s.keys("down", "enter")
	s.shows("weir top · cb", "g1", "GROUP", "log main: 2.0 KiB in 1 of 3 segments", "esc queues")
	s.keys("esc")
	if got := s.order("a b cb"); got != "b cb a" || s.rows()[s.cursor(s.rows())].name != "cb" {
		t.Errorf("back among the queues: %s, at %s", got, s.selected)
	}
	s.keys("up", "enter")
	if got := s.order("g1 g2"); got != "g1 g2" {
		t.Errorf("groups of b: %s", got)
	}
	s.see(1, group("a", "g1", 1, 0, 0, 0))
	s.shows("the queue b is gone")
	s.keys("esc", "/", "z")
	s.shows("filter: z_", "no name contains z")
	s.keys("esc", "?")
	s.shows("a row", "~ marks estimates")
}

func TestAFrameFitsEveryTerminalAndKeepsWhatMattersMost(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("long-name.", 4)
	keeper, age := "claims not finished by "+long, 7300.0
	worst := group(long, "default", 123_456_789, 99, 5, 5)
	worst.BlockedBy, worst.BlockerAge, worst.Exact = &keeper, &age, false
	for width := 1; width <= 200; width += 3 {
		for height := 1; height <= 30; height += 4 {
			s := newScreen(t, width, height)
			s.see(0, worst, group("z", "default", 0, 0, 0, 0))
			s.text()
			s.keys("enter")
			s.text()
			s.keys("?", "/", "x")
			s.text()
		}
	}
	s := newScreen(t, 50, 10)
	s.see(0, worst)
	s.shows("long-name.long-name…", "~123M", "99", "DEAD", "OLDEST")
	s = newScreen(t, 200, 10)
	s.see(0, worst)
	s.shows(long, "STORAGE WAITS FOR", "claims not finished by", "(2h)", "PARKED")
}

func TestTheSelectedRowStaysInSight(t *testing.T) {
	t.Parallel()
	s := newScreen(t, 80, 9)
	var list []engine.GroupStats
	for i := range 40 {
		list = append(list, group(fmt.Sprintf("q%02d", i), "default", int64(i), 0, 0, 0))
	}
	s.see(0, list...)
	s.shows("q39 ")
	s.keys("end")
	s.shows("q00 ", "q04 ")
	s.keys("up", "up", "up", "up", "up")
	s.shows("q05 ", "q01 ")
	s.keys("pgup", "pgup")
	s.shows("q15 ")
	s.see(1, list[15:]...)
	s.shows("q15 ")
	s.keys("home")
	s.shows("q39 ")
}

func TestAPauseAndAnErrorKeepTheLastFigures(t *testing.T) {
	t.Parallel()
	s := newScreen(t, 80, 9)
	s.shows("looking ...")
	s.see(0)
	s.shows("no queues yet: make one")
	s.see(1, group("orders", "default", 5, 0, 0, 0))
	s.looking = true
	_, next := s.Update(looked{err: errors.New("the database\nis away")})
	s.shows("cannot look: the database is away", "orders")
	if next == nil || s.looking {
		t.Error("it does not look again after an error")
	}
	s.keys("space")
	s.shows("PAUSED")
	if s.Update(due{}); s.looking {
		t.Error("it looks while it is paused")
	}
	s.keys("space")
	if _, look := s.Update(due{}); !s.looking || look == nil {
		t.Error("it does not look after the pause")
	}
	if s.keys("R") != nil {
		t.Error("it looks twice at a time")
	}
	if quit := s.keys("q"); quit == nil || quit() != tea.Quit() {
		t.Error("q does not quit")
	}
}

func TestColoursDifferByBackgroundAndTellNothingThatTheTextDoesNot(t *testing.T) {
	t.Parallel()
	s := newScreen(t, 100, 8)
	s.see(0, group("a", "default", 700, 0, 0, 0), group("b", "default", 0, 3, 0, 0))
	plainText := s.text()
	for _, dark := range []bool{true, false} {
		s.paint = colours(dark)
		coloured := s.View().Content
		if coloured == plainText || strings.Join(strings.Fields(stripped(coloured)), " ") !=
			strings.Join(strings.Fields(plainText), " ") {
			t.Errorf("dark %v:\n%s\nwithout colours:\n%s", dark, coloured, plainText)
		}
	}
	if colours(true).bad.Render("x") == colours(false).bad.Render("x") {
		t.Error("the same red on black and on white")
	}
}

// stripped takes the colours out of a text.
func stripped(text string) string {
	var plain strings.Builder
	for i, part := range strings.Split(text, "\x1b[") {
		if _, after, found := strings.Cut(part, "m"); found && i > 0 {
			part = after
		}
		plain.WriteString(part)
	}
	return plain.String()
}

func TestBehindTheHelpKeysChangeNothing(t *testing.T) {
	t.Parallel()
	s := newScreen(t, 120, 20)
	s.see(0, group("a", "g1", 1, 9, 0, 0), group("b", "g1", 3, 0, 0, 0))
	before := s.text()
	for _, end := range []string{"?", "esc", "enter", "space"} {
		s.keys("?", "d", "r", "down", "p", "/", "x")
		if s.keys("R") != nil {
			t.Error("R looks behind the help")
		}
		s.shows("a row")
		s.keys(end)
		if got := s.text(); got != before {
			t.Errorf("after keys behind the help, and %s:\n%s\nwant\n%s", end, got, before)
		}
	}
	s.keys("?")
	if quit := s.keys("q"); quit == nil || quit() != tea.Quit() {
		t.Error("q does not quit out of the help")
	}
}

func TestPausedQueuesAreMarkedAndTheColumnIsThereOnlyForThem(t *testing.T) {
	t.Parallel()
	s := newScreen(t, 120, 10)
	both := []engine.GroupStats{group("a", "g", 1, 0, 0, 0), group("b", "g", 3, 0, 0, 0)}
	s.see(0, both...)
	if strings.Contains(s.text(), "PAUSED") {
		t.Errorf("nothing is paused:\n%s", s.text())
	}
	s.stopped = map[string]bool{"a": true}
	s.see(1, both...)
	s.shows("PAUSED", "a           1  paused")
	if strings.Count(s.text(), "paused") != 1 {
		t.Errorf("one of two is paused:\n%s", s.text())
	}
	s.keys("down", "enter")
	s.shows("weir top · a", "paused: nothing is delivered")
}
