package api

import (
	"context"
	"errors"
	"time"

	"github.com/weirmq/weir/internal/engine"
)

// previewWait bounds how long a preview may wait for the group's locks, and so keep them from others.
const previewWait = 2 * time.Second

type previewInput struct {
	GroupPath
	Position string `query:"position" required:"true" doc:"start, end, a time, or a message's id."`
}

type previewOutput struct {
	Before     int64 `json:"before" doc:"Messages that the group has not finished."`
	After      int64 `json:"after" doc:"Those that it would not have finished after the seek."`
	Skips      int64 `json:"skips" doc:"By how many that is less."`
	Redelivers int64 `json:"redelivers" doc:"By how many that is more."`
	Exact      bool  `json:"exact" doc:"Whether these are counts; else some are estimates."`
}

// previewSeek counts what a seek would do: it seeks, counts, and undoes it.
func (a *api) previewSeek(ctx context.Context, in *previewInput) (*output[previewOutput], error) {
	ctx, cancel := context.WithTimeout(ctx, previewWait)
	defer cancel()
	var out previewOutput
	err := a.engine.InTx(ctx, func(tx *engine.Client) error {
		before, err := groupStats(ctx, tx, in.Queue, in.Group)
		if err != nil {
			return err
		}
		if err := tx.Seek(ctx, in.Queue, in.Group, in.Position); err != nil {
			return err
		}
		after, err := groupStats(ctx, tx, in.Queue, in.Group)
		if err != nil {
			return err
		}
		out = previewOutput{Before: unfinished(before), After: unfinished(after), Exact: before.Exact && after.Exact}
		return errUndone
	})
	if errors.Is(err, errUndone) {
		err = nil
	}
	out.Skips, out.Redelivers = max(0, out.Before-out.After), max(0, out.After-out.Before)
	return reply(out, err)
}

// groupStats are those of one group; without it, the seek that follows says so.
func groupStats(ctx context.Context, client *engine.Client, queue, group string) (engine.GroupStats, error) {
	list, err := client.Stats(ctx, queue)
	for _, g := range list {
		if g.Group == group {
			return g, nil
		}
	}
	return engine.GroupStats{}, err
}

// unfinished counts the messages that a group is still to be delivered, or has not finished.
func unfinished(g engine.GroupStats) int64 { return g.Waiting + g.Claimed + g.Delayed + g.Parked }
