package server

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/weirmq/weir/internal/engine"
	"github.com/weirmq/weir/internal/server/dispatch"
)

// statsEvery is how old the queues' figures may be: scrapes that come faster share one look at the database.
const (
	statsEvery   = 5 * time.Second
	statsTimeout = 5 * time.Second
)

// metrics are what /metrics shows. Its labels are routes, kinds of calls, queues and groups; never keys, claims,
// messages or paths as they were asked for.
type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
}

func newMetrics(client *engine.Client, d *dispatch.Dispatcher) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "weir_http_requests_total", Help: "Requests answered, by route and status.",
		}, []string{"route", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "weir_http_request_duration_seconds",
			Help:    "Time to the answer, by route; that of a receive has its waiting in it.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60},
		}, []string{"route"}),
	}
	m.registry.MustRegister(m.requests, m.seconds, &dispatchCollector{d}, &queueCollector{client: client},
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// handler answers /metrics.
func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError})
}

// count counts requests by the route that answered them.
func (m *metrics) count(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		seen := &statusWriter{ResponseWriter: w, status: http.StatusOK}
		next.ServeHTTP(seen, r)
		route := r.Pattern
		if route == "" || route == "/" {
			route = "none"
		}
		m.requests.WithLabelValues(route, strconv.Itoa(seen.status)).Inc()
		m.seconds.WithLabelValues(route).Observe(time.Since(began).Seconds())
	})
}

// statusWriter remembers the status of an answer.
type statusWriter struct {
	http.ResponseWriter

	status int
}

// WriteHeader notes the status.
func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

var (
	descRequests = prometheus.NewDesc("weir_dispatch_requests_total",
		"Requests that were carried out in common calls, by kind.", []string{"kind"}, nil)
	descCalls = prometheus.NewDesc("weir_dispatch_calls_total",
		"Calls of the engine that carried them out, by kind.", []string{"kind"}, nil)
	descWaiting = prometheus.NewDesc("weir_dispatch_waiting",
		"Sends, acks and extends that are not answered yet.", nil, nil)
	descReceivers = prometheus.NewDesc("weir_dispatch_receivers",
		"Receives that wait for messages.", nil, nil)
	descMessages = prometheus.NewDesc("weir_queue_messages",
		"Messages of a group by state; large numbers are estimates.", []string{"queue", "group", "state"}, nil)
	descAge = prometheus.NewDesc("weir_queue_oldest_age_seconds",
		"Age of a group's oldest unfinished message; 0 when there is none.", []string{"queue", "group"}, nil)
	descUp = prometheus.NewDesc("weir_database_up",
		"Whether the database told how its queues stand.", nil, nil)
)

// dispatchCollector shows what a dispatcher has done.
type dispatchCollector struct{ *dispatch.Dispatcher }

// Describe implements prometheus.Collector.
func (c *dispatchCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{descRequests, descCalls, descWaiting, descReceivers} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (c *dispatchCollector) Collect(ch chan<- prometheus.Metric) {
	s := c.Stats()
	for kind, n := range map[string]dispatch.CallStats{
		"send": s.Sends, "ack": s.Acks, "extend": s.Extends, "receive": s.Receives,
	} {
		ch <- prometheus.MustNewConstMetric(descRequests, prometheus.CounterValue, float64(n.Requests), kind)
		ch <- prometheus.MustNewConstMetric(descCalls, prometheus.CounterValue, float64(n.Calls), kind)
	}
	ch <- prometheus.MustNewConstMetric(descWaiting, prometheus.GaugeValue, float64(s.Waiting))
	ch <- prometheus.MustNewConstMetric(descReceivers, prometheus.GaugeValue, float64(s.Receivers))
}

// queueCollector shows how the queues stand.
type queueCollector struct {
	client *engine.Client

	mu     sync.Mutex
	looked time.Time
	stats  []engine.GroupStats
	failed error
}

// Describe implements prometheus.Collector.
func (c *queueCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{descMessages, descAge, descUp} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (c *queueCollector) Collect(ch chan<- prometheus.Metric) {
	stats, err := c.look()
	up := 1.0
	if err != nil {
		up = 0
	}
	ch <- prometheus.MustNewConstMetric(descUp, prometheus.GaugeValue, up)
	for _, g := range stats {
		for state, n := range map[string]int64{
			"waiting": g.Waiting, "claimed": g.Claimed, "delayed": g.Delayed, "parked": g.Parked, "dead": g.Dead,
		} {
			ch <- prometheus.MustNewConstMetric(descMessages, prometheus.GaugeValue, float64(n), g.Queue, g.Group, state)
		}
		ch <- prometheus.MustNewConstMetric(descAge, prometheus.GaugeValue, g.OldestAge, g.Queue, g.Group)
	}
}

// look asks the database, unless it was asked just now.
func (c *queueCollector) look() ([]engine.GroupStats, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.looked) < statsEvery {
		return c.stats, c.failed
	}
	ctx, cancel := context.WithTimeout(context.Background(), statsTimeout)
	defer cancel()
	c.stats, c.failed = c.client.Stats(ctx, "")
	c.looked = time.Now()
	return c.stats, c.failed
}
