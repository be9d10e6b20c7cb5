"""Calls about schedules."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
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
    loads,
    maybe_time,
    ms,
    nothing,
    parse_time,
    write,
    written,
)
from weir.types import Duration, Json, Schedule


def schedule(
    name: str,
    queue: str,
    kind: str,
    args: Json,
    *,
    cron: str | None,
    every: Duration | None,
    time_zone: str | None,
    missed: str | None,
    key: str | None,
    headers: Mapping[str, Json] | None,
    priority: int | None,
    unique: bool | None,
    tracked: bool | None,
) -> Call[datetime]:
    sql, params = write(
        "schedule",
        [
            Arg("name", "text", name),
            Arg("queue_name", "text", queue),
            Arg("kind", "text", kind),
            Arg("args", "jsonb", json_text(args)),
            Arg("cron", "text", cron),
            Arg("every", "interval", interval(every)),
            Arg("time_zone", "text", time_zone),
            Arg("missed", "text", missed),
            Arg("key", "text", key),
            Arg("headers", "jsonb", None if headers is None else json_text(headers)),
            Arg("priority", "int", priority),
            Arg("is_unique", "bool", unique),
            Arg("tracked", "bool", tracked),
        ],
    )
    body = {"queue": queue, "kind": kind, "args": args} | fields(
        cron=cron,
        every_ms=ms(every),
        time_zone=time_zone,
        missed=missed,
        key=key,
        headers=headers,
        priority=priority,
        is_unique=unique,
        tracked=tracked,
    )
    request = Request("PUT", _path(name), body)
    return written("schedule", sql, params, first, request, lambda found: parse_time(found["next_at"]), True)


def _path(name: str) -> str:
    return f"/v1/schedules/{quote(name, safe='')}"


def unschedule(name: str) -> Call[bool]:
    sql, params = write("unschedule", [Arg("name", "text", name)])
    return written("unschedule", sql, params, first, Request("DELETE", _path(name)), field("unscheduled"), False)


def pause_schedule(name: str) -> Call[None]:
    sql, params = write("pause_schedule", [Arg("name", "text", name)])
    return written("pause_schedule", sql, params, nothing, Request("POST", f"{_path(name)}/pause"), nothing, True)


def resume_schedule(name: str) -> Call[None]:
    sql, params = write("resume_schedule", [Arg("name", "text", name)])
    return written("resume_schedule", sql, params, nothing, Request("POST", f"{_path(name)}/resume"), nothing, True)


_SCHEDULE = (
    "name, queue_name, cron, every, time_zone, missed, kind, args::text, paused, next_at, last_at, last_id, error, "
    "created_at"
)


def list_schedules(queue: str | None) -> Call[list[Schedule]]:
    sql, params = write("list_schedules", [Arg("queue_name", "text", queue)], _SCHEDULE)

    def rows(found: list[Row]) -> list[Schedule]:
        return [Schedule(*[*row[:7], loads(row[7]), *row[8:]]) for row in found]

    def answer(found: Json) -> list[Schedule]:
        return [_schedule(s) for s in found["schedules"]]

    request = Request("GET", "/v1/schedules", query=fields(queue=queue))
    return written("list_schedules", sql, params, rows, request, answer, True)


def _schedule(s: Json) -> Schedule:
    every = s.get("every_ms")
    return Schedule(
        s["name"],
        s["queue"],
        s.get("cron"),
        None if every is None else timedelta(milliseconds=every),
        s["time_zone"],
        s["missed"],
        s["kind"],
        s.get("args"),
        s["paused"],
        maybe_time(s.get("next_at")),
        maybe_time(s.get("last_at")),
        s.get("last_id"),
        s.get("error"),
        parse_time(s["created_at"]),
    )


def next_times(cron: str, time_zone: str | None, n: int | None) -> Call[list[datetime]]:
    args = [Arg("cron", "text", cron), Arg("time_zone", "text", time_zone), Arg("n", "int", n)]
    sql, params = write("next_times", args)
    request = Request("GET", "/v1/next_times", query=fields(cron=cron, time_zone=time_zone, n=n))

    def answer(found: Json) -> list[datetime]:
        return [parse_time(text) for text in found["times"]]

    return written("next_times", sql, params, column, request, answer, True)
