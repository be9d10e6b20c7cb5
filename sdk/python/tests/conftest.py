"""Every test has a queue of its own in the database of ``with-weir``."""

from __future__ import annotations

import os
import random
import socket
import subprocess
import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
import pytest_asyncio
from psycopg.conninfo import make_conninfo

import weir

DSN = os.environ.get("WEIR_TEST_DSN", "")
URL = os.environ.get("WEIR_TEST_URL", "")
TOKEN_URL = os.environ.get("WEIR_TEST_TOKEN_URL", "")
ADMIN_DSN = os.environ.get("WEIR_TEST_ADMIN_DSN", "")
TOKEN = os.environ.get("WEIR_TEST_TOKEN", "")


def pytest_configure() -> None:
    if not DSN or not URL or not TOKEN_URL:
        raise pytest.UsageError("run the tests by `make sdk-python` or sdk/conformance/with-weir pytest")


@pytest.fixture(scope="session")
def dsn() -> str:
    return DSN


@pytest.fixture(scope="session")
def url() -> str:
    return URL


@pytest.fixture
def client(dsn: str) -> Iterator[weir.Client]:
    with weir.connect(dsn) as client:
        yield client


@pytest_asyncio.fixture
async def aclient(dsn: str) -> AsyncIterator[weir.AsyncClient]:
    async with weir.connect_async(dsn) as client:
        yield client


@pytest.fixture
def queue(client: weir.Client) -> Iterator[str]:
    name = f"py-{uuid.uuid4().hex[:12]}"
    client.create_queue(name)
    yield name
    client.drop_queue(name)


def free_port() -> int:
    """Return a port that nobody serves, and that no outgoing connection takes meanwhile."""
    while True:
        port = random.randrange(15_000, 30_000)
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) != 0:
                return port


def admin_connection(dsn: str = ADMIN_DSN) -> psycopg.Connection[Any]:
    """Return a connection of the superuser, each of whose statements is a transaction."""
    return psycopg.connect(dsn, autocommit=True)


@contextmanager
def new_database() -> Iterator[str]:
    """Lend a database with the engine, as its DSN."""
    name = f"py_{uuid.uuid4().hex[:8]}"
    dsn = make_conninfo(ADMIN_DSN, dbname=name)
    with admin_connection() as admin:
        admin.execute(f"create database {name}")
        try:
            subprocess.run([os.environ["WEIR"], "install", "--dsn", dsn], check=True, stdout=subprocess.DEVNULL)
            yield dsn
        finally:
            admin.execute(f"drop database {name} with (force)")


@pytest.fixture
def database() -> Iterator[str]:
    """The DSN of a database of the test's own."""
    with new_database() as dsn:
        yield dsn
