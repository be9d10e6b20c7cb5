"""Concurrent calls of a client share statements, and each gets its own answer."""

from __future__ import annotations

import asyncio
import os
import socket
import threading
import uuid
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any, ClassVar

import psycopg
import psycopg_pool
import pytest

import weir
from conftest import admin_connection, new_database
from test_hooks import Watch
from test_worker import PATIENCE, until
from weir.errors import Cancelled
from weir.threads import _raise_in

# In a new database all messages are in log_1.
WAITING = """select pid from pg_locks join pg_stat_activity using (pid)
    where relation = 'weir_log.log_1'::regclass and not granted and query ~ 'send|enqueue'"""
TRANSACTIONS = """select count(distinct txid) from weir_log.log_1
    where queue_no = (select no from weir_internal.queues where name = %s)"""


class Lock:
    """Holds the log, so that no statement that sends to a queue ends."""

    dsn: ClassVar[str]

    def __init__(self, queue: str) -> None:
        self._queue = queue
        self._conn = admin_connection(self.dsn)
        self._conn.execute("begin")
        self._conn.execute("lock table weir_log.log_1 in access exclusive mode")

    def release(self) -> None:
        self._conn.close()

    def waiting(self) -> int:
        """Count the statements that wait for it."""
        with admin_connection(self.dsn) as admin:
            return len(admin.execute(WAITING).fetchall())

    def transactions(self) -> int:
        """Count the transactions that sent to the queue."""
        with admin_connection(self.dsn) as admin:
            [(n,)] = admin.execute(TRANSACTIONS, [self._queue]).fetchall()
        return int(n)


@pytest.fixture(scope="module")
def dsn() -> Iterator[str]:
    """The DSN of a database of these tests' own: who holds its log holds up all of its queues."""
    with new_database() as Lock.dsn:
        yield Lock.dsn


@contextmanager
def locked(queue: str) -> Iterator[Lock]:
    lock = Lock(queue)
    try:
        yield lock
    finally:
        lock.release()


async def crowd(lock: Lock, first: Any, others: list[Any]) -> list[asyncio.Task[Any]]:
    """Make a call, and others while its statement waits; return when all wait."""
    leader = asyncio.create_task(first)
    await reached(lambda: lock.waiting() == 1, leader)
    tasks = [asyncio.create_task(other) for other in others]
    await asyncio.sleep(0)  # each runs to where it waits
    return [leader, *tasks]


async def reached(true: Callable[[], bool], *tasks: asyncio.Task[Any]) -> None:
    """Wait for something to become true while calls are under way."""
    end = asyncio.get_running_loop().time() + PATIENCE
    while not await asyncio.to_thread(true):
        assert asyncio.get_running_loop().time() < end
        assert not any(task.done() for task in tasks), [task for task in tasks if task.done()]


def stored(client: weir.Client, queue: str) -> dict[int, Any]:
    """Return the payloads that are there by their ids."""
    return {m.id: m.payload for m in client.pop(queue, max=10_000)}


async def test_sends_that_come_during_a_call_share_the_next_and_each_gets_its_own_id(
    aclient: weir.AsyncClient, client: weir.Client, queue: str
) -> None:
    with locked(queue) as lock:
        sends = [
            aclient.send(queue, n, key=str(n) if n % 2 else None, headers={"n": n} if n % 3 else None)
            for n in range(1, 1501)
        ]
        tasks = await crowd(lock, aclient.send(queue, 0), sends)
        lock.release()
        ids = await asyncio.gather(*tasks)
        assert lock.transactions() == 3, "that of the first, of 1,000 and of 500"
    found = {m.id: m for m in client.pop(queue, max=10_000)}
    assert len(found) == 1501
    for n, id in enumerate(ids):  # noqa: A001
        m = found[id]
        assert (m.payload, m.key, m.headers) == (n, str(n) if n % 2 else None, {"n": n} if n % 3 else None)


