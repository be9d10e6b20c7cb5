"""For tests of programs that use Weir: a throw-away database with a time of its own, what was sent, running a worker.

The fixtures of ``weir.testing.fixtures`` are there for pytest as soon as the package is installed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from weir import codec
from weir.calls import DEFAULT_GROUP
from weir.generated.client import Client
from weir.types import Duration, Message, span
from weir.worker import Worker

__all__ = ["advance", "database", "run_until_empty", "sent"]

_PREFIX = "weir_test_"
_PEEK_MAX = 10_000
_STEP = 0.02


@contextmanager
def database(server: str, *, program: str | None = None) -> Iterator[str]:
    """Make a database with the engine on a server and yield its DSN; it is dropped at the end.

    ``server`` is the DSN of any database there, with a role that may create databases. ``program`` is the command
    ``weir``, which installs the engine: ``$WEIR`` or the one in the path unless given.
    """
    command = program or os.environ.get("WEIR") or shutil.which("weir")
    if command is None:
        raise FileNotFoundError("there is no `weir` in the path to install the engine with; name it with $WEIR")
    name = f"{_PREFIX}{uuid.uuid4().hex[:12]}"
    dsn = make_conninfo(server, dbname=name)
    _administer(server, "create database {} template template0", name)
    try:
        subprocess.run([command, "install", "--dsn", dsn], check=True, capture_output=True, text=True)  # noqa: S603
        yield dsn
    finally:
        _administer(server, "drop database {} with (force)", name)


def _administer(server: str, statement: str, name: str) -> None:
    with psycopg.connect(server, autocommit=True) as conn:
        conn.execute(sql.SQL(statement).format(sql.Identifier(name)))


def advance(dsn: str, by: Duration) -> None:
    """Let time pass for the engine in a database that ``database`` made.

    What is delayed, leased, scheduled or to be tried again by then is due. ValueError for another database.
    """
    with psycopg.connect(dsn, autocommit=True) as conn:
        if not conn.info.dbname.startswith(_PREFIX):
            raise ValueError(f"{conn.info.dbname} was not made by weir.testing.database: its time goes on by itself")
        row = conn.execute("select weir_internal.clock() - clock_timestamp() + %s", [span(by)]).fetchone()
        body = sql.SQL("select clock_timestamp() + {}::interval").format(sql.Literal(row and row[0])).as_string(conn)
        clock = "create or replace function weir_internal.clock() returns timestamptz language sql volatile as {}"
        conn.execute(sql.SQL(clock).format(sql.Literal(body)))


def sent(client: Client, queue: str, payload: Any = Any, *, group: str = DEFAULT_GROUP) -> list[Message[Any]]:
    """Return what waits in a queue, oldest first, with payloads of the type ``payload``; nothing is claimed."""
    messages = client.peek(queue, group=group, max=_PEEK_MAX)
    return [
        Message(**(vars(m) | {"payload": codec.decode(m.payload, payload)}))
        for m in sorted(messages, key=lambda m: m.id)
    ]


def run_until_empty(worker: Worker, *, timeout: float = 30) -> None:
    """Run a worker until nothing of its group waits or is claimed; what is delayed, retries too, is left.

    TimeoutError when that takes longer than ``timeout`` seconds.
    """
    end = time.monotonic() + timeout
    with worker:
        while True:
            [stats] = [s for s in worker.client.stats(worker.queue) if s.group == worker.group]
            if stats.waiting == stats.claimed == stats.parked == 0 and worker.health().held == 0:
                return
            if time.monotonic() > end:
                raise TimeoutError(f"after {timeout} s queue {worker.queue} still has {stats}")
            time.sleep(_STEP)
