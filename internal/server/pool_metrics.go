package server

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/weirmq/weir/internal/engine"
)

var (
	descPoolMax  = prometheus.NewDesc("weir_db_pool_connections_max", "Connections that the pool may have.", nil, nil)
	descPoolOpen = prometheus.NewDesc("weir_db_pool_connections", "Connections of the pool, by state.",
		[]string{"state"}, nil)
	descPoolAcquires = prometheus.NewDesc("weir_db_pool_acquires_total", "How often a connection was taken.", nil, nil)
	descPoolWaits    = prometheus.NewDesc("weir_db_pool_waits_total",
		"How often none was free when one was wanted.", nil, nil)
	descPoolWaited = prometheus.NewDesc("weir_db_pool_wait_seconds_total",
		"Time spent waiting for one, of all who did.", nil, nil)
)

// poolCollector shows the connections to the database.
type poolCollector struct{ client *engine.Client }

// Describe implements prometheus.Collector.
func (c *poolCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{descPoolMax, descPoolOpen, descPoolAcquires, descPoolWaits, descPoolWaited} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (c *poolCollector) Collect(ch chan<- prometheus.Metric) {
	p := c.client.Pool()
	ch <- prometheus.MustNewConstMetric(descPoolMax, prometheus.GaugeValue, float64(p.Max))
	ch <- prometheus.MustNewConstMetric(descPoolOpen, prometheus.GaugeValue, float64(p.Idle), "idle")
	ch <- prometheus.MustNewConstMetric(descPoolOpen, prometheus.GaugeValue, float64(p.InUse), "in_use")
	ch <- prometheus.MustNewConstMetric(descPoolAcquires, prometheus.CounterValue, float64(p.Acquires))
	ch <- prometheus.MustNewConstMetric(descPoolWaits, prometheus.CounterValue, float64(p.Waits))
	ch <- prometheus.MustNewConstMetric(descPoolWaited, prometheus.CounterValue, p.Waited.Seconds())
}
