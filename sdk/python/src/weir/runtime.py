"""What differs between threads and asyncio, under names that the generated code exchanges for one another."""

from __future__ import annotations

import asyncio
import inspect
import random
import threading
import time
from collections.abc import Awaitable, Callable
from typing import Annotated, TypeVar

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


async def async_token_of(token: AsyncToken) -> str:
    """Return a token, or what the function gives that is asked for one."""
    if isinstance(token, str):
        return token
    given = token()
    return await given if inspect.isawaitable(given) else given


def token_of(token: Token) -> str:
    """Return a token, or what the function gives that is asked for one."""
    return token if isinstance(token, str) else token()
