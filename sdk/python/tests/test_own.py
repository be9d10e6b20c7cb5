"""Calls that are made often go through the queue's own function, and through the public one where that cannot be."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import psycopg
import psycopg2
import psycopg_pool
import pytest
from psycopg.conninfo import make_conninfo

import weir
from conftest import admin_connection
from test_conformance import settle
from weir.calls import own
from weir.calls.call import OwnCall
from weir.calls.messages import LEASE_DEFAULT, MAX_DEFAULT

# More calls than go through the public function before the queue's own is called.
ENOUGH = 12

AUTOCOMMIT = {"autocommit": True, "prepare_threshold": None}
# How the caller's own pools may run statements: with transactions, and with statements that are prepared at once.
SETTINGS = [AUTOCOMMIT, {"autocommit": True, "prepare_threshold": 0}, {}, {"prepare_threshold": 0}]


class Watched:
    """Makes cursors that note the statements of a pool's connections."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def cursor(self, kind: Any) -> Any:
        texts = self.texts

        class Noting(kind):  # type: ignore[misc]
            def execute(self, query: bytes, *args: Any, **kwargs: Any) -> Any:
                texts.append(query.decode() if isinstance(query, bytes) else str(query))
                return super().execute(query, *args, **kwargs)

        return Noting

    def pool(self, dsn: str, settings: dict[str, Any]) -> psycopg_pool.ConnectionPool[Any]:
        kwargs = settings | {"cursor_factory": self.cursor(psycopg.Cursor)}
        return psycopg_pool.ConnectionPool(dsn, kwargs=kwargs, min_size=1, max_size=2, timeout=120, open=True)

    def async_pool(self, dsn: str, settings: dict[str, Any]) -> psycopg_pool.AsyncConnectionPool[Any]:
        kwargs = settings | {"cursor_factory": self.cursor(psycopg.AsyncCursor)}
        return psycopg_pool.AsyncConnectionPool(dsn, kwargs=kwargs, min_size=1, max_size=2, timeout=120, open=False)


async def warm(client: Any, queue: str, seen: Callable[[str], None] = lambda _: None) -> None:
    """Make all kinds of calls until they go through the queue's own functions, if they ever do, and check them."""
    for i in range(ENOUGH):
        first = await settle(client.send(queue, {"n": i}, key='a "key"', headers={"h": 1}))
        seen("send")
        batch = [weir.Outgoing({"n": -i}), weir.Outgoing(None, key="k", headers={"h": 2})]
        ids = [first, *await settle(client.send_batch(queue, batch))]
        seen("send_batch")
        await settle(client.send(queue, "later", delay=3600))
        got = {}
        while len(got) < 3:
            messages = await settle(client.receive(queue, max=5, lease=3600))
            seen("receive")
            got |= {message.id: message for message in messages}
        a, b, c = (got[n] for n in ids)
        assert (a.payload, a.key, a.headers, a.attempt) == ({"n": i}, 'a "key"', {"h": 1}, 1)
        assert (b.payload, b.key, b.headers) == ({"n": -i}, None, None)
        assert (c.payload, c.key, c.headers) == (None, "k", {"h": 2})
        for message in got.values():
            assert await settle(client.ack(queue, message.claim_id, [message.id])) == 1
            seen("ack")


@pytest.mark.parametrize("settings", SETTINGS)
async def test_calls_go_through_the_queues_own_functions_from_the_ninth_on(
    settings: dict[str, Any], client: weir.Client, dsn: str
) -> None:
    queue = f"0-p.{uuid.uuid4().hex[:8]}_q"
    client.create_queue(queue)
    watched = Watched()
    made: dict[str, list[bool]]

    def seen(verb: str) -> None:
        made.setdefault(verb, []).append(f'weir_internal."{verb}:{queue}"(' in watched.texts[-1])

    with watched.pool(dsn, settings) as pool:
        made = {}
        await warm(weir.Client(pool), queue, seen)
        async with watched.async_pool(dsn, settings) as async_pool:
            counts, made = made, {}
            await warm(weir.AsyncClient(async_pool), queue, seen)
    client.drop_queue(queue)
    for told in (counts, made):
        assert told.keys() == {"send", "send_batch", "receive", "ack"}
        for verb in ("send_batch", "receive", "ack"):
            assert told[verb] == [False] * 8 + [True] * (len(told[verb]) - 8), verb
        assert not told["send"][0]
        assert told["send"][-1], "two sends a round"


