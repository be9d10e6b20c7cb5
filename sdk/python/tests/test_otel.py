"""Traces: of sends and of handlers, linked through the headers of messages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

import weir
import weir.otel
from weir import testing


@pytest.fixture
def exporter() -> InMemorySpanExporter:
    return InMemorySpanExporter()


@pytest.fixture
def tracing(exporter: InMemorySpanExporter) -> weir.otel.Tracing:
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return weir.otel.Tracing(provider)


def spans(exporter: InMemorySpanExporter, name: str) -> list[ReadableSpan]:
    return [span for span in exporter.get_finished_spans() if span.name == name]


def quiet(*_: Any) -> None:
    """Tell nobody of failures that a test wants."""


def attributes(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


SENDS: dict[str, Callable[[weir.Client, str], Any]] = {
    "send": lambda client, queue: client.send(queue, 1, headers={"a": 1}),
    "send_batch": lambda client, queue: client.send_batch(queue, [weir.Outgoing(1, headers={"a": 1})]),
    "publish": lambda client, queue: client.publish(queue, 1, headers={"a": 1}),
    "enqueue_batch": lambda client, queue: client.enqueue_batch(queue, [{"kind": "k", "headers": {"a": 1}}]),
    "start_chain": lambda client, queue: client.start_chain(queue, [weir.Step("k", headers={"a": 1})]),
}
ID_UNKNOWN = {"publish", "start_chain"}


@pytest.mark.parametrize("name", SENDS)
def test_a_handlers_span_is_linked_to_that_of_the_send(
    dsn: str, queue: str, exporter: InMemorySpanExporter, tracing: weir.otel.Tracing, name: str
) -> None:
    with weir.connect(dsn, hooks=tracing) as client:
        client.bind(queue, queue)
        SENDS[name](client, queue)
        got: list[weir.Message[Any]] = []
        testing.run_until_empty(weir.Worker(client, queue, got.append))
    [sent], [processed] = spans(exporter, f"send {queue}"), spans(exporter, f"process {queue}")
    assert (sent.kind, processed.kind) == (SpanKind.PRODUCER, SpanKind.CONSUMER)
    assert [link.context.span_id for link in processed.links] == [sent.context.span_id]
    assert [link.context.trace_id for link in processed.links] == [sent.context.trace_id]
    assert attributes(processed) == {
        "messaging.system": "weir",
        "messaging.operation.name": "process",
        "messaging.operation.type": "process",
        "messaging.destination.name": queue,
        "messaging.consumer.group.name": "default",
        "messaging.message.id": str(got[0].id),
        "weir.attempt": 1,
    }
    if name not in ID_UNKNOWN:
        assert attributes(sent)["messaging.message.id"] == str(got[0].id)
    assert got[0].headers is not None
    assert got[0].headers["a"] == 1


async def test_a_task_has_its_span_and_a_batch_one_for_all(
    dsn: str, queue: str, exporter: InMemorySpanExporter, tracing: weir.otel.Tracing, client: weir.Client
) -> None:
    async def handle(message: weir.Message[int]) -> None:
        if message.payload == 1:
            raise weir.Reject("not this one")

    async with weir.connect_async(dsn, hooks=tracing) as aclient:
        async with aclient.transaction() as tx:
            await tx.send_batch(queue, [0, 1, 2])
        worker = weir.AsyncWorker(aclient, queue, handle, on_error=quiet)
        async with worker:
            while len(spans(exporter, f"process {queue}")) < 3:
                await worker.client.version()
    [sent] = spans(exporter, f"send {queue}")
    processed = spans(exporter, f"process {queue}")
    assert attributes(sent)["messaging.batch.message_count"] == 3
    assert {link.context.span_id for span in processed for link in span.links} == {sent.context.span_id}
    [failed] = [span for span in processed if span.status.status_code is StatusCode.ERROR]
    assert (failed.status.description, attributes(failed)["error.type"]) == ("not this one", "Reject")


def test_a_message_keeps_the_context_that_it_was_given(
    dsn: str, queue: str, tracing: weir.otel.Tracing, client: weir.Client
) -> None:
    given = {"traceparent": "00-" + "a" * 32 + "-" + "b" * 16 + "-01"}
    with weir.connect(dsn, hooks=tracing) as traced, psycopg.connect(dsn) as conn:
        traced.in_(conn).send(queue, 1, headers=given)
        conn.commit()
    [message] = client.pop(queue)
    assert message.headers == given


def test_a_message_that_was_sent_without_a_trace_is_processed_without_a_link(
    dsn: str, queue: str, exporter: InMemorySpanExporter, tracing: weir.otel.Tracing, client: weir.Client
) -> None:
    client.send(queue, 1)
    client.send(queue, 1, headers={"traceparent": 7})
    with weir.connect(dsn, hooks=tracing) as traced:
        testing.run_until_empty(weir.Worker(traced, queue, quiet))
    assert [list(span.links) for span in spans(exporter, f"process {queue}")] == [[], []]
