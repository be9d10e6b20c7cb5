// Package weirotel traces messages with OpenTelemetry, from the producer through the queue to the handler, by the
// conventions for messaging. The context travels as W3C has it, in the headers traceparent and tracestate.
//
//	_, err := client.Send(ctx, "emails", email, weirotel.Headers(ctx, nil))
//	...
//	worker := weir.NewWorker(client, "emails", deliver,
//		weir.WorkerOptions{Middleware: []weir.Middleware{weirotel.Middleware(nil)}})
package weirotel

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strconv"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	weir "github.com/weirmq/weir/sdk/go"
)

const scope = "github.com/weirmq/weir/sdk/go/weirotel"

// Headers is weir.Headers with the context of ctx's span beside them, unless they have a traceparent. Without a span
// nothing is added.
func Headers(ctx context.Context, headers map[string]any) weir.SendOption {
	if _, carried := headers["traceparent"]; carried {
		return weir.Headers(headers)
	}
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	if len(carrier) == 0 {
		return weir.Headers(headers)
	}
	all := maps.Clone(headers)
	if all == nil {
		all = map[string]any{}
	}
	for name, value := range carrier {
		all[name] = value
	}
	return weir.Headers(all)
}

// Middleware makes a span of kind consumer around every handler, linked to the span that sent the message. Spans go to
// a provider, nil for the global one.
func Middleware(provider trace.TracerProvider) weir.Middleware {
	if provider == nil {
		provider = otel.GetTracerProvider()
	}
	tracer := provider.Tracer(scope)
	return func(next weir.Handler[json.RawMessage]) weir.Handler[json.RawMessage] {
		return func(ctx context.Context, m *weir.RawMessage) (err error) {
			ctx, span := tracer.Start(ctx, "process "+m.Queue, trace.WithSpanKind(trace.SpanKindConsumer),
				trace.WithLinks(links(m)...), trace.WithAttributes(attributes(m)...))
			defer func() {
				panicked := recover()
				if panicked != nil {
					err = fmt.Errorf("%w: %v", weir.ErrHandlerPanic, panicked)
				}
				if err != nil {
					span.RecordError(err)
					span.SetStatus(codes.Error, err.Error())
				}
				span.End()
				if panicked != nil {
					panic(panicked) // the worker makes a result of it, with the place
				}
			}()
			return next(ctx, m)
		}
	}
}

// links returns a link to the span whose context a message carries.
func links(m *weir.RawMessage) []trace.Link {
	carrier := propagation.MapCarrier{}
	for name, value := range m.Headers {
		if text, ok := value.(string); ok {
			carrier[name] = text
		}
	}
	sent := trace.SpanContextFromContext(propagation.TraceContext{}.Extract(context.Background(), carrier))
	if !sent.IsValid() {
		return nil
	}
	return []trace.Link{{SpanContext: sent}}
}

// attributes are those of the conventions.
func attributes(m *weir.RawMessage) []attribute.KeyValue {
	return []attribute.KeyValue{
		attribute.String("messaging.system", "weir"),
		attribute.String("messaging.operation.name", "process"),
		attribute.String("messaging.operation.type", "process"),
		attribute.String("messaging.destination.name", m.Queue),
		attribute.String("messaging.consumer.group.name", m.Group),
		attribute.String("messaging.message.id", strconv.FormatInt(m.ID, 10)),
		attribute.Int("weir.attempt", m.Attempt),
	}
}
