"""What differs between threads and asyncio, under names that the generated code exchanges for one another."""

from __future__ import annotations

import asyncio
import inspect
import random
import threading
import time
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, TypeVar

R = TypeVar("R")

AsyncReturns = Awaitable[R]
Returns = Annotated[R, "what a function returns that is no coroutine function"]
AsyncToken = str | Callable[[], str | Awaitable[str]]
Token = str | Callable[[], str]
AsyncLock = asyncio.Lock
Lock = threading.Lock
async_sleep = asyncio.sleep
sleep = time.sleep
async_apart = asyncio.to_thread
"""Does what blocks where nothing else waits for it."""


def _is_coroutine_function(function: Any) -> bool:
    """Whether what is called gives a coroutine; also an object whose ``__call__`` does."""
    return any(map(inspect.iscoroutinefunction, (function, getattr(function, "__call__", None))))  # noqa: B004


def async_only(function: Any, what: str) -> None:
    """Refuse what blocks the loop, and whose result cannot be awaited."""
    if not _is_coroutine_function(function):
        raise TypeError(
            f"{what} {function!r} is no coroutine function: write `async def`, or use the parts for threads"
        )


def plain_only(function: Any, what: str) -> None:
    """Refuse a coroutine function: called in a thread it does nothing."""
    if _is_coroutine_function(function):
        raise TypeError(f"{what} {function!r} is a coroutine function: write `def`, or use the parts for asyncio")


def apart(work: Callable[..., R], *args: Any) -> R:
    """Do what blocks."""
    return work(*args)


def jitter(seconds: float) -> float:
    """Shorten a delay by chance, so that clients do not come all at once."""
    return seconds * random.uniform(0.5, 1.0)  # noqa: S311 (no secret)


async def async_value_of(value: Any) -> Any:
    """Return a value, or what the function gives that is asked for one each time."""
    if callable(value):
        value = value()
    return await value if inspect.isawaitable(value) else value


def value_of(value: Any) -> Any:
    """Return a value, or what the function gives that is asked for one each time."""
    return value() if callable(value) else value
