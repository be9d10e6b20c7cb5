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
