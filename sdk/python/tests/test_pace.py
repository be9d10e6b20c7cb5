"""A worker holds as many messages as its handlers are quick, and leaves time between its calls while many come."""

from __future__ import annotations

import asyncio
import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

import weir
from test_worker import PATIENCE, stats, until
from weir.pace import Cooldown, Pace


def windows_on(cooldown: Cooldown, full: bool, rate: Callable[[bool], float]) -> float:
    """Feed a cooldown with fetches; return in which share of many windows it is on."""
    fetches, windows, now, on = 10, 2000, 0.0, 0
    cooldown.fetched(now, 0, False)
    for _ in range(windows):
        messages = int(rate(cooldown.on) * 0.2 / fetches)
        on += cooldown.on
        for _ in range(fetches):
            now += 0.2001 / fetches
            cooldown.fetched(now, messages, full)
    return on / windows


@pytest.mark.parametrize(
    ("gap", "lease", "full", "rate", "least", "most"),
    [
        pytest.param(0.005, 30, False, lambda _: 0, 0, 0, id="no message"),
        pytest.param(0.005, 30, False, lambda _: 3000, 0, 0, id="3,000 a second"),
        pytest.param(0.005, 30, False, lambda _: 4000, 0.99, 1, id="4,000 a second"),
        pytest.param(0.005, 30, False, lambda _: random.uniform(4000, 5000), 0.9, 1, id="4,000 to 5,000"),
        pytest.param(0.005, 30, True, lambda _: 50_000, 0, 0, id="a backlog"),
        pytest.param(0.005, 30, False, lambda on: 2000 if on else 4000, 0.001, 0.05, id="few in a loop"),
        pytest.param(0, 30, False, lambda _: 4000, 0, 0, id="none"),
        pytest.param(0.02, 30, False, lambda _: 1000, 0.99, 1, id="longer"),
        pytest.param(0.005, 0.1, False, lambda _: 4000, 0, 0, id="short lease"),
    ],
)
def test_a_cooldown_is_for_thousands_of_messages_a_second_that_come_as_quickly_with_it(
    gap: float, lease: float, full: bool, rate: Callable[[bool], float], least: float, most: float
) -> None:
    assert least <= windows_on(Cooldown(gap, lease), full, rate) <= most


def test_a_cooldown_is_counted_from_the_begin_of_the_call_before() -> None:
    cooldown = Cooldown(0.005, 30)
    assert cooldown.left(0) == 0
    cooldown.on = True
    assert [cooldown.left(ago) for ago in (0, 0.004, 0.005, 3600)] == [0.005, pytest.approx(0.001), 0, 0]


def test_a_pace_rises_while_handlers_are_quick_and_falls_when_they_are_slow() -> None:
    pace = Pace(2, 1000)
    pace.began(0)
    pace.fetched(True)
    assert pace.now == 4, "no handler had ended"
    seen = []
    for full in [True] * 9 + [False]:
        pace.did(0.0001)
        pace.fetched(full)
        seen.append((pace.now, pace.claim_max()))
    assert seen[:2] == [(8, 8), (16, 16)]
    assert seen[-2:] == [(1000, 500), (1000, 500)]
    pace.began(0.05)
    pace.began(0.4)
    pace.fetched(True)
    assert pace.now == 250, "a message had waited for 0.4 s"
    for _ in range(20):
        pace.did(0.002)
        pace.fetched(True)
    assert pace.now == pytest.approx(100, abs=1), "in 0.1 s two handlers work off as many"
    assert pace.slowed(200) == 196
    assert (pace.now, pace.slowed(3)) == (4, 0)


def test_a_worker_of_slow_handlers_holds_twice_as_many_messages(client: weir.Client, queue: str) -> None:
    client.send_batch(queue, list(range(100)))
    release = threading.Event()
    worker = weir.Worker(client, queue, lambda _: release.wait(PATIENCE), concurrency=3)
    with worker:
        until(lambda: worker.health().running == 3)
        left = 0
        while left < 94:
            left += len(client.receive(queue, max=100, wait=PATIENCE))
        assert (left, worker.health().held) == (94, 6)
        release.set()


async def test_what_waits_for_handlers_that_became_slow_goes_to_others_uncounted(
    aclient: weir.AsyncClient, queue: str
) -> None:
    await aclient.send_batch(queue, list(range(2000)))
    handled = most = 0
    release = asyncio.Event()

    async def handle(_: weir.Message[int]) -> None:
        nonlocal handled
        handled += 1
        if handled > 1000:
            await release.wait()

    async with weir.AsyncWorker(aclient, queue, handle, concurrency=2, lease=24) as worker:
        end = time.monotonic() + PATIENCE
        while handled < 1002 or worker.health().held != 4:
            assert time.monotonic() < end
            most = max(most, worker.health().held)
            await asyncio.sleep(0.01)
        left: list[weir.Message[int]] = []
        while len(left) < 996:
            left += await aclient.receive(queue, max=1000, wait=PATIENCE)
        release.set()
    assert {m.attempt for m in left} == {1}
    assert most > 100


