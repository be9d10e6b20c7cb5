package server_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	traces "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/internal/server"
	"github.com/weirmq/weir/internal/server/tracing"
)

// collecting is a collector of OpenTelemetry within the test.
type collecting struct {
	mu       sync.Mutex
	spans    []*traces.Span
	resource map[string]string
}

func (c *collecting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body io.Reader = r.Body
	if r.Header.Get("Content-Encoding") == "gzip" {
		body, _ = gzip.NewReader(r.Body)
	}
	var batch collector.ExportTraceServiceRequest
	text, err := io.ReadAll(body)
	if err == nil {
		err = proto.Unmarshal(text, &batch)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, resource := range batch.GetResourceSpans() {
		c.resource = valuesOf(resource.GetResource().GetAttributes())
		for _, scope := range resource.GetScopeSpans() {
			c.spans = append(c.spans, scope.GetSpans()...)
		}
	}
}

// span returns the only span of a name.
func (c *collecting) span(t *testing.T, name string) *traces.Span {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	var found []*traces.Span
	var names []string
	for _, span := range c.spans {
		names = append(names, span.GetName())
		if span.GetName() == name {
			found = append(found, span)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d spans %q among %q", len(found), name, names)
	}
	return found[0]
}

// valuesOf are attributes as texts.
func valuesOf(attributes []*common.KeyValue) map[string]string {
	values := map[string]string{}
	for _, a := range attributes {
		switch v := a.GetValue().GetValue().(type) {
		case *common.AnyValue_StringValue:
			values[a.GetKey()] = v.StringValue
		case *common.AnyValue_IntValue:
			values[a.GetKey()] = strconv.FormatInt(v.IntValue, 10)
		}
	}
	return values
}

// wantValues fails the test when attributes are missing or other than they should be.
func wantValues(t *testing.T, of string, attributes []*common.KeyValue, want map[string]string) {
	t.Helper()
	got := valuesOf(attributes)
	for name, value := range want {
		if got[name] != value {
			t.Errorf("%s: %s is %q, want %q", of, name, got[name], value)
		}
	}
}

// traced runs a server that exports to a collector, which has everything when stop has returned.
func traced(t *testing.T, db *pgtest.DB) (c *collecting, url string, stop func()) {
	t.Helper()
	c = &collecting{}
	at := httptest.NewServer(c)
	t.Cleanup(at.Close)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", at.URL)
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=here")
	log := slog.New(slog.DiscardHandler)
	tracer, err := tracing.Start(t.Context(), "1.2.3", log)
	if err != nil || tracer == nil {
		t.Fatalf("no tracer: %v", err)
	}
	url, end := serveWith(t, db, server.Options{Version: "test", Tracer: tracer, Log: log})
	return c, url, sync.OnceFunc(func() {
		if err := end(); err != nil {
			t.Error(err)
		}
		if err := tracer.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
}

// linkedTo are the traces that a span is linked to.
func linkedTo(span *traces.Span) []string {
	var list []string
	for _, link := range span.GetLinks() {
		list = append(list, hex.EncodeToString(link.GetTraceId()))
	}
	slices.Sort(list)
	return list
}

// settled are the kinds and statuses of all acks.
func (c *collecting) settled() []string {
	var list []string
	for _, span := range c.spans {
		if values := valuesOf(span.GetAttributes()); span.GetName() == "ack q" {
			list = append(list, values["messaging.operation.type"]+" "+values["http.response.status_code"])
		}
	}
	slices.Sort(list)
	return list
}

const (
	producerTrace  = "4bf92f3577b34da6a3ce929d0e0e4736"
	producerParent = "00-" + producerTrace + "-00f067aa0ba902b7-01"
	givenTrace     = "0af7651916cd43dd8448eb211c80319c"
)

func TestATraceLeadsFromTheProducerThroughTheQueueToTheConsumer(t *testing.T) {
	db := pgtest.New(t, pgtest.Options{})
	db.Exec(t, "select weir.create_queue('q')")
	c, url, stop := traced(t, db)
	given := `{"a": 1.50, "traceparent":"00-` + givenTrace + `-b7ad6b7169203331-01"}`
	sent := ask(t, "POST", url+"/v1/queues/q/messages", `{"messages":[{"payload":1},{"payload":2,"headers":{"n": 1.50}},
		{"payload":3,"headers":`+given+`}]}`, http.Header{"Traceparent": {producerParent}, "Tracestate": {"vendor=x"}})
	if sent.status != http.StatusCreated {
		t.Fatal(sent.text)
	}
	got := ask(t, "POST", url+"/v1/queues/q/groups/default/receive", `{"max":10}`, nil)
	var body struct {
		Messages []struct {
			ClaimID int64           `json:"claim_id"`
			Headers json.RawMessage `json:"headers"`
		}
	}
	if err := json.Unmarshal([]byte(got.text), &body); err != nil || len(body.Messages) != 3 {
		t.Fatalf("%v: %s", err, got.text)
	}
	ask(t, "POST", url+"/v1/queues/q/groups/default/ack", fmt.Sprintf(`{"acks":[{"claim_id":%d,"all":true}]}`,
		body.Messages[0].ClaimID), nil)
	ask(t, "POST", url+"/v1/queues/q/groups/default/ack", `{"acks":[{"claim_id":999,"all":true}]}`, nil)
	ask(t, "GET", url+"/v1/queues/q", "", nil)
	ask(t, "GET", url+"/healthz", "", nil)
	stop()

	send := c.span(t, "send q")
	if hex.EncodeToString(send.GetTraceId()) != producerTrace || send.GetKind() != traces.Span_SPAN_KIND_SERVER {
		t.Errorf("the span of the send is not of the producer's trace: %v", send)
	}
	wantValues(t, "send", send.GetAttributes(), map[string]string{
		"messaging.system": "weir", "messaging.destination.name": "q", "messaging.operation.type": "send",
		"messaging.batch.message_count": "3", "http.route": "/v1/queues/{queue}/messages",
		"http.request.method": "POST", "http.response.status_code": "201",
	})
	carried := "00-" + producerTrace + "-" + hex.EncodeToString(send.GetSpanId()) + "-01"
	for i, want := range []string{
		`{"tracestate": "vendor=x", "traceparent": "` + carried + `"}`,
		`{"n": 1.50, "tracestate": "vendor=x", "traceparent": "` + carried + `"}`,
		`{"a": 1.50, "traceparent": "00-` + givenTrace + `-b7ad6b7169203331-01"}`,
	} {
		compact := strings.ReplaceAll(string(body.Messages[i].Headers), " ", "")
		if compact != strings.ReplaceAll(want, " ", "") {
			t.Errorf("message %d carries %s, want %s", i, compact, want)
		}
	}
	receive := c.span(t, "receive q")
	wantValues(t, "receive", receive.GetAttributes(), map[string]string{
		"messaging.operation.type": "receive", "messaging.consumer.group.name": "default",
		"messaging.batch.message_count": "3",
	})
	if linked, want := linkedTo(receive), []string{givenTrace, producerTrace}; !slices.Equal(linked, want) {
		t.Errorf("the receive is linked to %v, want %v", linked, want)
	}
	settled := c.settled()
	if len(settled) != 2 || settled[0] != "settle 200" || !strings.HasPrefix(settled[1], "settle 4") {
		t.Errorf("acks: %q", settled)
	}
	c.span(t, "GET /v1/queues/{queue}")
	if about := c.resource["service.name"] + c.resource["deployment.environment.name"]; about != "weirhere" {
		t.Errorf("resource %v", c.resource)
	}
}

func TestOneMessageIsNamedByItsIDAndAStreamHasASpanForEachBatch(t *testing.T) {
	db := pgtest.New(t, pgtest.Options{})
	db.Exec(t, "select weir.create_queue('q')")
	c, url, stop := traced(t, db)
	ask(t, "POST", url+"/v1/queues/q/messages", `{"messages":[{"payload":1}]}`, nil)
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/v1/queues/q/groups/default/events", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()
	pgtest.WaitForRow(t, db, "select waiting + claimed = 0 from weir.stats('q')")
	leave()
	stop()
	send, receive := c.span(t, "send q"), c.span(t, "receive q")
	wantValues(t, "send", send.GetAttributes(), map[string]string{"messaging.message.id": "1000"})
	wantValues(t, "receive", receive.GetAttributes(), map[string]string{"messaging.message.id": "1000"})
	if links := receive.GetLinks(); len(links) != 1 || !bytes.Equal(links[0].GetSpanId(), send.GetSpanId()) {
		t.Errorf("the delivery is linked to %v", links)
	}
}

func TestNothingIsTracedOrPutIntoHeadersUnlessACollectorIsNamed(t *testing.T) {
	for name, env := range map[string]map[string]string{
		"nothing is set":        {},
		"tracing is disabled":   {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_SDK_DISABLED": "true"},
		"no exporter is wanted": {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_TRACES_EXPORTER": "none"},
	} {
		t.Run(name, func(t *testing.T) {
			for key, value := range env {
				t.Setenv(key, value)
			}
			if tracer, err := tracing.Start(t.Context(), "1", slog.Default()); tracer != nil || err != nil {
				t.Errorf("%v, %v", tracer, err)
			}
		})
	}
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
	t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
	if _, err := tracing.Start(t.Context(), "1", slog.Default()); err == nil || !strings.Contains(err.Error(), "4318") {
		t.Errorf("grpc: %v", err)
	}
	db := pgtest.New(t, pgtest.Options{})
	db.Exec(t, "select weir.create_queue('q')")
	url, _ := serve(t, db, io.Discard)
	from := http.Header{"Traceparent": {producerParent}}
	ask(t, "POST", url+"/v1/queues/q/messages", `{"messages":[{"payload":1}]}`, from)
	if pgtest.QueryVal[bool](t, db, "select headers is not null from weir.receive('q')") {
		t.Error("a message carries a trace though nothing is traced")
	}
}
