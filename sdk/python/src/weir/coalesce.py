"""Concurrent calls of one process that share statements: those of tasks, and those of threads.

What comes for the same aim while a call is under way goes out together with the next, as one batch; two calls at a time
would be twice as many, of half as much. What one caller sends at once is never parted.
"""

from __future__ import annotations

import asyncio
import copy
import queue
import threading
import time
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, TypeVar

from weir.errors import Error
from weir.types import Duration

Item = TypeVar("Item")

# What is put into one call at most, unless a single caller has more.
_MAX = 1000
_BYTES_MAX = 1 << 20
# How long a thread that makes calls waits for another.
_LINGER = 1.0
# In such steps threads wait for their answers, so that what is raised in them is raised soon.
_STEP = 0.1


class Aim(NamedTuple):
    """What the messages, or jobs, of a shared call have in common."""

    queue: str
    delay: Duration | None
    priority: int | None
    tracked: bool | None = None
    """Of jobs."""


def _apart(error: BaseException) -> bool:
    """Whether nothing was done, and because of what was in the call."""
    return not isinstance(error, Error) or (error.reported and not error.code.startswith("08"))


def _each(error: BaseException) -> BaseException:
    """Return an error for one of several callers: what is raised twice at once has a traceback of both."""
    if not isinstance(error, Error):
        return error
    own = copy.copy(error)
    own.__cause__ = error.__cause__
    return own


def _checked(ids: list[int], items: Sequence[Any]) -> list[int]:
    if len(ids) != len(items):
        raise Error("XX000", f"{len(ids)} ids came for {len(items)} messages")
    return ids


def _fills(items: Sequence[Any], size: int) -> bool:
    """Whether items fill a call by themselves, so that there is nothing to share."""
    return len(items) >= _MAX or size >= _BYTES_MAX


@dataclass(eq=False)
class _Shared:
    """A call while its callers wait for it. It ends when the last of them has left."""

    callers: int
    task: asyncio.Task[Any] | None = None


@dataclass(eq=False)
class _Part(Generic[Item]):
    """One task's part of a call."""

    items: Sequence[Item]
    size: int
    answer: asyncio.Future[list[int] | None]
    """The ids; None: it is to be sent alone."""
    shared: _Shared | None = None
    """None while it waits for a call."""


class AsyncCoalescer(Generic[Item]):
    """Puts what tasks send into common calls, which tasks of its own make, but for the first, which is its caller's."""

    def __init__(self, call: Callable[[Aim, Sequence[Item]], Coroutine[Any, Any, list[int]]]) -> None:
        self._call = call
        # There while a call is under way: what waits for the next, in its order.
        self._lines: dict[Aim, dict[_Part[Item], None]] = {}
        self._running: set[asyncio.Task[None]] = set()

    async def send(self, to: Aim, items: Sequence[Item], size: int) -> list[int]:
        """Send items of so many bytes, all or none, and return their ids."""
        if _fills(items, size):
            return await self._alone(to, items)
        line = self._lines.get(to)
        if line is None:
            self._lines[to] = {}
            try:
                return await self._alone(to, items)
            finally:
                self._proceed(to)
        part = _Part(items, size, asyncio.get_running_loop().create_future())
        line[part] = None
        try:
            ids = await part.answer
        except asyncio.CancelledError:
            self._leave(to, part)
            raise
        return await self._alone(to, items) if ids is None else ids

    async def _alone(self, to: Aim, items: Sequence[Item]) -> list[int]:
        return _checked(await self._call(to, items), items)

    def _leave(self, to: Aim, part: _Part[Item]) -> None:
        """Take out what a task wanted to send that waits no longer."""
        if part.shared is None:
            self._lines.get(to, {}).pop(part, None)
            return
        part.shared.callers -= 1
        if part.shared.callers == 0 and part.shared.task is not None:
            part.shared.task.cancel()

    def _proceed(self, to: Aim) -> None:
        """Have what came during a call go out."""
        if not self._lines[to]:
            del self._lines[to]
            return
        task = asyncio.create_task(self._run(to))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def _run(self, to: Aim) -> None:
        """Make calls for a line until nobody waits in it."""
        line = self._lines[to]
        try:
            while True:
                await asyncio.sleep(0)  # those who were just answered may be about to send more
                if not line:
                    break
                await self._share(to, _take(line))
        finally:
            del self._lines[to]
            for part in line:  # the loop ends, and whoever waits with it
                part.answer.cancel()

    async def _share(self, to: Aim, batch: Sequence[_Part[Item]]) -> None:
        """Make one call for several tasks, and tell them what became of it."""
        shared = _Shared(len(batch))
        for part in batch:
            part.shared = shared
        items = [item for part in batch for item in part.items]
        shared.task = asyncio.create_task(self._call(to, items))
        try:
            await asyncio.wait({shared.task})
        finally:
            if not shared.task.done():
                shared.task.cancel()
            _answer(batch, items, shared.task)


def _take(line: dict[_Part[Item], None]) -> list[_Part[Item]]:
    """Take what goes into the next call out of a line."""
    batch: list[_Part[Item]] = []
    n = size = 0
    for part in line:
        n += len(part.items)
        size += part.size
        if batch and (n > _MAX or size > _BYTES_MAX):
            break
        batch.append(part)
    for part in batch:
        del line[part]
    return batch


