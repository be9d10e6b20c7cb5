"""What is sent in the caller's transaction shares its fate, whoever hands out the connection."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
import sqlalchemy
import sqlalchemy.ext.asyncio
import sqlalchemy.orm
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import dict_row

import weir


@contextmanager
def psycopg_connection(dsn: str) -> Iterator[tuple[Any, Callable[[], None], Callable[[], None]]]:
    with psycopg.connect(dsn, row_factory=dict_row) as conn:
        yield conn, conn.commit, conn.rollback


@contextmanager
def psycopg_cursor(dsn: str) -> Iterator[tuple[Any, Callable[[], None], Callable[[], None]]]:
    with psycopg.connect(dsn) as conn, conn.cursor() as cursor:
        yield cursor, conn.commit, conn.rollback


@contextmanager
def psycopg2_connection(dsn: str) -> Iterator[tuple[Any, Callable[[], None], Callable[[], None]]]:
    import psycopg2

    conn = psycopg2.connect(dsn)
    yield conn, conn.commit, conn.rollback
    conn.close()


def engine(dsn: str, driver: str) -> sqlalchemy.Engine:
    return sqlalchemy.create_engine(f"postgresql+{driver}://" + dsn.partition("://")[2])


@contextmanager
def alchemy_session(dsn: str) -> Iterator[tuple[Any, Callable[[], None], Callable[[], None]]]:
    made = engine(dsn, "psycopg")
    with sqlalchemy.orm.Session(made) as session:
        yield session, session.commit, session.rollback
    made.dispose()


@contextmanager
def alchemy_connection(dsn: str, driver: str = "psycopg") -> Iterator[Any]:
    made = engine(dsn, driver)
    with made.connect() as conn:
        yield conn, conn.commit, conn.rollback
    made.dispose()


@contextmanager
def alchemy_on_psycopg2(dsn: str) -> Iterator[Any]:
    with alchemy_connection(dsn, "psycopg2") as handed:
        yield handed


@contextmanager
def django_connection(dsn: str) -> Iterator[tuple[Any, Callable[[], None], Callable[[], None]]]:
    from django.conf import settings

    given = conninfo_to_dict(dsn)
    database = {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": given["dbname"],
        "USER": given["user"],
        "PASSWORD": given["password"],
        "HOST": given["host"],
        "PORT": given["port"],
    }
    if not settings.configured:
        settings.configure(DATABASES={"default": database})
    from django.db import connection

    connection.set_autocommit(False)
    yield connection, connection.commit, connection.rollback
    connection.close()


WAYS = [
    psycopg_connection,
    psycopg_cursor,
    psycopg2_connection,
    alchemy_session,
    alchemy_connection,
    alchemy_on_psycopg2,
    django_connection,
]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_a_send_is_delivered_when_the_callers_transaction_commits(
    way: Callable[[str], Any], client: weir.Client, queue: str, dsn: str
) -> None:
    with way(dsn) as (tx, commit, rollback):
        joined = client.in_(tx)
        joined.send(queue, {"n": 1}, key="k", headers={"h": [1]})
        rollback()
        first = joined.send(queue, {"n": 2}, key="k", headers={"h": [1]})
        batch = joined.send_batch(queue, [3, weir.Outgoing(4, key="b")])
        assert client.receive(queue) == []
        commit()
        got = sorted(client.receive(queue, max=10), key=lambda m: m.id)
        assert [m.id for m in got] == [first, *batch]
        assert (got[0].payload, got[0].key, got[0].headers) == ({"n": 2}, "k", {"h": [1]})
        joined.ack(queue, got[0])
        rollback()
        assert client.ack(queue, got) == 3, "the ack was rolled back with the rest"


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_an_error_in_the_callers_transaction_has_its_sqlstate(
    way: Callable[[str], Any], client: weir.Client, dsn: str
) -> None:
    with way(dsn) as (tx, _, _), pytest.raises(weir.Error) as failure:
        client.in_(tx).send("no-such-queue", 1)
    assert (failure.value.code, failure.value.name) == ("WR001", "queue_not_found")
    assert failure.value.hint


async def test_asynchronous_connections_can_be_joined(
    aclient: weir.AsyncClient, client: weir.Client, queue: str, dsn: str
) -> None:
    made = sqlalchemy.ext.asyncio.create_async_engine("postgresql+psycopg://" + dsn.partition("://")[2])
    async with sqlalchemy.ext.asyncio.AsyncSession(made) as session:
        await aclient.in_(session).send(queue, "session")
        assert client.receive(queue) == []
        await session.commit()
    async with made.connect() as conn:
        await aclient.in_(conn).send(queue, "connection")
        await conn.commit()
    await made.dispose()
    async with await psycopg.AsyncConnection.connect(dsn) as plain, plain.cursor() as cursor:
        await aclient.in_(cursor).send(queue, "cursor")
        await plain.rollback()
        await aclient.in_(plain).send(queue, "plain")
    assert [m.payload for m in client.pop(queue, max=10)] == ["session", "connection", "plain"]


def test_what_is_no_connection_is_refused(client: weir.Client, aclient: Any) -> None:
    with pytest.raises(TypeError, match="cannot join the transaction of int"):
        client.in_(1).send("q", 1)


async def test_an_async_client_refuses_a_connection_of_threads(aclient: weir.AsyncClient, dsn: str) -> None:
    with psycopg.connect(dsn) as conn:  # noqa: SIM117
        with pytest.raises(TypeError, match="AsyncConnection"):
            await aclient.in_(conn).send("q", 1)


def test_rows_and_messages_of_a_transaction_are_one(client: weir.Client, queue: str) -> None:
    def fails() -> None:
        with client.transaction() as tx:
            tx.send(queue, "never")
            tx.connection.execute("select 1 / 0")

    with pytest.raises(psycopg.errors.DivisionByZero):
        fails()
    with client.transaction() as tx:
        tx.connection.execute("create temporary table t (n int) on commit drop")
        tx.send(queue, "sent")
    assert [m.payload for m in client.pop(queue, max=10)] == ["sent"]


def test_a_consumer_acks_in_the_callers_transaction(client: weir.Client, queue: str, dsn: str) -> None:
    client.send_batch(queue, [1, 2])
    consumer = client.consumer(queue, int, max=2)
    first, second = consumer.receive()
    with psycopg.connect(dsn) as conn:
        assert first.ack(conn) == 1
        conn.rollback()
        assert first.ack(conn) == 1
    assert (first.ack(), second.nack(delay=0, reason="again")) == (0, 1)
    [again] = consumer.receive()
    assert (again.payload, again.attempt, again.reject("bad")) == (2, 2, 1)


def test_a_consumer_is_an_iterator_without_end(client: weir.Client, queue: str) -> None:
    producer: weir.Producer[int] = client.producer(queue)
    producer.send_batch([1, 2, 3])
    seen = []
    for message in client.consumer(queue, int, wait=0):
        seen.append(message.payload)
        message.ack()
        if len(seen) == 3:
            break
    assert seen == [1, 2, 3]
