"""Calls about jobs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

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
    maybe_time,
    ms,
    parse_time,
    queue_path,
    write,
    written,
)
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
            Arg("args", "json", json_text(args)),
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
    job = {"kind": kind, "args": args} | fields(
        key=key, headers=headers, run_at=None if run_at is None else run_at.isoformat(), unique_key=unique_key
    )
    body = {"jobs": [job]} | _shared(delay, priority, unique_for, unique, tracked)
    request = Request("POST", f"{queue_path(queue)}/jobs", body)
    once = unique_key is not None or unique_for is not None or bool(unique)
    return written("enqueue", sql, params, first, request, field("jobs", 0, "id"), once)


def _shared(
    delay: Duration | None,
    priority: int | None,
    unique_for: Duration | None,
    unique: bool | None,
    tracked: bool | None,
) -> dict[str, Json]:
    """Return what the jobs of a request have in common."""
    return fields(
        delay_ms=ms(delay), priority=priority, unique_for_ms=ms(unique_for), is_unique=unique, tracked=tracked
    )


def _written_batch(
    queue: str,
    texts: Sequence[str],
    delay: Duration | None,
    priority: int | None,
    unique_for: Duration | None,
    unique: bool | None,
    tracked: bool | None,
) -> Query:
    return write(
        "enqueue_batch",
        [
            Arg("queue_name", "text", queue),
            Arg("jobs", "json[]", list(texts)),
            Arg("delay", "interval", interval(delay)),
            Arg("priority", "int", priority),
            Arg("unique_for", "interval", interval(unique_for)),
            Arg("is_unique", "bool", unique),
            Arg("tracked", "bool", tracked),
        ],
        "id, repeated",
    )


def enqueue_texts(
    queue: str, texts: Sequence[str], *, delay: Duration | None, priority: int | None, tracked: bool | None
) -> Call[list[int]]:
    """Enqueue jobs that are written already and none of which is unique; there is no request for that."""

    def query() -> Query:
        return _written_batch(queue, texts, delay, priority, None, None, tracked)

    return Call("enqueue_batch", query, column, lambda: None, column, False)


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
    texts = [json_text(dict(job)) for job in jobs]
    sql, params = _written_batch(queue, texts, delay, priority, unique_for, unique, tracked)

    def rows(found: list[Row]) -> list[Enqueued]:
        return [Enqueued(*row) for row in found]

    def answer(found: Json) -> list[Enqueued]:
        return [Enqueued(job["id"], job["repeated"]) for job in found["jobs"]]

    body = {"jobs": [dict(job) for job in jobs]} | _shared(delay, priority, unique_for, unique, tracked)
    request = Request("POST", f"{queue_path(queue)}/jobs", body)
    once = unique_for is not None or bool(unique) or all("unique_key" in job for job in jobs)
    return written("enqueue_batch", sql, params, rows, request, answer, once)


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

    def answer(j: Json) -> JobStatus:
        times = ("run_at", "progress_at", "finished_at", "cancelled_at")
        values = [j.get(name) for name in ("id", "kind", "state", "attempt", "progress", "result", "error")]
        values += [parse_time(j["enqueued_at"]), *(maybe_time(j.get(name)) for name in times)]
        return JobStatus(*values)

    return written("job", sql, params, rows, Request("GET", f"{queue_path(queue)}/jobs/{id}"), answer, True)


def cancel(queue: str, id: int, reason: str | None) -> Call[str]:
    args = [Arg("queue_name", "text", queue), Arg("id", "bigint", id), Arg("reason", "text", reason)]
    sql, params = write("cancel", args)
    request = Request("POST", f"{queue_path(queue)}/jobs/{id}/cancel", fields(reason=reason))
    return written("cancel", sql, params, first, request, field("state"), True)


def cancelled(queue: str, group: str, claim_ids: Sequence[int]) -> Call[list[int]]:
    """Ask which jobs of claims were cancelled."""
    args = [Arg("queue_name", "text", queue), Arg("claim_ids", "bigint[]", list(claim_ids))]
    sql, params = write("cancelled", args, "distinct id")
    request = Request("POST", f"{group_path(queue, group)}/cancelled", {"claim_ids": list(claim_ids)})
    return written("cancelled", sql, params, column, request, field("ids"), True)


def progress(queue: str, claim_id: int, id: int, value: Json, lease: Duration | None) -> Call[bool]:
    args = [
        Arg("queue_name", "text", queue),
        Arg("claim_id", "bigint", claim_id),
        Arg("id", "bigint", id),
        Arg("progress", "jsonb", None if value is None else json_text(value)),
        Arg("lease", "interval", interval(lease)),
    ]
    sql, params = write("progress", args)
    body = fields(claim_id=claim_id, id=id, progress=value, lease_ms=ms(lease))
    request = Request("POST", f"{group_path(queue, None)}/progress", body)
    return written("progress", sql, params, first, request, field("go_on"), True)
