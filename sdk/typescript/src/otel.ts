/** Traces of OpenTelemetry, by its conventions for messaging. Needs the package @opentelemetry/api. */

import {
  type Link,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
} from "@opentelemetry/api";
import { RetryAfter, Snooze } from "./errors.js";
import type { Hooks, Outgoing } from "./types.js";

const system = "weir";
const traceparent = /^[\da-f]{2}-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})/;

/**
 * Hooks for a client: each of its sends is a span of kind producer, whose context travels in the header `traceparent`
 * of the messages that have none; each handler of its workers is a span of kind consumer, linked to that context.
 */
export function tracing(tracer: Tracer = trace.getTracer("weir")): Hooks {
  return {
    sending: async (destination, messages, send) => {
      const attributes = { ...about("send", destination), ...size(messages) };
      return tracer.startActiveSpan(
        `send ${destination}`,
        { kind: SpanKind.PRODUCER, attributes },
        async (span) => {
          try {
            const headers = carried(span.spanContext());
            const sent = await send(messages.map((m) => carrying(m, headers)));
            if (typeof sent === "string") span.setAttribute("messaging.message.id", sent);
            return sent;
          } catch (error) {
            fail(span, error);
            throw error;
          } finally {
            span.end();
          }
        },
      );
    },
    processing: async (message, run) => {
      const attributes = {
        ...about("process", message.queue),
        "messaging.consumer.group.name": message.group,
        "messaging.message.id": message.id,
        "weir.attempt": message.attempt,
      };
      const options = { kind: SpanKind.CONSUMER, attributes, links: linked(message.headers) };
      await tracer.startActiveSpan(`process ${message.queue}`, options, async (span) => {
        try {
          await run();
        } catch (error) {
          if (!(error instanceof RetryAfter || error instanceof Snooze)) fail(span, error);
          throw error;
        } finally {
          span.end();
        }
      });
    },
  };
}

function about(operation: string, destination: string) {
  return {
    "messaging.system": system,
    "messaging.operation.name": operation,
    "messaging.operation.type": operation,
    "messaging.destination.name": destination,
  };
}

function size(messages: readonly Outgoing[]) {
  return messages.length === 1 ? {} : { "messaging.batch.message_count": messages.length };
}

function fail(
  span: {
    recordException(e: Error): void;
    setStatus(s: object): void;
    setAttribute(k: string, v: string): void;
  },
  error: unknown,
): void {
  const failure = error instanceof Error ? error : new Error(String(error));
  span.recordException(failure);
  span.setStatus({ code: SpanStatusCode.ERROR, message: failure.message });
  span.setAttribute("error.type", failure.name);
}

/** The context of a span as W3C writes it. */
function carried({ traceId, spanId, traceFlags, traceState }: SpanContext): Record<string, string> {
  const flags = traceFlags.toString(16).padStart(2, "0");
  const state = traceState?.serialize();
  return { traceparent: `00-${traceId}-${spanId}-${flags}`, ...(state ? { tracestate: state } : {}) };
}

function carrying(message: Outgoing, headers: Record<string, string>): Outgoing {
  const given = message.headers ?? {};
  return "traceparent" in given ? message : { ...message, headers: { ...given, ...headers } };
}

function linked(headers: Record<string, unknown> | null): Link[] {
  const [, traceId, spanId, flags] = traceparent.exec(String(headers?.traceparent)) ?? [];
  if (!traceId || !spanId || !flags) return [];
  return [{ context: { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true } }];
}