async def test_a_call_carries_about_a_mebibyte(aclient: weir.AsyncClient, queue: str) -> None:
    with locked(queue) as lock:
        tasks = await crowd(lock, aclient.send(queue, 0), [aclient.send(queue, "x" * 100_000) for _ in range(25)])
        lock.release()
        await asyncio.gather(*tasks)
        assert lock.transactions() == 4


BAD: list[dict[str, Any]] = [
    {"payload": "x", "key": "k" * 1025},
    {"payload": "a \0 b"},
    {"payload": "large " * (1 << 18)},
    {"payload": "x", "key": "a \0 b"},
    {"payload": "x", "key": "\ud800"},
    {"payload": float("nan")},
]


async def test_one_bad_message_among_many_fails_alone(
    aclient: weir.AsyncClient, client: weir.Client, queue: str
) -> None:
    want = []
    for bad in BAD:
        with pytest.raises(Exception) as failure:  # noqa: PT011
            client.send(queue, **bad)
        want.append(failure.value)
    with locked(queue) as lock:
        sends = [aclient.send(queue, n) for n in range(50)] + [aclient.send(queue, **bad) for bad in BAD]
        tasks = await crowd(lock, aclient.send(queue, "first"), sends)
        lock.release()
        got = await asyncio.gather(*tasks, return_exceptions=True)
    assert [(type(e), str(e)) for e in got[51:]] == [(type(e), str(e)) for e in want]
    assert stored(client, queue) == dict(zip(got[:51], ["first", *range(50)], strict=True))


async def test_batches_and_single_sends_share_calls_and_each_gets_its_own_ids(
    aclient: weir.AsyncClient, client: weir.Client, queue: str
) -> None:
    sizes = [1 + n % 7 for n in range(90)]
    with locked(queue) as lock:
        sends = [
            aclient.send_batch(queue, [weir.Outgoing([n, i], key="k" if n % 2 else None) for i in range(size)])
            if size > 1 or n % 2
            else one(aclient.send(queue, [n, 0]))
            for n, size in enumerate(sizes)
        ]
        tasks = await crowd(lock, aclient.send_batch(queue, ["first", "second"]), sends)
        lock.release()
        first, *ids = await asyncio.gather(*tasks)
        assert lock.transactions() == 2, "that of the first, and of all others"
    assert [len(some) for some in ids] == sizes
    found = {m.id: (m.payload, m.key) for m in client.pop(queue, max=10_000)}
    want = {no: ([n, i], "k" if n % 2 else None) for n, some in enumerate(ids) for i, no in enumerate(some)}
    assert found == dict(zip(first, [("first", None), ("second", None)], strict=True)) | want
    assert list(want) == sorted(want), "the order of the calls, and in each that of its messages"


async def one(send: Awaitable[int]) -> list[int]:
    return [await send]


@pytest.mark.parametrize(
    ("batches", "transactions"),
    [
        pytest.param([["x"] * 400] * 5, 3, id="many messages"),
        pytest.param([["x" * 100_000] * 3] * 8, 3, id="many bytes"),
        pytest.param([["x"] * 300, ["x"] * 2500, ["x"] * 300, ["x"] * 300], 2, id="one with more than a call takes"),
        pytest.param([["x"], ["x" * 100_000] * 30, ["x"], ["x"]], 2, id="one larger than a call is"),
    ],
)
async def test_batches_share_calls_as_long_as_they_fit_and_none_is_parted(
    aclient: weir.AsyncClient, queue: str, batches: list[list[str]], transactions: int
) -> None:
    with locked(queue) as lock:
        tasks = await crowd(lock, aclient.send(queue, 0), [aclient.send_batch(queue, batch) for batch in batches])
        lock.release()
        _, *ids = await asyncio.gather(*tasks)
        assert lock.transactions() == 1 + transactions
    assert [len(some) for some in ids] == [len(batch) for batch in batches]


