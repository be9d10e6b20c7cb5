package api

import (
	"context"

	"github.com/weirmq/weir/internal/engine"
	"github.com/weirmq/weir/internal/server/auth"
)

type statsInput struct {
	Queue string `query:"queue" doc:"Only this queue."`
}

type statsOutput struct {
	Groups []engine.GroupStats `json:"groups"`
}

// stats counts what every group has before it, of the queues that the caller may look at.
func (a *api) stats(ctx context.Context, in *statsInput) (*output[statsOutput], error) {
	if in.Queue != "" {
		if err := a.allow(ctx, auth.Read, in.Queue); err != nil {
			return nil, err
		}
	}
	list, err := a.engine.Stats(ctx, in.Queue)
	return reply(statsOutput{Groups: visible(ctx, list, func(g engine.GroupStats) string { return g.Queue })}, err)
}

type doctorOutput struct {
	Findings []engine.Finding `json:"findings" doc:"The worst first."`
}

// doctor looks for what is wrong.
func (a *api) doctor(ctx context.Context, _ *struct{}) (*output[doctorOutput], error) {
	list, err := a.engine.Doctor(ctx)
	return reply(doctorOutput{Findings: list}, err)
}
