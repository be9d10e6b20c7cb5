package server

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/weirmq/weir/internal/engine"
)

const (
	// DefaultMetricsGroups is how many groups have series of their own at /metrics, unless told.
	DefaultMetricsGroups = 200
	// restLabel stands for all queues beyond the limit. No queue can have that name.
	restLabel = "(rest)"
	// statsEvery is how old the queues' figures may be, so that scrapes that come faster share one look at the database.
	statsEvery   = 5 * time.Second
	statsTimeout = 10 * time.Second
	// statsShare bounds what looking costs: a look that takes long is followed by a pause so many times as long.
	statsShare = 10
)

// queueDescs are the series about queues. Every server on a database shows the same: take the max over servers.
type queueDescs struct {
	messages, expired, age, delivered, sent, expiries, hotKey, held *prometheus.Desc
	segments, bytes, blocked, blockerAge                            *prometheus.Desc
	up, took, queues, unshown                                       *prometheus.Desc
}

func newQueueDescs() queueDescs {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, labels, nil)
	}
	return queueDescs{
		messages: desc("weir_queue_messages", "Messages of a group by state; large numbers are estimates.",
			"queue", "group", "state"),
		expired: desc("weir_queue_expired_messages",
			"Waiting messages that were in the hands of consumers whose lease has ended.", "queue", "group"),
		age: desc("weir_queue_oldest_age_seconds",
			"For how long the first of a group's waiting messages could have been delivered; 0 when none waits.",
			"queue", "group"),
		delivered: desc("weir_queue_delivered_rate", "Messages delivered to a group per second, in the last minute.",
			"queue", "group"),
		sent: desc("weir_queue_sent_rate", "Messages sent to a queue per second, in the last minute.", "queue"),
		expiries: desc("weir_queue_expiries",
			"Of a group's last claims, of 10 minutes at most, those whose lease ended and that others were given.",
			"queue", "group"),
		hotKey: desc("weir_queue_hot_key_share",
			"Share of what waits for a group in order that one key has; 0 while few wait.", "queue", "group"),
		held: desc("weir_queue_held_segments", "Closed segments of the log that wait for a group.", "queue", "group"),

		segments: desc("weir_log_segments", "Segments of a log in use.", "log"),
		bytes:    desc("weir_log_bytes", "Disk space of a log's tables and indexes.", "log"),
		blocked:  desc("weir_log_rotation_blocked", "1 while something keeps a log's oldest segment, see weir.stats.", "log"),
		blockerAge: desc("weir_log_rotation_blocker_age_seconds",
			"How long the transaction has been open that keeps a log's oldest segment; 0 when none does.", "log"),

		up:      desc("weir_database_up", "Whether the database told how its queues stand."),
		took:    desc("weir_stats_duration_seconds", "How long the last look at the queues took."),
		queues:  desc("weir_queues", "Queues in the database, as far as the server's role sees them."),
		unshown: desc("weir_queues_unshown", "Queues without series of their own, summed as "+restLabel+"."),
	}
}

func (d *queueDescs) all() []*prometheus.Desc {
	return []*prometheus.Desc{
		d.messages, d.expired, d.age, d.delivered, d.sent, d.expiries, d.hotKey, d.held, d.segments, d.bytes, d.blocked,
		d.blockerAge, d.up, d.took, d.queues, d.unshown,
	}
}

// queueCollector shows how the queues stand. The number of its series is bounded: it shows a queue as long as that
// exists, and further ones while there is room; what is left it sums.
type queueCollector struct {
	client    *engine.Client
	groupsMax int
	descs     queueDescs

	mu     sync.Mutex
	next   time.Time // when to look again
	took   time.Duration
	failed error
	list   []queueStats        // the shown ones, and what stands for the rest
	logs   []engine.GroupStats // a row of each log
	queues int
	shown  map[string]bool
}

func newQueueCollector(client *engine.Client, groupsMax int) *queueCollector {
	if groupsMax <= 0 {
		groupsMax = DefaultMetricsGroups
	}
	return &queueCollector{client: client, groupsMax: groupsMax, descs: newQueueDescs(), shown: map[string]bool{}}
}