async def test_one_bad_batch_among_many_fails_alone_and_wholly(
    aclient: weir.AsyncClient, client: weir.Client, queue: str
) -> None:
    batches = [["not sent", weir.Outgoing(**bad), "not sent"] for bad in BAD]
    want = []
    for batch in batches:
        with pytest.raises(Exception) as failure:  # noqa: PT011
            client.send_batch(queue, batch)
        want.append(failure.value)
    with locked(queue) as lock:
        sends = [aclient.send_batch(queue, [[n, 0], [n, 1]]) for n in range(20)]
        sends += [aclient.send_batch(queue, batch) for batch in batches]
        tasks = await crowd(lock, one(aclient.send(queue, "first")), sends)
        lock.release()
        got = await asyncio.gather(*tasks, return_exceptions=True)
    assert [(type(e), str(e)) for e in got[21:]] == [(type(e), str(e)) for e in want]
    ids = [id for some in got[:21] for id in some]  # type: ignore[union-attr]  # noqa: A001
    assert stored(client, queue) == dict(zip(ids, ["first", *([n, i] for n in range(20) for i in (0, 1))], strict=True))


async def test_who_leaves_before_the_call_began_takes_the_whole_batch_along(
    aclient: weir.AsyncClient, client: weir.Client, queue: str
) -> None:
    with locked(queue) as lock:
        sends = [aclient.send_batch(queue, batch) for batch in ([1, 2], ["not sent"] * 3, [3])]
        first, staying, leaving, last = await crowd(lock, aclient.send_batch(queue, [0]), sends)
        leaving.cancel()
        with pytest.raises(asyncio.CancelledError):
            await leaving
        lock.release()
        ids = [id for some in await asyncio.gather(first, staying, last) for id in some]  # noqa: A001
    assert stored(client, queue) == dict(zip(ids, range(4), strict=True))


async def test_an_empty_batch_and_one_with_a_dedup_key_share_no_call(aclient: weir.AsyncClient, queue: str) -> None:
    with locked(queue) as lock:
        sends = [aclient.send_batch(queue, [1, weir.Outgoing(2, dedup_key="d")]), aclient.send_batch(queue, [])]
        tasks = await crowd(lock, aclient.send_batch(queue, [0]), sends)
        assert await tasks[2] == []
        await reached(lambda: lock.waiting() == 2, *tasks[:2])
        lock.release()
        _, ids, _ = await asyncio.gather(*tasks)
        assert await aclient.send(queue, 3, dedup_key="d") == ids[1]


async def test_who_leaves_before_the_call_began_takes_the_message_along(
    aclient: weir.AsyncClient, client: weir.Client, queue: str
) -> None:
    with locked(queue) as lock:
        first, staying, leaving = await crowd(
            lock, aclient.send(queue, 0), [aclient.send(queue, 1), aclient.send(queue, "not sent")]
        )
        leaving.cancel()
        with pytest.raises(asyncio.CancelledError):
            await leaving
        lock.release()
        ids = await asyncio.gather(first, staying)
    assert stored(client, queue) == dict(zip(ids, [0, 1], strict=True))


async def test_who_leaves_during_a_call_leaves_it_to_the_others_and_the_last_ends_it(
    aclient: weir.AsyncClient, client: weir.Client, queue: str
) -> None:
    with locked(queue) as lock:
        first, *others = await crowd(lock, aclient.send(queue, 0), [aclient.send(queue, n) for n in range(1, 4)])
        first.cancel()  # a call of one ends with its caller
        await asyncio.wait({first})
        await reached(lambda: lock.waiting() == 1, *others)
        for other in others:
            assert await asyncio.to_thread(lock.waiting) == 1
            other.cancel()
            await asyncio.wait({other})
        await reached(lambda: lock.waiting() == 0)
        lock.release()
        mine = await aclient.send(queue, "later")
    assert stored(client, queue) == {mine: "later"}


