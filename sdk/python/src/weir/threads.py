"""Threads that run what an event loop hands them, and that can be told to leave off."""

from __future__ import annotations

import asyncio
import ctypes
import queue
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from weir.errors import Cancelled


class ThreadCall:
    """One function that runs in a thread. ``future`` gets its result; the event loop awaits that."""

    def __init__(self, work: Callable[[], Any], loop: asyncio.AbstractEventLoop) -> None:
        self.future: asyncio.Future[Any] = loop.create_future()
        self._work = work
        self._lock = threading.Lock()
        self._thread: int | None = None  # while the function runs
        self._cancelled = False
        self._result: Any = None
        self._error: BaseException | None = None

    def cancel(self) -> None:
        """Raise Cancelled inside the function, as soon as it is back in Python; it may clean up."""
        with self._lock:
            self._cancelled = True
            if self._thread is not None:
                _raise_in(self._thread, Cancelled)

    def run(self) -> None:
        """Run the function, in the thread that calls this."""
        try:
            with self._lock:
                if self._cancelled:
                    raise Cancelled
                self._thread = threading.get_ident()
            self._result = self._work()
        except BaseException as raised:
            self._error = raised
        finally:
            self._leave()

    def _leave(self) -> None:
        """From here on no Cancelled can come any more; one that is under way is taken back."""
        while self._thread is not None:
            try:
                with self._lock:
                    thread, self._thread = self._thread, None
                    if self._cancelled:
                        _raise_in(thread, None)
            except Cancelled:
                continue

    def tell(self) -> None:
        """Tell the future what came of it, in the event loop."""
        if self.future.done():
            return
        if self._error is None:
            self.future.set_result(self._result)
        else:
            self.future.set_exception(self._error)


def _raise_in(thread: int, kind: type[BaseException] | None) -> None:
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(kind) if kind else None)


class Threads:
    """A number of threads, made as they are needed. They do not keep the process from ending."""

    def __init__(self, count: int, name: str) -> None:
        self._count = count
        self._name = name
        self._work: queue.SimpleQueue[ThreadCall | None] = queue.SimpleQueue()
        self._idle = threading.Semaphore(0)
        self._threads: list[threading.Thread] = []
        self._done: deque[ThreadCall] = deque()
        self._telling = False

    def submit(self, work: Callable[[], Any]) -> ThreadCall:
        """Have a thread run a function."""
        self._loop = asyncio.get_running_loop()
        call = ThreadCall(work, self._loop)
        self._work.put(call)
        if not self._idle.acquire(blocking=False) and len(self._threads) < self._count:
            thread = threading.Thread(target=self._serve, name=f"{self._name}-{len(self._threads)}", daemon=True)
            self._threads.append(thread)
            thread.start()
        return call

    def current(self) -> bool:
        """Whether the caller is one of these threads."""
        return threading.current_thread() in self._threads

    def close(self) -> None:
        """Let the threads end when they have done what they have."""
        for _ in self._threads:
            self._work.put(None)

    def _serve(self) -> None:
        while (call := self._work.get()) is not None:
            call.run()
            self._idle.release()
            self._done.append(call)
            if not self._telling:  # else the loop has been woken, and will find this call, too
                self._telling = True
                with suppress(RuntimeError):  # the loop has ended: nobody wants to know
                    self._loop.call_soon_threadsafe(self._tell)

    def _tell(self) -> None:
        self._telling = False
        while self._done:
            self._done.popleft().tell()
