"""What a client and its workers tell about messages: see ``weir.otel`` for what traces make of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from weir.types import Json, Message, Outgoing


@dataclass
class Sending:
    """Messages on their way."""

    messages: list[Outgoing[Any]]
    """What is sent; a hook may replace them, each by one, such as by ones with more headers."""
    ids: list[int] | None = None
    """Their ids, once the call has returned; None where it returns none, as of a workflow."""

    def passed(self, count: int) -> list[Outgoing[Any]]:
        """Return the messages, as many as there were."""
        if len(self.messages) != count:
            raise ValueError(f"a hook made {len(self.messages)} messages of {count}")
        return self.messages


class Hooks(Protocol):
    """Stands around every send of a client and every handler of its workers. Share one among as many as you like."""

    def sending(self, destination: str, messages: list[Outgoing[Any]]) -> AbstractContextManager[Sending]:
        """Stand around what one call sends to a queue, publishes to a topic or enqueues; raise to have it not sent.

        A job, or a step of a workflow, is a message with its arguments; the callback of a batch is the last.
        """

    def processing(self, message: Message[Any]) -> AbstractContextManager[None]:
        """Stand around a handler."""


class NoHooks:
    """Does nothing."""

    def sending(self, destination: str, messages: list[Outgoing[Any]]) -> _Unwatched:
        return _Unwatched(Sending(messages))

    def processing(self, message: Message[Any]) -> AbstractContextManager[None]:
        raise AssertionError("handlers without hooks are called as they are")


class _Unwatched:
    def __init__(self, sending: Sending) -> None:
        self._sending = sending

    def __enter__(self) -> Sending:
        return self._sending

    def __exit__(self, *_: object) -> None:
        pass


NO_HOOKS = NoHooks()


def outgoing(jobs: Sequence[Mapping[str, Json]]) -> list[Outgoing[Any]]:
    """Return jobs or steps, as the engine takes them, as the messages that they become."""
    return [Outgoing(job.get("args", {}), job.get("key"), job.get("headers")) for job in jobs]


def as_sent(jobs: Sequence[Mapping[str, Json]], sending: Sending) -> list[dict[str, Json]]:
    """Return jobs or steps with what a hook made of their messages."""
    sent = []
    for job, message in zip(jobs, sending.passed(len(jobs)), strict=True):
        changed = {"args": message.payload, "key": message.key, "headers": message.headers}
        sent.append({**job, **{name: value for name, value in changed.items() if value is not None or name in job}})
    return sent