async def test_a_call_whose_connection_breaks_fails_for_all_and_is_not_repeated(
    dsn: str, client: weir.Client, queue: str
) -> None:
    opened: list[psycopg.AsyncConnection[Any]] = []

    async def note(conn: psycopg.AsyncConnection[Any]) -> None:
        opened.append(conn)

    pool = psycopg_pool.AsyncConnectionPool(
        dsn, kwargs={"autocommit": True}, configure=note, min_size=0, max_size=3, open=False
    )
    async with pool:
        aclient = weir.AsyncClient(pool)
        with locked(queue) as lock, admin_connection(dsn) as admin:
            first, *others = await crowd(lock, aclient.send(queue, 0), [aclient.send(queue, n) for n in range(20)])
            first.cancel()
            await asyncio.wait({first})
            await reached(lambda: lock.waiting() == 1, *others)
            [(pid,)] = admin.execute(WAITING).fetchall()
            [conn] = [conn for conn in opened if not conn.closed and conn.info.backend_pid == pid]
            with socket.socket(fileno=os.dup(conn.fileno())) as wire:
                wire.shutdown(socket.SHUT_RDWR)  # what a killed server is to a client
            got = await asyncio.gather(*others, return_exceptions=True)
            assert {(e.code, e.reported) for e in got if isinstance(e, weir.Error)} == {("08006", False)}
            assert len({id(e) for e in got}) == 20, "each has one of its own"
            admin.execute("select pg_terminate_backend(%s)", [pid])
            lock.release()
            mine = await aclient.send(queue, "later")
    assert stored(client, queue) == {mine: "later"}


async def test_each_is_told_that_its_queue_was_dropped_and_sends_to_one_made_anew(
    aclient: weir.AsyncClient, client: weir.Client
) -> None:
    queue = f"py-{uuid.uuid4().hex[:8]}"
    for _ in range(2):
        client.create_queue(queue)
        await asyncio.gather(*(aclient.send(queue, n) for n in range(20)))
        assert sorted(stored(client, queue).values()) == list(range(20))
        client.drop_queue(queue)
        got = await asyncio.gather(*(aclient.send(queue, n) for n in range(20)), return_exceptions=True)
        assert {getattr(e, "code", e) for e in got} == {"WR001"}


async def test_jobs_share_calls_and_what_is_unique_or_due_later_goes_alone(
    aclient: weir.AsyncClient, client: weir.Client, queue: str
) -> None:
    with locked(queue) as lock:
        plain = [aclient.enqueue(queue, "add", {"n": n}, headers={"n": n}) for n in range(20)]
        others = [
            aclient.enqueue(queue, "add", {"n": 20}, tracked=True),
            aclient.enqueue(queue, "add", {"n": 21}, unique=True),
            aclient.send(queue, {"n": 22}, dedup_key="d"),
        ]
        tasks = await crowd(lock, aclient.enqueue(queue, "add", {"n": "first"}), plain + others)
        await reached(lambda: lock.waiting() == 4, *tasks)
        lock.release()
        first, *ids = await asyncio.gather(*tasks)
        assert lock.transactions() == 5
    status = client.job(queue, ids[20])
    assert status is not None
    assert status.state == "waiting"
    assert client.enqueue(queue, "add", {"n": 21}, unique=True) == ids[21]
    found = {m.id: m for m in client.pop(queue, max=100)}
    assert found.keys() == {first, *ids}
    for n in range(20):
        assert found[ids[n]].payload == {"n": n}
        assert found[ids[n]].headers == {"n": n, "kind": "add"}


async def test_delays_and_priorities_are_kept(aclient: weir.AsyncClient, client: weir.Client) -> None:
    queue = f"py-{uuid.uuid4().hex[:8]}"
    client.create_queue(queue, priorities=3)
    sends = [aclient.send(queue, n % 3, priority=n % 3) for n in range(30)]
    sends += [aclient.send(queue, n, delay=3600) for n in range(10)]
    await asyncio.gather(*sends)
    assert [client.pop(queue)[0].payload for _ in range(30)] == [2] * 10 + [1] * 10 + [0] * 10
    [found] = client.stats(queue)
    assert (found.waiting, found.delayed) == (0, 10)
    client.drop_queue(queue)


