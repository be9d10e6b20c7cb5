"""A worker is something to leave running: servers die under it, and jobs without number leave nothing behind."""

from __future__ import annotations

import asyncio
import gc
import os
import re
import subprocess
import threading
import time
import tracemalloc
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import weir
from conftest import free_port

PATIENCE = 900.0
WEIR = os.environ.get("WEIR", "weir")
WARM_UP, JOBS = 2_000, 8_000
LEAK_MAX = 250_000  # bytes: one number in a list for each job would be more


def until(true: Callable[[], Any], what: str) -> None:
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end, f"it did not come true: {what}"
        time.sleep(0.02)


class Server:
    """A PostgreSQL of the test's own that can be killed, and started again where it was."""

    def __init__(self, home: Path) -> None:
        self.home, self.port = home, free_port()
        self.process: subprocess.Popen[bytes] | None = None
        self.start()
        dsn = subprocess.run([WEIR, "dsn", "--data-dir", home / "data"], check=True, capture_output=True, text=True)
        self.dsn = dsn.stdout.strip()

    def start(self) -> None:
        """What was killed may need a moment to be gone, so it is tried until it succeeds."""
        until(self.up, "the server is up")

    def up(self) -> bool:
        with open(self.home / "log", "wb") as log:
            options = ["--data-dir", self.home / "data", "--port", str(self.port), "--listen", "127.0.0.1:0"]
            self.process = subprocess.Popen([WEIR, "up", *options], stdout=log, stderr=log)
        while not re.search(r"http://127\.0\.0\.1:\d", (self.home / "log").read_text()):
            if self.process.poll() is not None:
                return False
            time.sleep(0.02)
        return True

    def kill(self) -> None:
        """PostgreSQL is the child of a process whose death ends it at once, without any orderly shutdown."""
        assert self.process is not None
        self.process.kill()
        self.process.wait()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    server = Server(tmp_path)
    yield server
    server.kill()


def test_a_worker_goes_on_when_its_server_was_killed_and_nothing_is_lost(server: Server) -> None:
    done: Counter[int] = Counter()
    lock = threading.Lock()

    def handle(message: weir.Message[int]) -> None:
        time.sleep(0.002)
        with lock:
            done[message.payload] += 1

    with weir.connect(server.dsn) as client:
        client.create_queue("q")
    with (
        weir.connect(server.dsn) as client,
        weir.Worker(client, "q", handle, lease=5, on_error=lambda *_: None) as worker,
    ):
        for begun in (0, 300, 600):
            client.send_batch("q", list(range(begun, begun + 300)))
            until(lambda begun=begun: len(done) > begun + 50, "it is at work")  # type: ignore[misc]
            known = worker.health().last_error
            server.kill()
            until(lambda known=known: worker.health().last_error is not known, "it notices")  # type: ignore[misc]
            server.start()
            until(lambda begun=begun: len(done) == begun + 300, "all jobs have run")  # type: ignore[misc]
            until(lambda: worker.health().receiving, "the worker is well")
        until(lambda: (s := client.stats("q")[0]).waiting == s.claimed == s.delayed == 0, "all is acked")


def kept() -> int:
    """Bytes that Python holds after a collection."""
    gc.collect()
    return tracemalloc.get_traced_memory()[0]


class Growth:
    """What is kept after each round of jobs. What jobs leave comes with each, what is made once with one of them."""

    def __init__(self, begin: int) -> None:
        self.last, self.by = begin, list[int]()

    def to(self, now: int) -> None:
        self.by.append(now - self.last)
        self.last = now

    def more(self) -> bool:
        """Whether another round may tell more."""
        return not self.by or (min(self.by) >= LEAK_MAX and len(self.by) < 5)


def test_jobs_leave_nothing_in_the_memory_of_a_worker_of_threads(client: weir.Client, queue: str) -> None:
    def work(n: int) -> int:
        for _ in range(n // 1_000):
            client.send_batch(queue, list(range(1_000)))
        until(lambda: (s := client.stats(queue)[0]).waiting == s.claimed == 0, "all is acked")
        until(lambda: worker.health().held == 0, "all is forgotten")
        return kept()

    tracemalloc.start()
    try:
        with weir.Worker(client, queue, lambda message: None) as worker:
            grown = Growth(work(WARM_UP))
            while grown.more():
                grown.to(work(JOBS))
    finally:
        tracemalloc.stop()
    assert min(grown.by) < LEAK_MAX, grown.by


async def test_jobs_leave_nothing_in_the_memory_of_a_worker_of_tasks(aclient: weir.AsyncClient, queue: str) -> None:
    async def work(n: int) -> int:
        for _ in range(n // 1_000):
            await aclient.send_batch(queue, list(range(1_000)))
        while (s := (await aclient.stats(queue))[0]).waiting + s.claimed + worker.health().held > 0:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        return kept()

    async def handle(message: weir.Message[int]) -> None:
        pass

    tracemalloc.start()
    try:
        async with weir.AsyncWorker(aclient, queue, handle) as worker:
            grown = Growth(await work(WARM_UP))
            while grown.more():
                grown.to(await work(JOBS))
    finally:
        tracemalloc.stop()
    assert min(grown.by) < LEAK_MAX, grown.by
