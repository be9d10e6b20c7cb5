"""What a worker promises, with threads and with tasks, over SQL and over HTTP."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import psycopg
import pytest

import weir
from weir import calls
from weir.errors import Cancelled

PATIENCE = 60.0


def until(true: Callable[[], Any], what: str = "") -> Any:
    """Wait for something to become true."""
    end = time.monotonic() + PATIENCE
    while not (got := true()):
        assert time.monotonic() < end, f"it did not come true: {what}"
        time.sleep(0.01)
    return got


def stats(client: weir.Client, queue: str, group: str = "default") -> weir.GroupStats:
    [found] = [s for s in client.stats(queue) if s.group == group]
    return found


@pytest.fixture(params=["sql", "http"])
def near(request: pytest.FixtureRequest, dsn: str, url: str) -> Iterator[weir.Client]:
    """A client over each way."""
    with weir.connect(dsn if request.param == "sql" else url) as client:
        yield client


def test_every_message_is_handled_once_and_acked(near: weir.Client, client: weir.Client, queue: str) -> None:
    client.send_batch(queue, list(range(500)))
    seen: Counter[int] = Counter()
    with weir.Worker(near, queue, lambda message: seen.update([message.payload]), concurrency=4):
        until(lambda: len(seen) == 500)
    assert set(seen.values()) == {1}
    found = stats(client, queue)
    assert (found.waiting, found.claimed, found.delayed, found.dead) == (0, 0, 0, 0)


async def test_a_worker_of_tasks_does_the_same(aclient: weir.AsyncClient, client: weir.Client, queue: str) -> None:
    client.send_batch(queue, list(range(500)))
    seen: Counter[int] = Counter()
    everything = asyncio.Event()

    async def handle(message: weir.Message[int]) -> None:
        seen[message.payload] += 1
        if len(seen) == 500:
            everything.set()

    async with weir.AsyncWorker(aclient, queue, handle):
        await asyncio.wait_for(everything.wait(), PATIENCE)
    assert set(seen.values()) == {1}
    assert stats(client, queue).claimed == 0


def test_what_a_handler_raises_decides(near: weir.Client, client: weir.Client, queue: str) -> None:
    client.create_group(queue, "g", backoff_min=3600, backoff_max=3600)
    told: list[BaseException] = []

    def handle(message: weir.Message[str]) -> None:
        if message.payload == "later":
            raise weir.RetryAfter(1800, "not yet")
        if message.payload == "never":
            raise weir.Reject("nonsense")
        if message.payload == "fails":
            raise KeyError("missing")

    client.send_batch(queue, ["done", "later", "never", "fails"])
    with weir.Worker(near, queue, handle, group="g", on_error=lambda error, _: told.append(error)):
        until(lambda: (s := stats(client, queue, "g")).delayed == 2 and s.dead == 1 and s.claimed == s.waiting == 0)
    assert [d.reason for d in client.dead_letters(queue, group="g")] == ["nonsense"]
    assert [type(error) for error in told] == [KeyError]


def test_the_last_failure_is_the_reason_of_the_dead_letter(client: weir.Client, queue: str) -> None:
    client.create_group(queue, "g", max_attempts=2, backoff_min=0, backoff_max=0)

    def handle(message: weir.Message[Any]) -> None:
        raise ValueError(f"attempt {message.attempt}")

    client.send(queue, None)
    with weir.Worker(client, queue, handle, group="g", on_error=lambda *_: None):
        [dead] = until(lambda: client.dead_letters(queue, group="g"))
    assert (dead.reason, dead.attempts) == ("ValueError: attempt 2", 2)


@dataclass
class Order:
    id: int
    items: list[str]


def test_a_payload_that_does_not_fit_is_a_dead_letter_that_says_why(client: weir.Client, queue: str) -> None:
    got: list[Order] = []

    def handle(message: weir.Message[Order]) -> None:
        got.append(message.payload)

    client.send(queue, Order(1, ["a"]))
    client.send(queue, {"id": "one", "items": []})
    with weir.Worker(client, queue, handle, on_error=lambda *_: None):
        [dead] = until(lambda: client.dead_letters(queue))
        until(lambda: got)
    assert got == [Order(1, ["a"])]
    assert dead.reason == "payload.id is str 'one', not int"


def test_keys_are_in_order_and_others_run_meanwhile(client: weir.Client, queue: str) -> None:
    client.create_group(queue, "g", ordered=True)
    messages = [weir.Outgoing((key, n), key=key) for n in range(20) for key in ("a", "b", "c")]
    client.send_batch(queue, messages)
    lines: dict[str, list[int]] = {"a": [], "b": [], "c": []}
    inside: Counter[str] = Counter()
    together = threading.Barrier(3)  # all three keys must be at work at once
    overlap: list[str] = []

    def handle(message: weir.Message[Any]) -> None:
        key, n = message.payload
        inside[key] += 1
        if inside[key] > 1:
            overlap.append(key)
        if n == 0:
            together.wait(PATIENCE)
        lines[key].append(n)
        inside[key] -= 1

    with weir.Worker(client, queue, handle, group="g", concurrency=5, prefetch=100):
        until(lambda: sum(map(len, lines.values())) == 60)
    assert all(line == list(range(20)) for line in lines.values())
    assert not overlap


def test_a_long_line_of_one_key_leaves_handlers_for_the_others(client: weir.Client, queue: str) -> None:
    many = f"{queue}-many"
    client.create_queue(many)
    client.create_group(many, "g", ordered=True)
    client.send_batch(many, [weir.Outgoing("hot", key="hot")] * 10)
    began, other = threading.Event(), threading.Event()
    done: Counter[str] = Counter()

    def handle(message: weir.Message[str]) -> None:
        if message.payload == "hot":
            began.set()
            assert other.wait(PATIENCE)
        else:
            other.set()
        done[message.payload] += 1

    with weir.Worker(client, many, handle, group="g", concurrency=2, prefetch=5):
        assert began.wait(PATIENCE)
        client.send_batch(many, [weir.Outgoing("other", key=f"k{n}") for n in range(20)])
        until(lambda: done == {"hot": 10, "other": 20})
    client.drop_queue(many)


def test_what_is_behind_a_failed_message_of_its_key_waits_for_it(client: weir.Client, queue: str) -> None:
    client.create_group(queue, "g", ordered=True, backoff_min=0, backoff_max=0)
    client.send_batch(queue, [weir.Outgoing(n, key="k") for n in range(5)])
    done: list[int] = []

    def handle(message: weir.Message[int]) -> None:
        if message.payload == 2 and message.attempt == 1:
            raise RuntimeError("first time")
        done.append(message.payload)

    with weir.Worker(client, queue, handle, group="g", on_error=lambda *_: None):
        until(lambda: len(done) == 5)
    assert done == list(range(5))


def test_a_long_job_is_renewed_and_never_run_twice_at_once(
    near: weir.Client, client: weir.Client, queue: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    renewed: list[float] = []
    transport = type(near.transport)

    def run(self: Any, call: calls.Call[Any], run: Callable[..., Any] = transport.run) -> Any:
        result = run(self, call)
        if call.name == "extend":
            renewed.append(time.monotonic())
        return result

    monkeypatch.setattr(transport, "run", run)
    monkeypatch.setattr("weir.core._RENEWALS", 100)
    client.send(queue, "long")
    starts: list[float] = []
    release = threading.Event()

    def handle(message: weir.Message[str]) -> None:
        starts.append(time.monotonic())
        release.wait(PATIENCE)

    with weir.Worker(near, queue, handle, lease=60):
        until(lambda: starts)
        with weir.Worker(client, queue, handle):
            until(lambda: len(renewed) >= 3)
            assert len(starts) == 1
            release.set()
    assert stats(client, queue).claimed == 0
    assert len(starts) == 1


def test_a_handler_past_its_timeout_is_cancelled_and_its_message_nacked(client: weir.Client, queue: str) -> None:
    client.create_group(queue, "g", max_attempts=1)
    ended = threading.Event()

    def handle(message: weir.Message[str]) -> None:
        try:
            while True:
                time.sleep(0.01)
        except Cancelled:
            ended.set()
            raise

    client.send(queue, "endless")
    with weir.Worker(client, queue, handle, group="g", timeout=2, on_error=lambda *_: None):
        [dead] = until(lambda: client.dead_letters(queue, group="g"))
        assert ended.is_set()
    assert dead.reason == "timed out after 2.0 s"


async def test_a_task_past_its_timeout_is_cancelled(aclient: weir.AsyncClient, client: weir.Client, queue: str) -> None:
    client.create_group(queue, "g", max_attempts=1)
    cancelled = asyncio.Event()

    async def handle(message: weir.Message[str], context: weir.Context) -> None:
        try:
            await asyncio.sleep(PATIENCE)
        finally:
            assert context.cancelled
            cancelled.set()

    client.send(queue, "endless")
    async with weir.AsyncWorker(aclient, queue, handle, group="g", timeout=2, on_error=lambda *_: None):
        await asyncio.wait_for(cancelled.wait(), PATIENCE)
    assert [d.reason for d in client.dead_letters(queue, group="g")] == ["timed out after 2.0 s"]


def test_a_lost_claim_cancels_its_handler_and_is_not_acked(
    client: weir.Client, queue: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("weir.core._RENEWALS", 100)
    client.send(queue, "p")
    began, cancelled = threading.Event(), threading.Event()

    def handle(message: weir.Message[str]) -> None:
        if message.payload == "next":
            return
        began.set()
        try:
            while True:
                time.sleep(0.01)
        except Cancelled:
            cancelled.set()
            raise

    with weir.Worker(client, queue, handle, lease=60, on_error=lambda *_: None):
        assert began.wait(PATIENCE)
        client.purge(queue)  # takes the claim away
        assert cancelled.wait(PATIENCE)
        client.send(queue, "next")
        until(lambda: stats(client, queue).waiting == 0)


def test_a_soft_stop_lets_handlers_end_and_gives_the_rest_back_uncounted(
    near: weir.Client, client: weir.Client, queue: str
) -> None:
    client.send_batch(queue, list(range(10)))
    began, release = threading.Event(), threading.Event()
    done: list[int] = []

    def handle(message: weir.Message[int]) -> None:
        began.set()
        release.wait(PATIENCE)
        done.append(message.payload)

    worker = weir.Worker(near, queue, handle, concurrency=1)
    with ThreadPoolExecutor() as pool, worker:
        began.wait(PATIENCE)
        assert worker.health().held == 2
        stopped = pool.submit(worker.stop)
        until(lambda: worker.health().held == 1, "one message was given back")
        assert not stopped.done()
        release.set()
        stopped.result(PATIENCE)
    assert done == [0]
    got = client.receive(queue, max=10, wait=PATIENCE)
    while len(got) < 9:
        got += client.receive(queue, max=10, wait=PATIENCE)
    assert sorted((m.payload, m.attempt) for m in got) == [(n, 1) for n in range(1, 10)]


def test_a_hard_stop_cancels_handlers_and_gives_their_messages_back(client: weir.Client, queue: str) -> None:
    client.send(queue, "p")
    began = threading.Event()

    def handle(message: weir.Message[str]) -> None:
        began.set()
        while True:
            time.sleep(0.01)

    worker = weir.Worker(client, queue, handle)
    with worker:
        began.wait(PATIENCE)
        worker.stop(hard=True)
    [again] = client.receive(queue, wait=PATIENCE)
    assert (again.payload, again.attempt) == ("p", 2)


def test_a_handler_may_stop_its_worker(client: weir.Client, queue: str) -> None:
    client.send(queue, "last")
    worker = weir.Worker(client, queue, lambda message: worker.stop())
    worker.run()
    assert stats(client, queue).waiting + stats(client, queue).claimed == 0


def test_run_ends_with_the_error_when_there_is_no_such_queue_or_group(client: weir.Client, queue: str) -> None:
    with pytest.raises(weir.Error) as no_queue:
        weir.Worker(client, "no-such-queue", print, on_error=lambda *_: None).run()
    assert no_queue.value.code == "WR001"
    with pytest.raises(weir.Error) as no_group:
        weir.Worker(client, queue, print, group="nobody", on_error=lambda *_: None).run()
    assert no_group.value.code == "WR003"


def test_middleware_wraps_the_handler_from_the_outside_in(client: weir.Client, queue: str) -> None:
    trace: list[str] = []

    def layer(name: str) -> Callable[..., Any]:
        def middleware(message: weir.Message[Any], context: weir.Context, following: Callable[[], Any]) -> Any:
            trace.append(f"{name} begins")
            result = following()
            trace.append(f"{name} ends")
            return result

        return middleware

    client.send(queue, "p")
    handle = lambda message: trace.append(message.payload)  # noqa: E731
    with weir.Worker(client, queue, handle, middleware=[layer("outer"), layer("inner")]):
        until(lambda: "outer ends" in trace)
    assert trace == ["outer begins", "inner begins", "p", "inner ends", "outer ends"]


def test_exactly_once_is_refused_with_fewer_connections_than_handlers(queue: str, dsn: str) -> None:
    with weir.connect(dsn, pool_max=3) as client:
        with pytest.raises(ValueError, match=r"4 handlers .* the client's pool has 3"):
            weir.Worker(client, queue, print, exactly_once=True, concurrency=4)
        weir.Worker(client, queue, print, exactly_once=True, concurrency=3)
        weir.Worker(client, queue, print, concurrency=4)


def test_exactly_once_commits_rows_ack_and_messages_together(client: weir.Client, queue: str, dsn: str) -> None:
    client.send_batch(queue, list(range(20)))
    onward = f"{queue}-onward"
    client.create_queue(onward)
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute(f'create table "{queue}" (n int)')

        def handle(message: weir.Message[int], context: weir.Context) -> None:
            context.tx.connection.execute(f'insert into "{queue}" values (%s)', [message.payload])
            context.tx.send(onward, message.payload)
            if message.attempt == 1 and message.payload % 3 == 0:
                raise weir.RetryAfter(0, "rolled back")

        with weir.Worker(client, queue, handle, exactly_once=True, on_error=lambda *_: None):
            until(lambda: (s := stats(client, queue)).waiting == s.claimed == s.delayed == 0)
        rows = sorted(row[0] for row in conn.execute(f'select n from "{queue}"'))
        conn.execute(f'drop table "{queue}"')
    assert rows == list(range(20))
    assert sorted(m.payload for m in client.pop(onward, max=100)) == list(range(20))
    client.drop_queue(onward)


PROGRAM = """
import sys, time, weir
dsn, queue, lease = sys.argv[1:]
def handle(message):
    print("began", flush=True)
    time.sleep(float(message.payload))
    print("done", flush=True)