// Describe implements prometheus.Collector.
func (c *queueCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range c.descs.all() {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (c *queueCollector) Collect(ch chan<- prometheus.Metric) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.look()
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	gauge(c.descs.took, c.took.Seconds())
	if c.failed != nil {
		gauge(c.descs.up, 0)
		return
	}
	gauge(c.descs.up, 1)
	gauge(c.descs.queues, float64(c.queues))
	gauge(c.descs.unshown, float64(c.queues-len(c.shown)))
	for _, l := range c.logs {
		blocked, age := 0.0, 0.0
		if l.BlockedBy != nil {
			blocked = 1
		}
		if l.BlockerAge != nil {
			age = *l.BlockerAge
		}
		gauge(c.descs.segments, float64(l.Segments), l.Log)
		gauge(c.descs.bytes, float64(l.Bytes), l.Log)
		gauge(c.descs.blocked, blocked, l.Log)
		gauge(c.descs.blockerAge, age, l.Log)
	}
	for _, q := range c.list {
		gauge(c.descs.sent, q.sent, q.name)
		for _, g := range q.groups {
			gauge(c.descs.messages, float64(g.Waiting), q.name, g.Group, "waiting")
			gauge(c.descs.messages, float64(g.Claimed), q.name, g.Group, "claimed")
			gauge(c.descs.messages, float64(g.Delayed), q.name, g.Group, "delayed")
			gauge(c.descs.messages, float64(g.Parked), q.name, g.Group, "parked")
			gauge(c.descs.messages, float64(g.Dead), q.name, g.Group, "dead")
			gauge(c.descs.expired, float64(g.Expired), q.name, g.Group)
			gauge(c.descs.age, g.OldestAge, q.name, g.Group)
			gauge(c.descs.delivered, g.DeliveredRate, q.name, g.Group)
			gauge(c.descs.expiries, float64(g.Expiries), q.name, g.Group)
			gauge(c.descs.hotKey, shareOf(g), q.name, g.Group)
			gauge(c.descs.held, float64(g.HeldSegments), q.name, g.Group)
		}
	}
}

// shareOf is the share of a group's backlog that its hottest key has.
func shareOf(g engine.GroupStats) float64 {
	if g.HotKeyShare == nil {
		return 0
	}
	return *g.HotKeyShare
}

// look asks the database, unless it was asked just now.
func (c *queueCollector) look() {
	began := time.Now()
	if began.Before(c.next) {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), statsTimeout)
	defer cancel()
	var rows []engine.GroupStats
	rows, c.failed = c.client.Stats(ctx, "")
	c.took = time.Since(began)
	c.next = time.Now().Add(max(statsEvery, statsShare*c.took))
	if c.failed == nil {
		c.keep(byQueue(rows))
	}
}

// keep chooses which queues to show and sums the others.
func (c *queueCollector) keep(queues []queueStats) {
	c.queues, c.list, c.logs = len(queues), nil, logsOf(queues)
	before, room := c.shown, c.groupsMax
	c.shown = map[string]bool{}
	for _, q := range queues {
		if before[q.name] {
			c.shown[q.name] = true
			room -= len(q.groups)
		}
	}
	var others []queueStats
	for _, q := range queues {
		if !before[q.name] && len(q.groups) <= room {
			c.shown[q.name] = true
			room -= len(q.groups)
		}
		if c.shown[q.name] {
			c.list = append(c.list, q)
		} else {
			others = append(others, q)
		}
	}
	if len(others) > 0 {
		c.list = append(c.list, sum(others))
	}
}

// queueStats are the figures of one queue.
type queueStats struct {
	name   string
	sent   float64
	groups []engine.GroupStats
}

// byQueue takes what the rows of a queue have in common out of them. Rows come ordered by queue.
func byQueue(rows []engine.GroupStats) []queueStats {
	var list []queueStats
	for _, row := range rows {
		if n := len(list); n > 0 && list[n-1].name == row.Queue {
			list[n-1].groups = append(list[n-1].groups, row)
			continue
		}
		list = append(list, queueStats{name: row.Queue, sent: row.SentRate, groups: []engine.GroupStats{row}})
	}
	return list
}

// logsOf is a row of each log: the one that is told the most about what keeps its segments.
func logsOf(queues []queueStats) []engine.GroupStats {
	var list []engine.GroupStats
	at := map[string]int{}
	for _, q := range queues {
		for _, g := range q.groups {
			i, known := at[g.Log]
			if !known {
				at[g.Log] = len(list)
				list = append(list, g)
			} else if list[i].BlockedBy == nil {
				list[i] = g
			}
		}
	}
	return list
}

// sum makes one of many queues.
func sum(queues []queueStats) queueStats {
	all := queueStats{name: restLabel}
	group := engine.GroupStats{Group: restLabel}
	share := 0.0
	for _, q := range queues {
		all.sent += q.sent
		for _, g := range q.groups {
			group.Waiting += g.Waiting
			group.Expired += g.Expired
			group.Claimed += g.Claimed
			group.Delayed += g.Delayed
			group.Parked += g.Parked
			group.Dead += g.Dead
			group.Expiries += g.Expiries
			group.HeldSegments += g.HeldSegments
			group.DeliveredRate += g.DeliveredRate
			group.OldestAge = max(group.OldestAge, g.OldestAge)
			share = max(share, shareOf(g))
		}
	}
	group.HotKeyShare = &share
	all.groups = []engine.GroupStats{group}
	return all
}
