"""Who may be given to a worker, and who may stop it."""

from __future__ import annotations

import asyncio
import gc
import signal
import threading
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

import weir
from test_worker import PATIENCE, until


class Plain:
    def __call__(self, message: Any) -> None: ...


class Coroutine:
    async def __call__(self, message: Any) -> None: ...


def plain(message: Any) -> None: ...


async def coroutine(message: Any) -> None: ...


@pytest.mark.parametrize("handler", [plain, Plain(), partial(plain), lambda _: None])
def test_a_worker_of_tasks_takes_no_plain_function(handler: Any, aclient: weir.AsyncClient) -> None:
    with pytest.raises(TypeError, match="no coroutine function"):
        weir.AsyncWorker(aclient, "q", handler)


@pytest.mark.parametrize("handler", [coroutine, Coroutine(), partial(coroutine)])
def test_a_worker_of_threads_takes_no_coroutine_function(handler: Any, client: weir.Client) -> None:
    with pytest.raises(TypeError, match="is a coroutine function"):
        weir.Worker(client, "q", handler)


def test_middleware_in_threads_is_no_coroutine_function(client: weir.Client) -> None:
    async def layer(message: Any, context: Any, following: Any) -> None: ...

    with pytest.raises(TypeError, match="middleware"):
        weir.Worker(client, "q", plain, middleware=[layer])


def test_jobs_are_functions_of_the_same_manner(client: weir.Client, aclient: weir.AsyncClient) -> None:
    with pytest.raises(TypeError, match="no coroutine function"):
        weir.AsyncJobs(aclient, "q").job(plain)
    with pytest.raises(TypeError, match="is a coroutine function"):
        weir.Jobs(client, "q").job(coroutine)


def test_a_coroutine_that_a_plain_function_returns_is_no_work_done(client: weir.Client, queue: str) -> None:
    client.create_group(queue, "g", max_attempts=1)
    client.send(queue, None)
    with weir.Worker(client, queue, lambda message: coroutine(message), group="g", on_error=lambda *_: None):
        [dead] = until(lambda: client.dead_letters(queue, group="g"))
    assert "returned a coroutine" in dead.reason


async def begun(worker: weir.AsyncWorker) -> asyncio.Task[None]:
    """Run a worker, and return when it receives."""
    run = asyncio.create_task(worker.run())
    while not worker.health().receiving:  # noqa: ASYNC110 (a worker has no event for it)
        await asyncio.sleep(0)
    return run


def by_call_later(stop: Callable[[], Any]) -> Callable[[], None]:
    asyncio.get_running_loop().call_later(0.01, stop)
    return lambda: None


def by_signal_handler(stop: Callable[[], Any]) -> Callable[[], None]:
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, stop)
    signal.raise_signal(signal.SIGUSR1)
    return lambda: asyncio.get_running_loop().remove_signal_handler(signal.SIGUSR1) and None


def by_plain_signal_handler(stop: Callable[[], Any]) -> Callable[[], None]:
    before = signal.signal(signal.SIGUSR1, lambda *_: stop())
    signal.raise_signal(signal.SIGUSR1)
    return lambda: signal.signal(signal.SIGUSR1, before) and None


def by_another_thread(stop: Callable[[], Any]) -> Callable[[], None]:
    thread = threading.Thread(target=stop)
    thread.start()
    return thread.join


@pytest.mark.parametrize("way", [by_call_later, by_signal_handler, by_plain_signal_handler, by_another_thread])
async def test_stop_is_a_plain_call_that_may_be_awaited(way: Any, aclient: weir.AsyncClient, queue: str) -> None:
    worker = weir.AsyncWorker(aclient, queue, coroutine)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = await begun(worker)
        undo = way(worker.stop)
        try:
            await asyncio.wait_for(run, PATIENCE)
        finally:
            undo()
        gc.collect()


@pytest.mark.parametrize("how", [asyncio.create_task, asyncio.ensure_future, asyncio.shield, lambda it: it])
async def test_what_stop_returns_ends_when_all_is_settled(how: Any, aclient: weir.AsyncClient, queue: str) -> None:
    worker = weir.AsyncWorker(aclient, queue, coroutine)
    run = await begun(worker)
    await asyncio.wait_for(how(worker.stop()), PATIENCE)
    await run
    await worker.stop()


def test_a_signal_handler_may_stop_a_worker_of_threads(client: weir.Client, queue: str) -> None:
    worker = weir.Worker(client, queue, lambda message: signal.raise_signal(signal.SIGUSR1))
    before = signal.signal(signal.SIGUSR1, lambda *_: worker.stop())
    client.send(queue, None)
    try:
        worker.run()
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert [s.waiting + s.claimed for s in client.stats(queue)] == [0]


async def test_a_handler_may_await_the_stop_of_its_worker(aclient: weir.AsyncClient, queue: str) -> None:
    async def handle(message: weir.Message[Any]) -> None:
        await worker.stop()

    worker = weir.AsyncWorker(aclient, queue, handle)
    await aclient.send(queue, None)
    await asyncio.wait_for(worker.run(), PATIENCE)
    assert [s.waiting + s.claimed for s in await aclient.stats(queue)] == [0]
