"""Errors, retries, lost connections, poolers; and payloads of the caller's types."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import pickle
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
import psycopg_pool
import pydantic
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg.conninfo import conninfo_to_dict, make_conninfo

import weir
from conftest import TOKEN, TOKEN_URL, free_port
from weir import calls, codec, testing
from weir.calls.call import written
from weir.errors import from_driver
from weir.types import Settlement

PATIENCE = 60.0


class Failing:
    """A way to the engine that fails so many times before it works."""

    def __init__(self, *errors: weir.Error) -> None:
        self.errors = list(errors)
        self.runs = 0

    def run(self, call: calls.Call[Any]) -> Any:
        self.runs += 1
        if self.errors:
            raise self.errors.pop(0)
        return call.rows([(7,)])

    def close(self) -> None:
        pass


DEADLOCK = weir.Error("40P01", "deadlock detected")
BROKEN = weir.Error("08006", "broken", reported=False)
NOT_THERE = weir.Error("WR001", "no such queue")


@pytest.mark.parametrize(
    ("errors", "options", "runs", "fails"),
    [
        ([DEADLOCK, DEADLOCK], {}, 3, None),
        ([DEADLOCK] * 5, {}, 5, "40P01"),
        ([NOT_THERE], {}, 1, "WR001"),
        ([BROKEN], {}, 1, "08006"),
        ([BROKEN], {"dedup_key": "d"}, 2, None),
    ],
    ids=["passes", "gives up after four", "never passes", "may have been sent", "safe to repeat"],
)
def test_a_call_is_repeated_only_when_it_did_nothing_and_may_succeed(
    monkeypatch: pytest.MonkeyPatch, errors: Any, options: Any, runs: int, fails: str | None
) -> None:
    monkeypatch.setattr("weir.generated.client.sleep", lambda _: None)
    transport = Failing(*errors)
    client = weir.Client(transport)  # type: ignore[arg-type]
    if fails is None:
        assert client.send("q", 1, **options) == 7
    else:
        with pytest.raises(weir.Error) as failure:
            client.send("q", 1, **options)
        assert failure.value.code == fails
    assert transport.runs == runs


def test_an_error_can_be_pickled() -> None:
    error = pickle.loads(pickle.dumps(weir.Error("WR001", "no queue", hint="create it")))
    assert (error.code, error.name, error.hint, error.retryable) == ("WR001", "queue_not_found", "create it", False)


def test_postgresqls_own_errors_have_their_names() -> None:
    assert weir.Error("42501", "no").name == "insufficient_privilege"
    assert weir.Error("40001", "again").retryable
    assert not from_driver(psycopg.OperationalError("server closed the connection")).reported


@pytest.mark.parametrize("target", ["postgresql://127.0.0.1:1/x", "http://127.0.0.1:1"])
def test_a_server_that_is_not_there_is_told_at_once(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weir.generated.client.sleep", lambda _: None)
    with weir.connect(target) as client, pytest.raises(weir.Error) as failure:
        client.version()
    assert failure.value.code == "08001"
    assert failure.value.retryable
    assert "refused" in str(failure.value)


def end_connections(dsn: str, name: str) -> int:
    with psycopg.connect(dsn, autocommit=True) as conn:
        query = "select count(pg_terminate_backend(pid, 60000)) from pg_stat_activity where application_name = %s"
        row = conn.execute(query, [name]).fetchone()
        assert row is not None
        return int(row[0])


def test_connections_that_the_server_closed_are_replaced(dsn: str, queue: str) -> None:
    name = f"py-{queue}"
    with weir.connect(f"{dsn}&application_name={name}") as client:
        client.send(queue, 1)
        assert end_connections(dsn, name) >= 1
        client.send(queue, 2)
        assert [m.payload for m in client.pop(queue, max=10)] == [1, 2]


def test_a_connection_that_broke_while_it_was_idle_is_not_used(dsn: str, queue: str) -> None:
    with weir.connect(dsn) as client:
        client.send(queue, 1)
        transport: Any = client.transport
        with transport.connection() as conn, socket.socket(fileno=os.dup(conn.fileno())) as behind:
            behind.shutdown(socket.SHUT_RDWR)  # as a failover does that says nothing
        client.send(queue, 2)
        assert [m.payload for m in client.pop(queue, max=10)] == [1, 2]


class Door:
    """A way to the server that can hold back what the server says until it has hung up, and then say it at once."""

    def __init__(self, dsn: str, name: str) -> None:
        to = conninfo_to_dict(dsn)
        self._server = (str(to["host"]), int(str(to["port"])))
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.dsn = make_conninfo(dsn, port=self._listener.getsockname()[1], application_name=name)
        self.holding, self.holds = False, threading.Event()
        self.hung_up, self.release = threading.Event(), threading.Event()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            client, server = self._listener.accept()[0], socket.create_connection(self._server)
            over = threading.Event()
            for work in (self._up, self._down):
                threading.Thread(target=work, args=(client, server, over), daemon=True).start()

    def _up(self, client: socket.socket, server: socket.socket, over: threading.Event) -> None:
        while (data := client.recv(1 << 16)) and not over.is_set():
            server.sendall(data)
        for end in (client, server):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def _down(self, client: socket.socket, server: socket.socket, over: threading.Event) -> None:
        held = b""
        while data := server.recv(1 << 16):
            if self.holding:
                held += data
                self.holds.set()
            else:
                client.sendall(data)
        if held:
            self.hung_up.set()
            self.release.wait()
            over.set()
            client.sendall(held)


def test_a_connection_whose_end_came_together_with_an_answer_is_not_used(dsn: str, queue: str) -> None:
    name = f"py-{queue}"
    door = Door(dsn, name)
    with weir.connect(door.dsn) as client, ThreadPoolExecutor() as pool:
        client.send(queue, 1)
        door.holding = True
        second = pool.submit(client.send, queue, 2)
        assert door.holds.wait(PATIENCE), "the answer"
        assert end_connections(dsn, name) >= 1
        assert door.hung_up.wait(PATIENCE), "the end"
        door.holding = False
        door.release.set()
        second.result(PATIENCE)
        client.send(queue, 3)
        assert [m.payload for m in client.pop(queue, max=10)] == [1, 2, 3]


async def test_connections_of_an_async_client_are_replaced(dsn: str, queue: str) -> None:
    name = f"py-{queue}"
    async with weir.connect_async(f"{dsn}&application_name={name}") as client:
        await client.send(queue, 1)
        assert await asyncio.to_thread(end_connections, dsn, name) >= 1
        await client.send(queue, 2)
        assert [m.payload for m in await client.pop(queue, max=10)] == [1, 2]


@pytest.fixture(scope="module")
def pooled(dsn: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The DSN of a PgBouncer that hands out one session by the transaction."""
    program = shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin")
    assert program, "pgbouncer is not installed: make pgbouncer"
    folder = tmp_path_factory.mktemp("pgbouncer")
    folder.chmod(0o777)
    port = free_port()
    at = conninfo_to_dict(dsn)
    config = folder / "pgbouncer.ini"
    config.write_text(
        f"[databases]\n{at['dbname']} = host={at['host']} port={at['port']} dbname={at['dbname']} "
        f"user={at['user']} password={at['password']}\n"
        f"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nauth_type = any\npool_mode = transaction\n"
        f"default_pool_size = 1\nunix_socket_dir =\n"
    )
    config.chmod(0o644)
    user = ["-u", "nobody"] if Path("/proc/self").owner() == "root" else []
    process = subprocess.Popen([program, "-q", *user, str(config)], stderr=subprocess.DEVNULL)
    pooled = f"postgresql://any@127.0.0.1:{port}/{at['dbname']}"
    end = time.monotonic() + PATIENCE
    while True:
        try:
            psycopg.connect(pooled).close()
            break
        except psycopg.OperationalError:
            assert time.monotonic() < end, "pgbouncer does not start"
            assert process.poll() is None, "pgbouncer ended"
            time.sleep(0.02)
    yield pooled
    process.terminate()
    process.wait()


