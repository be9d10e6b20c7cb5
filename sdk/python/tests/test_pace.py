"""A worker leaves time between its calls while many messages come, and nobody waits for that."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

import weir
from test_worker import stats, until
from weir.pace import Cooldown


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
    ("time", "lease", "full", "rate", "least", "most"),
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
    time: float, lease: float, full: bool, rate: Callable[[bool], float], least: float, most: float
) -> None:
    assert least <= windows_on(Cooldown(time, lease), full, rate) <= most


def test_a_cooldown_is_counted_from_the_begin_of_the_call_before() -> None:
    cooldown = Cooldown(0.005, 30)
    assert cooldown.left(0) == 0
    cooldown.on = True
    assert [cooldown.left(ago) for ago in (0, 0.004, 0.005, 3600)] == [0.005, pytest.approx(0.001), 0, 0]


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
