// Package tracing tells what the server does to OpenTelemetry, with the conventions for messaging systems.
//
// It is off, and costs nothing, unless the environment names a collector: OTEL_EXPORTER_OTLP_ENDPOINT or
// OTEL_EXPORTER_OTLP_TRACES_ENDPOINT. All other OTEL_ variables that OpenTelemetry defines for the exporter (HTTP with
// protobuf), the sampler, the resource and the batches hold too.
//
// Every request of the API is a span of kind server, whose parent is the context that the client sent in traceparent.
// Those on the way of messages have the attributes of messaging.
//
//	send     puts its own context into the headers of each message that has none: traceparent, tracestate
//	receive  is linked to the contexts that its messages carry, wherever they were sent; so is pop, and each batch of
//	         an event stream
//
// A consumer that goes on with a message takes the context from the message's headers: so a trace leads from the
// producer through the queue to the consumer.
package tracing
