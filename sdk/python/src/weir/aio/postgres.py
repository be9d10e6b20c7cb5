"""Calls over PostgreSQL."""

from __future__ import annotations

import select
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Protocol, TypeVar

import psycopg
import psycopg_pool
from psycopg.rows import tuple_row

from weir import errors
from weir.calls import Call, Row
from weir.errors_generated import INVALID_ARGUMENT
from weir.foreign import async_connection
from weir.refusal import refusal, unreadable
from weir.runtime import AsyncLock, async_apart, async_value_of

T = TypeVar("T")

# prepare_threshold: a server-side prepared statement does not survive a transaction-mode pooler.
_CONNECTION = {"autocommit": True, "prepare_threshold": None}
# So many calls of a statement until it is prepared, and so many statements of a connection stay so.
_PREPARE_AFTER = 5
_PREPARED_MAX = 100
# A worker receives, settles, renews and maintains at the same time.
_BESIDE = 4


class AsyncTransport(Protocol):
    """What a client needs of the way to the engine."""

    async def run(self, call: Call[T]) -> T:
        """Do a call once."""

    async def aclose(self) -> None:
        """End what was opened here."""


async def _check(conn: psycopg.AsyncConnection[Any]) -> None:
    """Notice that the server has closed an idle connection, without asking it: then there is something to read."""
    poll = select.poll()
    poll.register(conn.fileno(), select.POLLIN)
    if poll.poll(0):
        await conn.execute("")


async def direct(conn: psycopg.AsyncConnection[Any]) -> bool:
    """Whether no pooler stands between, which makes up the process id that it gives its clients."""
    [[pid]] = await fetch(conn, "select pg_backend_pid()", [])
    return bool(pid == conn.info.backend_pid)


async def _prepare(conn: psycopg.AsyncConnection[Any]) -> None:
    """Have calls that are made often prepared where that lasts."""
    if await direct(conn):
        conn.prepare_threshold, conn.prepared_max = _PREPARE_AFTER, _PREPARED_MAX


class AsyncPostgres:
    """A pool of connections; each call is a transaction of its own."""

    def __init__(self, pool: psycopg_pool.AsyncConnectionPool[Any], *, owned: bool) -> None:
        self.pool = pool
        self._owned = owned
        self._opened = not owned
        self._opening = AsyncLock()

    @classmethod
    def at(cls, dsn: str, *, pool_max: int) -> AsyncPostgres:
        """Return a transport with a pool of its own, that opens with the first call."""
        pool = psycopg_pool.AsyncConnectionPool(
            dsn,
            kwargs=_CONNECTION,
            configure=_prepare,
            min_size=0,
            max_size=pool_max,
            open=False,
            check=_check,
            timeout=10,
        )
        return cls(pool, owned=True)

    def beside(self) -> AsyncPostgres:
        """Return a transport with a few connections of its own, for who must not wait for the pool's."""
        like: Any = self.pool
        pool = psycopg_pool.AsyncConnectionPool(
            like.conninfo,
            connection_class=like.connection_class,
            kwargs=like.kwargs,
            configure=like._configure,
            min_size=0,
            max_size=_BESIDE,
            num_workers=1,
            open=False,
            check=_check,
            timeout=10,
        )
        return AsyncPostgres(pool, owned=True)

    async def run(self, call: Call[T]) -> T:
        """Do a call in a transaction of its own."""
        async with self.connection() as conn:
            if conn.autocommit:
                return call.rows(await fetch(conn, *call.query()))
            if not call.commits:
                async with committing(conn):
                    return call.rows(await fetch(conn, *call.query()))
            await conn.set_autocommit(True)
            try:
                return call.rows(await fetch(conn, *call.query()))
            finally:
                if not conn.closed:
                    await conn.set_autocommit(False)

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[psycopg.AsyncConnection[Any]]:
        """Lend a connection.

        A server that ends it may say so together with the answer to a call, which the driver takes for a notice; the
        next call would find a connection that breaks under it and could not know what was done.
        """
        await self._open()
        try:
            conn = await self.pool.getconn()
        except (psycopg_pool.PoolTimeout, psycopg_pool.PoolClosed, psycopg.Error) as error:
            raise await self._unreachable(error) from error
        severities: list[str | None] = []

        def note(notice: psycopg.errors.Diagnostic) -> None:
            severities.append(notice.severity_nonlocalized)

        conn.add_notice_handler(note)
        try:
            yield conn
        finally:
            conn.remove_notice_handler(note)
            if "FATAL" in severities:
                await conn.close()
            await self.pool.putconn(conn)

    async def connect(self) -> psycopg.AsyncConnection[Any]:
        """Open a connection that is none of the pool's."""
        kwargs = {**(await async_value_of(self.pool.kwargs) or {}), **_CONNECTION}
        try:
            return await psycopg.AsyncConnection.connect(await async_value_of(self.pool.conninfo), **kwargs)
        except psycopg.Error as error:
            raise await self._unreachable(error) from error

    async def _unreachable(self, error: Exception) -> errors.Error:
        """Say why there is no connection, and so whether there may be one later."""
        if isinstance(error, psycopg_pool.PoolClosed):
            return errors.cannot_connect(error)
        conninfo, kwargs = await async_value_of(self.pool.conninfo), await async_value_of(self.pool.kwargs)
        code = await async_apart(refusal, conninfo, kwargs or {})
        return unreadable(error) if code == INVALID_ARGUMENT else errors.cannot_connect(error, code)

    async def _open(self) -> None:
        """Open the pool. One connection is made first, because a pool that cannot connect does not say why."""
        if self._opened:
            return
        async with self._opening:
            if not self._opened:
                await (await self.connect()).close()
                await self.pool.open()
                self._opened = True

    async def aclose(self) -> None:
        """Close the pool, if it was made here."""
        if self._owned and self._opened:
            await self.pool.close()


class AsyncJoined:
    """The transaction, or the connection, of somebody else: calls become part of it."""

    def __init__(self, tx: Any) -> None:
        self.tx = tx

    async def run(self, call: Call[T]) -> T:
        """Do a call in that transaction."""
        return call.rows(await fetch(await async_connection(self.tx), *call.query()))

    async def aclose(self) -> None:
        """Leave it open: it is not ours."""


async def fetch(conn: Any, sql: str, params: Sequence[Any]) -> list[Row]:
    """Run a query and return its rows as tuples, whatever rows the caller's connection makes."""
    try:
        if isinstance(conn, psycopg.AsyncConnection):
            async with conn.cursor(row_factory=tuple_row) as cursor:
                await cursor.execute(sql.encode(), params)
                return await cursor.fetchall()
        plain = conn.cursor()  # another driver of DB-API
        plain.execute(sql, list(params))
        return list(plain.fetchall())
    except Exception as error:
        if isinstance(error, psycopg.Error) or hasattr(error, "pgcode"):
            raise errors.from_driver(error) from error
        raise


@asynccontextmanager
async def committing(conn: psycopg.AsyncConnection[Any]) -> AsyncIterator[None]:
    """Commit or roll back, and report a commit that fails as an Error."""
    inside = True
    try:
        async with conn.transaction():
            yield
            inside = False
    except psycopg.Error as error:
        if inside:
            raise  # the caller's own statement; its exception is for the caller
        raise errors.from_driver(error) from error
