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
class Standing:
    """What is known of how a group stands to a message; None is what is not known."""

    attempts: int | None = None
    """Deliveries so far."""
    claim_id: int | None = None
    """The claim that has it, or had it until its lease ended."""
    since: datetime | None = None
    """When it was claimed, parked or given up."""
    until: datetime | None = None
    """When the lease ends, or it is due."""
    pid: int | None = None
    """The session that received it."""
    behind: int | None = None
    """The message of its key that is first."""
    reason: str | None = None
    """Why it is delivered again, or no more."""


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
    details: dict[str, Standing]
    """By group: what else is known."""
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
    moving_from: str | None = None
    """The log from which it is moving to that; None: it is not."""


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
    """Messages that could be delivered now, limits and pauses apart."""
    expired: int
    """Of these: messages of claims whose lease has ended."""
    claimed: int
    """Messages under a claim whose lease goes on."""
    delayed: int
    """Messages that are not due: delayed ones and retries."""
    parked: int
    """Of an ordered group: messages behind others of their key."""
    dead: int
    oldest_age: timedelta
    """How long the first that waits could have been delivered; 0 when none waits."""
    exact: bool
    """Whether the numbers of messages are counts; else some of them are estimates."""
    sent_rate: float
    """Messages sent to the queue a second, over the last minute at most."""
    delivered_rate: float
    """Messages delivered to the group a second, likewise."""
    delivered_at: datetime | None
    """When the group was last delivered something; None when that is not known any more."""
    expiries: int
    """Of its last claims, the leases that ended and were given to others."""
    hot_key: str | None
    """The key that has most of what waits in order."""
    hot_key_share: float | None
    """The share of that which it has, 0 to 1."""
    held_by: str | None
    """The limit that holds the group back: ``concurrency``, ``rate`` or ``key_concurrency``."""
    lanes: int
    """Lanes of the queue's keys."""
    log: str
    """The log that the queue is in; what follows is about this log."""
    held_segments: int
    """Its closed segments that wait for this group."""
    segments: int
    """Its segments in use."""
    bytes: int
    """Its tables and indexes."""
    blocked_by: str | None
    """What keeps its oldest closed segment, or the group."""
    blocker_pid: int | None
    """Process id, when that is a session."""
    blocker_age: timedelta | None
    """How long its transaction has been open."""
    blocker_query: str | None
    """Its last statement, as far as it may be seen."""


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