async def test_what_is_in_a_transaction_is_not_shared(
    aclient: weir.AsyncClient, client: weir.Client, queue: str
) -> None:
    async def one(n: int) -> None:
        with suppress(LookupError):
            async with aclient.transaction() as tx:
                await asyncio.gather(tx.send(queue, "gone"), aclient.send(queue, n))
                raise LookupError

    await asyncio.gather(*(one(n) for n in range(5)))
    assert sorted(stored(client, queue).values()) == list(range(5))


async def test_hooks_see_each_send(aclient: weir.AsyncClient, queue: str) -> None:
    watch = Watch()
    client = weir.AsyncClient(aclient.transport, hooks=watch)
    ids = await asyncio.gather(*(client.send(queue, n) for n in range(20)))
    assert len(watch.calls) == 20
    assert sorted(ids) == sorted(each[0] for each in watch.ids if each)


# --- threads


def test_threads_share_calls_and_each_gets_its_own_id(client: weir.Client, queue: str) -> None:
    with ThreadPoolExecutor(60) as threads, locked(queue) as lock:
        first = threads.submit(client.send, queue, "first")
        until(lambda: lock.waiting() == 1)
        others = [threads.submit(client.send, queue, n) for n in range(50)]
        jobs = [threads.submit(client.enqueue, queue, "add", {"n": n}) for n in range(2)]
        until(lambda: waiting_in(client, queue) == 50)
        lock.release()
        ids = [first.result(), *(other.result() for other in others)]
        job_ids = {job.result() for job in jobs}
        assert lock.transactions() <= 4
    found = client.pop(queue, max=100)
    assert {m.id: m.payload for m in found if m.id not in job_ids} == dict(zip(ids, ["first", *range(50)], strict=True))
    assert len(found) == 53


def test_batches_of_threads_share_calls_and_one_that_is_bad_fails_alone(client: weir.Client, queue: str) -> None:
    bad = ["not sent", weir.Outgoing("x", key="k" * 1025)]
    with pytest.raises(weir.Error) as want:
        client.send_batch(queue, bad)
    with ThreadPoolExecutor(60) as threads, locked(queue) as lock:
        first = threads.submit(client.send_batch, queue, ["first", "second"])
        until(lambda: lock.waiting() == 1)
        batches = [threads.submit(client.send_batch, queue, [[n, i] for i in range(1 + n % 3)]) for n in range(30)]
        singles = [threads.submit(client.send, queue, n) for n in range(10)]
        until(lambda: waiting_in(client, queue) == 40)
        lock.release()
        ids = [no for batch in (first, *batches) for no in batch.result()] + [one.result() for one in singles]
        assert lock.transactions() == 2
    payloads = ["first", "second", *([n, i] for n in range(30) for i in range(1 + n % 3)), *range(10)]
    assert stored(client, queue) == dict(zip(ids, payloads, strict=True))
    with ThreadPoolExecutor(60) as threads, locked(queue) as lock:
        first = threads.submit(client.send_batch, queue, ["first"])
        until(lambda: lock.waiting() == 1)
        good = [threads.submit(client.send_batch, queue, [n, n]) for n in range(20)]
        failing = threads.submit(client.send_batch, queue, bad)
        until(lambda: waiting_in(client, queue) == 21)
        lock.release()
        assert str(failing.exception()) == str(want.value)
        ids = [id for batch in (first, *good) for id in batch.result()]  # noqa: A001
    assert stored(client, queue) == dict(zip(ids, ["first", *(n for n in range(20) for _ in (0, 1))], strict=True))


def test_batches_of_threads_share_calls_as_long_as_they_fit_and_none_is_parted(client: weir.Client, queue: str) -> None:
    with ThreadPoolExecutor(60) as threads, locked(queue) as lock:
        first = threads.submit(client.send, queue, "first")
        until(lambda: lock.waiting() == 1)
        batches = []
        for batch in (["x"] * 600, ["x"] * 600, ["x"] * 400, ["x"] * 2500, ["x" * 600_000], ["x" * 600_000]):
            batches.append(threads.submit(client.send_batch, queue, batch))
            until(lambda: waiting_in(client, queue) == len(batches) - (len(batches) > 3))  # 2,500 do not wait
        lock.release()
        assert [len(batch.result()) for batch in batches] == [600, 600, 400, 2500, 1, 1]
        first.result()
        assert lock.transactions() == 6