def test_client_and_worker_work_behind_a_pooler(pooled: str, queue: str, client: weir.Client) -> None:
    seen: list[int] = []
    with weir.connect(pooled) as behind:
        behind.send_batch(queue, list(range(20)))
        for n in range(10):  # often enough for a driver to prepare its statements
            behind.send(queue, 20 + n)
        worker = weir.Worker(behind, queue, lambda message: seen.append(message.payload))
        testing.run_until_empty(worker)
        with behind.transaction() as tx:
            tx.send(queue, "last")
        assert [m.payload for m in behind.receive(queue, wait=PATIENCE)] == ["last"]
    assert sorted(seen) == list(range(30))


def test_a_worker_behind_a_pooler_does_not_listen(pooled: str, queue: str) -> None:
    with weir.connect(pooled) as behind:
        worker = weir.Worker(behind, queue, print)
        with worker, psycopg.connect(pooled, autocommit=True) as conn:
            end = time.monotonic() + 1.0
            while time.monotonic() < end:
                assert conn.execute("select pg_listening_channels()").fetchall() == []


def test_each_call_on_the_callers_pool_is_a_transaction_that_commits(dsn: str, queue: str, client: weir.Client) -> None:
    with psycopg_pool.ConnectionPool(dsn, min_size=1) as pool:
        mine = weir.Client(pool)
        mine.send(queue, 1)
        with pytest.raises(weir.Error):
            mine.send("no-such-queue", 1)
        with mine.transaction() as tx:
            tx.send(queue, 2)
        mine.send(queue, 3)
    assert [m.payload for m in client.pop(queue, max=3)] == [1, 2, 3]


