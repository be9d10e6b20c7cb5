"""What cannot be connected to: what a retry may cure is tried again, and nothing else is."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest
from psycopg import sql

import weir
from conftest import admin_connection, free_port
from test_worker import PATIENCE, until

# Each changes the DSN so that no retry makes it right; and the code that says so.
REFUSED: dict[str, tuple[Callable[[str], str], str]] = {
    "a wrong password": (lambda dsn: swapped(dsn, password="wrong"), "28P01"),
    "no password": (lambda dsn: swapped(dsn, password=""), "28P01"),
    "no such role": (lambda dsn: swapped(dsn, user="nobody-of-that-name"), "28P01"),
    "no such database": (lambda dsn: urlunsplit(urlsplit(dsn)._replace(path="/no-such")), "3D000"),
    "no such sslmode": (lambda dsn: dsn.replace("sslmode=disable", "sslmode=perhaps"), "WR006"),
}

# What names no database and no server.
NEITHER = [
    "",
    " ",
    "redis://localhost",
    "htps://localhost",
    "postgresql+psycopg://weir@localhost/weir",
    "redis://localhost/?host=x",
    "localhost",
    "hots=localhost",
    "host",
    "postgres://localhost/weir?nonsense=1",
    "host=localhost port=99999",
    "host=localhost port=five",
]


def swapped(dsn: str, **parts: Any) -> str:
    """Change parts of where a DSN leads."""
    at = urlsplit(dsn)
    has = {"user": at.username, "password": at.password, "host": at.hostname, "port": at.port} | parts
    return urlunsplit(at._replace(netloc="{user}:{password}@{host}:{port}".format(**has)))


def failure_of(worker: weir.Worker) -> weir.Error:
    """Return the error that the run of a worker ends with."""
    with ThreadPoolExecutor() as pool:
        run = pool.submit(worker.run)
        try:
            error = run.exception(PATIENCE)
        finally:
            worker.stop()
    assert isinstance(error, weir.Error)
    return error


@pytest.fixture(params=REFUSED)
def refused(request: pytest.FixtureRequest, dsn: str) -> tuple[str, str]:
    change, code = REFUSED[request.param]
    return change(dsn), code


def test_a_worker_whose_database_refuses_it_for_good_ends_with_that(refused: tuple[str, str], queue: str) -> None:
    target, code = refused
    with weir.connect(target) as client:
        failure = failure_of(weir.Worker(client, queue, lambda _: None, on_error=lambda *_: None))
    assert (failure.code, failure.retryable) == (code, False)


async def test_a_worker_of_tasks_does_the_same(refused: tuple[str, str], queue: str) -> None:
    async def handle(_: weir.Message[Any]) -> None: ...

    target, code = refused
    async with weir.connect_async(target) as client:
        with pytest.raises(weir.Error) as failure:
            await asyncio.wait_for(weir.AsyncWorker(client, queue, handle, on_error=lambda *_: None).run(), PATIENCE)
    assert (failure.value.code, failure.value.retryable) == (code, False)


def test_a_pool_of_the_callers_says_so_too(dsn: str) -> None:
    import psycopg_pool

    with (
        psycopg_pool.ConnectionPool(
            swapped(dsn, password="wrong"), min_size=0, max_size=1, open=True, timeout=0.3
        ) as pool,
        pytest.raises(weir.Error) as failure,
    ):
        weir.Client(pool).version()
    assert failure.value.code == "28P01"


@pytest.fixture
def crowded(dsn: str) -> Iterator[tuple[str, str]]:
    """A role that may have one connection, as its DSN and name."""
    name, word = f"py_{uuid.uuid4().hex[:8]}", uuid.uuid4().hex
    with admin_connection() as admin:
        admin.execute(
            sql.SQL("create role {} login connection limit 1 password {}").format(
                sql.Identifier(name), sql.Literal(word)
            )
        )
        yield swapped(dsn, user=name, password=word), name
        admin.execute(
            "select pg_terminate_backend(pid, 60000) from pg_stat_activity where usename = %s", [name], prepare=False
        )
        admin.execute(sql.SQL("drop role {}").format(sql.Identifier(name)))


def test_too_many_connections_are_waited_for(crowded: tuple[str, str], queue: str) -> None:
    target, _ = crowded
    with psycopg.connect(target), weir.connect(target) as client, ThreadPoolExecutor() as pool:
        worker = weir.Worker(client, queue, lambda _: None, on_error=lambda *_: None)
        run = pool.submit(worker.run)
        error = until(lambda: worker.health().last_error)
        assert (error.code, error.retryable) == ("53300", True)
        worker.stop()
        run.result(PATIENCE)


def test_who_may_look_and_not_receive_ends_with_that(dsn: str, client: weir.Client, queue: str) -> None:
    name, word = f"py_{uuid.uuid4().hex[:8]}", uuid.uuid4().hex
    with admin_connection() as admin:
        role = sql.Identifier(name)
        admin.execute(sql.SQL("create role {} login password {}").format(role, sql.Literal(word)))
        admin.execute(sql.SQL("select weir.grant_produce({}, {})").format(queue, name))
        try:
            with weir.connect(swapped(dsn, user=name, password=word)) as looks:
                failure = failure_of(weir.Worker(looks, queue, lambda _: None, on_error=lambda *_: None))
        finally:
            admin.execute(sql.SQL("drop owned by {}").format(role))
            admin.execute(sql.SQL("drop role {}").format(role))
    assert failure.code == "42501"


def test_a_server_that_is_not_there_may_be_later() -> None:
    with weir.connect(f"postgres://u:p@127.0.0.1:{free_port()}/x") as client:
        client._retries = 0
        with pytest.raises(weir.Error) as failure:
            client.version()
    assert (failure.value.code, failure.value.retryable) == ("08001", True)


def test_a_worker_of_a_server_that_speaks_no_tls_ends_with_that(url: str, queue: str) -> None:
    with weir.connect(url.replace("http:", "https:")) as client:
        failure = failure_of(weir.Worker(client, queue, lambda _: None, on_error=lambda *_: None))
    assert (failure.code, failure.retryable) == ("08001", False)


@pytest.mark.parametrize("target", NEITHER)
@pytest.mark.parametrize("connect", [weir.connect, weir.connect_async])
def test_what_is_no_database_and_no_server_is_refused(target: str, connect: Callable[[str], Any]) -> None:
    with pytest.raises(weir.Error) as failure:
        connect(target)
    assert (failure.value.code, failure.value.retryable) == ("WR006", False)


@pytest.mark.parametrize("target", ["postgres://", "host=localhost", " user = x", "dbname=x", "http://x", "https://x"])
def test_what_is_one_is_taken(target: str) -> None:
    with weir.connect(target):
        pass
