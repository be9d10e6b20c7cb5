"""What calls take and give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Generic, Protocol, TypeVar

T = TypeVar("T")

Duration = timedelta | float
"""A timedelta, or a number of seconds."""

Json = Any
"""What the module json can write."""


@dataclass(frozen=True, slots=True)
class Outgoing(Generic[T]):
    """One message of a ``send_batch`` that has more than a payload."""

    payload: T
    key: str | None = None
    headers: Mapping[str, Json] | None = None
    dedup_key: str | None = None


@dataclass(frozen=True)
class Message(Generic[T]):
    """A message that was received, popped or looked at."""

    id: int
    """Identifies the message; rises within its queue."""
    claim_id: int
    """Of the receive, the same for all of its messages; 0 when the message was only looked at."""
    attempt: int
    """1 at the first delivery; 0 when the message was only looked at."""
    key: str | None
    payload: T
    headers: dict[str, Json] | None
    enqueued_at: datetime
    queue: str
    group: str
    body: bytes | None = None
    """Of a message that was sent as bytes, whose payload is None."""


class Claimed(Protocol):
    """A message under a claim: one that was received, or its numbers, as a Ref has them."""

    @property
    def claim_id(self) -> int:
        """The claim."""

    @property
    def id(self) -> int:
        """The message."""


@dataclass(frozen=True, slots=True)
class Ref:
    """The numbers of a message that was received, in its place."""

    claim_id: int
    id: int


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """A message as its queue holds it."""

    id: int
    key: str | None
    payload: Json
    headers: dict[str, Json] | None
    enqueued_at: datetime
    states: dict[str, str]
    """By group: ``waiting``, ``claimed``, ``delayed``, ``parked``, ``dead`` or ``done``."""
    body: bytes | None = None
    """Of a message that was sent as bytes, whose payload is None."""


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A message that is delivered no more."""

    id: int
    key: str | None
    payload: Json
    headers: dict[str, Json] | None
    enqueued_at: datetime
    attempts: int
    died_at: datetime
    reason: str | None
    body: bytes | None = None
    """Of a message that was sent as bytes, whose payload is None."""


@dataclass(frozen=True, slots=True)
class Published:
    """Where a published message went."""

    queue: str
    id: int
    repeated: bool = False
    """The queue had a message with the dedup key; the id is that one's."""


@dataclass(frozen=True, slots=True)
class Group:
    """An independent reader of a queue."""

    group: str
    ordered: bool
    max_attempts: int
    backoff_min: timedelta
    backoff_max: timedelta
    created_at: datetime
    paused: bool
    """By itself or with its queue."""
    concurrency_max: int
    """Messages claimed and unfinished at once; 0: no limit."""
    rate_max: int
    """Deliveries in ``rate_period``; 0: no limit."""
    rate_period: timedelta
    key_concurrency_max: int
    """Messages of one key claimed and unfinished at once; 0: no limit."""
    fair: bool
    """Keys take turns, as they also do with a ``key_concurrency_max``."""


@dataclass(frozen=True, slots=True)
class Queue:
    """A queue and its settings."""

    queue: str
    lanes: int
    """In so many parts its keys are shared out."""
    message_bytes_max: int
    created_at: datetime
    paused: bool
    priorities: int
    aging: timedelta
    ttl: timedelta
    dedup_window: timedelta
    backlog_max: int
    """0: no limit."""
    job_retention: timedelta
    """How long what happened to tracked jobs is kept after they ended."""
    log: str
    """What keeps its messages."""


@dataclass(frozen=True, slots=True)
class Log:
    """What keeps the messages of some queues, and its settings."""

    log: str
    unlogged: bool
    """Its messages do not survive a crash of PostgreSQL."""
    segment_bytes: int
    claims_bytes: int
    retention: timedelta
    """How long what all groups have finished is kept."""
    queues: int
    """How many use it."""
    bytes: int
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Binding:
    """Messages of the topics that ``pattern`` covers go to ``queue``."""

    pattern: str
    queue: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that ``doctor`` found."""

    severity: str
    """``error``, ``warning`` or ``info``."""
    finding: str
    queue: str | None
    """None: the whole database."""
    group: str | None
    value: str | None
    message: str
    cure: str


@dataclass(frozen=True, slots=True)
class GroupStats:
    """How a group stands."""

    queue: str
    group: str
    waiting: int
    claimed: int
    delayed: int
    parked: int
    dead: int
    oldest_age: timedelta
    lanes: int
    segments: int
    bytes: int
    held_by: str | None
    """The limit that holds the group back: ``concurrency``, ``rate`` or ``key_concurrency``."""


@dataclass(frozen=True, slots=True)
class Enqueued:
    """What became of a job of a batch."""

    id: int
    repeated: bool
    """A job of the same unique key was there already; the id is that one's."""


@dataclass(frozen=True, slots=True)
class JobStatus:
    """How a tracked job stands."""

    id: int
    kind: str
    state: str
    """``waiting``, ``running``, ``done``, ``failed`` or ``cancelled``."""
    attempt: int
    progress: Json
    """What its worker told last."""
    result: Json
    """What its function returned."""
    error: str | None
    """Why the last try failed, or why it was cancelled."""
    enqueued_at: datetime
    run_at: datetime | None
    progress_at: datetime | None
    finished_at: datetime | None
    cancelled_at: datetime | None


@dataclass(frozen=True, slots=True)
class Schedule:
    """A job that is enqueued again and again."""

    name: str
    queue: str
    cron: str | None
    every: timedelta | None
    """Instead of ``cron``."""
    time_zone: str
    missed: str
    """What becomes of due times when nobody was there: ``skip``, ``once`` or ``all``."""
    kind: str
    args: Json
    paused: bool
    next_at: datetime | None
    last_at: datetime | None
    last_id: int | None
    """The job that was enqueued last."""
    error: str | None
    """Why it could not be fired last."""
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Step:
    """One job of a workflow, a chain or a batch."""

    kind: str
    args: Any = None
    name: str | None = None
    """Unique within the workflow; its number, from 1 on, unless given."""
    key: str | None = None
    headers: Mapping[str, Json] | None = None
    after: Sequence[str] = ()
    """Names of steps that stand before it in the list, which must be done; not in a chain."""
    after_all: bool = False
    """When all others have ended, however they did."""


@dataclass(frozen=True, slots=True)
class WorkflowStep:
    """How a step of a workflow stands."""

    no: int
    """From 1 on, in the order in which they were given."""
    name: str
    kind: str
    after: list[str]
    state: str
    """``planned`` (no job yet), ``enqueued``, ``done``, ``failed`` or ``cancelled``."""
    id: int | None
    """Of its job."""
    result: Json
    ended_at: datetime | None


@dataclass(frozen=True, slots=True)
class Settlement:
    """What becomes of messages of one claim; ``ids`` None, of an ack, means all that are left of it."""

    claim_id: int
    ids: tuple[int, ...] | None = None
    delay: Duration | None = None
    reason: str | None = None
    result: Json = None
    """Of ``finish``, which is for one job."""


def span(duration: Duration) -> timedelta:
    """Return a duration as a timedelta."""
    return duration if isinstance(duration, timedelta) else timedelta(seconds=duration)


def millis(duration: Duration) -> int:
    """Return a duration in whole milliseconds."""
    return round(span(duration) / timedelta(milliseconds=1))


def seconds(duration: Duration) -> float:
    """Return a duration in seconds."""
    return span(duration).total_seconds()
