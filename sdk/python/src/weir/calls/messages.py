"""Calls that send and receive."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import repeat
from typing import Any, TypeVar

from weir.calls.call import (
    Arg,
    Call,
    OwnCall,
    Request,
    Row,
    column,
    field,
    fields,
    first,
    group_path,
    interval,
    json_text,
    loads,
    ms,
    parse_time,
    queue_path,
    write,
)
from weir.types import (
    Duration,
    Json,
    Message,
    Outgoing,
    StoredMessage,
    span,
)

T = TypeVar("T")


_SEND_OWN = "select {function}(%s::jsonb, %s::text, %s::jsonb, %s::interval, %s::int)"
_SEND_BATCH_OWN = "select unnest({function}(%s::jsonb[], %s::text[], %s::jsonb[], %s::interval, %s::int))"


def _own(verb: str, sql: str, queue: str, args: Sequence[Arg]) -> OwnCall | None:
    """Return a send through the queue's own function, which takes all arguments by place, and no dedup keys."""
    *given, dedup, priority = args
    if dedup.value is not None:
        return None
    return OwnCall(queue, verb, sql, [arg.value for arg in (*given, priority)])


def send(
    queue: str,
    payload: Json,
    *,
    key: str | None,
    headers: Mapping[str, Json] | None,
    delay: Duration | None,
    dedup_key: str | None,
    priority: int | None,
) -> Call[int]:
    args = [
        Arg("payload", "jsonb", json_text(payload)),
        Arg("key", "text", key),
        Arg("headers", "jsonb", None if headers is None else json_text(headers)),
        Arg("delay", "interval", interval(delay)),
        Arg("dedup_key", "text", dedup_key),
        Arg("priority", "int", priority),
    ]
    sql, params = write("send", [Arg("queue_name", "text", queue), *args])
    own = _own("send", _SEND_OWN, queue, args)
    message = {"payload": payload} | fields(
        key=key, headers=headers, delay_ms=ms(delay), dedup_key=dedup_key, priority=priority
    )
    request = Request("POST", f"{queue_path(queue)}/messages", {"messages": [message]})
    return Call("send", sql, params, first, request, field("ids", 0), dedup_key is not None, own)


def send_batch(
    queue: str, messages: Sequence[Outgoing[Any]], *, delay: Duration | None, priority: int | None
) -> Call[list[int]]:
    def optional(values: list[Any]) -> list[Any] | None:
        return values if any(value is not None for value in values) else None

    args = [
        Arg("payloads", "jsonb[]", [json_text(m.payload) for m in messages]),
        Arg("keys", "text[]", optional([m.key for m in messages])),
        Arg("headers", "jsonb[]", optional([None if m.headers is None else json_text(m.headers) for m in messages])),
        Arg("delay", "interval", interval(delay)),
        Arg("dedup_keys", "text[]", optional([m.dedup_key for m in messages])),
        Arg("priority", "int", priority),
    ]
    sql, params = write("send_batch", [Arg("queue_name", "text", queue), *args])
    own = _own("send_batch", _SEND_BATCH_OWN, queue, args)
    shared = fields(delay_ms=ms(delay), priority=priority)
    items = [
        {"payload": m.payload} | fields(key=m.key, headers=m.headers, dedup_key=m.dedup_key) | shared for m in messages
    ]
    request = Request("POST", f"{queue_path(queue)}/messages", {"messages": items})
    once = all(m.dedup_key is not None for m in messages)
    return Call("send_batch", sql, params, column, request, field("ids"), once, own)


# Payloads and headers come as one JSON list: that is read several times faster than a text each.
_RECORD = (
    "claim_id, n, first_id, ids, attempt, attempts, keys, to_json(payloads)::text, to_json(headers)::text, "
    "enqueued_at, enqueued_times"
)
_RECEIVE_OWN = f"select {_RECORD} from unnest({{function}}(%s::text, %s::int, %s::interval))"  # noqa: S608
_MESSAGE = "id, coalesce(claim_id, 0), attempt, key, payload::text, headers::text, enqueued_at"


def _records(queue: str, group: str) -> Callable[[list[Row]], list[Message[Any]]]:
    """Take records apart: several messages of one claim in one row, where what they share is said once."""

    def read(rows: list[Row]) -> list[Message[Any]]:
        messages: list[Message[Any]] = []
        for claim, n, first_id, ids, attempt, attempts, keys, payloads, headers, enqueued, times in rows:
            each: Iterator[tuple[Any, ...]] = zip(
                ids or range(first_id, first_id + n),
                attempts or repeat(attempt, n),
                keys or repeat(None, n),
                loads(payloads),
                loads(headers) or repeat(None, n),
                times or repeat(enqueued, n),
                strict=True,
            )
            messages += [
                Message(id, claim, tries, key, payload, header, time, queue, group)
                for id, tries, key, payload, header, time in each  # noqa: A001
            ]
        return messages

    return read


