"""Fixtures of pytest: ``weir_dsn``, ``weir_client`` and ``weir_queue``.

They use the database that ``$WEIR_TEST_DSN`` names, which has the engine: ``weir up`` makes one, ``weir dsn`` names it.
For a database of the tests' own, define a fixture ``weir_dsn`` that yields from ``weir.testing.database``.

pytest loads this file in every run where the package is installed, so it imports nothing large.
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
def weir_dsn() -> str:
    """The DSN of a database with the engine."""
    dsn = os.environ.get("WEIR_TEST_DSN")
    if not dsn:
        pytest.fail("WEIR_TEST_DSN names no database for the tests; `weir up` starts one, `weir dsn` names it")
    return dsn


@pytest.fixture
def weir_client(weir_dsn: str) -> Iterator[Client]:
    """A client of that database."""
    from weir import connect

    with connect(weir_dsn) as client:
        yield client


@pytest.fixture
def weir_queue(weir_client: Client) -> Iterator[str]:
    """The name of a queue that only this test has, with one lane."""
    name = f"test-{uuid.uuid4().hex[:12]}"
    weir_client.create_queue(name)
    yield name
    weir_client.drop_queue(name)