with weir.connect(dsn) as client:
    weir.Worker(client, queue, handle, lease=float(lease)).run()
print("stopped", flush=True)
"""


def begin(dsn: str, queue: str, lease: int = 600) -> subprocess.Popen[str]:
    program = [sys.executable, "-c", PROGRAM, dsn, queue, str(lease)]
    process = subprocess.Popen(program, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "began\n"
    return process


def test_messages_of_a_killed_worker_are_elsewhere_within_the_lease(client: weir.Client, queue: str, dsn: str) -> None:
    client.send(queue, "1000")
    process = begin(dsn, queue, lease=6)
    process.kill()
    process.wait()
    [again] = client.receive(queue, wait=PATIENCE)
    assert again.attempt == 2
    assert again.ack() == 1


def test_sigterm_stops_a_worker_when_its_handler_has_ended(client: weir.Client, queue: str, dsn: str) -> None:
    client.send(queue, "0.5")
    process = begin(dsn, queue)
    os.kill(process.pid, signal.SIGTERM)
    out, _ = process.communicate(timeout=PATIENCE)
    assert (out, process.returncode) == ("done\nstopped\n", 0)
    assert stats(client, queue).claimed == 0


def test_a_second_signal_stops_at_once(client: weir.Client, queue: str, dsn: str) -> None:
    client.send(queue, "1000")
    process = begin(dsn, queue)
    for number in (signal.SIGTERM, signal.SIGINT):  # two of one kind may come as one
        os.kill(process.pid, number)
    assert process.wait(PATIENCE) == 0


def test_a_worker_outlives_the_end_of_all_its_connections(dsn: str, queue: str, caplog: Any) -> None:
    caplog.set_level(logging.CRITICAL)
    seen: list[Any] = []
    name = f"py-{queue}"
    with (
        weir.connect(f"{dsn}&application_name={name}") as client,
        weir.Worker(client, queue, lambda message: seen.append(message.payload)) as worker,
    ):
        for n in range(1, 4):
            client.send(queue, n)
            until(lambda n=n: seen == list(range(1, n + 1)), "the message")  # type: ignore[misc]
            with psycopg.connect(dsn, autocommit=True) as other:
                query = "select pg_terminate_backend(pid, 60000) from pg_stat_activity where application_name = %s"
                other.execute(query, [name])
        until(lambda: worker.health().receiving)