def _messages(queue: str, group: str) -> Callable[[list[Row]], list[Message[Any]]]:
    def read(rows: list[Row]) -> list[Message[Any]]:
        return [
            Message(id, claim, attempt, key, loads(payload), loads(headers), enqueued, queue, group)
            for id, claim, attempt, key, payload, headers, enqueued in rows  # noqa: A001
        ]

    return read


def _http_messages(queue: str, group: str) -> Callable[[Any], list[Message[Any]]]:
    def read(answer: Any) -> list[Message[Any]]:
        return [
            Message(
                m["id"],
                m.get("claim_id", 0),
                m["attempt"],
                m.get("key"),
                m.get("payload"),
                m.get("headers"),
                parse_time(m["enqueued_at"]),
                queue,
                group,
            )
            for m in answer["messages"]
        ]

    return read


def receive(
    queue: str,
    *,
    group: str,
    max: int | None,
    lease: Duration | None,
    wait: Duration | None,
) -> Call[list[Message[Any]]]:
    args = [
        Arg("group_name", "text", group),
        Arg("max", "int", max),
        Arg("lease", "interval", interval(lease)),
    ]
    sql, params = write("receive_records", [Arg("queue_name", "text", queue), *args], _RECORD)
    own = None
    if max is not None and lease is not None:  # the queue's own function has no defaults
        own = OwnCall(queue, "receive", _RECEIVE_OWN, [arg.value for arg in args])
    pause = 0.0 if wait is None else min(span(wait).total_seconds(), 60.0)
    body = fields(max=max, lease_ms=ms(lease), wait_ms=round(pause * 1000) or None)
    request = Request("POST", f"{group_path(queue, group)}/receive", body, wait=pause)
    return Call("receive", sql, params, _records(queue, group), request, _http_messages(queue, group), False, own)


def pop(queue: str, *, group: str, max: int | None) -> Call[list[Message[Any]]]:
    args = [Arg("queue_name", "text", queue), Arg("group_name", "text", group), Arg("max", "int", max)]
    sql, params = write("pop", args, _MESSAGE)
    request = Request("POST", f"{group_path(queue, group)}/pop", fields(max=max))
    return Call("pop", sql, params, _messages(queue, group), request, _http_messages(queue, group), False)


def peek(queue: str, *, group: str, max: int | None) -> Call[list[Message[Any]]]:
    args = [Arg("queue_name", "text", queue), Arg("group_name", "text", group), Arg("max", "int", max)]
    sql, params = write("peek", args, _MESSAGE)
    request = Request("GET", f"{group_path(queue, group)}/peek", query=fields(max=max))
    return Call("peek", sql, params, _messages(queue, group), request, _http_messages(queue, group), True)


_STORED = "id, key, payload::text, headers::text, enqueued_at, states::text"


def _stored(row: Row) -> StoredMessage:
    id, key, payload, headers, enqueued, states = row  # noqa: A001
    return StoredMessage(id, key, loads(payload), loads(headers), enqueued, loads(states))


def _http_stored(m: Any) -> StoredMessage:
    at = parse_time(m["enqueued_at"])
    return StoredMessage(m["id"], m.get("key"), m.get("payload"), m.get("headers"), at, m["states"])


def get(queue: str, id: int) -> Call[StoredMessage | None]:
    sql, params = write("get", [Arg("queue_name", "text", queue), Arg("id", "bigint", id)], _STORED)

    def rows(found: list[Row]) -> StoredMessage | None:
        return _stored(found[0]) if found else None

    return Call("get", sql, params, rows, Request("GET", f"{queue_path(queue)}/messages/{id}"), _http_stored, True)


def get_many(queue: str, ids: Sequence[int]) -> Call[list[StoredMessage]]:
    args = [Arg("queue_name", "text", queue), Arg("ids", "bigint[]", list(ids))]
    sql, params = write("get_many", args, _STORED)

    def rows(found: list[Row]) -> list[StoredMessage]:
        return [_stored(row) for row in found]

    def answer(given: Any) -> list[StoredMessage]:
        return [_http_stored(m) for m in given["messages"]]

    request = Request("GET", f"{queue_path(queue)}/messages", query={"id": list(ids)})
    return Call("get_many", sql, params, rows, request, answer, True)
