package bench

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// workload is what one subcommand measures.
type workload struct {
	name     string
	duration time.Duration // of a run, unless another is asked for
	cases    []testCase
}

// testCase is one thing that is measured, in fresh databases, for each system in turn.
type testCase struct {
	name    string
	metrics []metric
	run     func(ctx context.Context, r *runner, sys system) (values, error)
}

// metric is a figure that a case yields.
type metric struct {
	key    string
	name   string
	unit   string
	format string
	goal   *goal // nil: only shown
}

// goal is what Weir is to reach.
type goal struct {
	ratio   bool // of Weir's figure to the other system's; else the figure itself
	atLeast bool // else at most
	value   float64
}

func ratioAtLeast(v float64) *goal { return &goal{ratio: true, atLeast: true, value: v} }
func ratioAtMost(v float64) *goal  { return &goal{ratio: true, value: v} }
func atLeast(v float64) *goal      { return &goal{atLeast: true, value: v} }
func atMost(v float64) *goal       { return &goal{value: v} }

func (g *goal) String() string {
	sign := "<="
	if g.atLeast {
		sign = ">="
	}
	return fmt.Sprintf("%s %.3g", sign, g.value)
}

func (g *goal) reached(v float64) bool {
	if g.atLeast {
		return v >= g.value
	}
	return v <= g.value
}

// costs are the metrics of a load that pgbench drives.
func costs(rate, wal, cpu *goal) []metric {
	return []metric{
		{"rate", "rate", "messages/s", "%.0f", rate},
		{"wal", "WAL", "bytes/message", "%.1f", wal},
		{"cpu", "backend CPU", "s/million", "%.2f", cpu},
		{"upkeep_cpu", "upkeep and vacuum CPU", "s/million", "%.2f", nil},
		{"client_cpu", "client CPU", "cores", "%.2f", nil},
		{"others", "CPU of everything else", "cores", "%.2f", nil},
		{"unfinished", "left unfinished", "messages", "%.0f", nil},
	}
}

// workloads returns everything that can be measured.
func workloads() []workload {
	return []workload{
		{"send", 5 * time.Second, []testCase{
			{"batch", costs(ratioAtLeast(4), ratioAtMost(1.0/6), nil), sendCase("send_batch", sends|inBatches)},
			{"single", costs(nil, nil, ratioAtMost(0.5)), sendCase("send_one", sends)},
		}},
		{"consume", 5 * time.Second, []testCase{
			{"records", costs(ratioAtLeast(10), ratioAtMost(1.0/50), nil), drainCase("consume_records", true)},
			{"rows", costs(ratioAtLeast(5), ratioAtMost(1.0/50), nil), drainCase("consume_rows", true)},
			{"single", costs(ratioAtLeast(5), nil, nil), singleCase(true)},
			{"records-fresh", costs(nil, nil, nil), drainCase("consume_records", false)},
			{"single-fresh", costs(nil, nil, nil), singleCase(false)},
			{"depth", depthMetrics(), depthCase},
		}},
		{"cycle", 20 * time.Second, []testCase{{"cycle", costs(ratioAtLeast(6), nil, nil), cycleCase}}},
		{"latency", 10 * time.Second, []testCase{{"latency", latencyMetrics(), latencyCase}}},
		{"http", 10 * time.Second, []testCase{
			{"single", httpMetrics(atLeast(5_000), nil), httpCase(1, false)},
			{"batch-100", httpMetrics(atLeast(60_000), nil), httpCase(100, false)},
			{"idle", httpMetrics(nil, atMost(3)), httpCase(1, true)},
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

// sendCase measures sends into an empty queue for the whole duration.
func sendCase(script string, what does) func(context.Context, *runner, system) (values, error) {
	return func(ctx context.Context, r *runner, sys system) (values, error) {
		return r.inScratch(ctx, sys, func(s *scratch) (values, error) {
			l := r.load(sys, script, what)
			l.duration = r.opts.Duration
			m, err := s.measure(ctx, l)
			if err != nil {
				return nil, err
			}
			v := m.perMessage(m.sent)
			delete(v, "unfinished")
			return v, nil
		})
	}
}

// cycleCase measures clients that each send a batch, receive one and acknowledge it, again and again.
func cycleCase(ctx context.Context, r *runner, sys system) (values, error) {
	return r.inScratch(ctx, sys, func(s *scratch) (values, error) {
		l := r.load(sys, "cycle", sends|receives|inBatches)
		l.duration = r.opts.Duration
		m, err := s.measure(ctx, l)
		if err != nil {
			return nil, err
		}
		return m.perMessage(m.consumed), nil
	})
}
