"""What differs between threads and asyncio, under names that the generated code exchanges for one another."""

from __future__ import annotations

import asyncio
import random
import threading
import time
from collections.abc import Awaitable
from typing import Annotated, TypeVar

R = TypeVar("R")

AsyncReturns = Awaitable[R]
Returns = Annotated[R, "what a function returns that is no coroutine function"]
AsyncLock = asyncio.Lock
Lock = threading.Lock
async_sleep = asyncio.sleep
sleep = time.sleep


def jitter(seconds: float) -> float:
    """Shorten a delay by chance, so that clients do not come all at once."""
    return seconds * random.uniform(0.5, 1.0)  # noqa: S311 (no secret)
