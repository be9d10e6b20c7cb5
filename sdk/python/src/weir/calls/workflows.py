"""Calls about workflows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from weir import codec
from weir.calls.call import (
    Arg,
    Call,
    Request,
    Row,
    field,
    fields,
    first,
    json_text,
    loads,
    maybe_time,
    queue_path,
    write,
    written,
)
from weir.types import Json, Step, WorkflowStep

Steps = Sequence[Mapping[str, Json]]
"""Each as ``step`` returns it."""


def step(given: Step | Mapping[str, Any]) -> dict[str, Json]:
    """Return a step as the engine takes it."""
    if not isinstance(given, Step):
        return dict(codec.encode(given))
    return {"kind": given.kind} | fields(
        args=None if given.args is None else codec.encode(given.args),
        name=given.name,
        key=given.key,
        headers=given.headers,
        after=list(given.after) or None,
        after_all=given.after_all or None,
    )


def start_workflow(queue: str, steps: Steps, name: str | None) -> Call[int]:
    return _start("start_workflow", "steps", "workflows", queue, steps, name, {})


def start_chain(queue: str, steps: Steps, name: str | None) -> Call[int]:
    return _start("start_chain", "jobs", "chains", queue, steps, name, {})


def start_batch(queue: str, jobs: Steps, callback: Mapping[str, Json], name: str | None) -> Call[int]:
    return _start("start_batch", "jobs", "batches", queue, jobs, name, {"callback": dict(callback)})


def _start(
    function: str,
    word: str,
    resource: str,
    queue: str,
    steps: Steps,
    name: str | None,
    more: dict[str, Json],
) -> Call[int]:
    given = [dict(each) for each in steps]
    args = [
        Arg("queue_name", "text", queue),
        Arg(word, "jsonb[]", [json_text(each) for each in given]),
        *(Arg(key, "jsonb", json_text(value)) for key, value in more.items()),
        Arg("name", "text", name),
    ]
    sql, params = write(function, args)
    request = Request("POST", f"{queue_path(queue)}/{resource}", {word: given} | more | fields(name=name))
    return written(function, sql, params, first, request, field("workflow"), name is not None)


def workflow(queue: str, id: int) -> Call[list[WorkflowStep]]:
    columns = 'no, name, kind, coalesce("after", array[]::text[]), state, id, result::text, ended_at'
    args = [Arg("queue_name", "text", queue), Arg("workflow", "bigint", id)]
    sql, params = write("workflow", args, columns)

    def rows(found: list[Row]) -> list[WorkflowStep]:
        return [WorkflowStep(*[*row[:6], loads(row[6]), row[7]]) for row in sorted(found, key=lambda row: row[0])]

    def answer(found: Any) -> list[WorkflowStep]:
        return [
            WorkflowStep(
                s["no"],
                s["name"],
                s["kind"],
                s.get("after") or [],
                s["state"],
                s.get("id"),
                s.get("result"),
                maybe_time(s.get("ended_at")),
            )
            for s in found["steps"]
        ]

    request = Request("GET", f"{queue_path(queue)}/workflows/{id}")
    return written("workflow", sql, params, rows, request, answer, True)
