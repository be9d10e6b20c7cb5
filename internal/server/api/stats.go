package api

import (
	"context"
	"slices"

	"github.com/weirmq/weir/internal/engine"
	"github.com/weirmq/weir/internal/server/auth"
)

type statsInput struct {
	Queues []string `query:"queue,explode" maxItems:"100" doc:"Only this queue; once for each of several."`
}

type statsOutput struct {
	Groups []engine.GroupStats `json:"groups"`
}

// stats counts what every group has before it, of the queues that the caller may look at.
func (a *api) stats(ctx context.Context, in *statsInput) (*output[statsOutput], error) {
	if queues := slices.DeleteFunc(in.Queues, func(name string) bool { return name == "" }); len(queues) > 0 {
		list, err := a.statsOf(ctx, queues)
		return reply(statsOutput{Groups: list}, err)
	}
	list, err := a.engine.Stats(ctx, "")
	return reply(statsOutput{Groups: visible(ctx, list, func(g engine.GroupStats) string { return g.Queue })}, err)
}

// statsOf counts what the groups of some queues have before them. One of several that is not there is left out: who
// asks for a part of a list does not want to lose it all to a queue that was dropped meanwhile.
func (a *api) statsOf(ctx context.Context, queues []string) ([]engine.GroupStats, error) {
	for _, queue := range queues {
		if err := a.allow(ctx, auth.Read, queue); err != nil {
			return nil, err
		}
	}
	list := []engine.GroupStats{}
	for _, queue := range queues {
		groups, err := a.engine.Stats(ctx, queue)
		if err != nil && (len(queues) == 1 || engine.Code(err) != engine.CodeQueueNotFound) {
			return nil, err
		}
		list = append(list, groups...)
	}
	return list, nil
}

type doctorOutput struct {
	Findings []engine.Finding `json:"findings" doc:"The worst first."`
}

// doctor looks for what is wrong.
func (a *api) doctor(ctx context.Context, _ *struct{}) (*output[doctorOutput], error) {
	list, err := a.engine.Doctor(ctx)
	return reply(doctorOutput{Findings: list}, err)
}
