// Package weirotel traces messages with OpenTelemetry, from the producer through the queue to the handler, by the
// conventions for messaging. The context travels as W3C has it, in the headers traceparent and tracestate.
//
//	client = client.Hooked(weirotel.SendHook(nil))
//	_, err := client.Send(ctx, "emails", email)
//	...
//	worker := weir.NewWorker(client, "emails", deliver,
//		weir.WorkerOptions{Middleware: []weir.Middleware{weirotel.Middleware(nil)}})
package weirotel

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
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
	return weir.Headers(inject(ctx, headers))
}

// inject returns headers with the context of ctx's span.
func inject(ctx context.Context, headers map[string]any) map[string]any {
	if _, carried := headers["traceparent"]; carried {
		return headers
	}
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	if len(carrier) == 0 {
		return headers
	}
	all := maps.Clone(headers)
	if all == nil {
		all = map[string]any{}
	}
	for name, value := range carrier {
		all[name] = value
	}
	return all
}

// tracerOf returns the tracer of a provider, nil for the global one.
func tracerOf(provider trace.TracerProvider) trace.Tracer {
	if provider == nil {
		provider = otel.GetTracerProvider()
	}
	return provider.Tracer(scope)
}

// SendHook makes a span of kind producer around what a client sends, and puts its context into the headers, unless they
// have a traceparent. Spans go to a provider, nil for the global one. Give it to [weir.Client.Hooked].
func SendHook(provider trace.TracerProvider) weir.SendHook {
	tracer := tracerOf(provider)
	return func(
		ctx context.Context, destination string, batch []weir.Outgoing,
		send func(context.Context, []weir.Outgoing) ([]int64, error),
	) ([]int64, error) {
		ctx, span := tracer.Start(ctx, "send "+destination, trace.WithSpanKind(trace.SpanKindProducer),
			trace.WithAttributes(operation("send", destination)...))
		defer span.End()
		if len(batch) != 1 {
			span.SetAttributes(attribute.Int("messaging.batch.message_count", len(batch)))
		}
		carrying := slices.Clone(batch)
		for i := range carrying {
			carrying[i].Headers = inject(ctx, carrying[i].Headers)
		}
		ids, err := send(ctx, carrying)
		if len(ids) == 1 {
			span.SetAttributes(attribute.String("messaging.message.id", strconv.FormatInt(ids[0], 10)))
		}
		if err != nil {
			span.RecordError(err)
			span.SetStatus(codes.Error, err.Error())
		}
		return ids, err
	}
}

// Middleware makes a span of kind consumer around every handler, linked to the span that sent the message. Spans go to
// a provider, nil for the global one.
func Middleware(provider trace.TracerProvider) weir.Middleware {
	tracer := tracerOf(provider)
	return func(next weir.Handler[json.RawMessage]) weir.Handler[json.RawMessage] {
		return func(ctx context.Context, m *weir.RawMessage) (err error) {
			ctx, span := tracer.Start(ctx, "process "+m.Queue, trace.WithSpanKind(trace.SpanKindConsumer),
				trace.WithLinks(links(m)...), trace.WithAttributes(attributes(m)...))
			defer func() {
				panicked := recover()
				if panicked != nil {
					err = fmt.Errorf("%w: %v", weir.ErrHandlerPanic, panicked)
				}
				if err != nil && !weir.Snoozed(err) {
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
	return append(operation("process", m.Queue),
		attribute.String("messaging.consumer.group.name", m.Group),
		attribute.String("messaging.message.id", strconv.FormatInt(m.ID, 10)),
		attribute.Int("weir.attempt", m.Attempt),
	)
}

// operation are the attributes of every span.
func operation(name, destination string) []attribute.KeyValue {
	return []attribute.KeyValue{
		attribute.String("messaging.system", "weir"),
		attribute.String("messaging.operation.name", name),
		attribute.String("messaging.operation.type", name),
		attribute.String("messaging.destination.name", destination),
	}
}
