package bench

import (
	"context"
	"strings"
	"time"
)

// workload is what one subcommand measures.
type workload struct {
	name     string
	duration time.Duration // of a run, unless another is asked for
	cases    []testCase
}

// testCase is one thing that is measured, in fresh databases.
type testCase struct {
	name    string
	metrics []metric
	run     func(ctx context.Context, r *runner) (values, error)
}

// metric is a figure that a case yields.
type metric struct {
	key    string
	name   string
	unit   string
	format string
	goal   string // what the project wants it to be; "": it is only shown
}

// values are the figures of one run by the key of the metric.
type values map[string]float64

// costs are the metrics of a load.
func costs() []metric {
	return []metric{
		{"rate", "rate", "messages/s", "%.0f", ""},
		{"wal", "WAL", "bytes/message", "%.1f", ""},
		{"cpu", "backend CPU", "s/million", "%.2f", ""},
		{"upkeep_cpu", "upkeep and vacuum CPU", "s/million", "%.2f", ""},
		{"own_cpu", "client CPU", "cores", "%.2f", ""},
		{"others", "CPU of everything else", "cores", "%.2f", ""},
	}
}

// workloads returns everything that can be measured.
func workloads() []workload {
	return []workload{
		{"send", 5 * time.Second, []testCase{
			{"batch", costs(), sendCase(sendBatch)}, {"single", costs(), sendCase(sendOne)},
		}},
		{"consume", 5 * time.Second, []testCase{
			{"records", costs(), consumeCase(consumeRecords)},
			{"rows", costs(), consumeCase(consumeRows)},
			{"single", costs(), consumeCase(consumeOne)},
			{"depth", depthMetrics(), depthCase},
		}},
		{"cycle", 20 * time.Second, []testCase{{"cycle", costs(), cycleCase}}},
		{"latency", 10 * time.Second, []testCase{{"latency", latencyMetrics(), latencyCase}}},
		{"http", 10 * time.Second, []testCase{
			{"single", httpMetrics(">= 5000", ""), httpCase(1, false)},
			{"batch-100", httpMetrics(">= 60000", ""), httpCase(100, false)},
			{"idle", httpMetrics("", "<= 3"), httpCase(1, true)},
		}},
		{"held-xmin", 20 * time.Second, []testCase{{"held", heldMetrics(), heldCase}}},
		{"ordered", time.Second, []testCase{{"ordered", orderedMetrics(), orderedCase}}},
		{"fan-out", time.Second, []testCase{{"fan-out", fanOutMetrics(), fanOutCase}}},
		{"queues", time.Second, []testCase{{"queues", queuesMetrics(), queuesCase}}},
		{"pending", time.Second, []testCase{{"pending", pendingMetrics(), pendingCase}}},
		{"soak", 10 * time.Minute, []testCase{{"soak", soakMetrics(), soakCase}}},
	}
}

// Workloads returns the names of what can be measured.
func Workloads() []string {
	var names []string
	for _, w := range workloads() {
		names = append(names, w.name)
	}
	return names
}

func findWorkload(name string) (workload, error) {
	for _, w := range workloads() {
		if w.name == name {
			return w, nil
		}
	}
	return workload{}, optionf("no workload %q; there are %s", name, strings.Join(Workloads(), ", "))
}

// drained is the part of a backlog that a run consumes at most, so that it never measures receives that find nothing.
const drained = 0.8

// sendCase measures sends into an empty queue for the whole duration.
func sendCase(send step) func(context.Context, *runner) (values, error) {
	return func(ctx context.Context, r *runner) (values, error) {
		return r.inScratch(ctx, func(s *scratch) (values, error) {
			m, err := s.measure(ctx, load{clients: r.opts.Clients, duration: r.opts.Duration, step: send})
			return m.perMessage(), err
		})
	}
}

// consumeCase measures receives and acknowledgements from a backlog, for the whole duration or as long as it lasts.
func consumeCase(consume step) func(context.Context, *runner) (values, error) {
	return func(ctx context.Context, r *runner) (values, error) {
		return r.inScratch(ctx, func(s *scratch) (values, error) {
			if err := s.preload(ctx, r.opts.Backlog); err != nil {
				return nil, err
			}
			most := int(drained*float64(r.opts.Backlog)) / r.opts.Clients
			m, err := s.measure(ctx, load{
				clients: r.opts.Clients, duration: r.opts.Duration, messages: most, step: consume,
			})
			return m.perMessage(), err
		})
	}
}

// cycleCase measures clients that each send a batch, receive one and acknowledge it, again and again.
func cycleCase(ctx context.Context, r *runner) (values, error) {
	return r.inScratch(ctx, func(s *scratch) (values, error) {
		m, err := s.measure(ctx, load{clients: r.opts.Clients, duration: r.opts.Duration, step: cycle})
		return m.perMessage(), err
	})
}
