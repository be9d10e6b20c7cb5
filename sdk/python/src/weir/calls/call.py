"""What a call is, and what calls are written with."""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any, Generic, TypeVar
from urllib.parse import quote

from weir.types import (
    Duration,
    Json,
    millis,
    span,
)

T = TypeVar("T")

Row = tuple[Any, ...]
Query = tuple[str, Sequence[Any]]
"""A statement and its parameters."""

DEFAULT_GROUP = "default"


@dataclass(frozen=True, slots=True)
class Request:
    """An HTTP request."""

    method: str
    path: str
    body: Json = None
    query: Mapping[str, Any] | None = None
    wait: float = 0
    """Seconds that the server may take on purpose."""
    makes: bool = False
    """What is asked is whether it was made: the answer is true or false."""


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """One call of a function of the engine."""

    name: str
    query: Callable[[], Query]
    """Writes the statement."""
    rows: Callable[[list[Row]], T]
    request: Callable[[], Request | None]
    """Writes the request; None when HTTP does not have it."""
    answer: Callable[[Any], T]
    repeatable: bool
    """Doing it twice does no harm."""
    commits: bool = False
    """It commits by itself, and so is no part of a transaction."""


def written(
    name: str,
    sql: str,
    params: Sequence[Any],
    rows: Callable[[list[Row]], T],
    request: Request | None,
    answer: Callable[[Any], T],
    repeatable: bool,
) -> Call[T]:
    """Return a call that is written already: one that is not made often."""
    return Call(name, lambda: (sql, params), rows, lambda: request, answer, repeatable)


@dataclass(frozen=True, slots=True)
class Arg:
    """An argument of a SQL function: passed on when the value is not None, so that the engine's default holds."""

    name: str
    type: str
    value: Any


def write(function: str, args: Sequence[Arg], columns: str = "*") -> tuple[str, list[Any]]:
    """Write ``select columns from weir.function(a => %s::type, ...)`` of what is given. Names and types are ours."""
    given = [arg for arg in args if arg.value is not None]
    places = ", ".join(f'"{arg.name}" => %s::{arg.type}' for arg in given)  # "position" is a keyword
    return f"select {columns} from weir.{function}({places})", [arg.value for arg in given]  # noqa: S608


def fields(**given: Any) -> dict[str, Any]:
    return {name: value for name, value in given.items() if value is not None}


def queue_path(queue: str) -> str:
    return f"/v1/queues/{quote(queue, safe='')}"


def group_path(queue: str, group: str | None) -> str:
    return f"{queue_path(queue)}/groups/{quote(group or DEFAULT_GROUP, safe='')}"


def interval(duration: Duration | None) -> timedelta | None:
    return None if duration is None else span(duration)


def ms(duration: Duration | None) -> int | None:
    return None if duration is None else millis(duration)


def json_text(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def nothing(_: Any) -> None:
    return None


def first(rows: list[Row]) -> Any:
    return rows[0][0]


def column(rows: list[Row]) -> list[Any]:
    return [row[0] for row in rows]


def field(*path: str | int) -> Callable[[Any], Any]:
    def read(answer: Any) -> Any:
        for step in path:
            answer = answer[step]
        return answer

    return read


def parse_time(text: str) -> datetime:
    """Read a time of an answer in UTC, which may have nanoseconds; datetime has microseconds."""
    head, _, fraction = text.removesuffix("Z").removesuffix("+00:00").partition(".")
    micros = int((fraction + "000000")[:6])
    return datetime.fromisoformat(head).replace(microsecond=micros, tzinfo=timezone.utc)


def maybe_time(text: str | None) -> datetime | None:
    """Read a time that may be absent."""
    return None if text is None else parse_time(text)


def loads(text: str | None) -> Any:
    return None if text is None else json.loads(text)


def octets(text: str | None) -> bytes | None:
    """Return the bytes that a text of base64 stands for."""
    return None if text is None else b64decode(text)
