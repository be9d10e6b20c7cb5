package top

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/weirmq/weir/internal/engine"
)

// sample is what a Source said at some time.
type sample struct {
	at     time.Time
	list   []engine.GroupStats
	paused map[string]bool // queues
}

// row is one line of the table: a queue with the sums of its groups, or a group.
type row struct {
	name                                    string
	groups                                  int
	paused                                  bool // the queue
	waiting, claimed, delayed, parked, dead int64
	exact                                   bool
	oldest                                  float64 // seconds
	in, out                                 float64 // messages a second
	log                                     string
	segments                                int    // of the log
	bytes                                   int64  // of the log
	blocked                                 string // what keeps the oldest segment, empty when nothing does
	blockedAge                              float64
}

// queueRows makes one row of each queue.
func queueRows(now sample) []row {
	var rows []row
	for _, g := range now.list {
		r := groupRow(g, now)
		if n := len(rows); n > 0 && rows[n-1].name == g.Queue {
			rows[n-1].add(r)
			continue
		}
		r.name = g.Queue
		rows = append(rows, r)
	}
	return rows
}

// groupRows makes one row of each group of a queue.
func groupRows(now sample, queue string) []row {
	var rows []row
	for _, g := range now.list {
		if g.Queue == queue {
			rows = append(rows, groupRow(g, now))
		}
	}
	return rows
}

// groupRow makes the row of a group.
func groupRow(g engine.GroupStats, now sample) row {
	r := row{
		name: g.Group, groups: 1, waiting: g.Waiting, claimed: g.Claimed, delayed: g.Delayed, parked: g.Parked,
		dead: g.Dead, exact: g.Exact, oldest: g.OldestAge, in: g.SentRate, out: g.DeliveredRate,
		log: g.Log, segments: g.Segments, bytes: g.Bytes, paused: now.paused[g.Queue],
	}
	if g.BlockedBy != nil {
		r.blocked = *g.BlockedBy
	}
	if g.BlockerAge != nil {
		r.blockedAge = *g.BlockerAge
	}
	return r
}

// add sums a further group of the queue. What is the queue's own stays.
func (r *row) add(g row) {
	r.groups++
	r.waiting += g.waiting
	r.claimed += g.claimed
	r.delayed += g.delayed
	r.parked += g.parked
	r.dead += g.dead
	r.exact = r.exact && g.exact
	r.oldest = max(r.oldest, g.oldest)
	r.out += g.out
}

// order is what the rows are sorted by.
type order struct {
	key    rune // that of the sortKeys, and of the keyboard
	upward bool // the least first
}

// sortKeys are what rows can be sorted by, each with the title of its column.
func sortKeys() map[rune]string {
	return map[rune]string{
		'n': "NAME", 'w': "WAITING", 'c': "CLAIMED", 'l': "DELAYED", 'd': "DEAD", 'o': "OLDEST", 'i': "IN/S", 'u': "OUT/S",
	}
}

// arrange keeps the rows whose names contain the filter, and sorts them.
func arrange(rows []row, filter string, by order) []row {
	kept := slices.DeleteFunc(rows, func(r row) bool { return !strings.Contains(r.name, filter) })
	slices.SortStableFunc(kept, func(a, b row) int {
		if n := compare(a, b, by.key); n != 0 && by.upward {
			return n
		} else if n != 0 {
			return -n
		}
		return cmp.Compare(a.name, b.name)
	})
	return kept
}

// compare orders two rows by a key, the greater one after the less.
func compare(a, b row, key rune) int {
	switch key {
	case 'w':
		return cmp.Compare(a.waiting, b.waiting)
	case 'c':
		return cmp.Compare(a.claimed, b.claimed)
	case 'l':
		return cmp.Compare(a.delayed, b.delayed)
	case 'd':
		return cmp.Compare(a.dead, b.dead)
	case 'o':
		return cmp.Compare(a.oldest, b.oldest)
	case 'i':
		return cmp.Compare(a.in, b.in)
	case 'u':
		return cmp.Compare(a.out, b.out)
	}
	return cmp.Compare(b.name, a.name) // names go from a to z unless turned round
}
