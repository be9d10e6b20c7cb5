"""Jobs: functions that are enqueued by name with their arguments, and that a worker runs."""

from __future__ import annotations

import dataclasses
import inspect
import typing
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, ParamSpec, TypeVar, overload

from weir import codec
from weir.aio.client import AsyncClient
from weir.errors import PayloadError
from weir.handlers import Finished, RunsJobs
from weir.held import Context
from weir.runtime import AsyncReturns, async_only
from weir.types import Duration, Enqueued, JobStatus, Json, Message
from weir.worker import AsyncWorker

P = ParamSpec("P")
R = TypeVar("R")


class AsyncRunningJob:
    """The job that is at work: ``jobs.current()`` within its function."""

    def __init__(self, client: AsyncClient, message: Message[Any], context: Context) -> None:
        self._client = client
        self._context = context
        self.message = message

    @property
    def id(self) -> int:
        """What ``enqueue`` returned."""
        return self.message.id

    @property
    def attempt(self) -> int:
        """1 at the first."""
        return self.message.attempt

    @property
    def tx(self) -> Any:
        """With ``exactly_once``: the transaction in which the job is finished."""
        return self._context.tx

    @property
    def cancelled(self) -> bool:
        """Whether it should leave off."""
        return self._context.cancelled

    async def progress(self, value: Any = None) -> bool:
        """Tell how far it is; False when the job was cancelled."""
        return await self._client.progress(self.message.queue, self.message, value)


