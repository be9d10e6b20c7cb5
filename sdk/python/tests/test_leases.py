"""How a worker keeps its claims: renewed while they are held, lost only when somebody else has them."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from typing import Any

import psycopg_pool
import pytest

import weir
from weir import calls
from weir.aio.postgres import AsyncPostgres
from weir.generated.postgres import Postgres

PATIENCE = 60.0


def until(true: Callable[[], Any], what: str = "") -> Any:
    end = time.monotonic() + PATIENCE
    while not (got := true()):
        assert time.monotonic() < end, f"it did not come true: {what}"
        time.sleep(0.01)
    return got


def settled(client: weir.Client, queue: str) -> bool:
    [s] = client.stats(queue)
    return s.waiting == s.claimed == s.delayed == s.dead == 0


@pytest.fixture
def renewals(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """When claims were renewed, by workers with threads that renew each hundredth of the lease."""
    times: list[float] = []

    def run(self: Postgres, call: calls.Call[Any], run: Callable[..., Any] = Postgres.run) -> Any:
        result = run(self, call)
        if call.name == "extend":
            times.append(time.monotonic())
        return result

    monkeypatch.setattr(Postgres, "run", run)
    monkeypatch.setattr("weir.core._RENEWALS", 100)
    return times


def test_renewing_does_not_wait_for_the_connections_of_handlers(dsn: str, queue: str, renewals: list[float]) -> None:
    ended: list[int] = []

    def handle(message: weir.Message[int]) -> None:
        with client.transaction():  # the only connection
            until(lambda: len(renewals) >= 3, "renewed")
        ended.append(message.payload)

    with weir.connect(dsn, pool_max=1) as client:
        client.send(queue, 1)
        with weir.Worker(client, queue, handle, lease=60):
            until(lambda: ended)


def test_a_job_that_ends_with_its_transaction_is_renewed_until_then(
    client: weir.Client, queue: str, renewals: list[float]
) -> None:
    jobs = weir.Jobs(client, queue)

    @jobs.job(tracked=True)
    def long() -> str:
        until(lambda: len(renewals) >= 3, "renewed")
        return "done"

    number = long.enqueue()
    with jobs.worker(lease=60, exactly_once=True):
        until(lambda: (status := long.status(number)) and status.state == "done")
    assert settled(client, queue)


async def test_a_renewal_that_meets_the_ack_of_its_claim_loses_nothing(
    aclient: weir.AsyncClient, client: weir.Client, queue: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    extending, acked, refused = asyncio.Event(), asyncio.Event(), asyncio.Event()
    codes: list[str] = []
    told: list[BaseException] = []

    async def run(self: AsyncPostgres, call: calls.Call[Any], run: Callable[..., Any] = AsyncPostgres.run) -> Any:
        if call.name == "extend" and not extending.is_set():
            extending.set()
            await acked.wait()
            try:
                return await run(self, call)
            except weir.Error as error:
                codes.append(error.code)
                raise
            finally:
                refused.set()
        result = await run(self, call)
        if call.name == "ack":
            acked.set()
            await refused.wait()  # the worker hears of the renewal first
        return result

    async def handle(message: weir.Message[int]) -> None:
        await extending.wait()

    monkeypatch.setattr(AsyncPostgres, "run", run)
    monkeypatch.setattr("weir.core._RENEWALS", 100)
    await aclient.send(queue, 1)
    worker = weir.AsyncWorker(aclient, queue, handle, lease=60, on_error=lambda error, _: told.append(error))
    async with worker:
        await asyncio.wait_for(refused.wait(), PATIENCE)
    assert codes == ["WR010"]
    assert told == []
    assert settled(client, queue)


async def test_no_transaction_of_a_handler_holds_up_the_renewal_of_others(
    aclient: weir.AsyncClient, client: weir.Client, queue: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    extending, extended = asyncio.Event(), asyncio.Event()
    began: list[int] = []

    async def run(self: AsyncPostgres, call: calls.Call[Any], run: Callable[..., Any] = AsyncPostgres.run) -> Any:
        if call.name != "extend" or extended.is_set():
            return await run(self, call)
        extending.set()  # the second message's claim is renewed, while the first one's handler ends
        while worker.health().running > 0 and len(began) < 2:
            await aclient.version()
        result = await run(self, call)
        extended.set()
        return result

    async def handle(message: weir.Message[int]) -> None:
        began.append(message.payload)
        await asyncio.wait_for((extending if message.payload == 1 else extended).wait(), PATIENCE)

    monkeypatch.setattr(AsyncPostgres, "run", run)
    monkeypatch.setattr("weir.core._RENEWALS", 100)
    told: list[BaseException] = []
    await aclient.send_batch(queue, [1, 2])
    worker = weir.AsyncWorker(
        aclient,
        queue,
        handle,
        concurrency=1,
        lease=60,
        exactly_once=True,
        on_error=lambda error, _: told.append(error),
    )
    async with worker:
        await asyncio.wait_for(extended.wait(), PATIENCE)
        while not settled(client, queue):
            await aclient.version()
    assert (began, told) == ([1, 2], [])


def test_a_worker_on_the_callers_own_pool_renews_beside_it(dsn: str, queue: str, renewals: list[float]) -> None:
    done = threading.Event()

    def handle(message: weir.Message[int]) -> None:
        with pool.connection():
            until(lambda: len(renewals) >= 2, "renewed")
        done.set()

    with psycopg_pool.ConnectionPool(dsn, min_size=1, max_size=1) as pool:
        client = weir.Client(pool)
        client.send(queue, 1)
        with weir.Worker(client, queue, handle, lease=60):
            assert done.wait(PATIENCE)
        assert settled(client, queue)
