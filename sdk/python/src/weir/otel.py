"""Traces of OpenTelemetry, by its conventions for messaging. The extra ``otel`` installs what this needs.

    tracing = weir.otel.Tracing()
    client = weir.connect(dsn, hooks=tracing)

Each send of the client is a span of kind producer, whose context travels in the headers ``traceparent`` and
``tracestate`` of its messages; those that have a ``traceparent`` keep it. Each handler of the client's workers is a
span of kind consumer, linked to that context. Around messages of a consumer: ``with tracing.processing(message)``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from opentelemetry import trace
from opentelemetry.trace import Link, SpanKind, StatusCode, TracerProvider
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from weir.errors import RetryAfter, Snooze
from weir.hooks import Sending
from weir.types import Message, Outgoing

__all__ = ["Tracing"]

_PARENT = "traceparent"


class Tracing:
    """Hooks that trace sends and handlers."""

    def __init__(self, provider: TracerProvider | None = None) -> None:
        """Take the provider of tracers: the global one unless given."""
        self._tracer = trace.get_tracer("weir", tracer_provider=provider)
        self._w3c = TraceContextTextMapPropagator()

    @contextmanager
    def sending(self, destination: str, messages: list[Outgoing[Any]]) -> Iterator[Sending]:
        """Trace a send, and have its messages carry the span's context."""
        attributes = _attributes("send", destination)
        if len(messages) != 1:
            attributes["messaging.batch.message_count"] = len(messages)
        with self._tracer.start_as_current_span(
            f"send {destination}", kind=SpanKind.PRODUCER, attributes=attributes
        ) as span:
            carried: dict[str, str] = {}
            self._w3c.inject(carried)
            sending = Sending([_carrying(message, carried) for message in messages])
            yield sending
            if sending.ids is not None and len(sending.ids) == 1:
                span.set_attribute("messaging.message.id", str(sending.ids[0]))

    @contextmanager
    def processing(self, message: Message[Any]) -> Iterator[None]:
        """Trace the handling of a message, linked to the span that sent it."""
        attributes = _attributes("process", message.queue) | {
            "messaging.consumer.group.name": message.group,
            "messaging.message.id": str(message.id),
            "weir.attempt": message.attempt,
        }
        sent = trace.get_current_span(self._w3c.extract(_texts(message))).get_span_context()
        with self._tracer.start_as_current_span(
            f"process {message.queue}",
            kind=SpanKind.CONSUMER,
            attributes=attributes,
            links=[Link(sent)] if sent.is_valid else [],
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            try:
                yield
            except (RetryAfter, Snooze):
                raise
            except BaseException as error:
                span.record_exception(error)
                span.set_status(StatusCode.ERROR, str(error))
                span.set_attribute("error.type", type(error).__qualname__)
                raise


def _attributes(operation: str, destination: str) -> dict[str, str | int]:
    return {
        "messaging.system": "weir",
        "messaging.operation.name": operation,
        "messaging.operation.type": operation,
        "messaging.destination.name": destination,
    }


def _carrying(message: Outgoing[Any], carried: dict[str, str]) -> Outgoing[Any]:
    headers = message.headers or {}
    return message if _PARENT in headers else replace(message, headers={**headers, **carried})


def _texts(message: Message[Any]) -> dict[str, str]:
    return {name: value for name, value in (message.headers or {}).items() if isinstance(value, str)}
