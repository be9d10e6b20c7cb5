package tracing

import (
	"bytes"
	"context"
	"encoding/json"
	"strconv"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	semconv "go.opentelemetry.io/otel/semconv/v1.37.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/weirmq/weir/internal/engine"
)

// Names of the headers that carry a context. An event of CloudEvents has one of its own.
const (
	headerParent = "traceparent"
	headerState  = "tracestate"
	headerEvent  = "ce-traceparent"
)

// linksMax bounds the links of a span, as OpenTelemetry does by default.
const linksMax = 128

type tracerKey struct{}

// Carry returns the headers of a message with the context of the request in them. Headers that carry a context, and
// those that are no object, stay as they are; so do all where nothing is traced.
func Carry(ctx context.Context, headers json.RawMessage) json.RawMessage {
	if !trace.SpanContextFromContext(ctx).IsValid() {
		return headers
	}
	var given map[string]json.RawMessage
	if len(headers) > 0 && json.Unmarshal(headers, &given) != nil {
		return headers
	}
	if given[headerParent] != nil || given[headerEvent] != nil {
		return headers
	}
	own := propagation.MapCarrier{}
	w3c.Inject(ctx, own)
	var text bytes.Buffer
	text.WriteString(`{"` + headerParent + `":` + strconv.Quote(own[headerParent]))
	if state := own[headerState]; state != "" && given[headerState] == nil {
		quoted, err := json.Marshal(state)
		if err != nil {
			return headers
		}
		text.WriteString(`,"` + headerState + `":` + string(quoted))
	}
	if len(given) == 0 {
		text.WriteByte('}')
		return text.Bytes()
	}
	text.WriteByte(',')
	text.Write(bytes.TrimSpace(headers)[1:]) // after the brace, every digit as it was sent
	return text.Bytes()
}

// Sent tells the span of a request the ids of the messages it sent.
func Sent(ctx context.Context, ids []int64) {
	if span := trace.SpanFromContext(ctx); span.IsRecording() {
		span.SetAttributes(batch(ids)...)
	}
}

// Received tells the span of a request the messages that it gets, and links it to where they come from.
func Received(ctx context.Context, list []engine.Message) {
	span := trace.SpanFromContext(ctx)
	if !span.IsRecording() {
		return
	}
	span.SetAttributes(batch(idsOf(list))...)
	for _, link := range links(list) {
		span.AddLink(link)
	}
}

// Settled tells the span of a request how many claims it is about.
func Settled(ctx context.Context, claims int) {
	if span := trace.SpanFromContext(ctx); span.IsRecording() && claims > 1 {
		span.SetAttributes(semconv.MessagingBatchMessageCount(claims))
	}
}

// Delivered makes a span of a batch that an event stream delivers.
func Delivered(ctx context.Context, queue, group string, list []engine.Message) {
	t, _ := ctx.Value(tracerKey{}).(*Tracer)
	if t == nil || len(list) == 0 {
		return
	}
	what := operation{"receive", semconv.MessagingOperationTypeReceive}
	_, span := t.tracer.Start(ctx, "receive "+queue, trace.WithSpanKind(trace.SpanKindServer),
		trace.WithLinks(links(list)...), trace.WithAttributes(what.attributes(queue, group)...),
		trace.WithAttributes(batch(idsOf(list))...))
	span.End()
}

// batch says which message a span is about, or how many.
func batch(ids []int64) []attribute.KeyValue {
	if len(ids) == 1 {
		return []attribute.KeyValue{semconv.MessagingMessageID(strconv.FormatInt(ids[0], 10))}
	}
	return []attribute.KeyValue{semconv.MessagingBatchMessageCount(len(ids))}
}

func idsOf(list []engine.Message) []int64 {
	ids := make([]int64, len(list))
	for i, m := range list {
		ids[i] = m.ID
	}
	return ids
}

// links are to the contexts that messages carry, each once.
func links(list []engine.Message) []trace.Link {
	var found []trace.Link
	seen := map[trace.SpanID]bool{}
	for _, m := range list {
		from := contextOf(m.Headers)
		if len(found) == linksMax || !from.IsValid() || seen[from.SpanID()] {
			continue
		}
		seen[from.SpanID()] = true
		found = append(found, trace.Link{SpanContext: from, Attributes: []attribute.KeyValue{
			semconv.MessagingMessageID(strconv.FormatInt(m.ID, 10)),
		}})
	}
	return found
}

// contextOf reads the context that headers carry; it is not valid when they carry none.
func contextOf(headers json.RawMessage) trace.SpanContext {
	if !bytes.Contains(headers, []byte(headerParent)) {
		return trace.SpanContext{}
	}
	var given map[string]any
	if json.Unmarshal(headers, &given) != nil {
		return trace.SpanContext{}
	}
	carrier := propagation.MapCarrier{}
	for _, name := range []string{headerEvent, headerParent} {
		if text, ok := given[name].(string); ok {
			carrier[headerParent] = text
		}
	}
	if text, ok := given[headerState].(string); ok {
		carrier[headerState] = text
	}
	return trace.SpanContextFromContext(w3c.Extract(context.Background(), carrier))
}