@contextmanager
def flow(client: weir.Client, queue: str) -> Iterator[Callable[[], int]]:
    """Send messages one by one until the block ends; lends what counts them."""
    sent, end = 0, threading.Event()

    def send() -> None:
        nonlocal sent
        while not end.is_set():
            client.send(queue, sent)
            sent += 1

    thread = threading.Thread(target=send)
    thread.start()
    try:
        yield lambda: sent
    finally:
        end.set()
        thread.join()


# The cooldowns of these tests are so long that the slowest machine sends many messages in one; a lease is at least 200
# times as long.


@pytest.mark.parametrize("ordered", [False, True])
def test_a_worker_of_many_single_messages_needs_far_fewer_calls_and_handles_each_once(
    client: weir.Client, queue: str, dsn: str, ordered: bool
) -> None:
    client.create_group(queue, "mine", ordered=ordered)
    handled: list[int] = []
    calls: list[str] = []
    with weir.connect(dsn) as mine:
        worker = weir.Worker(
            mine,
            queue,
            lambda m: handled.append(m.payload),
            group="mine",
            concurrency=4,
            prefetch=1000,
            cooldown=5,
            lease=3600,
        )
        note_calls(worker, calls)
        with flow(client, queue) as sent, worker:
            for name in ("receive", "ack"):

                def few(name: str = name) -> bool:
                    before, seen = calls.count(name), len(handled)
                    until(lambda: len(handled) >= seen + 500)
                    return calls.count(name) <= before + 20

                until(few, name)
        with worker_of_rest(mine, queue, handled):
            until(lambda: len(handled) >= sent())
    assert sorted(handled) == list(range(sent()))


def worker_of_rest(client: weir.Client, queue: str, handled: list[int]) -> weir.Worker:
    return weir.Worker(client, queue, lambda m: handled.append(m.payload), group="mine")


def note_calls(worker: weir.Worker, names: list[str]) -> None:
    """Note the names of the calls that a worker makes."""
    make = worker._core._make_port

    def noting() -> object:
        port = make()
        run = port.run

        def noted(call: weir.calls.Call[object]) -> object:
            names.append(call.name)
            return run(call)

        port.run = noted  # type: ignore[method-assign,assignment]
        return port

    worker._core._make_port = noting  # type: ignore[assignment]


def test_a_worker_that_stops_or_has_no_room_waits_for_no_cooldown(client: weir.Client, queue: str, dsn: str) -> None:
    handled: list[int] = []
    with weir.connect(dsn) as mine:
        worker = weir.Worker(
            mine, queue, lambda m: handled.append(m.payload), prefetch=100, cooldown=600, lease=360_000
        )
        with worker:
            client.send_batch(queue, list(range(2000)))  # room for all of them is made twenty times
            until(lambda: len(handled) == 2000)
        assert stats(client, queue).claimed == 0


def test_what_other_messages_may_wait_for_is_acked_at_once(client: weir.Client, queue: str, dsn: str) -> None:
    client.create_group(queue, "limited", concurrency_max=1)
    with weir.connect(dsn) as mine:
        for group in ("limited", "default"):
            seen: list[int] = []
            worker = weir.Worker(
                mine, queue, lambda m, seen=seen: seen.append(m.payload), group=group, cooldown=600, lease=360_000
            )
            worker._core._cool.fetched = lambda *_: None  # type: ignore[method-assign]  # it stays off
            with worker:
                for n in range(5):
                    client.send(queue, n, key="k")
                    until(lambda n=n, group=group, seen=seen: stats(client, queue, group).claimed == 0 and n in seen)


def test_a_claim_of_an_ordered_group_is_acked_at_once_while_fetches_wait(client: weir.Client, queue: str) -> None:
    client.create_group(queue, "mine", ordered=True)
    client.send_batch(queue, [weir.Outgoing(n, key=str(n)) for n in range(20)])
    worker = weir.Worker(
        client, queue, lambda _: None, group="mine", concurrency=20, prefetch=100, cooldown=600, lease=360_000
    )
    worker._core._cool.on = True
    worker._core._cool.fetched = lambda *_: None  # type: ignore[method-assign]  # it stays on
    with worker:
        until(lambda: (s := stats(client, queue, "mine")).waiting == s.claimed == 0)


def test_a_negative_cooldown_is_refused(client: weir.Client, queue: str) -> None:
    with pytest.raises(ValueError, match="cooldown"):
        weir.Worker(client, queue, print, cooldown=-1)
