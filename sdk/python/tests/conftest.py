"""Every test has a queue of its own in the database of ``with-weir``."""

from __future__ import annotations

import os
import uuid
from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio

import weir

DSN = os.environ.get("WEIR_TEST_DSN", "")
URL = os.environ.get("WEIR_TEST_URL", "")
TOKEN_URL = os.environ.get("WEIR_TEST_TOKEN_URL", "")
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
    client.create_queue(name, lanes=1)
    yield name
    client.drop_queue(name)
