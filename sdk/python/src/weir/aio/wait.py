"""Waiting for messages: told by PostgreSQL where that is possible, looking again and again where it is not."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import sql

from weir import calls, errors
from weir.aio.postgres import AsyncPostgres, direct, fetch
from weir.runtime import async_sleep, jitter

if TYPE_CHECKING:
    from weir.aio.client import AsyncClient

# Briefly at first, for a send that was under way when the mark was set notifies nobody; then longer, so that an idle
# consumer costs little.
STEP_MIN = 0.002
STEP_MAX = 0.25
# From a listening connection that could not be had to the next try.
_RETRY = 5.0

_QUIET = "select pg_snapshot_xmin(s) = pg_snapshot_xmax(s) from pg_current_snapshot() s"


class AsyncWaiter:
    """One consumer's waiting. It receives; when it got nothing it calls ``wait`` and receives again; else ``found``."""

    def __init__(self, client: AsyncClient, queue: str) -> None:
        self._transport = client.transport
        self._queue = queue
        self._step = 0.0  # 0 before the first wait since something was found
        self._armed = False  # the next send notifies, and is heard
        self._rare = False  # a notification told of what was found last: messages come one by one
        self._conn: psycopg.AsyncConnection[Any] | None = None
        self._retry = 0.0

    def told(self) -> bool:
        """Whether the last wait ended with a notification: most likely one message is there."""
        return self._rare and self._step == 0 and not self._armed

    def found(self) -> bool:
        """Note that there were messages. True where they come one by one: who then waits at once marks the queue."""
        self._rare = self.told()
        self._step, self._armed = 0.0, False
        return self._rare

    async def wait(self, most: float = STEP_MAX) -> None:
        """Return when it is time to receive again, after ``most`` seconds at the latest.

        Where messages flow, the first wait is only a breath, so that nobody marks the queue and no send notifies. Then
        the queue is marked, and the wait returns at once, for a message may have come before the mark. From then on it
        waits to be told, in steps that grow: a send that was under way when the mark was set may not have seen it. Once
        nobody is writing, there is no such send any more.
        """
        if self._step == 0 and not self._rare:
            self._step = STEP_MIN
            await async_sleep(min(most, jitter(STEP_MIN)))
            return
        if not self._armed:
            self._step = max(self._step, STEP_MIN)
            if await self._arm():
                self._step = STEP_MIN
                return
        if await self._hear(min(most, jitter(self._step))):
            # Where another is quicker it begins anew, for the mark is gone.
            self._step, self._armed, self._rare = 0.0, False, True
            return
        self._step = min(2 * self._step, STEP_MAX)
        if self._armed and self._step == STEP_MAX:
            self._armed = await self._arm()  # a send that was rolled back may have taken the mark
        elif self._armed and await self._quiet():
            self._step = STEP_MAX

    async def aclose(self) -> None:
        """Give up the listening connection."""
        conn, self._conn, self._armed = self._conn, None, False
        if conn is not None:
            await conn.close()

    async def _arm(self) -> bool:
        """Have the next send notify; False when nobody would hear it."""
        if not isinstance(self._transport, AsyncPostgres) or time.monotonic() < self._retry:
            return False
        mark = calls.mark_waiting(self._queue)
        try:
            if self._conn is None:
                self._conn = await self._listen(mark)
                if self._conn is None:
                    return False
            await fetch(self._conn, *mark.query())
        except (errors.Error, psycopg.Error):
            await self.aclose()
            self._retry = time.monotonic() + _RETRY
            return False
        self._armed = True
        return True

    async def _quiet(self) -> bool:
        """Whether nobody in the cluster is writing.

        Then whoever sends from now on sees a mark that stands, and what was sent before it is there to be received.
        """
        try:
            [(quiet,)] = await fetch(self._conn, _QUIET, [])
        except (errors.Error, psycopg.Error):
            await self.aclose()
            return False
        return bool(quiet)

    async def _listen(self, mark: calls.Call[str]) -> psycopg.AsyncConnection[Any] | None:
        """Open a connection that listens; None behind a pooler, which would hand its session to others."""
        assert isinstance(self._transport, AsyncPostgres)  # noqa: S101 (for the type checker)
        conn = await self._transport.connect()
        try:
            if not await direct(conn):
                self._retry = float("inf")
                await conn.close()
                return None
            channel = mark.rows(await fetch(conn, *mark.query()))
            await conn.execute(sql.SQL("listen {}").format(sql.Identifier(channel)))
        except BaseException:
            await conn.close()
            raise
        return conn

    async def _hear(self, seconds: float) -> bool:
        """Wait for a notification or for the time to pass."""
        if not self._armed or self._conn is None:
            await async_sleep(seconds)
            return False
        try:
            async for _ in self._conn.notifies(timeout=seconds, stop_after=1):
                return True
        except psycopg.Error:
            await self.aclose()
            await async_sleep(seconds)
        return False
