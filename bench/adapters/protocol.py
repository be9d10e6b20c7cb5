"""The adapter's side of the shootout's protocol for Python: see README.md. Standard library only.

An adapter is a module with some of these functions, and ends with `run(sys.modules[__name__])`:

    async def setup(c) -> str                     install the system into c.dsn; returns its version
    async def serve(c, ready) -> None             run what the clients need; call ready(); return after c.stop
    async def producer(c) -> send                 for one producer: an async function that sends a list of messages
    async def work(c, ledger, ready) -> None      connect, await ready(), work, enter what comes; return after c.stop

What the system does not have raises Cannot.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import string
import struct
import sys
import threading
import time
from typing import Any

COUNT_EVERY = 0.02
RETRY_EVERY = 0.05
RETRY_FOR = 120.0
LETTERS = 1 << 18  # so many that no payload's are found again in what a compressor sees at once


class Cannot(Exception):
    """The system has no such thing."""


class Message:
    """One message to send: its number, its key or None, its payload as an object."""

    __slots__ = ("key", "n", "payload")

    def __init__(self, n: int, key: str | None, payload: dict[str, Any]) -> None:
        self.n, self.key, self.payload = n, key, payload


class Command:
    """What the driver wants: every field of its first line is an attribute."""

    def __init__(self, fields: dict[str, Any]) -> None:
        self.__dict__.update(fields)
        self.stop = asyncio.Event()
        self.started = asyncio.Event()
        self.start_at = 0.0
        self.allowed = 0
        letters = random.Random(1)
        self._letters = "".join(letters.choices(string.ascii_lowercase, k=LETTERS))

    def message(self, n: int) -> Message:
        """Message number n, as long as the driver wants it."""
        free = max(0, self.bytes - len(f'{{"n":{n},"v":""}}'))
        at = n * free % (LETTERS - free)
        key = f"k{n % self.keys}" if self.keys else None
        return Message(n, key, {"n": n, "v": self._letters[at : at + free]})


class Ledger:
    """The file that says which message was received when."""

    def __init__(self, directory: str) -> None:
        self.count = 0
        self._lock = threading.Lock()
        name = os.path.join(directory, f"{os.getpid()}-{time.time_ns()}")
        self._file = open(name, "wb", buffering=0) if directory else None  # noqa: SIM115

    def add(self, *numbers: int) -> None:
        """Enter messages that were received together, now."""
        with self._lock:
            self.count += len(numbers)
            if self._file:
                now = time.time_ns()
                self._file.write(b"".join(struct.pack("<qq", n, now) for n in numbers))


def say(event: str, **fields: Any) -> None:
    """Write one line to the driver."""
    sys.stdout.write(json.dumps({"event": event, **fields}) + "\n")
    sys.stdout.flush()


def run(adapter: Any) -> None:
    """Do what the driver says until it is done."""
    asyncio.run(_main(adapter))


async def _main(adapter: Any) -> None:
    c = Command(json.loads(sys.stdin.readline()))
    loop = asyncio.get_running_loop()
    threading.Thread(target=_listen, args=(c, loop), daemon=True).start()
    try:
        await _do(adapter, c)
    except Cannot as e:
        say("cannot", text=str(e))
    except Exception as e:
        say("error", text=f"{type(e).__name__}: {e}")
        raise


def _listen(c: Command, loop: asyncio.AbstractEventLoop) -> None:
    """Take the signals; the end of the input is a stop."""
    for line in sys.stdin:
        signal = json.loads(line)
        if signal["op"] == "credit":
            c.allowed = signal["credit"]
        elif signal["op"] == "go":
            c.start_at = signal["at"] / 1e9
            loop.call_soon_threadsafe(c.started.set)
        else:
            break
    loop.call_soon_threadsafe(c.stop.set)
    loop.call_soon_threadsafe(c.started.set)


async def _begin(c: Command) -> None:
    say("ready")
    await c.started.wait()
    await asyncio.sleep(max(0.0, c.start_at - time.time()))


async def _do(adapter: Any, c: Command) -> None:
    if not hasattr(adapter, {"send": "producer"}.get(c.op, c.op)):
        raise Cannot(f"no {c.op}")
    if c.op == "setup":
        say("done", version=await adapter.setup(c))
    elif c.op == "serve":
        await adapter.serve(c, lambda address="": say("ready", address=address))
        say("done")
    elif c.op == "send":
        await _send(adapter, c)
    else:
        ledger = Ledger(c.ledger)
        telling = asyncio.create_task(_tell(ledger))
        await adapter.work(c, ledger, lambda: _begin(c))
        telling.cancel()
        say("done", count=ledger.count)


async def _tell(ledger: Ledger) -> None:
    last = 0
    while True:
        await asyncio.sleep(COUNT_EVERY)
        if ledger.count != last:
            last = ledger.count
            say("count", count=last)


async def _send(adapter: Any, c: Command) -> None:
    sends = [await adapter.producer(c) for _ in range(c.clients)]
    await _begin(c)
    pace = _Pace(c)
    await asyncio.gather(*(_produce(pace, send) for send in sends))
    say("done", count=pace.sent)


class _Pace:
    """Hands out numbers to the producers."""

    def __init__(self, c: Command) -> None:
        self.c, self.next, self.sent = c, c.first, 0
        self.ends = c.start_at + c.seconds if c.seconds and not c.rate else None
        self.last = c.first + (c.count or int(c.rate * c.seconds)) if c.count or c.rate else None

    def over(self, first: int) -> bool:
        """Whether the time has ended before the batch that begins with a number; the first is sent however late."""
        late = self.ends is not None and first > self.c.first and time.time() >= self.ends
        return self.c.stop.is_set() or late

    async def take(self) -> range:
        c = self.c
        first, self.next = self.next, self.next + c.batch
        if self.over(first):
            return range(0)
        if c.rate:
            await asyncio.sleep(max(0.0, c.start_at + (first - c.first) / c.rate - time.time()))
        end = first + c.batch if self.last is None else min(first + c.batch, self.last)
        while c.window and end > c.allowed:
            if self.over(first):
                return range(0)
            await asyncio.sleep(0.001)
        return range(first, end)


async def _produce(pace: _Pace, send: Any) -> None:
    while numbers := await pace.take():
        batch = [pace.c.message(n) for n in numbers]
        began = time.time()
        while True:
            try:
                await send(batch)
                break
            except Exception:  # at least once: only a server that stays away ends it
                if time.time() - began > RETRY_FOR or not pace.c.lease_s:
                    raise
                await asyncio.sleep(RETRY_EVERY)
        pace.sent += len(batch)
