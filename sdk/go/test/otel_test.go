package test

import (
	"context"
	"errors"
	"testing"

	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/weirmq/weir/internal/pgtest"
	weir "github.com/weirmq/weir/sdk/go"
	"github.com/weirmq/weir/sdk/go/weirotel"
)

func TestAHandlersSpanIsLinkedToTheSpanThatSentItsMessage(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, _ *pgtest.DB, c *weir.Client) {
		spans := tracetest.NewSpanRecorder()
		provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))
		ctx, sending := provider.Tracer("test").Start(t.Context(), "order")
		get(c.Send(ctx, "q", "good", weirotel.Headers(ctx, map[string]any{"a": "b"})))(t)
		get(c.Send(ctx, "q", "bad", weirotel.Headers(ctx, nil)))(t)
		get(c.Send(t.Context(), "q", "without", weirotel.Headers(t.Context(), nil)))(t)
		start(t, weir.NewWorker(c, "q", func(ctx context.Context, m *weir.Message[string]) error {
			if !trace.SpanFromContext(ctx).IsRecording() {
				t.Error("the handler has no span")
			}
			switch m.Payload {
			case "bad":
				return weir.Reject(errors.New("boom"))
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
		if len(ended) != 3 {
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