@dataclass(frozen=True)
class AsyncJob(Generic[P, R]):
    """A function that can be enqueued. Called, it runs here and now."""

    kind: str
    function: Callable[P, AsyncReturns[R]]
    client: AsyncClient
    queue: str
    options: Mapping[str, Any]
    """How it is enqueued: what ``AsyncClient.enqueue`` takes."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> AsyncReturns[R]:
        return self.function(*args, **kwargs)

    def using(
        self,
        *,
        key: str | None = None,
        headers: Mapping[str, Json] | None = None,
        delay: Duration | None = None,
        run_at: datetime | None = None,
        priority: int | None = None,
        unique_key: str | None = None,
        unique_for: Duration | None = None,
        unique: bool | None = None,
        tracked: bool | None = None,
    ) -> AsyncJob[P, R]:
        """Return the same with other options: ``welcome.using(delay=60).enqueue(7)``."""
        given = {
            "key": key,
            "headers": headers,
            "delay": delay,
            "run_at": run_at,
            "priority": priority,
            "unique_key": unique_key,
            "unique_for": unique_for,
            "unique": unique,
            "tracked": tracked,
        }
        changed = {name: value for name, value in given.items() if value is not None}
        return dataclasses.replace(self, options={**self.options, **changed})

    def in_(self, tx: Any) -> AsyncJob[P, R]:
        """Return the same, enqueued in the caller's transaction."""
        return dataclasses.replace(self, client=self.client.in_(tx))

    async def enqueue(self, *args: P.args, **kwargs: P.kwargs) -> int:
        """Enqueue it with these arguments, and return the job's id."""
        return await self.client.enqueue(self.queue, self.kind, self.arguments(*args, **kwargs), **self.options)

    async def enqueue_many(self, arguments: Sequence[Mapping[str, Any]]) -> list[Enqueued]:
        """Enqueue it once for each mapping of arguments by name, all or none, at the price of few.

        With ``unique`` those that are there already, or twice among them, are not enqueued again: ``repeated`` says so.
        """
        if "unique_key" in self.options:
            raise ValueError("one unique_key for all: use unique, or Client.enqueue_batch with a key for each")
        shared = {"delay", "priority", "unique_for", "unique", "tracked"}
        each = {name: value for name, value in self.options.items() if name not in shared}
        jobs = [{"kind": self.kind, "args": self.arguments(**given), **each} for given in arguments]
        options = {name: value for name, value in self.options.items() if name in shared}
        return await self.client.enqueue_batch(self.queue, jobs, **options)

    async def status(self, id: int) -> JobStatus | None:
        """Return how a tracked job of this queue stands."""
        return await self.client.job(self.queue, id)

    async def cancel(self, id: int, *, reason: str | None = None) -> str:
        """Cancel a job of this queue: see ``AsyncClient.cancel``."""
        return await self.client.cancel(self.queue, id, reason=reason)

    async def schedule(
        self,
        name: str,
        cron: str | None = None,
        args: Mapping[str, Any] | None = None,
        *,
        every: Duration | None = None,
        time_zone: str | None = None,
        missed: str | None = None,
    ) -> datetime:
        """Enqueue it at the times of ``cron``, or ``every`` so often: see ``AsyncClient.schedule``."""
        kept = {"key", "headers", "priority", "unique", "tracked"}
        if odd := sorted(set(self.options) - kept):
            raise ValueError(f"a schedule has no option {odd[0]}")
        return await self.client.schedule(
            name,
            self.queue,
            self.kind,
            self.arguments(**(args or {})),
            cron=cron,
            every=every,
            time_zone=time_zone,
            missed=missed,
            **self.options,
        )

    def arguments(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """Return arguments by name; TypeError when the function does not take them."""
        return inspect.signature(self.function).bind(*args, **kwargs).arguments


class AsyncJobs:
    """The jobs of one queue: their functions by kind, and the worker that runs them."""

    def __init__(self, client: AsyncClient, queue: str) -> None:
        """Take the client that enqueues and the queue, which exists: ``create_queue`` makes one."""
        self.client = client
        self.queue = queue
        self._kinds: dict[str, _Kind] = {}
        self._current: ContextVar[AsyncRunningJob] = ContextVar(f"weir job of {queue}")

    @overload
    def job(self, function: Callable[P, AsyncReturns[R]], /) -> AsyncJob[P, R]: ...

    @overload
    def job(
        self, /, *, kind: str | None = None, **options: Any
    ) -> Callable[[Callable[P, AsyncReturns[R]]], AsyncJob[P, R]]: ...

    def job(self, function: Any = None, /, *, kind: str | None = None, **options: Any) -> Any:
        """Make a function a job: ``@jobs.job``, or ``@jobs.job(kind="mail.welcome", tracked=True, priority=1)``.

        Its kind is its name unless given. The options are those with which it is enqueued: see ``AsyncJob.using``.
        Arguments travel as JSON by their names and are decoded to the types that the function's annotations name.
        """

        def make(function: Callable[..., Any]) -> AsyncJob[Any, Any]:
            name = kind or function.__name__
            if name in self._kinds:
                raise ValueError(f"kind {name!r} is there already")
            self._kinds[name] = _Kind(function)
            return AsyncJob(name, function, self.client, self.queue, {}).using(**options)

        return make if function is None else make(function)

    def current(self) -> AsyncRunningJob:
        """Return the job at work, within its function. LookupError outside of one."""
        return self._current.get()

    def worker(self, **options: Any) -> AsyncWorker:
        """Return a worker that runs the jobs of the queue; the options are those of ``AsyncWorker``."""
        return AsyncWorker(self.client, self.queue, _Runner(self), **options)

    async def run(self, **options: Any) -> None:
        """Work until SIGTERM."""
        await self.worker(**options).run()


class _Kind:
    """A function and the types of its arguments."""

    def __init__(self, function: Callable[..., Any]) -> None:
        async_only(function, "job")
        self.function = function
        self._parameters = inspect.signature(function).parameters
        odd = [p.name for p in self._parameters.values() if p.kind not in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
        if odd:
            raise TypeError(f"{function!r}: parameter {odd[0]} cannot be given by its name, as jobs are")
        self._hints: dict[str, Any] | None = None

    def decoded(self, args: Any) -> dict[str, Any]:
        """Return the arguments as the function wants them; PayloadError when they do not fit."""
        if self._hints is None:  # not when it was made: annotations may name what comes later in the file
            self._hints = typing.get_type_hints(self.function, include_extras=True)
        if not isinstance(args, dict):
            raise PayloadError(f"arguments are {type(args).__name__}, not an object")
        unknown = [name for name in args if name not in self._parameters]
        if unknown:
            raise PayloadError(f"there is no parameter {unknown[0]!r}")
        for name, parameter in self._parameters.items():
            if name not in args and parameter.default is parameter.empty:
                raise PayloadError(f"argument {name!r} is missing")
        return {name: codec.decode(value, self._hints.get(name, Any)) for name, value in args.items()}


class _Runner(RunsJobs):
    """The handler of a worker of jobs."""

    def __init__(self, jobs: AsyncJobs) -> None:
        self._jobs = jobs

    async def __call__(self, message: Message[Any], context: Context) -> Any:
        headers = message.headers or {}
        kind = self._jobs._kinds.get(headers.get("kind", ""))
        if kind is None:  # another worker may know it, such as one of the next release
            raise LookupError(f"this worker has no function for the kind {headers.get('kind')!r}")
        self._jobs._current.set(AsyncRunningJob(self._jobs.client, message, context))
        result = await kind.function(**kind.decoded(message.payload))
        mark = headers.get("job") or {}
        if "workflow" in mark or (result is not None and mark.get("tracked")):  # a step that is acked only goes on late
            return Finished(codec.encode(result))
        return None
