"""What a client and its workers tell about messages: see ``weir.otel`` for what traces make of it."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from weir.types import Message, Outgoing


@dataclass
class Sending:
    """Messages on their way."""

    messages: list[Outgoing[Any]]
    """What is sent; a hook may replace them, such as by ones with more headers."""
    ids: list[int] | None = None
    """Their ids, once the call has returned."""


class Hooks(Protocol):
    """Stands around every send of a client and every handler of its workers. Share one among as many as you like."""

    def sending(self, destination: str, messages: list[Outgoing[Any]]) -> AbstractContextManager[Sending]:
        """Stand around a send to a queue, or around a publish to a topic."""

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