async def test_so_is_each_call_of_a_coroutine_on_it(dsn: str, queue: str, client: weir.Client) -> None:
    async with psycopg_pool.AsyncConnectionPool(dsn, min_size=1) as pool:
        mine = weir.AsyncClient(pool)
        await mine.send(queue, 1)
        assert [m.payload for m in client.pop(queue)] == [1]


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


@dataclass
class Line:
    name: str
    price: Decimal
    colour: Colour | None = None


@dataclass
class Basket:
    id: UUID
    at: datetime
    lines: list[Line]
    weights: dict[str, float] = field(default_factory=dict)
    pair: tuple[int, str] = (0, "")


LINES = st.builds(
    Line, st.text(), st.decimals(allow_nan=False, allow_infinity=False), st.none() | st.sampled_from(Colour)
)
BASKETS = st.builds(
    Basket,
    st.uuids(),
    st.datetimes(timezones=st.just(timezone.utc)),
    st.lists(LINES, max_size=3),
    st.dictionaries(st.text(), st.floats(allow_nan=False, allow_infinity=False), max_size=3),
    st.tuples(st.integers(), st.text()),
)


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(BASKETS)
def test_a_dataclass_comes_back_as_it_was(basket: Basket) -> None:
    assert codec.decode(codec.encode(basket), Basket) == basket


@pytest.mark.parametrize(
    ("payload", "wanted", "place"),
    [
        ({"name": "a"}, Line, "payload.price is missing"),
        ({"name": 1, "price": "1"}, Line, "payload.name is int 1, not str"),
        ({"name": "a", "price": "x"}, Line, "payload.price is str 'x', not Decimal"),
        ({"name": "a", "price": "1", "colour": "green"}, Line, "payload.colour is str 'green'"),
        ([1, "2"], list[int], "payload[1] is str '2', not int"),
        ([1], tuple[int, int], "payload has 1 items, not 2"),
        (True, int, "payload is bool True, not int"),
        (None, str, "payload is NoneType None, not str"),
    ],
)
def test_a_payload_that_does_not_fit_says_where(payload: Any, wanted: Any, place: str) -> None:
    with pytest.raises(weir.PayloadError) as failure:
        codec.decode(payload, wanted)
    assert str(failure.value).startswith(place)


class Model(pydantic.BaseModel):
    id: int
    at: datetime


