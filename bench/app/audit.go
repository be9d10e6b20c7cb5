package app

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// Audit is what the database says when the run is over, held against what was sent and seen.
type Audit struct {
	Groups []GroupAudit `json:"groups"`
	Logs   []LogAudit   `json:"logs"`
}

// GroupAudit are a group's books: what was sent is what was acked, what is dead and what is left.
type GroupAudit struct {
	Group string `json:"group"`
	Sent  int64  `json:"sent"`  // ids that the queue gave out
	Dead  int64  `json:"dead"`  // dead letters that are there, listed one by one
	Left  int64  `json:"left"`  // what could still be taken, and what was not due
	Acked int64  `json:"acked"` // the rest
}

// LogAudit is what was read back from a queue's log, as far as its retention reaches.
type LogAudit struct {
	Queue    string `json:"queue"`
	Messages int64  `json:"messages"`
	Whole    int    `json:"whole"`    // sessions that are there from their first message on
	Sessions int    `json:"sessions"` // that have messages
}

// Texts that read the database.
const (
	lettersText = `select id, (payload->>'session')::int, (payload->>'seq')::bigint, attempts
		from weir.dead_letters($1, $2, max => $3, after => $4)`
	restText      = `select count(*) from weir.pop($1, $2, max => $3)`
	restStatsText = `select waiting + claimed + delayed + parked from weir.stats($1) where group_name = $2`
	readerText    = `select weir.create_group($1, 'audit', start => 'start')`
	popText       = `select key, (payload->>'session')::int, (payload->>'seq')::bigint,
		coalesce((payload->>'origin')::bigint, 0) from weir.pop($1, 'audit', max => $2)`
)

const page = 1000 // rows of a call

// audit asks the database what became of everything, and notes what does not fit.
func (r *run) audit(ctx context.Context) error {
	all, err := r.backlogs(ctx)
	if err != nil {
		return err
	}
	sent := []int64{sum(r.report.Outcome.Sent), sum(r.report.Outcome.Forwarded)}
	for i, b := range all {
		queue, expected := Queue, sent[0]
		if i == len(all)-1 {
			queue, expected = SecondQueue, sent[1]
		}
		letters, err := r.letters(ctx, queue, b.Group)
		if err != nil {
			return err
		}
		left, err := r.takeRest(ctx, queue, b.Group)
		if err != nil {
			return err
		}
		r.report.compare(i, b, left, expected, letters)
	}
	for i, queue := range []string{Queue, SecondQueue} {
		lengths := [][]int64{r.report.Outcome.Sent, r.report.Outcome.Forwarded}[i]
		if err := r.readBack(ctx, queue, lengths); err != nil {
			return err
		}
	}
	return nil
}

// takeRest takes everything that a group has not finished, and returns how much that was. Statistics are estimates
// where there is much, and what they say of a group is believed only when they say 0 and nothing comes any more.
func (r *run) takeRest(ctx context.Context, queue, group string) (left int64, err error) {
	for until := time.Now().Add(r.opts.Drain); ; {
		var n int64
		if err := r.conn.QueryRow(ctx, restText, queue, group, page).Scan(&n); err != nil {
			return 0, fmt.Errorf("take what is left: %w", err)
		}
		left += n
		if n > 0 {
			continue
		}
		var rest int64 // retries that are not due, and claims that a killed consumer left
		if err := r.conn.QueryRow(ctx, restStatsText, queue, group).Scan(&rest); err != nil {
			return 0, fmt.Errorf("ask what is left: %w", err)
		}
		if rest == 0 || time.Now().After(until) {
			return left + rest, nil
		}
		time.Sleep(lookEvery)
	}
}

// lookEvery is how long takeRest waits for what is not due.
const lookEvery = 20 * time.Millisecond

// letter is a dead letter.
type letter struct {
	Place

	attempts int
}

func (r *run) letters(ctx context.Context, queue, group string) ([]letter, error) {
	var all []letter
	after := int64(0)
	for {
		rows, err := r.conn.Query(ctx, lettersText, queue, group, page, after)
		if err != nil {
			return nil, fmt.Errorf("list dead letters: %w", err)
		}
		list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (l letter, err error) {
			err = row.Scan(&after, &l.Session, &l.Seq, &l.attempts)
			return l, err
		})
		if err != nil {
			return nil, fmt.Errorf("list dead letters: %w", err)
		}
		all = append(all, list...)
		if len(list) < page {
			return all, nil
		}
	}
}

// compare holds a group's books against what its checker saw.
func (r *Report) compare(i int, b Backlog, left, sent int64, letters []letter) {
	f := r.Outcome.Findings[i]
	a := GroupAudit{Group: b.Group, Sent: sent, Dead: int64(len(letters)), Left: left}
	a.Acked = a.Sent - a.Dead - a.Left
	r.Audit.Groups = append(r.Audit.Groups, a)
	done := f.Done - r.compareLetters(b.Group, f, letters)
	if a.Acked != done {
		r.wrong("%s: %d were acked by the database's count, and the handlers finished %d", b.Group, a.Acked, done)
	}
	for fault, n := range f.ByFault {
		r.wrong("%s: %d deliveries %s", b.Group, n, fault)
	}
}

