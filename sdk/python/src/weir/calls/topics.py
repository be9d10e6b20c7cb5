"""Calls about topics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from weir.calls.call import (
    Arg,
    Call,
    Request,
    Row,
    column,
    field,
    fields,
    first,
    interval,
    json_text,
    ms,
    nothing,
    parse_time,
    write,
    written,
)
from weir.types import Binding, Duration, Json, Published


def publish(
    topic: str,
    payload: Json,
    *,
    key: str | None,
    headers: Mapping[str, Json] | None,
    delay: Duration | None,
    dedup_key: str | None,
    priority: int | None,
) -> Call[list[Published]]:
    sql, params = write(
        "publish",
        [
            Arg("topic", "text", topic),
            Arg("payload", "json", json_text(payload)),
            Arg("key", "text", key),
            Arg("headers", "jsonb", None if headers is None else json_text(headers)),
            Arg("delay", "interval", interval(delay)),
            Arg("dedup_key", "text", dedup_key),
            Arg("priority", "int", priority),
        ],
        "queue_name, id" if dedup_key is None else "queue_name, id, repeated",
    )
    message = {"payload": payload} | fields(
        key=key, headers=headers, delay_ms=ms(delay), dedup_key=dedup_key, priority=priority
    )
    request = Request("POST", f"/v1/topics/{quote(topic, safe='')}/messages", {"messages": [message]})
    return written(
        "publish",
        sql,
        params,
        lambda rows: [Published(*row) for row in rows],
        request,
        lambda answer: [
            Published(sent["queue"], sent["id"], sent.get("repeated", False)) for sent in answer["messages"][0]["sent"]
        ],
        dedup_key is not None,
    )


def bind(pattern: str, queue: str) -> Call[None]:
    sql, params = write("bind", _binding(pattern, queue))
    return written("bind", sql, params, nothing, Request("PUT", _binding_path(pattern, queue)), nothing, True)


def unbind(pattern: str, queue: str) -> Call[bool]:
    sql, params = write("unbind", _binding(pattern, queue))
    request = Request("DELETE", _binding_path(pattern, queue))
    return written("unbind", sql, params, first, request, field("unbound"), False)


def _binding(pattern: str, queue: str) -> list[Arg]:
    return [Arg("pattern", "text", pattern), Arg("queue_name", "text", queue)]


def _binding_path(pattern: str, queue: str) -> str:
    return f"/v1/topics/{quote(pattern, safe='')}/queues/{quote(queue, safe='')}"


def route(topic: str) -> Call[list[str]]:
    sql, params = write("route", [Arg("topic", "text", topic)])
    request = Request("GET", f"/v1/topics/{quote(topic, safe='')}/route")
    return written("route", sql, params, column, request, field("queues"), True)


def list_bindings() -> Call[list[Binding]]:
    sql, params = write("list_bindings", [], "pattern, queue_name, created_at")

    def rows(found: list[Row]) -> list[Binding]:
        return [Binding(*row) for row in found]

    def answer(found: Any) -> list[Binding]:
        return [Binding(b["pattern"], b["queue"], parse_time(b["created_at"])) for b in found["bindings"]]

    return written("list_bindings", sql, params, rows, Request("GET", "/v1/topics"), answer, True)
