"""Fixtures of pytest: ``weir_dsn``, ``weir_client`` and ``weir_queue``.

They use the server that ``$WEIR_TEST_DSN`` names, and make a database of their own there. pytest loads this file in
every run where the package is installed, so it imports nothing large.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from weir.generated.client import Client


@pytest.fixture(scope="session")
def weir_dsn() -> Iterator[str]:
    """The DSN of a throw-away database with the engine."""
    from weir.testing import database

    server = os.environ.get("WEIR_TEST_DSN")
    if not server:
        pytest.fail("WEIR_TEST_DSN names no PostgreSQL server for the tests; `weir up` starts one, `weir dsn` names it")
    with database(server) as dsn:
        yield dsn


@pytest.fixture
def weir_client(weir_dsn: str) -> Iterator[Client]:
    """A client of the throw-away database."""
    from weir import connect

    with connect(weir_dsn) as client:
        yield client


@pytest.fixture
def weir_queue(weir_client: Client) -> Iterator[str]:
    """The name of a queue that only this test has, with one lane."""
    name = f"test-{uuid.uuid4().hex[:12]}"
    weir_client.create_queue(name, lanes=1)
    yield name
    weir_client.drop_queue(name)