def waiting_in(client: weir.Client, queue: str) -> int:
    """Count the sends that wait for the next call."""
    assert client._sends is not None
    [line] = [line for to, line in client._sends._lines.items() if to.queue == queue]
    return line.turns.qsize()


def test_one_bad_message_among_those_of_many_threads_fails_alone(client: weir.Client, queue: str) -> None:
    want = []
    for bad in BAD:
        with pytest.raises(Exception) as failure:  # noqa: PT011
            client.send(queue, **bad)
        want.append(failure.value)
    with ThreadPoolExecutor(60) as threads, locked(queue) as lock:
        first = threads.submit(client.send, queue, "first")
        until(lambda: lock.waiting() == 1)
        good = [threads.submit(client.send, queue, n) for n in range(20)]
        bad_ones = [threads.submit(client.send, queue, **bad) for bad in BAD]
        until(lambda: waiting_in(client, queue) >= 24)  # what is no JSON, or cannot be encoded, may be refused before
        lock.release()
        ids = [one.result() for one in (first, *good)]
        got = [one.exception() for one in bad_ones]
    assert [(type(e), str(e)) for e in got] == [(type(e), str(e)) for e in want]
    assert stored(client, queue) == dict(zip(ids, ["first", *range(20)], strict=True))


def test_a_thread_that_is_told_to_leave_takes_its_messages_along(client: weir.Client, queue: str) -> None:
    ended = threading.Event()

    def leaving() -> None:
        try:
            client.send_batch(queue, ["not sent"] * 3)
        except Cancelled:
            ended.set()

    with ThreadPoolExecutor(4) as threads, locked(queue) as lock:
        first = threads.submit(client.send, queue, 0)
        until(lambda: lock.waiting() == 1)
        thread = threading.Thread(target=leaving)
        thread.start()
        other = threads.submit(client.send, queue, 1)
        until(lambda: waiting_in(client, queue) == 2)
        assert thread.ident is not None
        _raise_in(thread.ident, Cancelled)
        assert ended.wait(PATIENCE)
        lock.release()
        ids = [first.result(), other.result()]
    thread.join()
    assert stored(client, queue) == dict(zip(ids, [0, 1], strict=True))


def test_the_thread_that_makes_calls_ends_when_nobody_sends(client: weir.Client, queue: str) -> None:
    client.send(queue, 0)
    assert client._sends is not None
    assert not client._sends._lines, "who meets nobody makes his call himself"
    with ThreadPoolExecutor(2) as threads, locked(queue) as lock:
        first = threads.submit(client.send, queue, 1)
        until(lambda: lock.waiting() == 1)
        other = threads.submit(client.send, queue, 2)
        until(lambda: waiting_in(client, queue) == 1)
        lock.release()
        ids = [first.result(), other.result()]
    until(lambda: not client._sends._lines)  # type: ignore[union-attr]
    assert list(stored(client, queue).values()) == [0, 1, 2]
    assert ids == sorted(ids)


def test_a_line_goes_on_when_who_led_it_was_interrupted(client: weir.Client, queue: str) -> None:
    assert client._sends is not None
    proceed = client._sends._proceed
    interrupted = threading.Event()

    def interrupt(*args: Any) -> None:
        if not interrupted.is_set():
            interrupted.set()
            raise KeyboardInterrupt
        proceed(*args)

    client._sends._proceed = interrupt  # type: ignore[method-assign]
    with ThreadPoolExecutor(3) as threads, locked(queue) as lock:
        first = threads.submit(client.send, queue, 0)
        until(lambda: lock.waiting() == 1)
        others = [threads.submit(client.send, queue, n) for n in (1, 2)]
        lock.release()
        assert isinstance(first.exception(), KeyboardInterrupt)
        for other in others:
            other.result(PATIENCE)
    assert client.send(queue, 3) > 0
    assert sorted(stored(client, queue).values()) == [0, 1, 2, 3]
