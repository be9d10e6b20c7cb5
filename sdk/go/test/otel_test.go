package test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"

	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/weirmq/weir/internal/pgtest"
	weir "github.com/weirmq/weir/sdk/go"
	"github.com/weirmq/weir/sdk/go/weirotel"
)

func TestASendHasASpanThatItsHandlersIsLinkedTo(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, _ *pgtest.DB, c *weir.Client) {
		spans := tracetest.NewSpanRecorder()
		provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))
		c = c.Hooked(weirotel.SendHook(provider))
		must(t, c.Bind(t.Context(), "a.#", "q"))
		get(c.Send(t.Context(), "q", 1, weir.Headers(map[string]any{"a": "b"})))(t)
		get(c.SendBatch(t.Context(), "q", []weir.Outgoing{{Payload: 2}, {Payload: 3}}))(t)
		get(c.Publish(t.Context(), "a.b", 4))(t)
		get(c.Enqueue(t.Context(), "q", add{1, 2}))(t)
		must(t, c.Transaction(t.Context(), func(tx *weir.Client) error {
			_, err := tx.Send(t.Context(), "q", 5)
			return err
		}))
		if _, err := c.Send(t.Context(), "nowhere", 1); !errors.Is(err, weir.ErrQueueNotFound) {
			t.Error(err)
		}
		names, parents, failed := []string{}, map[trace.SpanID]bool{}, 0
		for _, span := range spans.Ended() {
			names = append(names, span.Name())
			parents[span.SpanContext().SpanID()] = span.SpanKind() == trace.SpanKindProducer
			if span.Status().Code == codes.Error {
				failed++
			}
		}
		want := []string{"send q", "send q", "send a.b", "send q", "send q", "send nowhere"}
		if !slices.Equal(names, want) || failed != 1 {
			t.Errorf("spans %q, of which %d failed", names, failed)
		}
		linked := 0
		start(t, weir.NewWorker(c, "q", func(context.Context, *weir.RawMessage) error { return nil },
			weir.WorkerOptions{Middleware: []weir.Middleware{weirotel.Middleware(provider)}}))
		idle(t, c, "default")
		for _, span := range spans.Ended()[len(want):] {
			if l := span.Links(); len(l) == 1 && parents[l[0].SpanContext.SpanID()] {
				linked++
			}
		}
		if linked != 6 {
			t.Errorf("%d of 6 handlers are linked to the sends", linked)
		}
	})
}

func TestAHandlersSpanIsLinkedToTheSpanThatSentItsMessage(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, _ *pgtest.DB, c *weir.Client) {
		spans := tracetest.NewSpanRecorder()
		provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))
		ctx, sending := provider.Tracer("test").Start(t.Context(), "order")
		get(c.Send(ctx, "q", "good", weirotel.Headers(ctx, map[string]any{"a": "b"})))(t)
		get(c.Send(ctx, "q", "bad", weirotel.Headers(ctx, nil)))(t)
		get(c.Send(t.Context(), "q", "later", weirotel.Headers(t.Context(), nil)))(t)
		var later atomic.Int32
		start(t, weir.NewWorker(c, "q", func(ctx context.Context, m *weir.Message[string]) error {
			if !trace.SpanFromContext(ctx).IsRecording() {
				t.Error("the handler has no span")
			}
			switch m.Payload {
			case "bad":
				return weir.Reject(errors.New("boom"))
			case "later":
				if later.Add(1) == 1 {
					return weir.Snooze(0)
				}
			case "good":
				if m.Headers["a"] != "b" {
					t.Errorf("headers %v", m.Headers)
				}
			}
			return nil
		}, weir.WorkerOptions{
			Concurrency: 1, Middleware: []weir.Middleware{weirotel.Middleware(provider)},
			OnError: func(*weir.RawMessage, error) {},
		}))
		idle(t, c, "default")
		ended := spans.Ended()
		if len(ended) != 4 {
			t.Fatalf("%d spans", len(ended))
		}
		linked, failed := 0, 0
		for _, span := range ended {
			if span.Name() != "process q" || span.SpanKind() != trace.SpanKindConsumer {
				t.Errorf("span %s of kind %v", span.Name(), span.SpanKind())
			}
			if l := span.Links(); len(l) == 1 && l[0].SpanContext.SpanID() == sending.SpanContext().SpanID() {
				linked++
			}
			if span.Status().Code == codes.Error {
				failed++
			}
		}
		if linked != 2 || failed != 1 {
			t.Errorf("%d spans are linked, %d failed", linked, failed)
		}
	})
}
