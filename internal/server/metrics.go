package server

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/weirmq/weir/internal/server/dispatch"
)

// metrics are what /metrics shows. Its labels are routes, kinds of calls, queues and groups; never keys, claims,
// messages or paths as they were asked for.
type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	inFlight prometheus.Gauge
}

func (s *Server) newMetrics(d *dispatch.Dispatcher) *metrics {
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
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "weir_http_requests_in_flight", Help: "Requests that are being served, those that wait included.",
		}),
	}
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "weir_build_info", Help: "Always 1; the label is the server's version.",
		ConstLabels: prometheus.Labels{"version": s.opt.Version},
	})
	build.Set(1)
	m.registry.MustRegister(m.requests, m.seconds, m.inFlight, build, s.upkeep.rounds, &dispatchCollector{d},
		newQueueCollector(s.engine, s.opt.MetricsGroups), &poolCollector{s.engine},
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// handler answers /metrics.
func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError})
}

// observe counts a request by the route that answered it.
func (m *metrics) observe(r *http.Request, c *call, status int, took time.Duration) {
	route := c.route
	switch {
	case route != "":
	case status == http.StatusOK && (r.Method == http.MethodGet || r.Method == http.MethodHead):
		route = "page" // and what else is served beside the API
	default:
		route = "none"
	}
	m.requests.WithLabelValues(route, strconv.Itoa(status)).Inc()
	m.seconds.WithLabelValues(route).Observe(took.Seconds())
}

var (
	descRequests = prometheus.NewDesc("weir_dispatch_requests_total",
		"Requests that were carried out in common calls, by kind.", []string{"kind"}, nil)
	descCalls = prometheus.NewDesc("weir_dispatch_calls_total",
		"Calls of the engine that carried them out, by kind.", []string{"kind"}, nil)
	descWaiting = prometheus.NewDesc("weir_dispatch_waiting",
		"Requests that are not answered yet, without the receives.", nil, nil)
	descReceivers = prometheus.NewDesc("weir_dispatch_receivers",
		"Receives that wait for messages.", nil, nil)
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
		"send": s.Sends, "ack": s.Acks, "extend": s.Extends, "settle": s.Settles, "finish": s.Finishes, "pop": s.Pops,
		"receive": s.Receives,
	} {
		ch <- prometheus.MustNewConstMetric(descRequests, prometheus.CounterValue, float64(n.Requests), kind)
		ch <- prometheus.MustNewConstMetric(descCalls, prometheus.CounterValue, float64(n.Calls), kind)
	}
	ch <- prometheus.MustNewConstMetric(descWaiting, prometheus.GaugeValue, float64(s.Waiting))
	ch <- prometheus.MustNewConstMetric(descReceivers, prometheus.GaugeValue, float64(s.Receivers))
}