async def test_a_worker_acks_through_the_queues_own_function(client: weir.Client, queue: str, dsn: str) -> None:
    watched = Watched()
    with watched.pool(dsn, AUTOCOMMIT) as pool:
        seen: list[int] = []
        shared = weir.Client(pool)
        for n in range(ENOUGH):
            shared.send(queue, n)
            weir.testing.run_until_empty(weir.Worker(shared, queue, lambda message: seen.append(message.payload)))
        assert seen == list(range(ENOUGH))
    assert any(f'weir_internal."ack:{queue}"(i.' in text for text in watched.texts)
    assert any(f'weir_internal."receive:{queue}"(' in text for text in watched.texts)


def send_all(client: weir.Client, queue: str) -> list[str | None]:
    """Send often enough; return the codes of the errors."""
    codes: list[str | None] = []
    for n in range(ENOUGH):
        try:
            client.send(queue, n)
            codes.append(None)
        except weir.Error as error:
            codes.append(error.code)
    return codes


@pytest.mark.parametrize("settings", SETTINGS)
def test_a_client_follows_queues_that_are_renamed_dropped_and_made_anew(
    settings: dict[str, Any], client: weir.Client, queue: str, dsn: str
) -> None:
    works, missing = [None] * ENOUGH, ["WR001"] * ENOUGH
    other = f"{queue}-other"
    watched = Watched()
    with watched.pool(dsn, settings) as pool:
        followed = weir.Client(pool)
        for change in (None, client.drop_queue):
            if change:
                change(queue)
                client.create_queue(queue)
            assert send_all(followed, queue) == works
            assert f'weir_internal."send:{queue}"(' in watched.texts[-1]
        for end in (lambda: client.rename_queue(queue, other), lambda: client.drop_queue(queue)):
            end()
            watched.texts.clear()
            assert send_all(followed, queue) == missing
            assert sum(f'weir_internal."send:{queue}"(' in text for text in watched.texts) == 1, "then it is forgotten"
            client.create_queue(queue)
            assert send_all(followed, queue) == works
            assert f'weir_internal."send:{queue}"(' in watched.texts[-1]
    assert [s.waiting for s in client.stats(other)] == [ENOUGH]
    client.drop_queue(other)


@contextmanager
def of_psycopg(dsn: str) -> Iterator[tuple[Any, Callable[[], None]]]:
    with psycopg.connect(dsn) as conn:
        yield conn, conn.rollback


@contextmanager
def of_psycopg2(dsn: str) -> Iterator[tuple[Any, Callable[[], None]]]:
    conn = psycopg2.connect(dsn)
    yield conn, conn.rollback
    conn.close()


@pytest.mark.parametrize("begin", [of_psycopg, of_psycopg2])
def test_a_transaction_that_meets_a_dropped_queue_is_told_so(
    begin: Callable[[str], Any], client: weir.Client, queue: str, dsn: str
) -> None:
    with begin(dsn) as (tx, rollback):
        assert send_all(client.in_(tx), queue) == [None] * ENOUGH
        rollback()
        client.drop_queue(queue)
        with pytest.raises(weir.Error) as failure:
            client.in_(tx).send(queue, 1)
        assert (failure.value.code, failure.value.hint is None) == ("WR001", False)
        assert send_all(client.in_(tx), queue) == ["25P02"] * ENOUGH, "it is over"
        rollback()
        client.create_queue(queue)
        assert send_all(client.in_(tx), queue) == [None] * ENOUGH


