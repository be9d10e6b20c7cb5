import assert from "node:assert/strict";
import test, { type TestContext } from "node:test";
import { SpanKind, SpanStatusCode } from "@opentelemetry/api";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { Client, Reject } from "../src/index.js";
import { tracing } from "../src/otel.js";
import { newQueue, poolOf, until } from "./setup.js";

function traced(t: TestContext) {
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  const weir = new Client(poolOf(t), { hooks: tracing(provider.getTracer("test")) });
  const spans = (name: string) => exporter.getFinishedSpans().filter((span) => span.name === name);
  return { weir, spans };
}

test("a handler's span is linked to that of the send", async (t) => {
  const { weir, spans } = traced(t);
  const queue = await newQueue(t, weir);
  const id = await weir.transaction(async (tx) => tx.send(queue, 1, { headers: { a: 1 } }));
  await weir.sendBatch(queue, [{ payload: 2 }, { payload: 3 }]);
  const worker = weir.worker(
    queue,
    ({ payload }) => {
      if (payload === 3) throw new Reject("not this one");
    },
    { onError: () => {} },
  );
  const running = worker.run();
  await until("three are processed", () => spans(`process ${queue}`).length === 3);
  await worker.stop();
  await running;
  const [one, batch] = spans(`send ${queue}`);
  const processed = spans(`process ${queue}`);
  assert.ok(one && batch);
  const linkedTo = (span: typeof one) =>
    processed.filter((p) => p.links[0]?.context.spanId === span.spanContext().spanId);
  assert.equal(one.kind, SpanKind.PRODUCER);
  assert.equal(one.attributes["messaging.message.id"], id);
  assert.equal(batch.attributes["messaging.batch.message_count"], 2);
  assert.equal(linkedTo(batch).length, 2);
  const [first] = linkedTo(one);
  assert.equal(first?.kind, SpanKind.CONSUMER);
  assert.equal(first?.links[0]?.context.traceId, one.spanContext().traceId);
  assert.deepEqual(first?.attributes, {
    "messaging.system": "weir",
    "messaging.operation.name": "process",
    "messaging.operation.type": "process",
    "messaging.destination.name": queue,
    "messaging.consumer.group.name": "default",
    "messaging.message.id": id,
    "weir.attempt": 1,
  });
  const failed = processed.filter((p) => p.status.code === SpanStatusCode.ERROR);
  assert.deepEqual(
    failed.map((p) => [p.status.message, p.attributes["error.type"]]),
    [["not this one", "Reject"]],
  );
});

test("a message keeps the context that it was given", async (t) => {
  const { weir } = traced(t);
  const queue = await newQueue(t, weir);
  const headers = { traceparent: `00-${"a".repeat(32)}-${"b".repeat(16)}-01` };
  await weir.send(queue, 1, { headers });
  const [message] = await weir.pop(queue);
  assert.deepEqual(message?.headers, headers);
});
