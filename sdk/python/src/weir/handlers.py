"""Runs handlers: with their middleware, in tasks or in threads, in a transaction where one is wanted."""

from __future__ import annotations

import asyncio
import inspect
import typing
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from weir import codec
from weir.aio.client import AsyncClient
from weir.errors import Error
from weir.generated.client import Client
from weir.held import Context, Running
from weir.hooks import NO_HOOKS, Hooks
from weir.runtime import async_only, plain_only
from weir.threads import Threads
from weir.types import Message


class AlreadyFinished(Exception):
    """The message was finished before; there is nothing to do."""


@dataclass(frozen=True, slots=True)
class Finished:
    """What a handler returns to have the result of its job kept."""

    value: Any


class RunsJobs:
    """The handler of a worker of jobs: its results are kept, and its jobs can be cancelled."""


class Handlers(Protocol):
    """How a worker runs its handler."""

    exactly_once: bool
    """Handlers run in a transaction that acks their message."""

    def start(self, message: Message[Any], context: Context) -> Running:
        """Begin with a message."""

    def close(self) -> None:
        """End what was opened to run handlers."""


class _Handler:
    """A handler as the caller wrote it: what type its payload has, and whether it wants a context."""

    def __init__(self, function: Callable[..., Any], payload: Any) -> None:
        self.function = function
        parameters = list(inspect.signature(function).parameters.values())
        places = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        if not places and not any(p.kind == p.VAR_POSITIONAL for p in parameters):
            raise TypeError(f"handler {function!r} takes no message")
        self.runs_jobs = isinstance(function, RunsJobs)
        self.wants_context = len(places) > 1 and places[1].default is inspect.Parameter.empty
        self.payload = payload if payload is not None else _payload_of(function, places)

    def call(self, message: Message[Any], context: Context) -> Any:
        return self.function(message, context) if self.wants_context else self.function(message)

    def typed(self, message: Message[Any]) -> Message[Any]:
        if self.payload is Any:
            return message
        return replace(message, payload=codec.decode(message.payload, self.payload))


def _payload_of(function: Callable[..., Any], places: Sequence[inspect.Parameter]) -> Any:
    """Return T of a first parameter that is annotated Message[T]; Any where it is not."""
    try:
        hints = typing.get_type_hints(function if inspect.isroutine(function) else type(function).__call__)
    except (NameError, TypeError):
        return Any
    args = typing.get_args(hints.get(places[0].name)) if places else ()
    return args[0] if args and not isinstance(args[0], typing.TypeVar) else Any


def _wrap(handler: Callable[..., Any], middleware: Sequence[Callable[..., Any]]) -> Callable[..., Any]:
    """Put middleware around a handler, the first outermost: each is called with message, context and the next."""
    for layer in reversed(middleware):
        handler = _layer(layer, handler)
    return handler


def _layer(layer: Callable[..., Any], following: Callable[..., Any]) -> Callable[..., Any]:
    def call(message: Message[Any], context: Context) -> Any:
        return layer(message, context, lambda: following(message, context))

    return call


def _hooked(hooks: Hooks, layer: Callable[[Hooks], Callable[..., Any]]) -> list[Callable[..., Any]]:
    """Return the middleware that a client's hooks are."""
    return [] if hooks is NO_HOOKS else [layer(hooks)]


def _hook(hooks: Hooks) -> Callable[..., Any]:
    def layer(message: Message[Any], context: Context, following: Callable[[], Any]) -> Any:
        with hooks.processing(message):
            return following()

    return layer


def _async_hook(hooks: Hooks) -> Callable[..., Any]:
    async def layer(message: Message[Any], context: Context, following: Callable[[], Any]) -> Any:
        with hooks.processing(message):
            return await following()

    return layer


class _Task:
    """A handler that is a task."""

    def __init__(self, task: asyncio.Task[Any], context: Context) -> None:
        self.future: asyncio.Future[Any] = task
        self._context = context

    def cancel(self) -> None:
        self._context.cancelled = True
        self.future.cancel()


class AsyncHandlers:
    """Runs coroutine functions in tasks."""

    def __init__(
        self,
        client: AsyncClient,
        handler: Callable[..., Any],
        payload: Any,
        middleware: Sequence[Callable[..., Any]],
        exactly_once: bool,
    ) -> None:
        async_only(handler, "handler")
        self._client = client
        self._handler = _Handler(handler, payload)
        self._call = _wrap(self._handler.call, [*_hooked(client.hooks, _async_hook), *middleware])
        self.exactly_once = exactly_once

    def start(self, message: Message[Any], context: Context) -> Running:
        return _Task(asyncio.create_task(self._run(message, context)), context)

    def close(self) -> None:
        pass

    async def _run(self, message: Message[Any], context: Context) -> Any:
        message = context.message = self._handler.typed(message)
        if not self.exactly_once:
            return await self._call(message, context)
        async with self._client.transaction() as tx:
            context.tx = tx
            if self._handler.runs_jobs:
                result = await self._call(message, context)
                value = result.value if isinstance(result, Finished) else None
                context.settling = True
                if await tx.finish(message.queue, message, value) == 0:
                    raise AlreadyFinished
                return None
            context.settling = True
            if await tx.ack(message.queue, message) == 0:
                raise AlreadyFinished
            await self._call(message, context)
        return None


class _Thread:
    """A handler that runs in a thread."""

    def __init__(self, threads: Threads, work: Callable[[], Any], context: Context) -> None:
        self._call = threads.submit(work)
        self.future = self._call.future
        self._context = context

    def cancel(self) -> None:
        self._context.cancelled = True
        self._call.cancel()


class ThreadHandlers:
    """Runs functions in threads."""

    def __init__(
        self,
        client: Client,
        handler: Callable[..., Any],
        payload: Any,
        middleware: Sequence[Callable[..., Any]],
        exactly_once: bool,
        concurrency: int,
    ) -> None:
        plain_only(handler, "handler")
        for layer in middleware:
            plain_only(layer, "middleware")
        self._client = client
        self._handler = _Handler(handler, payload)
        self._inside = _wrap(self._handler.call, [*_hooked(client.hooks, _hook), *middleware])
        self.exactly_once = exactly_once
        self.threads = Threads(concurrency, "weir-handler")

    def start(self, message: Message[Any], context: Context) -> Running:
        return _Thread(self.threads, lambda: self._run(message, context), context)

    def close(self) -> None:
        self.threads.close()

    def _call(self, message: Message[Any], context: Context) -> Any:
        result = self._inside(message, context)
        if inspect.iscoroutine(result):  # of a lambda, say: nothing was done, and so it is not done
            result.close()
            raise TypeError("the handler returned a coroutine, which nobody runs: use AsyncWorker with an AsyncClient")
        return result

    def _run(self, message: Message[Any], context: Context) -> Any:
        message = context.message = self._handler.typed(message)
        if not self.exactly_once:
            return self._call(message, context)
        with self._client.transaction() as tx:
            context.tx = tx
            if self._handler.runs_jobs:
                result = self._call(message, context)
                value = result.value if isinstance(result, Finished) else None
                context.settling = True
                if tx.finish(message.queue, message, value) == 0:
                    raise AlreadyFinished
                return None
            context.settling = True
            if tx.ack(message.queue, message) == 0:
                raise AlreadyFinished
            self._call(message, context)
        return None


def is_lost(error: BaseException) -> bool:
    """Whether an error says that a claim is gone."""
    return isinstance(error, Error) and error.code in {"WR009", "WR010"}
