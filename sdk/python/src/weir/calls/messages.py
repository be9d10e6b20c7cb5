"""Calls that send and receive."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import repeat
from typing import Any, NamedTuple, TypeVar

from weir.calls.call import (
    Arg,
    Call,
    Query,
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
    octets,
    parse_time,
    queue_path,
    write,
    written,
)
from weir.types import (
    Duration,
    Json,
    Message,
    Outgoing,
    Standing,
    StoredMessage,
    span,
)

T = TypeVar("T")


class Text(NamedTuple):
    """A message as it is written into a statement."""

    payload: str
    key: str | None
    headers: str | None
    dedup_key: str | None

    @property
    def size(self) -> int:
        """About how many bytes it has."""
        return len(self.payload) + len(self.headers or "") + len(self.key or "")


def text_of(message: Outgoing[Any]) -> Text:
    """Write a message, whose payload is JSON."""
    headers = None if message.headers is None else json_text(message.headers)
    return Text(json_text(message.payload), message.key, headers, message.dedup_key)


def _send_one(queue: str, text: Text, delay: Duration | None, priority: int | None) -> Query:
    args = [
        Arg("queue_name", "text", queue),
        Arg("payload", "json", text.payload),
        Arg("key", "text", text.key),
        Arg("headers", "jsonb", text.headers),
        Arg("delay", "interval", interval(delay)),
        Arg("dedup_key", "text", text.dedup_key),
        Arg("priority", "int", priority),
    ]
    return write("send", args)


def _send_many(queue: str, texts: Sequence[Text], delay: Duration | None, priority: int | None) -> Query:

    def optional(values: list[str | None]) -> list[str | None] | None:
        return values if any(value is not None for value in values) else None

    args = [
        Arg("queue_name", "text", queue),
        Arg("payloads", "json[]", [text.payload for text in texts]),
        Arg("keys", "text[]", optional([text.key for text in texts])),
        Arg("headers", "jsonb[]", optional([text.headers for text in texts])),
        Arg("delay", "interval", interval(delay)),
        Arg("dedup_keys", "text[]", optional([text.dedup_key for text in texts])),
        Arg("priority", "int", priority),
    ]
    return write("send_batch", args)


def send_texts(queue: str, texts: Sequence[Text], *, delay: Duration | None, priority: int | None) -> Call[list[int]]:
    """Send messages that are written already; there is no request for that."""

    def query() -> Query:
        one = len(texts) == 1
        return _send_one(queue, texts[0], delay, priority) if one else _send_many(queue, texts, delay, priority)

    return Call("send_batch", query, column, lambda: None, column, False)


def send(queue: str, message: Outgoing[Any], *, delay: Duration | None, priority: int | None) -> Call[int]:
    def query() -> Query:
        return _send_one(queue, text_of(message), delay, priority)

    def request() -> Request:
        return Request("POST", f"{queue_path(queue)}/messages", {"messages": [_item(message, delay, priority)]})

    return Call("send", query, first, request, field("ids", 0), message.dedup_key is not None)


def send_batch(
    queue: str, messages: Sequence[Outgoing[Any]], *, delay: Duration | None, priority: int | None
) -> Call[list[int]]:
    def query() -> Query:
        return _send_many(queue, [text_of(m) for m in messages], delay, priority)

    def request() -> Request:
        items = [_item(m, delay, priority) for m in messages]
        return Request("POST", f"{queue_path(queue)}/messages", {"messages": items})

    once = all(m.dedup_key is not None for m in messages)
    return Call("send_batch", query, column, request, field("ids"), once)


def _item(m: Outgoing[Any], delay: Duration | None, priority: int | None) -> dict[str, Json]:
    """Return a message as a request has it."""
    return {"payload": m.payload} | fields(
        key=m.key, headers=m.headers, dedup_key=m.dedup_key, delay_ms=ms(delay), priority=priority
    )


# Payloads and headers come as one JSON list: that is read several times faster than a text each.
_RECORD = (
    "coalesce(claim_id, 0), n, first_id, ids, attempt, attempts, keys, "
    "'[' || array_to_string(payloads, ',', 'null') || ']', to_json(headers)::text, enqueued_at, enqueued_times, bodies"
)


def _records(queue: str, group: str) -> Callable[[list[Row]], list[Message[Any]]]:
    """Take records apart: several messages of one claim in one row, where what they share is said once."""

    def read(rows: list[Row]) -> list[Message[Any]]:
        messages: list[Message[Any]] = []
        for claim, n, first_id, ids, attempt, attempts, keys, payloads, headers, enqueued, times, bodies in rows:
            each: Iterator[tuple[Any, ...]] = zip(
                ids or range(first_id, first_id + n),
                attempts or repeat(attempt, n),
                keys or repeat(None, n),
                loads(payloads),
                loads(headers) or repeat(None, n),
                times or repeat(enqueued, n),
                bodies or repeat(None, n),
                strict=True,
            )
            messages += [
                Message(id, claim, tries, key, payload, header, time, queue, group, body)
                for id, tries, key, payload, header, time, body in each  # noqa: A001
            ]
        return messages

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
                octets(m.get("body")),
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
    pause = 0.0 if wait is None else min(span(wait).total_seconds(), 60.0)

    def query() -> Query:
        args = [
            Arg("queue_name", "text", queue),
            Arg("group_name", "text", group),
            Arg("max", "int", max),
            Arg("lease", "interval", interval(lease)),
        ]
        return write("receive_records", args, _RECORD)

    def request() -> Request:
        body = fields(max=max, lease_ms=ms(lease), wait_ms=round(pause * 1000) or None)
        return Request("POST", f"{group_path(queue, group)}/receive", body, wait=pause)

    return Call("receive", query, _records(queue, group), request, _http_messages(queue, group), False)


def pop(queue: str, *, group: str, max: int | None) -> Call[list[Message[Any]]]:
    args = [Arg("queue_name", "text", queue), Arg("group_name", "text", group), Arg("max", "int", max)]
    sql, params = write("pop_records", args, _RECORD)
    request = Request("POST", f"{group_path(queue, group)}/pop", fields(max=max))
    return written("pop", sql, params, _records(queue, group), request, _http_messages(queue, group), False)


def peek(queue: str, *, group: str, max: int | None) -> Call[list[Message[Any]]]:
    args = [Arg("queue_name", "text", queue), Arg("group_name", "text", group), Arg("max", "int", max)]
    sql, params = write("peek_records", args, _RECORD)
    request = Request("GET", f"{group_path(queue, group)}/peek", query=fields(max=max))
    return written("peek", sql, params, _records(queue, group), request, _http_messages(queue, group), True)


_STORED = (
    "id, key, payload_text, headers::text, enqueued_at, states::text, details::text, "
    "case when payload_text is null then body end"
)


def _standing(known: dict[str, Any]) -> Standing:
    times: dict[str, Any] = {name: parse_time(known[name]) for name in ("since", "until") if name in known}
    return Standing(**(known | times))


def _standings(details: dict[str, Any]) -> dict[str, Standing]:
    return {group: _standing(known) for group, known in details.items()}


def _stored(row: Row) -> StoredMessage:
    id, key, payload, headers, enqueued, states, details, body = row  # noqa: A001
    standings = _standings(loads(details))
    return StoredMessage(id, key, loads(payload), loads(headers), enqueued, loads(states), standings, body)


def _http_stored(m: Any) -> StoredMessage:
    at, standings, body = parse_time(m["enqueued_at"]), _standings(m["details"]), octets(m.get("body"))
    return StoredMessage(m["id"], m.get("key"), m.get("payload"), m.get("headers"), at, m["states"], standings, body)


def get(queue: str, id: int) -> Call[StoredMessage | None]:
    sql, params = write("get", [Arg("queue_name", "text", queue), Arg("id", "bigint", id)], _STORED)

    def rows(found: list[Row]) -> StoredMessage | None:
        return _stored(found[0]) if found else None

    return written("get", sql, params, rows, Request("GET", f"{queue_path(queue)}/messages/{id}"), _http_stored, True)


def get_many(queue: str, ids: Sequence[int]) -> Call[list[StoredMessage]]:
    args = [Arg("queue_name", "text", queue), Arg("ids", "bigint[]", list(ids))]
    sql, params = write("get_many", args, _STORED)

    def rows(found: list[Row]) -> list[StoredMessage]:
        return [_stored(row) for row in found]

    def answer(given: Any) -> list[StoredMessage]:
        return [_http_stored(m) for m in given["messages"]]

    request = Request("GET", f"{queue_path(queue)}/messages", query={"id": list(ids)})
    return written("get_many", sql, params, rows, request, answer, True)
