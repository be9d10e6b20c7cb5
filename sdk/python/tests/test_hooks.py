"""Hooks: they stand around all that a client sends, see it, and may change or refuse it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import psycopg
import pytest

import weir
from weir import testing


class Watch:
    """Notes what is sent, marks it, and refuses what it is told to."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, list[weir.Outgoing[Any]]]] = []
        self.ids: list[list[int] | None] = []
        self.refusal: Exception | None = None
        self.drops = False

    @contextmanager
    def sending(self, destination: str, messages: list[weir.Outgoing[Any]]) -> Iterator[weir.Sending]:
        self.calls.append((destination, messages))
        if self.refusal is not None:
            raise self.refusal
        marked = [replace(m, headers={**(m.headers or {}), "mark": i}) for i, m in enumerate(messages)]
        sending = weir.Sending([] if self.drops else marked)
        yield sending
        self.ids.append(sending.ids)

    @contextmanager
    def processing(self, message: weir.Message[Any]) -> Iterator[None]:
        yield


@pytest.fixture
def watch() -> Watch:
    return Watch()


@pytest.fixture(params=["sql", "http"])
def watched(dsn: str, url: str, watch: Watch, request: pytest.FixtureRequest) -> Iterator[weir.Client]:
    with weir.connect(dsn if request.param == "sql" else url, hooks=watch) as client:
        yield client


ONE = {"kind": "a", "args": {"n": 1}, "key": "k", "headers": {"own": 1}}
TWO = {"kind": "b"}

CALLS: dict[str, Callable[[weir.Client, str], Any]] = {
    "send_batch": lambda c, q: c.send_batch(q, [weir.Outgoing({"n": 1}, "k", {"own": 1}), {}]),
    "enqueue_batch": lambda c, q: c.enqueue_batch(q, [ONE, TWO]),
    "start_workflow": lambda c, q: c.start_workflow(q, [ONE, TWO]),
    "start_chain": lambda c, q: c.start_chain(q, [ONE, weir.Step("b")]),
    "start_batch": lambda c, q: c.start_batch(q, [ONE], weir.Step("b")),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_hook_sees_all_that_a_call_sends_at_once_and_what_it_adds_arrives(
    watched: weir.Client, watch: Watch, queue: str, name: str
) -> None:
    CALLS[name](watched, queue)
    [(destination, messages)] = watch.calls
    assert destination == queue
    assert messages == [weir.Outgoing({"n": 1}, "k", {"own": 1}), weir.Outgoing({})]
    got: list[weir.Message[Any]] = []

    def handle(message: weir.Message[Any], context: weir.Context) -> None:
        got.append(message)
        if "job" in (message.headers or {}):
            watched.finish(queue, message)

    testing.run_until_empty(weir.Worker(watched, queue, handle, concurrency=1))
    got.sort(key=lambda m: m.id)
    assert [(m.payload, m.key) for m in got] == [({"n": 1}, "k"), ({}, None)]
    own = [{name: (m.headers or {}).get(name) for name in ("own", "mark")} for m in got]
    assert own == [{"own": 1, "mark": 0}, {"own": None, "mark": 1}]
    assert watch.ids == [[m.id for m in got] if name in {"send_batch", "enqueue_batch"} else None]


@pytest.mark.parametrize("name", CALLS)
def test_what_a_hook_refuses_is_not_sent(
    watched: weir.Client, watch: Watch, queue: str, client: weir.Client, name: str
) -> None:
    watch.refusal = PermissionError("not today")
    with pytest.raises(PermissionError, match="not today"):
        CALLS[name](watched, queue)
    [stats] = client.stats(queue)
    assert stats.waiting == 0


@pytest.mark.parametrize("name", CALLS)
def test_a_hook_that_passes_on_fewer_messages_is_told_so(
    watched: weir.Client, watch: Watch, queue: str, client: weir.Client, name: str
) -> None:
    watch.drops = True
    with pytest.raises(ValueError, match="a hook made 0 messages of 2"):
        CALLS[name](watched, queue)
    assert client.peek(queue) == []


def test_a_hook_stands_around_what_is_enqueued_in_the_callers_transaction(
    watch: Watch, queue: str, dsn: str, client: weir.Client
) -> None:
    with weir.connect(dsn, hooks=watch) as watched, psycopg.connect(dsn) as conn:
        watched.in_(conn).enqueue_batch(queue, [ONE, TWO])
        assert len(watch.calls) == 1
        conn.rollback()
        with watched.transaction() as tx:
            tx.start_chain(queue, [ONE])
    [message] = client.pop(queue)
    assert message.headers is not None
    assert message.headers["mark"] == 0


async def test_a_coroutine_calls_them_alike(watch: Watch, queue: str, dsn: str, client: weir.Client) -> None:
    async with weir.connect_async(dsn, hooks=watch) as watched:
        await watched.enqueue_batch(queue, [ONE])
        await watched.start_batch(queue, [ONE], TWO)
    assert [len(messages) for _, messages in watch.calls] == [1, 2]
    assert [(m.headers or {})["mark"] for m in client.pop(queue, max=10)] == [0, 0]
