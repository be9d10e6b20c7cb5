"""What a worker is told, and what it tells of itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from weir.types import Duration, Message, seconds


@dataclass(frozen=True)
class Options:
    """The options of a worker."""

    queue: str
    group: str
    concurrency: int
    prefetch: int | None
    cooldown: Duration
    lease: Duration
    timeout: Duration | None
    stop_timeout: Duration
    maintain: bool
    http: bool
    jobs: bool
    """Its messages are jobs, which can be cancelled."""
    on_error: Callable[[BaseException, Message[Any] | None], None] | None

    def __post_init__(self) -> None:
        if self.concurrency < 1 or self.held_max < self.concurrency:
            raise ValueError(
                f"concurrency {self.concurrency} and prefetch {self.held_max}: 1 <= concurrency <= prefetch"
            )
        if seconds(self.cooldown) < 0:
            raise ValueError(f"cooldown {self.cooldown}: at least 0, which is none")
        if seconds(self.lease) < 0.1:
            raise ValueError(f"lease {self.lease}: at least 0.1 seconds, for it is renewed each third of it")

    @property
    def held_max(self) -> int:
        """How many messages the worker holds at most."""
        return max(1000, 2 * self.concurrency) if self.prefetch is None else self.prefetch


@dataclass(frozen=True)
class Health:
    """How a worker does."""

    receiving: bool
    """It runs, and its last receive succeeded."""
    last_receive: datetime | None
    """When a receive last succeeded."""
    held: int
    """Messages that it holds, those that run included."""
    running: int
    """Handlers at work."""
    last_error: BaseException | None