def _answer(batch: Sequence[_Part[Item]], items: Sequence[Item], task: asyncio.Task[list[int]]) -> None:
    """Give each task that still waits its ids or error."""
    error: BaseException | None = None
    ids: list[int] = []
    if not task.done() or task.cancelled():
        error = asyncio.CancelledError()
    elif task.exception() is not None:
        error = task.exception()
    else:
        try:
            ids = _checked(task.result(), items)
        except Error as wrong:
            error = wrong
    apart = len(batch) > 1 and error is not None and isinstance(error, Exception) and _apart(error)
    end = 0
    for part in batch:
        begin, end = end, end + len(part.items)
        if part.answer.done():
            continue
        if error is None or apart:
            part.answer.set_result(None if apart else ids[begin:end])
        elif isinstance(error, asyncio.CancelledError):
            part.answer.cancel()
        else:
            part.answer.set_exception(_each(error))


@dataclass(eq=False)
class _Turn(Generic[Item]):
    """One thread's part of a call."""

    items: Sequence[Item]
    size: int
    answered: threading.Lock = field(default_factory=threading.Lock)
    """Held until there are ids or an error."""
    left: bool = False
    """Its thread waits no longer."""
    ids: list[int] | None = None
    """None without an error: it is to be sent alone."""
    error: BaseException | None = None


class _Line(Generic[Item]):
    """What goes to one aim while a call for it is under way."""

    def __init__(self) -> None:
        self.turns: queue.SimpleQueue[_Turn[Item]] = queue.SimpleQueue()
        self.next: _Turn[Item] | None = None
        """Taken from the queue for a call that it did not fit into."""
        self.first = threading.Lock()
        """Held during the call of the thread that found no line."""
        self.thread: threading.Thread | None = None
        """Makes the calls after that."""

    def is_attended(self) -> bool:
        """Whether somebody makes calls for it, or is about to when his own has returned."""
        return self.first.locked() or (self.thread is not None and self.thread.is_alive())


class Coalescer(Generic[Item]):
    """Puts what threads send into common calls: who finds none under way makes his own, a thread of ours the others.

    No thread of a caller makes a call for others: an exception may be raised in it at any time.
    """

    def __init__(self, call: Callable[[Aim, Sequence[Item]], list[int]]) -> None:
        self._call = call
        self._lock = threading.Lock()
        self._lines: dict[Aim, _Line[Item]] = {}

    def send(self, to: Aim, items: Sequence[Item], size: int) -> list[int]:
        """Send items of so many bytes, all or none, and return their ids."""
        if _fills(items, size):
            return self._alone(to, items)
        turn = _Turn(items, size)
        turn.answered.acquire()
        try:
            line, leads = self._join(to, turn)
            while not leads and not turn.answered.acquire(timeout=_STEP):
                self._proceed(to, line)  # an exception was raised in the thread that should have done it
        except BaseException:
            turn.left = True
            raise
        if leads:
            try:
                with line.first:
                    return self._alone(to, items)
            finally:
                self._proceed(to, line)
        if turn.error is not None:
            raise turn.error
        return self._alone(to, items) if turn.ids is None else turn.ids

    def _join(self, to: Aim, turn: _Turn[Item]) -> tuple[_Line[Item], bool]:
        """Put a turn into its line; True: there was none, so its thread makes the call."""
        with self._lock:  # else the line may end before it sees the turn
            line = self._lines.get(to)
            if line is None:
                self._lines[to] = line = _Line()
                return line, True
            line.turns.put(turn)
            return line, False

    def _proceed(self, to: Aim, line: _Line[Item]) -> None:
        """Have what came during a call go out, unless somebody sees to it."""
        with self._lock:
            if line.is_attended():
                return
            if line.next is None and line.turns.empty():
                if self._lines.get(to) is line:
                    del self._lines[to]
                return
            line.thread = threading.Thread(target=self._run, args=(to, line), name="weir-coalesce", daemon=True)
            line.thread.start()

    def _alone(self, to: Aim, items: Sequence[Item]) -> list[int]:
        return _checked(self._call(to, items), items)

    def _run(self, to: Aim, line: _Line[Item]) -> None:
        """Make calls for a line until nobody has come for a while."""
        while True:
            batch = self._take(line)
            if batch:
                self._share(to, batch)
                time.sleep(0)  # those who were just answered may be about to send more
                continue
            with self._lock:
                if line.next is None and line.turns.empty():
                    if self._lines.get(to) is line:
                        del self._lines[to]
                    return

    def _take(self, line: _Line[Item]) -> list[_Turn[Item]]:
        """Take what goes into the next call out of the line, without what nobody waits for; none after a while."""
        turns = [] if line.next is None else [line.next]
        line.next = None
        with suppress(queue.Empty):
            if not turns:
                turns.append(line.turns.get(timeout=_LINGER))
            n, size = len(turns[0].items), turns[0].size
            while n < _MAX:
                turn = line.turns.get_nowait()
                n += len(turn.items)
                size += turn.size
                if n > _MAX or size > _BYTES_MAX:
                    line.next = turn
                    break
                turns.append(turn)
        return [turn for turn in turns if not turn.left]

    def _share(self, to: Aim, batch: Sequence[_Turn[Item]]) -> None:
        """Make one call for several threads, and tell them what became of it."""
        try:
            items = [item for turn in batch for item in turn.items]
            ids, end = _checked(self._call(to, items), items), 0
            for turn in batch:
                begin, end = end, end + len(turn.items)
                turn.ids = ids[begin:end]
        except BaseException as error:
            if len(batch) == 1 or not _apart(error):
                for turn in batch:
                    turn.error = _each(error)
        finally:
            for turn in batch:
                turn.answered.release()