// compareLetters holds a group's dead letters against what its checker saw, and returns how many of them a handler had
// finished, whose ack was lost. Other messages that no handler saw die are accounted for by the group's books.
func (r *Report) compareLetters(group string, f Finding, letters []letter) (finished int64) {
	expected := map[Place]bool{}
	for _, p := range append(slices.Clone(f.Letters), f.Skipped...) {
		expected[p] = true
	}
	lastDone := map[Place]bool{}
	for _, p := range f.LastDone {
		lastDone[p] = true
	}
	for _, l := range letters {
		if lastDone[l.Place] {
			finished++
		}
		switch {
		case !expected[l.Place] && !r.shaken():
			r.wrong("%s: message %d of session %d is a dead letter, and never failed for the last time", group, l.Seq,
				l.Session)
		case l.attempts != r.Options.MaxAttempts:
			r.wrong("%s: message %d of session %d is dead after %d attempts", group, l.Seq, l.Session, l.attempts)
		}
		delete(expected, l.Place)
	}
	for p := range expected {
		r.wrong("%s: message %d of session %d failed for the last time, or was passed over, and is no dead letter", group,
			p.Seq, p.Session)
	}
	return finished
}

// readBack reads a queue's log through a group of its own: every session's messages must be there once, in their order
// and up to the last; those at the beginning may be past the retention.
func (r *run) readBack(ctx context.Context, queue string, lengths []int64) error {
	if _, err := r.conn.Exec(ctx, readerText, queue); err != nil {
		return fmt.Errorf("make group: %w", err)
	}
	a := LogAudit{Queue: queue}
	log := newLogReader(lengths, NewChance(&r.opts))
	log.forwarded = queue == SecondQueue
	for {
		rows, err := r.conn.Query(ctx, popText, queue, page)
		if err != nil {
			return fmt.Errorf("read log: %w", err)
		}
		n := 0
		var key string
		var p Place
		var origin int64
		_, err = pgx.ForEachRow(rows, []any{&key, &p.Session, &p.Seq, &origin}, func() error {
			n++
			if text := log.see(key, p, origin); text != "" {
				r.report.wrong("log of %s: %s", queue, text)
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("read log: %w", err)
		}
		if n == 0 {
			break
		}
		a.Messages += int64(n)
	}
	var missing []string
	a.Sessions, a.Whole, missing = log.end()
	for _, text := range missing {
		r.report.wrong("log of %s: %s", queue, text)
	}
	r.report.Audit.Logs = append(r.report.Audit.Logs, a)
	return nil
}

// logReader checks a log that is read from its beginning.
type logReader struct {
	lengths   []int64
	next      []int64 // by session; -1: nothing has come
	first     []int64
	origin    []int64
	chance    Chance
	forwarded bool // the log holds what was forwarded
}

func newLogReader(lengths []int64, c Chance) *logReader {
	l := &logReader{
		lengths: lengths, chance: c, next: make([]int64, len(lengths)), first: make([]int64, len(lengths)),
		origin: make([]int64, len(lengths)),
	}
	for i := range lengths {
		l.next[i], l.origin[i] = -1, -1
	}
	return l
}

// see returns what is wrong with the next message, or nothing.
func (l *logReader) see(key string, p Place, origin int64) string {
	switch {
	case p.Session < 0 || p.Session >= len(l.lengths) || key != Key(p.Session):
		return fmt.Sprintf("message %d of session %d has the key %s", p.Seq, p.Session, key)
	case p.Seq < 0 || p.Seq >= l.lengths[p.Session]:
		return fmt.Sprintf("message %d of session %d was never sent", p.Seq, p.Session)
	case l.next[p.Session] >= 0 && p.Seq != l.next[p.Session]:
		return fmt.Sprintf("message %d of session %d comes where %d is due", p.Seq, p.Session, l.next[p.Session])
	case l.forwarded && (origin <= l.origin[p.Session] || !l.chance.Forwards(0, p.Session, origin)):
		return fmt.Sprintf("message %d of session %d was forwarded for message %d", p.Seq, p.Session, origin)
	}
	if l.next[p.Session] < 0 {
		l.first[p.Session] = p.Seq
	}
	l.next[p.Session], l.origin[p.Session] = p.Seq+1, origin
	return ""
}

// end returns how many sessions have messages, how many of them whole, and those whose last messages are missing.
func (l *logReader) end() (sessions, whole int, missing []string) {
	for s, n := range l.lengths {
		if n == 0 {
			continue
		}
		sessions++
		if l.next[s] >= 0 && l.next[s] != n {
			missing = append(missing, fmt.Sprintf("session %d ends before message %d, and %d were sent", s, l.next[s], n))
		}
		if l.next[s] == n && l.first[s] == 0 {
			whole++
		}
	}
	return sessions, whole, missing
}

func sum(all []int64) (n int64) {
	for _, v := range all {
		n += v
	}
	return n
}
