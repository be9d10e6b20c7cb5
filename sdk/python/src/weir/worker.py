"""The worker: a loop to leave running. It claims, runs a handler, renews, acks and retries."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Coroutine, Generator, Sequence
from types import TracebackType
from typing import Any

from weir.aio.client import AsyncClient
from weir.aio.http import AsyncHttp
from weir.aio.postgres import AsyncPostgres
from weir.aio.wait import AsyncWaiter
from weir.calls import DEFAULT_GROUP, Call
from weir.core import Core, T
from weir.generated.client import Client
from weir.generated.http import Http
from weir.generated.postgres import Postgres
from weir.generated.wait import Waiter
from weir.handlers import AsyncHandlers, RunsJobs, ThreadHandlers
from weir.held import Context
from weir.options import Health, Options
from weir.threads import Threads
from weir.types import Duration

__all__ = ["AsyncWorker", "Context", "Health", "Worker"]

# Threads for the worker's own calls: receiving, settling, renewing, maintaining.
_CALLS_AT_ONCE = 4
_SIGNALS = (signal.SIGTERM, signal.SIGINT)


def _check_pool(transport: Any, concurrency: int) -> None:
    """Refuse handlers that would wait for one another's connections."""
    most = transport.pool.max_size if isinstance(transport, AsyncPostgres | Postgres) else 0
    if 0 < most < concurrency:
        raise ValueError(
            f"{concurrency} handlers need a connection each for exactly_once, and the client's pool has {most}: "
            "connect with a larger pool_max, or lower the concurrency"
        )


class _AsyncPort:
    """How the loop reaches the engine by an AsyncClient. The loop itself tries again, and so learns of each failure.

    It has connections of its own beside the client's pool: handlers that use that up would keep it from renewing.
    """

    def __init__(self, client: AsyncClient, queue: str) -> None:
        shared = client.transport
        self._own = shared.beside() if isinstance(shared, AsyncPostgres) else None
        self._transport = self._own or shared
        self._waiter = AsyncWaiter(client, queue)
        self.told, self.found = self._waiter.told, self._waiter.found

    async def run(self, call: Call[T]) -> T:
        return await self._transport.run(call)

    async def wait(self, most: float) -> None:
        await self._waiter.wait(most)

    async def close(self) -> None:
        await self._waiter.aclose()
        if self._own is not None:
            await self._own.aclose()


class _ThreadPort:
    """How the loop reaches the engine by a Client: as an _AsyncPort does, but each call blocks a thread."""

    def __init__(self, client: Client, queue: str) -> None:
        shared = client.transport
        self._own = shared.beside() if isinstance(shared, Postgres) else None
        self._transport = self._own or shared
        self._waiter = Waiter(client, queue)
        self._threads = Threads(_CALLS_AT_ONCE, f"weir-calls-{queue}")
        self.told, self.found = self._waiter.told, self._waiter.found

    async def run(self, call: Call[T]) -> T:
        result: T = await self._threads.submit(lambda: self._transport.run(call)).future
        return result

    async def wait(self, most: float) -> None:
        await self._threads.submit(lambda: self._waiter.wait(most)).future

    async def close(self) -> None:
        await self._threads.submit(self._waiter.close).future
        if self._own is not None:
            await self._threads.submit(self._own.close).future
        self._threads.close()


class _Ending(Coroutine[Any, Any, None]):
    """A coroutine that need not be awaited: it is made when the first step is taken."""

    def __init__(self, make: Callable[[], Coroutine[Any, Any, None]]) -> None:
        self._make = make
        self._made: Coroutine[Any, Any, None] | None = None

    def send(self, value: Any) -> Any:
        self._made = self._made or self._make()
        return self._made.send(value)

    def throw(self, kind: Any, error: Any = None, trace: Any = None) -> Any:
        self._made = self._made or self._make()
        return self._made.throw(error if isinstance(error, BaseException) else kind)

    def close(self) -> None:
        if self._made is not None:
            self._made.close()

    def __await__(self) -> Generator[Any, Any, None]:
        return self._make().__await__()


class AsyncWorker:
    """Runs a coroutine function on every message of a queue and group.

    The handler takes the message, and a Context if it has a second parameter; the type of the payload is the one that
    its annotation names: ``async def handle(message: Message[Order])``. When it returns, the message is done; when it
    raises, the message comes again after the group's backoff; RetryAfter and Reject say otherwise.
    """

    def __init__(
        self,
        client: AsyncClient,
        queue: str,
        handler: Callable[..., Any],
        *,
        group: str = DEFAULT_GROUP,
        concurrency: int = 10,
        prefetch: int | None = None,
        cooldown: Duration = 0.005,
        lease: Duration = 30,
        timeout: Duration | None = None,
        stop_timeout: Duration = 30,
        maintain: bool = True,
        exactly_once: bool = False,
        payload: Any = None,
        middleware: Sequence[Callable[..., Any]] = (),
        on_error: Callable[[BaseException, Any], None] | None = None,
    ) -> None:
        """Take the options of sdk/README.md; ``payload`` overrides the type that the annotation names.

        ValueError when the client's pool has fewer connections than ``exactly_once`` needs: one for each handler.
        """
        self.client, self.queue, self.group = client, queue, group
        if exactly_once:
            _check_pool(client.transport, concurrency)
        http = isinstance(client.transport, AsyncHttp)
        options = Options(
            queue,
            group,
            concurrency,
            prefetch,
            cooldown,
            lease,
            timeout,
            stop_timeout,
            maintain and not http,
            http,
            isinstance(handler, RunsJobs),
            on_error,
        )
        handlers = AsyncHandlers(client, handler, payload, middleware, exactly_once)
        self._core = Core(lambda: _AsyncPort(client, queue), handlers, options)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None

    async def run(self) -> None:
        """Work until stopped. SIGTERM and SIGINT stop it softly, a second one at once."""
        loop = asyncio.get_running_loop()
        with _Signals(loop, self._core):
            await self._run()

    def stop(self, hard: bool = False) -> Coroutine[Any, Any, None]:
        """Claim no more, let handlers end (``hard``: cancel them), give back the rest.

        The worker begins to stop when this is called, so that ``call_later``, a signal handler and another thread may
        call it; what it returns may be awaited, until all is settled.
        """
        if self._loop is None:
            self._core.stop(hard=hard)
        elif not self._loop.is_closed():  # wakes it, too, when it sleeps under a signal handler
            self._loop.call_soon_threadsafe(lambda: self._core.stop(hard=hard))
        return _Ending(self._ended)

    async def _ended(self) -> None:
        if not self._core.is_handler(asyncio.current_task()):
            await self._core.ended.wait()

    async def _run(self) -> None:
        self._loop = asyncio.get_running_loop()
        await self._core.run()

    async def __aenter__(self) -> AsyncWorker:
        """Work in the background, without touching signals, until the block ends."""
        self._task = asyncio.create_task(self._run())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._core.stop(hard=False)
        assert self._task is not None  # noqa: S101 (for the type checker)
        await self._task

    def health(self) -> Health:
        """Say how it goes."""
        return self._core.health()


