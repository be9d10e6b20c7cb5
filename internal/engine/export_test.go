package engine

import "time"

// Age makes the topics of a listener look as if nobody had waited for a time, and returns their number.
func (l *Listener) Age(by time.Duration) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, t := range l.topics {
		t.used = t.used.Add(-by)
	}
	if l.started {
		l.ask()
	}
	return len(l.topics)
}
