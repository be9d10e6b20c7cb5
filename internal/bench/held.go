package bench

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// heldApp is the application_name of the session that holds a transaction open.
const heldApp = "weir-bench-held"

// The ways in which a transaction can be held open. What it opens stays open for the whole run, idle.
var holders = []struct {
	name string
	open []string
}{
	{"free", nil},
	{"reader", []string{"begin isolation level repeatable read", "select count(*) from pg_class"}},
	{"writer", []string{
		"create table held (x int)", "begin", "insert into held values (1)", "select pg_current_xact_id()",
	}},
}

func heldMetrics() []metric {
	var ratios, all []metric
	for _, h := range holders {
		if h.open != nil {
			ratios = append(ratios,
				metric{h.name + "_ratio", h.name + ": rate over free", "", "%.3f", ">= 0.95"},
				metric{h.name + "_cpu_ratio", h.name + ": backend CPU a message over free", "", "%.3f", ""})
		}
		all = append(all,
			metric{h.name + "_rate", h.name + ": rate", "messages/s", "%.0f", ""},
			metric{h.name + "_others", h.name + ": CPU of everything else", "cores", "%.2f", ""},
			metric{h.name + "_trend", h.name + ": last third over first", "", "%.3f", ""},
			metric{h.name + "_dead", h.name + ": dead tuples after", "", "%.0f", ""},
			metric{h.name + "_bytes", h.name + ": size after", "MB", "%.1f", ""})
	}
	return append(ratios, all...)
}

// heldCase measures the cycle without and with a transaction held open.
func heldCase(ctx context.Context, r *runner) (values, error) {
	all := values{}
	for _, h := range holders {
		v, err := r.inScratch(ctx, func(s *scratch) (_ values, err error) {
			release, err := s.hold(ctx, h.open)
			if err != nil {
				return nil, err
			}
			defer func() { err = errors.Join(err, release()) }()
			m, err := s.measure(ctx, load{clients: r.opts.Clients, duration: r.opts.Duration, step: cycle})
			if err != nil {
				return nil, err
			}
			v := m.perMessage()
			if t, ok := trend(m.rates, 3); ok {
				v["trend"] = t
			}
			dead, bytes, err := s.space(ctx)
			v["dead"], v["bytes"] = float64(dead), float64(bytes)/1e6
			return v, err
		})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", h.name, err)
		}
		for key, x := range v {
			all[h.name+"_"+key] = x
		}
		if h.open != nil {
			all[h.name+"_ratio"] = all[h.name+"_rate"] / all["free_rate"]
			if all["free_cpu"] > 0 {
				all[h.name+"_cpu_ratio"] = all[h.name+"_cpu"] / all["free_cpu"]
			}
		}
	}
	return all, nil
}

// hold opens a transaction in a session of its own and returns what ends it.
func (s *scratch) hold(ctx context.Context, open []string) (release func() error, err error) {
	conn, err := s.connect(ctx, s.name, heldApp)
	if err != nil {
		return nil, err
	}
	for _, text := range open {
		if _, err := conn.Exec(ctx, text, pgx.QueryExecModeSimpleProtocol); err != nil {
			return nil, errors.Join(fmt.Errorf("hold transaction open: %w", err), conn.Close(ctx))
		}
	}
	return func() error { return conn.Close(context.WithoutCancel(ctx)) }, nil
}

// trend returns the mean of the last part of a series over that of the first; ok is false when it has fewer values than
// parts, or begins with nothing.
func trend(series []float64, parts int) (ratio float64, ok bool) {
	n := len(series) / parts
	first, last := 0.0, 0.0
	for i := range n {
		first += series[i]
		last += series[len(series)-1-i]
	}
	return last / first, first > 0
}
