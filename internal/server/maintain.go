package server

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/weirmq/weir/internal/engine"
)

// How often the upkeep runs, and how long a round that fails again and again waits.
const (
	upkeepEvery   = time.Second
	upkeepFailMax = 30 * time.Second
	upkeepTimeout = time.Minute
)

// upkeepCounts count the rounds of upkeep.
type upkeepCounts struct {
	rounds       *prometheus.CounterVec
	done, failed prometheus.Counter
}

func newUpkeepCounts() upkeepCounts {
	rounds := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "weir_upkeep_rounds_total", Help: "Rounds of upkeep by this server, by how they ended.",
	}, []string{"result"})
	return upkeepCounts{rounds, rounds.WithLabelValues("done"), rounds.WithLabelValues("failed")}
}

// maintain calls the engine's upkeep about once a second until ctx ends, each time until nothing is left to do. Any
// number of servers may do so; of those that call within half of it the engine lets one do the work.
func (s *Server) maintain(ctx context.Context) {
	wait, lastCode := upkeepEvery, ""
	for {
		timer := time.NewTimer(wait*3/4 + rand.N(wait/2))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
		err := s.maintainAll(ctx)
		switch {
		case err == nil:
			s.upkeep.done.Inc()
			wait, lastCode = upkeepEvery, ""
		case ctx.Err() == nil:
			s.upkeep.failed.Inc()
			wait = min(2*wait, upkeepFailMax)
			if code := engine.Code(err); code != lastCode || code == "" {
				lastCode = code
				s.opt.Log.Warn("upkeep failed, will try again", "error", err)
			}
		}
	}
}

// maintainAll calls the upkeep until it finds nothing to do.
func (s *Server) maintainAll(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, upkeepTimeout)
	defer cancel()
	steps, err := s.engine.Maintain(ctx, upkeepEvery/2)
	for err == nil && steps > 0 {
		steps, err = s.engine.Maintain(ctx, 0)
	}
	return err
}
