"""What a worker holds: claims, their messages, and what has become of them."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol

from weir.types import Duration, Message, Settlement


@dataclass(eq=False)
class Context:
    """What a handler may know besides its message."""

    message: Message[Any]
    tx: Any = None
    """With ``exactly_once``: the transaction, to send with and, as ``tx.connection``, to write one's own rows."""
    cancelled: bool = False
    """Whether the handler should leave off: its time is over, its claim lost, or the worker stops at once."""
    settling: bool = False
    """Whether ``tx`` has settled the message, or is about to: it is nobody else's before ``tx`` ends."""


class Running(Protocol):
    """A handler at work."""

    future: asyncio.Future[Any]

    def cancel(self) -> None:
        """Have it leave off."""


@dataclass(eq=False)
class Claim:
    """Messages that one lease covers."""

    id: int
    taken: float
    """When it came, on the clock of time.monotonic."""
    lease_end: float
    """On the same clock; counted from before the call, so that it never is later than the engine's."""
    open: set[int] = field(default_factory=set)
    """Messages whose settlement the engine has not confirmed."""
    done: set[int] = field(default_factory=set)
    """Those of them that are to be acked and that the engine has not been told of."""
    whole: bool = True
    """Until now every message was acked by the worker, so that the claim may be acked as a whole."""
    settling: set[int] = field(default_factory=set)
    """Those that a call is under way about."""
    since: float = 0.0
    """When the first of ``done`` came, on the same clock; -inf when other messages wait for one of them."""
    lost: bool = False

    @property
    def whole_done(self) -> bool:
        """Whether nothing is left of it but what is to be acked."""
        return self.done >= self.open

    def settled(self, ids: Iterable[int]) -> None:
        """Note that the engine knows what became of messages."""
        self.open.difference_update(ids)


@dataclass(eq=False)
class Chain:
    """Messages of one claim that are handled one after the other."""

    claim: Claim
    messages: deque[Message[Any]]


@dataclass(eq=False)
class Run:
    """A handler at work on a message of a chain."""

    chain: Chain
    message: Message[Any]
    context: Context
    running: Running
    began: float
    """On the clock of time.monotonic."""
    timer: asyncio.TimerHandle | None = None
    timed_out: bool = False
    cancelled: bool = False
    """The job was cancelled, and its handler told."""

    def time_out(self) -> None:
        """Have the handler leave off, for its time is over; its lease is renewed until it has."""
        self.timed_out = True
        self.running.cancel()


@dataclass(frozen=True)
class Outcome:
    """What shall become of messages of a claim that are not simply acked."""

    kind: str
    """``finish``, ``nack``, ``reject``, ``release`` or ``snooze``."""
    claim: Claim
    ids: tuple[int, ...]
    delay: Duration | None = None
    reason: str | None = None
    result: Any = None
    taken: tuple[int, ...] = ()
    """Messages behind a failed one of an ordered group: the engine takes them back with it."""


Item = tuple[Claim, Settlement, set[int]]
"""A settlement, its claim and the messages that it settles."""


def chains(claim: Claim, messages: Iterable[Message[Any]], ordered: bool) -> list[Chain]:
    """Split a claim into what may run at once: its messages, or in an ordered group its keys."""
    if not ordered:
        return [Chain(claim, deque((message,))) for message in messages]
    lines: dict[str | None, Chain] = {}
    for message in messages:
        lines.setdefault(message.key, Chain(claim, deque())).messages.append(message)
    return list(lines.values())


def by_number(claims: Iterable[Claim]) -> list[Claim]:
    """Return claims in the order in which they are locked, so that no two calls wait for one another."""
    return sorted(claims, key=lambda claim: claim.id)


def acks(claims: Iterable[Claim]) -> list[Item]:
    """Take what is done of claims: the whole claim where nothing else is left and all of it was acked."""
    items: list[Item] = []
    for claim in by_number(claims):
        ids, claim.done = claim.done, set()
        whole = claim.whole and ids >= claim.open
        items.append((claim, Settlement(claim.id, None if whole else tuple(sorted(ids))), ids))
    return items


def returns(outcomes: Iterable[Outcome]) -> list[Item]:
    """Turn outcomes into settlements: one for those that are alike, such as of what is given back together."""
    groups: dict[object, list[Outcome]] = {}
    for o in sorted(outcomes, key=lambda outcome: outcome.claim.id):
        alike = object() if o.kind == "finish" else (o.claim.id, o.delay, o.reason)
        groups.setdefault(alike, []).append(o)
    return [_settlement(group) for group in groups.values()]


def _settlement(alike: list[Outcome]) -> Item:
    first = alike[0]
    ids = tuple(id_ for o in alike for id_ in o.ids)
    taken = {id_ for o in alike for id_ in o.taken}
    return first.claim, Settlement(first.claim.id, ids, first.delay, first.reason, first.result), {*ids, *taken}
