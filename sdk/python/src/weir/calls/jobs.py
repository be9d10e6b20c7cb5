"""Calls about jobs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from weir.calls.call import Arg, Call, Row, first, interval, json_text, loads, no_answer, write
from weir.types import Duration, Enqueued, JobStatus, Json


def enqueue(
    queue: str,
    kind: str,
    args: Json,
    *,
    key: str | None,
    headers: Mapping[str, Json] | None,
    delay: Duration | None,
    run_at: datetime | None,
    priority: int | None,
    unique_key: str | None,
    unique_for: Duration | None,
    unique: bool | None,
    tracked: bool | None,
) -> Call[int]:
    sql, params = write(
        "enqueue",
        [
            Arg("queue_name", "text", queue),
            Arg("kind", "text", kind),
            Arg("args", "jsonb", json_text(args)),
            Arg("key", "text", key),
            Arg("headers", "jsonb", None if headers is None else json_text(headers)),
            Arg("delay", "interval", interval(delay)),
            Arg("run_at", "timestamptz", run_at),
            Arg("priority", "int", priority),
            Arg("unique_key", "text", unique_key),
            Arg("unique_for", "interval", interval(unique_for)),
            Arg("is_unique", "bool", unique),
            Arg("tracked", "bool", tracked),
        ],
    )
    once = unique_key is not None or unique_for is not None or bool(unique)
    return Call("enqueue", sql, params, first, None, no_answer, once)


def enqueue_batch(
    queue: str,
    jobs: Sequence[Mapping[str, Json]],
    *,
    delay: Duration | None,
    priority: int | None,
    unique_for: Duration | None,
    unique: bool | None,
    tracked: bool | None,
) -> Call[list[Enqueued]]:
    sql, params = write(
        "enqueue_batch",
        [
            Arg("queue_name", "text", queue),
            Arg("jobs", "jsonb[]", [json_text(dict(job)) for job in jobs]),
            Arg("delay", "interval", interval(delay)),
            Arg("priority", "int", priority),
            Arg("unique_for", "interval", interval(unique_for)),
            Arg("is_unique", "bool", unique),
            Arg("tracked", "bool", tracked),
        ],
        "id, repeated",
    )

    def rows(found: list[Row]) -> list[Enqueued]:
        return [Enqueued(*row) for row in found]

    once = unique_for is not None or bool(unique) or all("unique_key" in job for job in jobs)
    return Call("enqueue_batch", sql, params, rows, None, no_answer, once)


_JOB = (
    "id, kind, state, attempt, progress::text, result::text, error, enqueued_at, run_at, progress_at, finished_at, "
    "cancelled_at"
)


def job(queue: str, id: int) -> Call[JobStatus | None]:
    sql, params = write("job", [Arg("queue_name", "text", queue), Arg("id", "bigint", id)], _JOB)

    def rows(found: list[Row]) -> JobStatus | None:
        for number, kind, state, attempt, progress, result, *rest in found:
            return JobStatus(number, kind, state, attempt, loads(progress), loads(result), *rest)
        return None

    return Call("job", sql, params, rows, None, no_answer, True)


def cancel(queue: str, id: int, reason: str | None) -> Call[str]:
    args = [Arg("queue_name", "text", queue), Arg("id", "bigint", id), Arg("reason", "text", reason)]
    sql, params = write("cancel", args)
    return Call("cancel", sql, params, first, None, no_answer, True)


def cancelled(queue: str, claim_ids: Sequence[int]) -> Call[list[tuple[int, int]]]:
    """Ask which jobs of claims were cancelled: claim and job of each."""
    args = [Arg("queue_name", "text", queue), Arg("claim_ids", "bigint[]", list(claim_ids))]
    sql, params = write("cancelled", args, "claim_id, id")

    def rows(found: list[Row]) -> list[tuple[int, int]]:
        return [(row[0], row[1]) for row in found]

    return Call("cancelled", sql, params, rows, None, no_answer, True)


def progress(queue: str, claim_id: int, id: int, value: Json, lease: Duration | None) -> Call[bool]:
    args = [
        Arg("queue_name", "text", queue),
        Arg("claim_id", "bigint", claim_id),
        Arg("id", "bigint", id),
        Arg("progress", "jsonb", None if value is None else json_text(value)),
        Arg("lease", "interval", interval(lease)),
    ]
    sql, params = write("progress", args)
    return Call("progress", sql, params, first, None, no_answer, True)


def finish(queue: str, claim_id: int, id: int, result: Json) -> Call[int]:
    args = [
        Arg("queue_name", "text", queue),
        Arg("claim_id", "bigint", claim_id),
        Arg("id", "bigint", id),
        Arg("result", "jsonb", None if result is None else json_text(result)),
    ]
    sql, params = write("finish", args)
    return Call("finish", sql, params, first, None, no_answer, True)


def snooze(queue: str, claim_id: int, ids: Sequence[int] | None, delay: Duration) -> Call[int]:
    args = [
        Arg("queue_name", "text", queue),
        Arg("claim_id", "bigint", claim_id),
        Arg("ids", "bigint[]", None if ids is None else list(ids)),
        Arg("delay", "interval", interval(delay)),
    ]
    sql, params = write("snooze", args)
    return Call("snooze", sql, params, first, None, no_answer, False)


def schedule(
    name: str,
    cron: str | None,
    queue: str,
    kind: str,
    args: Json,
    *,
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
            Arg("time_zone", "text", time_zone),
            Arg("missed", "text", missed),
            Arg("every", "interval", interval(every)),
            Arg("key", "text", key),
            Arg("headers", "jsonb", None if headers is None else json_text(headers)),
            Arg("priority", "int", priority),
            Arg("is_unique", "bool", unique),
            Arg("tracked", "bool", tracked),
        ],
    )
    sql = sql.replace("(", '("cron" => %s::text, ', 1)  # which has no default, and is null beside `every`
    return Call("schedule", sql, [cron, *params], first, None, no_answer, True)


def unschedule(name: str) -> Call[bool]:
    sql, params = write("unschedule", [Arg("name", "text", name)])
    return Call("unschedule", sql, params, first, None, no_answer, False)
