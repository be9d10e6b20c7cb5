"""What a worker holds: claims, their messages, and what has become of them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from weir.types import Duration, Message, Settlement


@dataclass(eq=False)
class Claim:
    """Messages that one lease covers."""

    id: int
    lease_end: float
    """On the clock of time.monotonic; counted from before the call, so that it never is later than the engine's."""
    open: set[int] = field(default_factory=set)
    """Messages whose settlement the engine has not confirmed."""
    whole: bool = True
    """Until now every message was acked by the worker, so that the claim may be acked as a whole."""
    lost: bool = False
    pinned: bool = False
    """A transaction that is open has acked its message: it cannot expire before that ends."""

    def settled(self, ids: Iterable[int]) -> None:
        """Note that the engine knows what became of messages."""
        self.open.difference_update(ids)


@dataclass(eq=False)
class Chain:
    """Messages of one claim that are handled one after the other."""

    claim: Claim
    messages: deque[Message[Any]]


@dataclass(frozen=True)
class Outcome:
    """What shall become of messages of a claim."""

    kind: str
    """``ack``, ``nack``, ``reject`` or ``release``."""
    claim: Claim
    ids: tuple[int, ...]
    delay: Duration | None = None
    reason: str | None = None
    taken: tuple[int, ...] = ()
    """Messages behind a failed one of an ordered group: the engine takes them back with it."""


def chains(claim: Claim, messages: Iterable[Message[Any]], ordered: bool) -> list[Chain]:
    """Split a claim into what may run at once: its messages, or in an ordered group its keys."""
    if not ordered:
        return [Chain(claim, deque([message])) for message in messages]
    lines: dict[str | None, Chain] = {}
    for message in messages:
        lines.setdefault(message.key, Chain(claim, deque())).messages.append(message)
    return list(lines.values())


def settlements(outcomes: Iterable[Outcome]) -> list[tuple[Claim, Settlement, set[int]]]:
    """Turn outcomes of one kind into as few settlements as will do, each with the ids that it settles."""
    result: list[tuple[Claim, Settlement, set[int]]] = []
    acked: dict[Claim, set[int]] = {}
    for outcome in outcomes:
        if outcome.kind == "ack":
            acked.setdefault(outcome.claim, set()).update(outcome.ids)
        else:
            item = Settlement(outcome.claim.id, outcome.ids, outcome.delay, outcome.reason)
            result.append((outcome.claim, item, {*outcome.ids, *outcome.taken}))
    for claim, ids in acked.items():
        whole = claim.whole and ids >= claim.open
        result.append((claim, Settlement(claim.id, None if whole else tuple(sorted(ids))), ids))
    return result
