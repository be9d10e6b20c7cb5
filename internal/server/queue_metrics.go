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
	messages, age, delivered, sent, segments, bytes, blocked, blockerAge, up, took, queues, unshown *prometheus.Desc
}

func newQueueDescs() queueDescs {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, labels, nil)
	}
	return queueDescs{
		messages: desc("weir_queue_messages", "Messages of a group by state; large numbers are estimates.",
			"queue", "group", "state"),
		age: desc("weir_queue_oldest_age_seconds", "Age of a group's oldest waiting message; 0 when there is none.",
			"queue", "group"),
		delivered: desc("weir_queue_delivered_messages_total", "Messages given to a group, each delivery counted.",
			"queue", "group"),
		sent:     desc("weir_queue_sent_messages_total", "Message ids that a queue has given out.", "queue"),
		segments: desc("weir_queue_segments", "Segments of a queue's log in use.", "queue"),
		bytes:    desc("weir_queue_bytes", "Disk space of a queue's tables and indexes.", "queue"),
		blocked: desc("weir_queue_rotation_blocked", "1 while something keeps a queue's oldest segment, see weir.stats.",
			"queue"),
		blockerAge: desc("weir_queue_rotation_blocker_age_seconds",
			"How long the transaction has been open that keeps a queue's oldest segment; 0 when none does.", "queue"),
		up:      desc("weir_database_up", "Whether the database told how its queues stand."),
		took:    desc("weir_stats_duration_seconds", "How long the last look at the queues took."),
		queues:  desc("weir_queues", "Queues in the database, as far as the server's role sees them."),
		unshown: desc("weir_queues_unshown", "Queues without series of their own, summed as "+restLabel+"."),
	}
}

func (d *queueDescs) all() []*prometheus.Desc {
	return []*prometheus.Desc{
		d.messages, d.age, d.delivered, d.sent, d.segments, d.bytes, d.blocked, d.blockerAge, d.up, d.took, d.queues,
		d.unshown,
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
	list   []queueStats // the shown ones, and what stands for the rest
	queues int
	shown  map[string]bool
	rest   restTotals
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
	counter := func(d *prometheus.Desc, value int64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(value), labels...)
	}
	gauge(c.descs.took, c.took.Seconds())
	if c.failed != nil {
		gauge(c.descs.up, 0)
		return
	}
	gauge(c.descs.up, 1)
	gauge(c.descs.queues, float64(c.queues))
	gauge(c.descs.unshown, float64(c.queues-len(c.shown)))
	for _, q := range c.list {
		counter(c.descs.sent, q.sent, q.name)
		gauge(c.descs.segments, float64(q.segments), q.name)
		gauge(c.descs.bytes, float64(q.bytes), q.name)
		gauge(c.descs.blocked, float64(q.blocked), q.name)
		gauge(c.descs.blockerAge, q.blockerAge, q.name)
		for _, g := range q.groups {
			gauge(c.descs.messages, float64(g.Waiting), q.name, g.Group, "waiting")
			gauge(c.descs.messages, float64(g.Claimed), q.name, g.Group, "claimed")
			gauge(c.descs.messages, float64(g.Delayed), q.name, g.Group, "delayed")
			gauge(c.descs.messages, float64(g.Parked), q.name, g.Group, "parked")
			gauge(c.descs.messages, float64(g.Dead), q.name, g.Group, "dead")
			gauge(c.descs.age, g.OldestAge, q.name, g.Group)
			counter(c.descs.delivered, g.Delivered, q.name, g.Group)
		}
	}
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
	c.queues, c.list = len(queues), nil
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
		c.list = append(c.list, c.rest.sum(others))
	}
}

// queueStats are the figures of one queue.
type queueStats struct {
	name       string
	sent       int64
	segments   int
	bytes      int64
	blocked    int
	blockerAge float64
	groups     []engine.GroupStats
}

// byQueue takes what the rows of a queue have in common out of them. Rows come ordered by queue.
func byQueue(rows []engine.GroupStats) []queueStats {
	var list []queueStats
	for _, row := range rows {
		if n := len(list); n > 0 && list[n-1].name == row.Queue {
			list[n-1].groups = append(list[n-1].groups, row)
			continue
		}
		q := queueStats{
			name: row.Queue, sent: row.Sent, segments: row.Segments, bytes: row.Bytes, groups: []engine.GroupStats{row},
		}
		if row.BlockedBy != nil {
			q.blocked = 1
		}
		if row.BlockerAge != nil {
			q.blockerAge = *row.BlockerAge
		}
		list = append(list, q)
	}
	return list
}

// restTotals are the counters of the queues beyond the limit. They only rise, also when a queue is dropped.
type restTotals struct {
	sent, delivered int64
	last            map[string]queueTotals // of each queue, as last seen
}

type queueTotals struct{ sent, delivered int64 }

// sum makes one of many queues.
func (r *restTotals) sum(queues []queueStats) queueStats {
	all := queueStats{name: restLabel}
	group := engine.GroupStats{Group: restLabel}
	last := make(map[string]queueTotals, len(queues))
	for _, q := range queues {
		now := queueTotals{sent: q.sent}
		all.segments += q.segments
		all.bytes += q.bytes
		all.blocked += q.blocked
		all.blockerAge = max(all.blockerAge, q.blockerAge)
		for _, g := range q.groups {
			group.Waiting += g.Waiting
			group.Claimed += g.Claimed
			group.Delayed += g.Delayed
			group.Parked += g.Parked
			group.Dead += g.Dead
			group.OldestAge = max(group.OldestAge, g.OldestAge)
			now.delivered += g.Delivered
		}
		before := r.last[q.name]
		r.sent += risen(before.sent, now.sent)
		r.delivered += risen(before.delivered, now.delivered)
		last[q.name] = now
	}
	r.last = last
	all.sent, group.Delivered = r.sent, r.delivered
	all.groups = []engine.GroupStats{group}
	return all
}

// risen is by how much a counter has gone up; one that has begun anew counts from 0.
func risen(before, now int64) int64 {
	if now < before {
		return now
	}
	return now - before
}