def test_a_transaction_that_had_failed_says_so_and_forgets_nothing(client: weir.Client, queue: str, dsn: str) -> None:
    assert send_all(client, queue) == [None] * ENOUGH
    watched = Watched()
    with watched.pool(dsn, {}) as pool, pool.connection() as conn:
        with suppress(psycopg.errors.DivisionByZero):
            conn.execute("select 1 / 0")
        assert send_all(client.in_(conn), queue) == ["25P02"] * ENOUGH
        conn.rollback()
        client.in_(conn).send(queue, "after")
        assert f'weir_internal."send:{queue}"' in watched.texts[-1]


def test_a_connection_of_its_own_transactions_calls_on_after_a_drop(client: weir.Client, queue: str, dsn: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as conn:
        joined = weir.Client(conn)
        assert send_all(joined, queue) == [None] * ENOUGH
        client.drop_queue(queue)
        assert send_all(joined, queue) == ["WR001"] * ENOUGH
        client.create_queue(queue)
        assert send_all(joined, queue) == [None] * ENOUGH


@pytest.fixture
def role(dsn: str, queue: str) -> Iterator[str]:
    """The DSN of a role that may send to the queue and receive from it."""
    name = f"py_{uuid.uuid4().hex[:8]}"
    with admin_connection() as admin:
        admin.execute(f"create role {name} login password 'own'")
        admin.execute("select weir.grant_produce(%s, %s), weir.grant_consume(%s, %s)", [queue, name, queue, name])
        yield make_conninfo(dsn, user=name, password="own")
        admin.execute(f"drop owned by {name}")
        admin.execute(f"drop role {name}")


async def test_calls_of_a_role_that_is_not_told_names_go_through_the_public_functions(role: str, queue: str) -> None:
    name = psycopg.conninfo.conninfo_to_dict(role)["user"]
    with admin_connection() as admin:
        [granted] = admin.execute(
            "select has_function_privilege(%s, 'weir.queue_function(text, text)', 'execute')", [name]
        )
        assert granted == (True,)
        admin.execute(f"revoke execute on function weir.queue_function(text, text) from {name}")
    with weir.connect(role) as client:
        await warm(client, queue)
    with psycopg.connect(role) as conn:
        assert send_all(weir.Client(conn), queue) == [None] * ENOUGH


def test_a_right_that_is_taken_away_is_missed_by_the_next_call(role: str, queue: str) -> None:
    with weir.connect(role) as client:
        assert send_all(client, queue) == [None] * ENOUGH
        with admin_connection() as admin:
            name = psycopg.conninfo.conninfo_to_dict(role)["user"]
            admin.execute("select weir.revoke_produce(%s, %s)", [queue, name])
        assert send_all(client, queue) == ["42501"] * ENOUGH


async def test_a_client_of_an_old_engine_calls_the_public_functions(old_dsn: str) -> None:
    queue = f"py-{uuid.uuid4().hex[:8]}"
    with weir.connect(old_dsn) as client:
        client.create_queue(queue)
        await warm(client, queue)
    with psycopg.connect(old_dsn) as conn:
        assert send_all(weir.Client(conn), queue) == [None] * ENOUGH


async def test_a_restored_queue_says_so_until_it_is_adopted(database: str) -> None:
    with weir.connect(database) as client, psycopg.connect(database, autocommit=True) as conn:
        client.create_queue("q", lanes=1)
        await warm(client, "q")
        # What a dump brings has other OIDs.
        conn.execute("alter sequence weir_internal.q1_ids rename to old")
        conn.execute("create sequence weir_internal.q1_ids start 1000")
        assert send_all(client, "q") == ["WR019"] * ENOUGH
        conn.execute("select weir.adopt()")
        await warm(client, "q")


def test_many_threads_share_what_a_client_knows(client: weir.Client, queue: str) -> None:
    codes: list[str | None] = []
    threads = [threading.Thread(target=lambda: codes.extend(send_all(client, queue))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert codes == [None] * (8 * ENOUGH)
    assert sorted(m.payload for m in client.pop(queue, max=1000)) == sorted([*range(ENOUGH)] * 8)


def test_a_client_keeps_256_names_at_most_and_has_room_when_one_is_forgotten() -> None:
    def call(n: int) -> OwnCall:
        return OwnCall(f"q{n}", "send", "select {function}()", [])

    def asks(n: int) -> bool:
        for _ in range(ENOUGH):
            _, ask = known.find(call(n))
            if ask:
                known.keep(call(n), f'weir_internal."send:q{n}"')
                return True
        return False

    known = own.OwnCalls()
    for n in range(512):  # called once, as queues that are not there
        assert known.find(call(-1 - n)) == (None, False)
    assert [asks(n) for n in range(256)] == [True] * 256
    assert not asks(256)
    assert known.find(call(255)) == ('select weir_internal."send:q255"()', False)
    known.forget(call(255))
    assert asks(256)


def test_a_receive_through_the_queues_own_function_has_the_defaults_of_the_public_one(
    client: weir.Client, queue: str, dsn: str
) -> None:
    watched = Watched()
    with watched.pool(dsn, AUTOCOMMIT) as pool, admin_connection() as admin:
        watching = weir.Client(pool)
        for _ in range(ENOUGH):
            client.send_batch(queue, ["a", "b"])
            assert len(watching.receive(queue)) == 1
            client.purge(queue)
        assert f'weir_internal."receive:{queue}"(' in watched.texts[-1]
        [(declared,)] = admin.execute(
            "select pg_get_function_arguments('weir.receive_records(text, text, int, interval)'::regprocedure)"
        ).fetchall()
    assert f"max integer DEFAULT {MAX_DEFAULT}" in declared
    assert f"lease interval DEFAULT '00:00:{LEASE_DEFAULT}'" in declared


async def test_calls_of_queues_own_functions_are_prepared(
    client: weir.Client, aclient: weir.AsyncClient, queue: str
) -> None:
    prepared = "select statement from pg_prepared_statements"
    await warm(client, queue)
    await warm(aclient, queue)
    found: list[set[str]] = []
    with client.transport.connection() as conn:  # type: ignore[attr-defined]
        found.append({text for (text,) in conn.execute(prepared)})
    async with aclient.transport.connection() as aconn:  # type: ignore[attr-defined]
        found.append({text for (text,) in await (await aconn.execute(prepared)).fetchall()})
    for texts in found:
        assert all("weir_internal" in text for text in texts)
        for verb in ("send", "send_batch", "receive", "ack"):
            assert any(f'weir_internal."{verb}:{queue}"(' in text for text in texts), verb


async def test_what_is_prepared_outlives_its_queue(client: weir.Client, aclient: weir.AsyncClient) -> None:
    for each in (client, aclient):
        queue = f"py-{uuid.uuid4().hex[:8]}"
        for _ in range(3):
            client.create_queue(queue)
            await warm(each, queue)
            client.drop_queue(queue)
            for _ in range(2):
                with pytest.raises(weir.Error) as failure:
                    await settle(each.send(queue, 1))
                assert failure.value.code == "WR001"


async def test_what_the_queues_own_function_cannot_do_goes_through_the_public_one(
    client: weir.Client, dsn: str
) -> None:
    queue = f"py-{uuid.uuid4().hex[:8]}"
    client.create_queue(queue, priorities=2)
    watched = Watched()
    with watched.pool(dsn, AUTOCOMMIT) as pool:
        watching = weir.Client(pool)
        ids = [watching.send(queue, n, dedup_key="same") for n in range(ENOUGH)]
        assert len(set(ids)) == 1
        batch = [watching.send_batch(queue, [weir.Outgoing(n, dedup_key="same")]) for n in range(ENOUGH)]
        assert batch == [[ids[0]]] * ENOUGH
        assert not any("weir_internal" in text for text in watched.texts)
        for n in range(ENOUGH):
            watching.send(queue, n, priority=1)
        assert f'weir_internal."send:{queue}"' in watched.texts[-1]
        with pytest.raises(weir.Error) as failure:
            watching.send(queue, 1, priority=2)
        assert failure.value.code == "WR006"
    client.drop_queue(queue)
