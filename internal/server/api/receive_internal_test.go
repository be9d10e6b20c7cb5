package api

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirmq/weir/internal/engine"
	"github.com/weirmq/weir/internal/pgtest"
)

// leaving is the context of a client that goes away while the statement runs: alive when asked first, gone after that.
type leaving struct {
	context.Context

	asked atomic.Int32
}

func (l *leaving) Err() error {
	if l.asked.Add(1) > 1 {
		return context.Canceled
	}
	return nil
}

func TestWhatWasClaimedForAClientThatWentAwayIsDueAtOnce(t *testing.T) {
	t.Parallel()
	client := engine.New(pgtest.New(t, pgtest.Options{}).Pool(t))
	ctx := t.Context()
	if err := client.CreateQueue(ctx, "q", engine.QueueOptions{}); err != nil {
		t.Fatal(err)
	}
	batch := []engine.Outgoing{{Payload: json.RawMessage("1")}, {Payload: json.RawMessage("2")}}
	if _, err := client.SendBatch(ctx, "q", batch, nil); err != nil {
		t.Fatal(err)
	}
	a := &api{engine: client, opt: Options{Log: slog.New(slog.DiscardHandler)}}
	at := GroupPath{Queue: "q", Group: "default"}
	list, err := a.receiveOnce(&leaving{Context: ctx}, at, 10, time.Hour)
	if !errors.Is(err, context.Canceled) || len(list) != 0 {
		t.Fatalf("the client that left: %v, %v", list, err)
	}
	list, err = a.receiveOnce(ctx, at, 10, time.Hour)
	if err != nil || len(list) != 2 || list[0].Attempt != 2 {
		t.Errorf("the next client: %+v, %v", list, err)
	}
}
