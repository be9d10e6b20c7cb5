package tracing

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.37.0"
	"go.opentelemetry.io/otel/trace"
)

// complainEvery is how often the log is told that traces cannot be exported.
const complainEvery = time.Minute

// w3c reads and writes traceparent and tracestate.
var w3c = propagation.TraceContext{}

// Tracer makes spans of requests. A nil Tracer makes none.
type Tracer struct {
	provider *sdk.TracerProvider
	tracer   trace.Tracer
}

// Start returns a Tracer that exports to the collector that the environment names, or nil when it names none.
func Start(ctx context.Context, version string, log *slog.Logger) (*Tracer, error) {
	if !wanted() {
		return nil, nil
	}
	if protocol := first("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"); protocol != "" &&
		protocol != "http/protobuf" {
		return nil, fmt.Errorf("%w: the OTLP protocol %q is not there, only http/protobuf; "+
			"give the collector's HTTP endpoint, usually port 4318", ErrSetting, protocol)
	}
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSetting, err)
	}
	about, err := resource.New(ctx,
		resource.WithAttributes(semconv.ServiceName("weir"), semconv.ServiceVersion(version)),
		resource.WithTelemetrySDK(), resource.WithHost(), resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSetting, err)
	}
	complain(log)
	provider := sdk.NewTracerProvider(sdk.WithBatcher(exporter), sdk.WithResource(about))
	return &Tracer{provider: provider, tracer: provider.Tracer("github.com/weirmq/weir")}, nil
}

// Stop exports what is left.
func (t *Tracer) Stop(ctx context.Context) error {
	if t == nil {
		return nil
	}
	if err := t.provider.Shutdown(ctx); err != nil {
		return fmt.Errorf("export last traces: %w", err)
	}
	return nil
}

// wanted reports whether the environment names a collector.
func wanted() bool {
	if strings.EqualFold(os.Getenv("OTEL_SDK_DISABLED"), "true") {
		return false
	}
	if kind := os.Getenv("OTEL_TRACES_EXPORTER"); kind != "" && kind != "otlp" {
		return false
	}
	return first("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT") != ""
}

// first returns the first of some variables that is set.
func first(names ...string) string {
	for _, name := range names {
		if value := os.Getenv(name); value != "" {
			return value
		}
	}
	return ""
}

// complain has failures of the export logged, not each of them.
func complain(log *slog.Logger) {
	var last atomic.Int64
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
		now := time.Now().UnixNano()
		if before := last.Load(); now-before > int64(complainEvery) && last.CompareAndSwap(before, now) {
			log.Warn("cannot export traces", "error", err)
		}
	}))
}

// Span is a request that is traced. The zero Span is of one that is not.
type Span struct {
	span   trace.Span
	method string
}

// Request begins the span of a request of the API, within the context that the client sent. Requests for the page, the
// probes and the metrics have none, and streams have one for each batch; see Delivered.
func (t *Tracer) Request(ctx context.Context, r *http.Request) (context.Context, Span) {
	if t == nil || !strings.HasPrefix(r.URL.Path, "/v1/") {
		return ctx, Span{}
	}
	if strings.HasSuffix(r.URL.Path, "/events") {
		return context.WithValue(ctx, tracerKey{}, t), Span{}
	}
	ctx = w3c.Extract(ctx, propagation.HeaderCarrier(r.Header))
	ctx, span := t.tracer.Start(ctx, r.Method, trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(
		semconv.HTTPRequestMethodKey.String(r.Method), semconv.URLPath(r.URL.Path), semconv.URLScheme("http")))
	return ctx, Span{span: span, method: r.Method}
}

// TraceID returns the id of the span's trace, "" when there is none.
func (s Span) TraceID() string {
	if s.span == nil {
		return ""
	}
	return s.span.SpanContext().TraceID().String()
}

// End ends the span of a request that a route has answered with a status, for the queue and group of its path.
func (s Span) End(route, queue, group string, status int) {
	if s.span == nil {
		return
	}
	method, path, found := strings.Cut(route, " ")
	name := strings.TrimSpace(s.method + " " + path)
	if !found {
		name = s.method
	}
	s.span.SetAttributes(semconv.HTTPResponseStatusCode(status))
	if found {
		s.span.SetAttributes(semconv.HTTPRoute(path))
	}
	if what, ok := operations()[path[strings.LastIndex(path, "/")+1:]]; ok && method == http.MethodPost {
		name = strings.TrimSpace(what.name + " " + queue)
		s.span.SetAttributes(what.attributes(queue, group)...)
	}
	s.span.SetName(name)
	if status >= http.StatusInternalServerError {
		s.span.SetStatus(codes.Error, http.StatusText(status))
	}
	if status >= http.StatusBadRequest {
		s.span.SetAttributes(semconv.ErrorTypeKey.Int(status))
	}
	s.span.End()
}

// operation is what a route is in the words of the messaging conventions.
type operation struct {
	name string
	kind attribute.KeyValue
}

// operations are those of the routes on the way of messages, by the last word of their paths.
func operations() map[string]operation {
	settle := semconv.MessagingOperationTypeSettle
	return map[string]operation{
		"messages": {"send", semconv.MessagingOperationTypeSend},
		"receive":  {"receive", semconv.MessagingOperationTypeReceive},
		"pop":      {"pop", semconv.MessagingOperationTypeReceive},
		"ack":      {"ack", settle}, "nack": {"nack", settle}, "release": {"release", settle},
		"reject": {"reject", settle}, "extend": {"extend", settle}, "transaction": {"transaction", settle},
	}
}

// attributes say what was done where.
func (o operation) attributes(queue, group string) []attribute.KeyValue {
	list := []attribute.KeyValue{
		semconv.MessagingSystemKey.String("weir"), semconv.MessagingOperationName(o.name), o.kind,
	}
	if queue != "" {
		list = append(list, semconv.MessagingDestinationName(queue))
	}
	if group != "" {
		list = append(list, semconv.MessagingConsumerGroupName(group))
	}
	return list
}
