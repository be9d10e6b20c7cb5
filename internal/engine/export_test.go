package engine

import "time"

// Age makes a listener look as if nobody had waited for a queue for a time, and returns how many queues it follows.
func (l *Listener) Age(queue string, by time.Duration) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if t := l.topics[queue]; t != nil {
		t.used = t.used.Add(-by)
	}
	if l.started {
		l.ask()
	}
	return len(l.topics)
}
