package api

import (
	"context"
	"time"

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

type healthOutput struct {
	Status  string `json:"status" enum:"ok"`
	Version string `json:"version" doc:"Of the server."`
	Engine  string `json:"engine" doc:"Of the engine in the database."`
}

// healthTimeout is what a load balancer may be kept waiting for.
const healthTimeout = 3 * time.Second

// health asks the engine in the database for its version.
func (a *api) health(ctx context.Context, _ *struct{}) (*output[healthOutput], error) {
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	version, err := a.engine.Version(ctx)
	return reply(healthOutput{Status: "ok", Version: a.opt.Version, Engine: version}, err)
}
