"""How a worker learns of messages: what it asks for, and when."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import psycopg
import pytest

import weir
from weir import calls
from weir.generated import wait
from weir.generated.postgres import Postgres

PATIENCE = 60.0


def until(true: Callable[[], Any], what: str = "") -> Any:
    end = time.monotonic() + PATIENCE
    while not (got := true()):
        assert time.monotonic() < end, f"it did not come true: {what}"
        time.sleep(0.01)
    return got


class Requests:
    """What workers with threads asked of the engine to get messages, in order: "receive 100", for so many, "mark"."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.list: list[str] = []
        run, fetch = Postgres.run, wait.fetch

        def noting_run(transport: Postgres, call: calls.Call[Any]) -> Any:
            result = run(transport, call)
            if call.name == "receive":
                _, _, most, _ = call.query()[1]
                self.list.append(f"receive {most}")
            return result

        def noting_fetch(conn: Any, sql: str, params: Any) -> Any:
            rows = fetch(conn, sql, params)
            if "mark_waiting" in sql:
                self.list.append("mark")
            return rows

        monkeypatch.setattr(Postgres, "run", noting_run)
        monkeypatch.setattr(wait, "fetch", noting_fetch)

    def after(self, call: str) -> Counter[str]:
        """Which calls came next to those that are like one."""
        seen = list(self.list)
        return Counter(then for this, then in pairwise(seen) if this == call)

    def looks(self) -> int:
        """The largest number of receives between one mark and the next."""
        seen = list(self.list)
        marks = [i for i, call in enumerate(seen) if call == "mark"]
        return max((end - begin - 1 for begin, end in pairwise(marks)), default=0)


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> Requests:
    return Requests(monkeypatch)


@pytest.fixture
def handled(client: weir.Client, queue: str, seen: Requests) -> Iterator[list[int]]:
    """The messages that a worker of the queue has handled."""
    handled: list[int] = []
    with weir.Worker(client, queue, lambda message: handled.append(message.payload), concurrency=4, prefetch=100):
        yield handled


def send_handled(client: weir.Client, queue: str, handled: list[int]) -> None:
    """Send a message and wait until it is handled."""
    number = len(handled)
    client.send(queue, number)
    until(lambda: len(handled) > number, "the message is handled")


def test_a_worker_that_is_told_of_a_message_receives_that_one_and_marks_the_queue_again(
    client: weir.Client, queue: str, seen: Requests, handled: list[int]
) -> None:
    def told() -> bool:  # else a look before it had found the message
        marks = seen.list.count("mark")
        until(lambda: seen.list.count("mark") > marks, "the queue is marked")
        send_handled(client, queue, handled)
        return bool(seen.after("receive 1"))

    until(told, "the worker is told of a message")
    assert set(seen.after("receive 1")) == {"mark"}


def test_a_worker_looks_again_and_again_while_a_transaction_is_writing(
    dsn: str, client: weir.Client, queue: str, seen: Requests, handled: list[int]
) -> None:
    """Who wrote before the mark was set may not have seen it: what he sends is there, and nobody is told."""

    def looked() -> bool:
        send_handled(client, queue, handled)  # which begins the steps anew
        marks = seen.list.count("mark")
        until(lambda: seen.list.count("mark") >= marks + 2, "the mark at the end of the steps")
        return seen.looks() >= 7

    with psycopg.connect(dsn) as writer:
        writer.execute("select pg_current_xact_id()")
        until(looked, "a look after each step from 2 to 128 ms")


def test_a_send_between_looking_and_waiting_is_not_missed(
    client: weir.Client, queue: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wait, "STEP_MIN", PATIENCE)
    waiter = wait.Waiter(client, queue)
    waiter.wait(0.001)  # a breath
    waiter.wait(PATIENCE)  # marks the queue
    assert client.receive(queue) == []
    client.send(queue, 1)
    waiter._quiet()  # whatever the listening connection is asked meanwhile
    waiter.wait(PATIENCE)
    assert waiter.told()
    waiter.close()
