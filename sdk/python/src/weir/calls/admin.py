"""Calls about dead letters, queues, groups and the engine."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, TypeVar
from urllib.parse import quote

from weir.calls.call import (
    Arg,
    Call,
    Query,
    Request,
    Row,
    field,
    fields,
    first,
    group_path,
    interval,
    loads,
    nothing,
    octets,
    parse_time,
    queue_path,
    write,
    written,
)
from weir.types import (
    DeadLetter,
    Duration,
    Finding,
    Group,
    GroupStats,
    Log,
    Queue,
    millis,
    span,
)

T = TypeVar("T")


def dead_letters(
    queue: str,
    *,
    group: str,
    max: int | None,
    after: int | None,
) -> Call[list[DeadLetter]]:
    sql, params = write(
        "dead_letters",
        [
            Arg("queue_name", "text", queue),
            Arg("group_name", "text", group),
            Arg("max", "int", max),
            Arg("after", "bigint", after),
        ],
        "id, key, payload_text, headers::text, enqueued_at, attempts, died_at, reason, "
        "case when payload_text is null then body end",
    )

    def rows(found: list[Row]) -> list[DeadLetter]:
        return [
            DeadLetter(id, key, loads(payload), loads(headers), enqueued, attempts, died, reason, body)
            for id, key, payload, headers, enqueued, attempts, died, reason, body in found  # noqa: A001
        ]

    def answer(found: Any) -> list[DeadLetter]:
        return [
            DeadLetter(
                d["id"],
                d.get("key"),
                d.get("payload"),
                d.get("headers"),
                parse_time(d["enqueued_at"]),
                d["attempts"],
                parse_time(d["died_at"]),
                d.get("reason"),
                octets(d.get("body")),
            )
            for d in found["dead_letters"]
        ]

    request = Request("GET", f"{group_path(queue, group)}/dead_letters", query=fields(max=max, after=after))
    return written("dead_letters", sql, params, rows, request, answer, True)


def redrive(queue: str, *, group: str, ids: Sequence[int] | None) -> Call[int]:
    return _of_dead_letters("redrive", "redriven", queue, group, ids)


def discard(queue: str, *, group: str, ids: Sequence[int] | None) -> Call[int]:
    return _of_dead_letters("discard", "discarded", queue, group, ids)


def _of_dead_letters(name: str, result: str, queue: str, group: str, ids: Sequence[int] | None) -> Call[int]:
    given = None if ids is None else list(ids)
    args = [Arg("queue_name", "text", queue), Arg("group_name", "text", group), Arg("ids", "bigint[]", given)]
    sql, params = write(name, args)
    body = {"all": True} if given is None else {"ids": given}
    request = Request("POST", f"{group_path(queue, group)}/{name}", body)
    return written(name, sql, params, first, request, field(result), False)


# Settings that are durations: intervals in SQL, `<name>ms` over HTTP.
_DURATIONS = {
    *("ttl", "retention", "dedup_window", "aging", "job_retention"),
    *("backoff_min", "backoff_max", "rate_period"),
}


def _settings(settings: Mapping[str, Any]) -> tuple[list[Arg], dict[str, Any]]:
    args: list[Arg] = []
    body: dict[str, Any] = {}
    for name, value in settings.items():
        if value is None:
            continue
        if name in _DURATIONS:
            args.append(Arg(name, "interval", span(value)))
            body[f"{name}_ms"] = millis(value)
        elif isinstance(value, datetime):
            args.append(Arg(name, "text", value.isoformat()))
            body[name] = value.isoformat()
        else:
            args.append(Arg(name, _type_of(name, value), value))
            body[name] = value
    return args, body


def _type_of(name: str, value: Any) -> str:
    if name in {"segment_bytes", "claims_bytes", "backlog_max"}:
        return "bigint"
    return {bool: "bool", int: "int", str: "text"}[type(value)]


def create_queue(queue: str, settings: Mapping[str, Any]) -> Call[bool]:
    args, body = _settings(settings)
    sql, params = write("create_queue", [Arg("queue_name", "text", queue), *args])
    return written("create_queue", sql, params, first, Request("PUT", queue_path(queue), body, makes=True), bool, False)


def create_group(queue: str, group: str, settings: Mapping[str, Any]) -> Call[None]:
    args, body = _settings(settings)
    names = [Arg("queue_name", "text", queue), Arg("group_name", "text", group)]
    sql, params = write("create_group", [*names, *args])
    request = Request("PUT", group_path(queue, group), body)
    return written("create_group", sql, params, nothing, request, nothing, False)


def configure_queue(queue: str, settings: Mapping[str, Any]) -> Call[None]:
    args, body = _settings(settings)
    sql, params = write("configure_queue", [Arg("queue_name", "text", queue), *args])
    return written("configure_queue", sql, params, nothing, Request("PATCH", queue_path(queue), body), nothing, True)


def rename_queue(queue: str, new_name: str) -> Call[None]:
    args = [Arg("queue_name", "text", queue), Arg("new_name", "text", new_name)]
    sql, params = write("rename_queue", args)
    request = Request("POST", f"{queue_path(queue)}/rename", {"new_name": new_name})
    return written("rename_queue", sql, params, nothing, request, nothing, False)


def move_queue(queue: str, log: str) -> Call[None]:
    args = [Arg("queue_name", "text", queue), Arg("log_name", "text", log)]
    sql, params = write("move_queue", args)
    request = Request("POST", f"{queue_path(queue)}/move", {"log": log})
    return written("move_queue", sql, params, nothing, request, nothing, True)


_QUEUE = (
    "queue_name, lanes, message_bytes_max, created_at, paused, priorities, aging, ttl, dedup_window, "
    "coalesce(backlog_max, 0), job_retention, log, moving_from"
)


def list_queues() -> Call[list[Queue]]:
    sql, params = write("list_queues", [], _QUEUE)

    def answer(found: Any) -> list[Queue]:
        return [
            Queue(
                q["queue"],
                q["lanes"],
                q["message_bytes_max"],
                parse_time(q["created_at"]),
                q["paused"],
                q["priorities"],
                timedelta(milliseconds=q["aging_ms"]),
                timedelta(milliseconds=q["ttl_ms"]),
                timedelta(milliseconds=q["dedup_window_ms"]),
                q["backlog_max"],
                timedelta(milliseconds=q["job_retention_ms"]),
                q["log"],
                q.get("moving_from"),
            )
            for q in found["queues"]
        ]

    def rows(found: list[Row]) -> list[Queue]:
        return [Queue(*row) for row in found]

    return written("list_queues", sql, params, rows, Request("GET", "/v1/queues"), answer, True)


def create_log(log: str, settings: Mapping[str, Any]) -> Call[bool]:
    args, body = _settings(settings)
    sql, params = write("create_log", [Arg("log_name", "text", log), *args])
    return written("create_log", sql, params, first, Request("PUT", _log_path(log), body, makes=True), bool, False)


def configure_log(log: str, settings: Mapping[str, Any]) -> Call[None]:
    args, body = _settings(settings)
    sql, params = write("configure_log", [Arg("log_name", "text", log), *args])
    return written("configure_log", sql, params, nothing, Request("PATCH", _log_path(log), body), nothing, True)


def drop_log(log: str) -> Call[None]:
    sql, params = write("drop_log", [Arg("log_name", "text", log)])
    return written("drop_log", sql, params, nothing, Request("DELETE", _log_path(log)), nothing, False)


def _log_path(log: str) -> str:
    return f"/v1/logs/{quote(log, safe='')}"


def list_logs() -> Call[list[Log]]:
    columns = "log_name, unlogged, segment_bytes, claims_bytes, retention, queues, bytes, created_at"
    sql, params = write("list_logs", [], columns)

    def answer(found: Any) -> list[Log]:
        return [
            Log(
                log["log"],
                log["unlogged"],
                log["segment_bytes"],
                log["claims_bytes"],
                timedelta(milliseconds=log["retention_ms"]),
                log["queues"],
                log["bytes"],
                parse_time(log["created_at"]),
            )
            for log in found["logs"]
        ]

    return written(
        "list_logs", sql, params, lambda rows: [Log(*row) for row in rows], Request("GET", "/v1/logs"), answer, True
    )


def drop_queue(queue: str) -> Call[None]:
    sql, params = write("drop_queue", [Arg("queue_name", "text", queue)])
    return written("drop_queue", sql, params, nothing, Request("DELETE", queue_path(queue)), nothing, False)


def drop_group(queue: str, group: str) -> Call[None]:
    sql, params = write("drop_group", [Arg("queue_name", "text", queue), Arg("group_name", "text", group)])
    return written("drop_group", sql, params, nothing, Request("DELETE", group_path(queue, group)), nothing, False)


def configure_group(queue: str, group: str, settings: Mapping[str, Any]) -> Call[None]:
    args, body = _settings(settings)
    names = [Arg("queue_name", "text", queue), Arg("group_name", "text", group)]
    sql, params = write("configure_group", [*names, *args])
    request = Request("PATCH", group_path(queue, group), body)
    return written("configure_group", sql, params, nothing, request, nothing, True)


_GROUP = (
    "group_name, ordered, max_attempts, backoff_min, backoff_max, created_at, paused, coalesce(concurrency_max, 0), "
    "coalesce(rate_max, 0), rate_period, coalesce(key_concurrency_max, 0), fair"
)


def list_groups(queue: str) -> Call[list[Group]]:
    sql, params = write("list_groups", [Arg("queue_name", "text", queue)], _GROUP)

    def answer(found: Any) -> list[Group]:
        return [
            Group(
                g["group"],
                g["ordered"],
                g["max_attempts"],
                timedelta(milliseconds=g["backoff_min_ms"]),
                timedelta(milliseconds=g["backoff_max_ms"]),
                parse_time(g["created_at"]),
                g["paused"],
                g["concurrency_max"],
                g["rate_max"],
                timedelta(milliseconds=g["rate_period_ms"]),
                g["key_concurrency_max"],
                g["fair"],
            )
            for g in found["groups"]
        ]

    request = Request("GET", f"{queue_path(queue)}/groups")
    return written("list_groups", sql, params, lambda rows: [Group(*row) for row in rows], request, answer, True)


def seek(queue: str, group: str, position: str) -> Call[None]:
    args = [
        Arg("queue_name", "text", queue),
        Arg("group_name", "text", group),
        Arg("position", "text", position),
    ]
    sql, params = write("seek", args)
    request = Request("POST", f"{group_path(queue, group)}/seek", {"position": position})
    return written("seek", sql, params, nothing, request, nothing, False)


def pause(queue: str, group: str | None) -> Call[None]:
    return _control("pause", queue, group, nothing, nothing, repeatable=True)


def resume(queue: str, group: str | None) -> Call[None]:
    return _control("resume", queue, group, nothing, nothing, repeatable=True)


def purge(queue: str, group: str | None) -> Call[int]:
    return _control("purge", queue, group, first, field("purged"), repeatable=False)


def _control(
    name: str,
    queue: str,
    group: str | None,
    rows: Callable[[list[Row]], T],
    answer: Callable[[Any], T],
    *,
    repeatable: bool,
) -> Call[T]:
    sql, params = write(name, [Arg("queue_name", "text", queue), Arg("group_name", "text", group)])
    path = queue_path(queue) if group is None else group_path(queue, group)
    return written(name, sql, params, rows, Request("POST", f"{path}/{name}"), answer, repeatable)


_STATS = (
    "queue_name, group_name, waiting, expired, claimed, delayed, parked, dead, coalesce(oldest_age, '0'), exact, "
    "sent_rate, delivered_rate, delivered_at, expiries, hot_key, hot_key_share, held_by, lanes, log, held_segments, "
    "segments, bytes, blocked_by, blocker_pid, blocker_age, blocker_query"
)


def _http_stats(g: dict[str, Any]) -> GroupStats:
    at, blocker_age = g["delivered_at"], g["blocker_age_s"]
    read: dict[str, Any] = {
        "oldest_age": timedelta(seconds=g["oldest_age_s"]),
        "delivered_at": None if at is None else parse_time(at),
        "blocker_age": None if blocker_age is None else timedelta(seconds=blocker_age),
    }
    return GroupStats(**{f.name: read[f.name] if f.name in read else g[f.name] for f in dataclasses.fields(GroupStats)})


def stats(queue: str | None) -> Call[list[GroupStats]]:
    sql, params = write("stats", [Arg("queue_name", "text", queue)], _STATS)

    def answer(found: Any) -> list[GroupStats]:
        return [_http_stats(g) for g in found["groups"]]

    request = Request("GET", "/v1/stats", query=fields(queue=queue))
    return written("stats", sql, params, lambda rows: [GroupStats(*row) for row in rows], request, answer, True)


def doctor() -> Call[list[Finding]]:
    columns = "severity, finding, queue_name, group_name, value, message, coalesce(cure, '')"
    sql, params = write("doctor", [], columns)
    names = ("severity", "finding", "queue", "group", "value", "message", "cure")

    def answer(found: Any) -> list[Finding]:
        return [Finding(*(f.get(name) for name in names)) for f in found["findings"]]

    def rows(found: list[Row]) -> list[Finding]:
        return [Finding(*row) for row in found]

    return written("doctor", sql, params, rows, Request("GET", "/v1/doctor"), answer, True)


def maintain(every: Duration | None) -> Call[int]:
    def query() -> Query:
        return "call weir.maintain(%s::interval)", [interval(0 if every is None else every)]

    return Call("maintain", query, first, lambda: None, int, True, commits=True)


def version() -> Call[str]:
    sql, params = write("version", [])
    return written("version", sql, params, first, Request("GET", "/v1/version"), field("engine"), True)


def mark_waiting(queue: str) -> Call[str]:
    """Say that somebody is about to wait; the result is the channel that the next send notifies."""
    sql, params = write("mark_waiting", [Arg("queue_name", "text", queue)])
    return written("mark_waiting", sql, params, first, None, str, True)
