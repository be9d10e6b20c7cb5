package app

import (
	"errors"
	"strings"
	"testing"
)

func TestALogThatIsWholeHasNothingWrong(t *testing.T) {
	t.Parallel()
	l := newLogReader([]int64{3, 2, 0}, NewChance(&Options{}))
	for _, p := range []Place{{0, 0}, {1, 1}, {0, 1}, {0, 2}} { // the beginning of session 1 is past the retention
		if text := l.see(Key(p.Session), p, 0); text != "" {
			t.Error(text)
		}
	}
	if sessions, whole, missing := l.end(); sessions != 2 || whole != 1 || missing != nil {
		t.Errorf("%d sessions, %d whole, missing %v", sessions, whole, missing)
	}
}

func TestEachForgedFaultOfALogIsFound(t *testing.T) {
	t.Parallel()
	chance := NewChance(&Options{ForwardPercent: 100})
	for name, forge := range map[string]func(l *logReader) string{
		"another key": func(l *logReader) string { return l.see(Key(1), Place{0, 1}, 0) },
		"never sent":  func(l *logReader) string { return l.see(Key(0), Place{0, 3}, 0) },
		"a gap":       func(l *logReader) string { return l.see(Key(0), Place{0, 2}, 0) },
		"twice":       func(l *logReader) string { return l.see(Key(0), Place{0, 0}, 0) },
		"for the same message": func(l *logReader) string {
			l.forwarded = true
			return l.see(Key(0), Place{0, 1}, 7)
		},
		"a lost end": func(l *logReader) string {
			_, _, missing := l.end()
			return strings.Join(missing, "")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLogReader([]int64{3}, chance)
			if text := l.see(Key(0), Place{0, 0}, 7); text != "" {
				t.Fatal(text)
			}
			if forge(l) == "" {
				t.Error("nothing is found")
			}
		})
	}
}

// books are those of a group that finished 8 of 10 messages, and of which 2 are dead.
func books() (Report, Backlog, []letter) {
	letters := []letter{{Place{0, 1}, 5}, {Place{0, 2}, 5}}
	r := Report{Options: Options{MaxAttempts: 5}, Drained: true}
	r.Outcome.Findings = []Finding{{
		GroupCounts: GroupCounts{Deliveries: 18, Done: 8, Dead: 2}, Letters: []Place{{0, 1}, {0, 2}},
	}}
	return r, Backlog{Group: "g"}, letters
}

func TestBooksThatBalanceHaveNothingWrong(t *testing.T) {
	t.Parallel()
	r, b, letters := books()
	r.compare(0, b, 0, 10, letters)
	if err := r.judge(); err != nil {
		t.Error(err)
	}
	if a := r.Audit.Groups[0]; a.Acked != 8 || a.Dead != 2 || a.Left != 0 {
		t.Errorf("the books are %+v", a)
	}
}

func TestEachForgedFaultOfTheBooksIsFound(t *testing.T) {
	t.Parallel()
	for name, forge := range map[string]func(r *Report, b *Backlog, letters *[]letter){
		"a lost message":     func(r *Report, _ *Backlog, _ *[]letter) { r.Outcome.Findings[0].Done++ },
		"a lost dead letter": func(_ *Report, _ *Backlog, l *[]letter) { *l = (*l)[:1] },
		"an invented letter": func(_ *Report, _ *Backlog, l *[]letter) { (*l)[0].Seq = 9 },
		"too few attempts":   func(_ *Report, _ *Backlog, l *[]letter) { (*l)[0].attempts = 4 },
		"one that is left":   func(r *Report, _ *Backlog, _ *[]letter) { r.Outcome.Findings[0].Done-- },
		"a fault while it ran": func(r *Report, _ *Backlog, _ *[]letter) {
			r.Outcome.Findings[0].ByFault = map[Fault]int64{Stale: 1}
		},
		"a call that failed":     func(r *Report, _ *Backlog, _ *[]letter) { r.Outcome.Errors = 1 },
		"consumers that stopped": func(r *Report, _ *Backlog, _ *[]letter) { r.Drained = false },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, b, letters := books()
			forge(&r, &b, &letters)
			r.compare(0, b, 0, 10, letters)
			if err := r.judge(); !errors.Is(err, ErrWrong) {
				t.Errorf("the verdict is %v", err)
			}
		})
	}
}

// shakenBooks are those of a group of which PostgreSQL was killed: of 10 messages one died of
// lost deliveries, and one was finished whose ack was lost.
func shakenBooks() (Report, Backlog, []letter) {
	r, b, letters := books()
	r.Kills = 1
	r.Outcome.Findings[0] = Finding{
		GroupCounts: GroupCounts{Deliveries: 18, Done: 9, Dead: 1}, Skipped: []Place{{0, 1}}, LastDone: []Place{{0, 2}},
	}
	return r, b, letters
}

func TestBooksBalanceAfterAKill(t *testing.T) {
	t.Parallel()
	r, b, letters := shakenBooks()
	r.compare(0, b, 0, 10, letters)
	if err := r.judge(); err != nil {
		t.Error(err)
	}
	if a := r.Audit.Groups[0]; a.Sent != 10 || a.Acked != 8 || a.Dead != 2 || a.Left != 0 {
		t.Errorf("the books are %+v", a)
	}
}

func TestEachForgedFaultOfTheBooksIsFoundAfterAKill(t *testing.T) {
	t.Parallel()
	for name, forge := range map[string]func(r *Report, b *Backlog, letters *[]letter){
		"a lost message": func(r *Report, _ *Backlog, _ *[]letter) { r.Outcome.Findings[0].Done-- },
		"passed over and not dead": func(r *Report, _ *Backlog, l *[]letter) {
			*l = (*l)[1:]
			r.Outcome.Findings[0].Done++
		},
		"a finished one that is dead": func(r *Report, _ *Backlog, _ *[]letter) { r.Outcome.Findings[0].LastDone = nil },
		"ids without a kill":          func(r *Report, _ *Backlog, _ *[]letter) { r.Kills = 0 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, b, letters := shakenBooks()
			forge(&r, &b, &letters)
			r.compare(0, b, 0, 10, letters)
			if err := r.judge(); !errors.Is(err, ErrWrong) {
				t.Errorf("the verdict is %v", err)
			}
		})
	}
}
