package api

import (
	"context"

	"github.com/weirmq/weir/internal/engine"
)

type statsInput struct {
	Queue string `query:"queue" doc:"Only this queue."`
}

type statsOutput struct {
	Groups []engine.GroupStats `json:"groups"`
}

// stats counts what every group has before it.
func (a *api) stats(ctx context.Context, in *statsInput) (*output[statsOutput], error) {
	list, err := a.engine.Stats(ctx, in.Queue)
	return reply(statsOutput{Groups: list}, err)
}

type doctorOutput struct {
	Findings []engine.Finding `json:"findings" doc:"The worst first."`
}

// doctor looks for what is wrong.
func (a *api) doctor(ctx context.Context, _ *struct{}) (*output[doctorOutput], error) {
	list, err := a.engine.Doctor(ctx)
	return reply(doctorOutput{Findings: list}, err)
}
