package bench

import (
	"context"
	"errors"
	"fmt"
	"math"

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
	var all []metric
	for _, h := range holders {
		if h.open != nil {
			all = append(all,
				metric{h.name + "_ratio", h.name + ": rate over free", "", "%.3f", atLeast(0.95)},
				metric{h.name + "_cpu_ratio", h.name + ": backend CPU a message over free", "", "%.3f", nil})
		}
	}
	for _, h := range holders {
		all = append(all,
			metric{h.name + "_rate", h.name + ": rate", "messages/s", "%.0f", nil},
			metric{h.name + "_others", h.name + ": CPU of everything else", "cores", "%.2f", nil},
			metric{h.name + "_trend", h.name + ": last third over first", "", "%.3f", nil},
			metric{h.name + "_dead", h.name + ": dead tuples after", "", "%.0f", nil},
			metric{h.name + "_bytes", h.name + ": size after", "MB", "%.1f", nil})
	}
	return all
}

// heldCase measures the cycle without and with a transaction held open.
func heldCase(ctx context.Context, r *runner, sys system) (values, error) {
	all := values{}
	for _, h := range holders {
		_, err := r.inScratch(ctx, sys, func(s *scratch) (_ values, err error) {
			release, err := s.hold(ctx, h.open)
			if err != nil {
				return nil, err
			}
			defer func() { err = errors.Join(err, release()) }()
			l := r.load(sys, "cycle", sends|receives|inBatches)
			l.duration = r.opts.Duration
			m, err := s.measure(ctx, l)
			if err != nil {
				return nil, err
			}
			v := m.perMessage(m.consumed)
			all[h.name+"_rate"], all[h.name+"_cpu"] = v["rate"], v["cpu"]
			if m.hasCPU {
				all[h.name+"_others"] = v["others"]
			}
			if t := trend(m.perSecond); !math.IsNaN(t) {
				all[h.name+"_trend"] = t
			}
			dead, bytes, err := s.space(ctx)
			all[h.name+"_dead"], all[h.name+"_bytes"] = float64(dead), float64(bytes)/1e6
			return nil, err
		})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", h.name, err)
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
	if open == nil {
		return func() error { return nil }, nil
	}
	conn, err := s.env.connect(ctx, s.name, heldApp)
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