class Worker:
    """Runs a function, in threads, on every message of a queue and group. See AsyncWorker for what a handler is.

    A handler that runs past its ``timeout``, whose claim was lost or that is stopped hard gets the exception Cancelled
    as soon as it is back in Python code; until it has ended its lease is renewed, so that nobody else runs the message.
    """

    def __init__(
        self,
        client: Client,
        queue: str,
        handler: Callable[..., Any],
        *,
        group: str = DEFAULT_GROUP,
        concurrency: int = 10,
        prefetch: int | None = None,
        cooldown: Duration = 0.005,
        lease: Duration = 30,
        timeout: Duration | None = None,
        stop_timeout: Duration = 30,
        maintain: bool = True,
        exactly_once: bool = False,
        payload: Any = None,
        middleware: Sequence[Callable[..., Any]] = (),
        on_error: Callable[[BaseException, Any], None] | None = None,
    ) -> None:
        """Take the options of sdk/README.md; ``payload`` overrides the type that the annotation names.

        ValueError when the client's pool has fewer connections than ``exactly_once`` needs: one for each handler.
        """
        self.client, self.queue, self.group = client, queue, group
        if exactly_once:
            _check_pool(client.transport, concurrency)
        http = isinstance(client.transport, Http)
        options = Options(
            queue,
            group,
            concurrency,
            prefetch,
            cooldown,
            lease,
            timeout,
            stop_timeout,
            maintain and not http,
            http,
            isinstance(handler, RunsJobs),
            on_error,
        )
        self._handlers = ThreadHandlers(client, handler, payload, middleware, exactly_once, concurrency)
        self._core = Core(lambda: _ThreadPort(client, queue), self._handlers, options)
        self._ended = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._failure: BaseException | None = None
        self._stop: bool | None = None  # asked for before the loop was there: hard or not
        self._lock = threading.RLock()  # a signal handler may come within it
        self._runs_in: int | None = None

    def run(self) -> None:
        """Work until stopped. In the main thread SIGTERM and SIGINT stop it softly, a second one at once."""
        asyncio.run(self._run(signals=threading.current_thread() is threading.main_thread()))

    def stop(self, hard: bool = False) -> None:
        """Claim no more, let handlers end (``hard``: cancel them), give back the rest; return when all is settled.

        From a handler, and from a signal handler in the thread of ``run``, it returns at once.
        """
        with self._lock:
            self._stop = hard
            if self._loop is not None and not self._ended.is_set():
                self._loop.call_soon_threadsafe(lambda: self._core.stop(hard=hard))
        if not self._handlers.threads.current() and self._runs_in != threading.get_ident():
            self._ended.wait()

    def __enter__(self) -> Worker:
        """Work in the background until the block ends."""
        self._thread = threading.Thread(target=self._background, name="weir-worker", daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
        assert self._thread is not None  # noqa: S101 (for the type checker)
        self._thread.join()
        if self._failure is not None:
            raise self._failure

    def health(self) -> Health:
        """Say how it goes."""
        return self._core.health()

    def _background(self) -> None:
        try:
            asyncio.run(self._run(signals=False))
        except BaseException as failure:
            self._failure = failure

    async def _run(self, *, signals: bool) -> None:
        loop = asyncio.get_running_loop()
        with self._lock:
            self._loop, self._runs_in = loop, threading.get_ident()
            if self._stop is not None:
                self._core.stop(hard=self._stop)
        try:
            with _Signals(loop, self._core if signals else None):
                await self._core.run()
        finally:
            with self._lock:
                self._ended.set()


class _Signals:
    """Has signals stop a worker while it runs: the first softly, the second at once."""

    def __init__(self, loop: asyncio.AbstractEventLoop, core: Core | None) -> None:
        self._loop = loop
        self._core = core

    def __enter__(self) -> None:
        if self._core is not None and threading.current_thread() is threading.main_thread():
            for number in _SIGNALS:
                self._loop.add_signal_handler(number, self._stop)

    def __exit__(self, *_: object) -> None:
        if self._core is not None and threading.current_thread() is threading.main_thread():
            for number in _SIGNALS:
                self._loop.remove_signal_handler(number)

    def _stop(self) -> None:
        assert self._core is not None  # noqa: S101 (for the type checker)
        self._core.stop(hard=self._core.stopping)