def test_a_pydantic_model_is_a_payload(client: weir.Client, queue: str) -> None:
    sent = Model(id=1, at=datetime(2026, 1, 1, tzinfo=timezone.utc))
    client.send(queue, sent)
    client.send(queue, {"id": "x", "at": 1})
    assert testing.sent(client, queue)[0].payload["id"] == 1
    got: list[Model] = []

    def handle(message: weir.Message[Model]) -> None:
        got.append(message.payload)

    worker = weir.Worker(client, queue, handle, on_error=lambda *_: None)
    testing.run_until_empty(worker)
    assert got == [sent]
    assert "valid integer" in (client.dead_letters(queue)[0].reason or "")


def test_what_json_cannot_hold_is_refused_before_it_is_sent(client: weir.Client, queue: str) -> None:
    with pytest.raises(TypeError, match="a payload cannot hold object"):
        client.send(queue, {"x": object()})


def test_the_fixtures_give_a_queue_of_the_tests_own(weir_client: weir.Client, weir_queue: str) -> None:
    weir_client.send(weir_queue, {"n": 1})
    assert [m.payload for m in testing.sent(weir_client, weir_queue)] == [{"n": 1}]


def test_a_throw_away_database_has_the_engine_and_goes(queue: str) -> None:
    server = os.environ["WEIR_TEST_ADMIN_DSN"]
    with testing.database(server) as dsn, weir.connect(dsn) as client:
        client.create_queue("orders")
        client.send("orders", 1)
        assert len(testing.sent(client, "orders")) == 1
        assert {s.queue for s in client.stats()} == {"orders"}
    with pytest.raises(psycopg.OperationalError, match="does not exist"):
        psycopg.connect(dsn)


def test_time_passes_in_a_throw_away_database_and_in_no_other(dsn: str) -> None:
    with testing.database(os.environ["WEIR_TEST_ADMIN_DSN"]) as own, weir.connect(own) as client:
        client.create_queue("orders")
        client.send("orders", 1, delay=timedelta(days=2))
        testing.advance(own, timedelta(days=1))
        assert client.receive("orders") == []
        testing.advance(own, 24 * 3600)
        assert [m.payload for m in client.receive("orders")] == [1]
    with pytest.raises(ValueError, match="by itself"):
        testing.advance(dsn, 1)


def test_run_until_empty_tells_what_is_left(client: weir.Client, queue: str) -> None:
    client.send(queue, 1)
    client.pause(queue)
    worker = weir.Worker(client, queue, print)
    with pytest.raises(TimeoutError, match="waiting=1"):
        testing.run_until_empty(worker, timeout=0.1)


def test_what_an_older_engine_does_not_know_is_told_apart(client: weir.Client) -> None:
    call = written("later", "select weir.not_known_yet()", [], lambda _: None, None, lambda _: None, True)
    with pytest.raises(weir.Error) as failure:
        client.run(call)
    assert failure.value.code == "WR015"
    assert failure.value.hint is not None


def test_a_server_that_asks_for_a_token_is_shown_one_with_each_request(queue: str, dsn: str) -> None:
    with weir.connect(TOKEN_URL) as none, pytest.raises(weir.Error) as failure:
        none.send(queue, 1)
    assert failure.value.code == "WR041"
    asked = []

    def token() -> str:
        asked.append(1)
        return TOKEN

    with weir.connect(TOKEN_URL, token=token) as client:
        client.send(queue, 1)
        with client.transaction() as tx:
            tx.send(queue, 2)
        assert len(asked) == 2
        assert len(client.receive(queue, max=10)) == 2
    with pytest.raises(weir.Error) as failure:
        weir.connect(dsn, token=TOKEN)
    assert failure.value.code == "WR015"


async def test_an_asynchronous_function_may_give_the_token(queue: str) -> None:
    async def token() -> str:
        return TOKEN

    async with weir.connect_async(TOKEN_URL, token=token) as client:
        assert await client.send(queue, 1) > 0


def test_a_long_delay_is_written_as_every_postgresql_reads_it() -> None:
    """PostgreSQL before 15 refuses a number beyond an int4, but for one of seconds; these tests run on newer ones."""
    item = Settlement(claim_id=1, ids=(1,), delay=timedelta(days=30, milliseconds=1))
    given = calls.settle("nack", "q", "g", [item]).query()[1][-1]
    assert json.loads(given)[0]["delay"] == "2592000.001 seconds"
