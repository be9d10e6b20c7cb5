"""The client: the functions of the engine as methods, over PostgreSQL or over HTTP."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from types import TracebackType
from typing import Any, TypeVar

import psycopg
import psycopg_pool

from weir import calls, codec
from weir.aio.consumer import AsyncConsumer
from weir.aio.http import AsyncGathered, AsyncHttp
from weir.aio.postgres import AsyncJoined, AsyncPostgres, AsyncTransport, committing
from weir.aio.producer import AsyncProducer
from weir.aio.wait import AsyncWaiter
from weir.calls import DEFAULT_GROUP, Call
from weir.errors import Error
from weir.errors_generated import MESSAGE_NOT_FOUND
from weir.hooks import NO_HOOKS, Hooks
from weir.runtime import async_sleep, jitter
from weir.types import (
    Binding,
    DeadLetter,
    Duration,
    Enqueued,
    Finding,
    Group,
    GroupStats,
    JobStatus,
    Json,
    Message,
    Outgoing,
    Published,
    Queue,
    StoredMessage,
    seconds,
)

T = TypeVar("T")
P = TypeVar("P")

_RETRIES = 4
_RETRY_MIN = 0.1


def connect_async(target: str, *, pool_max: int = 10, hooks: Hooks = NO_HOOKS) -> AsyncClient:
    """Return a client of a database (``postgres://...``, ``host=...``) or of a ``weir serve`` (``http://...``).

    It connects with the first call; ``pool_max`` limits its connections to PostgreSQL; ``hooks`` stand around its sends
    and the handlers of its workers: see ``weir.otel``.
    """
    if target.startswith(("http://", "https://")):
        return AsyncClient(AsyncHttp.at(target), hooks=hooks)
    return AsyncClient(AsyncPostgres.at(target, pool_max=pool_max), hooks=hooks)


class AsyncClient:
    """The engine's functions. Many may use one client at the same time.

    Calls are tried again after an error that will pass, as far as it is known that they did nothing. Options that are
    left out are not passed on, so that the engine's defaults hold; what each means is written at the SQL function of
    the same name.
    """

    def __init__(
        self,
        source: AsyncTransport | psycopg_pool.AsyncConnectionPool[Any] | psycopg.AsyncConnection[Any],
        *,
        retries: int = _RETRIES,
        hooks: Hooks = NO_HOOKS,
    ) -> None:
        """Take a pool or a connection that the caller has; ``close`` leaves it open. See ``connect_async`` for DSNs."""
        self.transport: AsyncTransport
        if isinstance(source, psycopg_pool.AsyncConnectionPool):
            self.transport = AsyncPostgres(source, owned=False)
        elif isinstance(source, psycopg.AsyncConnection):
            self.transport = AsyncJoined(source)
            retries = 0
        else:
            self.transport = source
        self._retries = retries
        self.hooks = hooks

    @classmethod
    def on(cls, tx: Any) -> AsyncClient:
        """Return a client of what ``in_`` takes: a connection of the caller's, whose transactions are the caller's."""
        return cls(AsyncJoined(tx), retries=0)

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """End what ``connect_async`` opened."""
        await self.transport.aclose()

    async def run(self, call: Call[T]) -> T:
        """Do a call, and again after an error that passes, where that does no harm."""
        pause = _RETRY_MIN
        for left in range(self._retries, -1, -1):
            try:
                return await self.transport.run(call)
            except Error as error:
                if left == 0 or not error.retryable or not (error.reported or call.repeatable):
                    raise
            await async_sleep(jitter(pause))
            pause *= 2
        raise AssertionError("unreachable")

    # --- transactions

    def in_(self, tx: Any) -> AsyncClient:
        """Return a client whose calls are part of the caller's transaction; it never retries, commits or rolls back.

        ``tx`` is a connection or a cursor of psycopg, or what SQLAlchemy or Django call a session or a connection.
        """
        return AsyncClient(AsyncJoined(tx), retries=0, hooks=self.hooks)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[AsyncTransaction]:
        """Begin a transaction: it commits when the block ends and rolls back when the block fails.

        Over HTTP it can only ``send``, ``send_batch`` and ``ack``; they are sent when the block ends, and have no
        results within it.
        """
        if isinstance(self.transport, AsyncHttp):
            gathered = AsyncGathered()
            yield AsyncTransaction(gathered, retries=0, hooks=self.hooks)
            await gathered.commit(self.transport)
        elif isinstance(self.transport, AsyncPostgres):
            async with self.transport.connection() as conn, committing(conn):
                yield AsyncTransaction(AsyncJoined(conn), retries=0, hooks=self.hooks)
        elif isinstance(self.transport, AsyncJoined) and isinstance(self.transport.tx, psycopg.AsyncConnection):
            async with committing(self.transport.tx):
                yield AsyncTransaction(self.transport, retries=0, hooks=self.hooks)
        else:
            raise TypeError("this client is part of a transaction; the caller who began it commits it")

    # --- messages out

    async def send(
        self,
        queue: str,
        payload: Any,
        *,
        key: str | None = None,
        headers: Mapping[str, Json] | None = None,
        delay: Duration | None = None,
        dedup_key: str | None = None,
        priority: int | None = None,
    ) -> int:
        """Send one message and return its id. The payload is JSON, a dataclass or a pydantic model."""
        with self.hooks.sending(queue, [Outgoing(codec.encode(payload), key, headers, dedup_key)]) as sending:
            [message] = sending.messages
            call = calls.send(
                queue,
                message.payload,
                key=key,
                headers=message.headers,
                delay=delay,
                dedup_key=dedup_key,
                priority=priority,
            )
            sending.ids = [await self.run(call)]
            return sending.ids[0]

    async def send_batch(
        self,
        queue: str,
        messages: Sequence[Any],
        *,
        delay: Duration | None = None,
        priority: int | None = None,
    ) -> list[int]:
        """Send many messages at once: payloads, or ``Outgoing`` for those with a key, headers or a dedup_key."""
        encoded = [
            Outgoing(codec.encode(m.payload), m.key, m.headers, m.dedup_key)
            if isinstance(m, Outgoing)
            else Outgoing(codec.encode(m))
            for m in messages
        ]
        with self.hooks.sending(queue, encoded) as sending:
            call = calls.send_batch(queue, sending.messages, delay=delay, priority=priority)
            sending.ids = await self.run(call)
            return sending.ids

    async def publish(
        self,
        topic: str,
        payload: Any,
        *,
        key: str | None = None,
        headers: Mapping[str, Json] | None = None,
        delay: Duration | None = None,
    ) -> list[Published]:
        """Send a message to every queue that is bound to the topic, and return where it went."""
        with self.hooks.sending(topic, [Outgoing(codec.encode(payload), key, headers)]) as sending:
            [message] = sending.messages
            return await self.run(calls.publish(topic, message.payload, key=key, headers=message.headers, delay=delay))

    async def bind(self, pattern: str, queue: str) -> None:
        """Send messages of the topics that a pattern covers to a queue: ``*`` is a word, ``#`` any number of words."""
        await self.run(calls.bind(pattern, queue))

    async def unbind(self, pattern: str, queue: str) -> bool:
        """Remove a binding and return whether it was there."""
        return await self.run(calls.unbind(pattern, queue))

    async def route(self, topic: str) -> list[str]:
        """Return the queues to which ``publish`` would send; sends nothing."""
        return await self.run(calls.route(topic))

    async def list_bindings(self) -> list[Binding]:
        """List the bindings of topics to queues."""
        return await self.run(calls.list_bindings())

    # --- messages in

    async def receive(
        self,
        queue: str,
        *,
        group: str = DEFAULT_GROUP,
        max: int | None = None,
        lease: Duration | None = None,
        wait: Duration | None = None,
    ) -> list[Message[Any]]:
        """Claim messages: nobody else of the group gets them until the lease ends. ``wait`` for a first one at most."""
        call = calls.receive(queue, group=group, max=max, lease=lease, wait=wait)
        end = time.monotonic() + (0 if wait is None else seconds(wait))
        waiter = AsyncWaiter(self, queue)
        try:
            while True:
                messages = await self.run(call)
                left = end - time.monotonic()
                if messages or left <= 0:
                    return messages
                if not isinstance(self.transport, AsyncHttp):
                    await waiter.wait(left)
        finally:
            await waiter.aclose()

    async def pop(
        self,
        queue: str,
        *,
        group: str = DEFAULT_GROUP,
        max: int | None = None,
    ) -> list[Message[Any]]:
        """Receive and ack at once: each message is delivered at most once."""
        return await self.run(calls.pop(queue, group=group, max=max))

    async def peek(
        self,
        queue: str,
        *,
        group: str = DEFAULT_GROUP,
        max: int | None = None,
    ) -> list[Message[Any]]:
        """Look at messages that wait, without claiming them."""
        return await self.run(calls.peek(queue, group=group, max=max))

    async def get(self, queue: str, id: int) -> StoredMessage | None:
        """Show a message, wherever in the queue it is; None when the queue does not hold it (any more)."""
        try:
            return await self.run(calls.get(queue, id))
        except Error as error:
            if error.code == MESSAGE_NOT_FOUND:  # how HTTP says it
                return None
            raise

    async def ack(
        self, queue: str, claim_id: int, ids: Sequence[int] | None = None, *, group: str | None = None
    ) -> int:
        """Finish messages of a claim, all of it unless ``ids`` says which; return how many were finished."""
        return await self.run(calls.ack(queue, claim_id, ids, group))

    async def nack(
        self,
        queue: str,
        claim_id: int,
        ids: Sequence[int] | None = None,
        *,
        delay: Duration | None = None,
        reason: str | None = None,
        group: str | None = None,
    ) -> int:
        """Give messages back, to be delivered again after ``delay`` or the group's backoff."""
        return await self.run(calls.nack(queue, claim_id, ids, delay, reason, group))

    async def reject(
        self,
        queue: str,
        claim_id: int,
        ids: Sequence[int] | None = None,
        *,
        reason: str | None = None,
        group: str | None = None,
    ) -> int:
        """Make messages dead letters at once."""
        return await self.run(calls.reject(queue, claim_id, ids, reason, group))

    async def release(
        self, queue: str, claim_id: int, ids: Sequence[int] | None = None, *, group: str | None = None
    ) -> int:
        """Give messages back unused: they are delivered again at once, and the attempt is not counted."""
        return await self.run(calls.release(queue, claim_id, ids, group))

    async def extend(self, queue: str, claim_id: int, lease: Duration, *, group: str | None = None) -> datetime:
        """Give a live claim more time, from now, and return its deadline."""
        return await self.run(calls.extend(queue, claim_id, lease, group))

    # --- jobs

    async def enqueue(
        self,
        queue: str,
        kind: str,
        args: Any = None,
        *,
        key: str | None = None,
        headers: Mapping[str, Json] | None = None,
        delay: Duration | None = None,
        run_at: datetime | None = None,
        priority: int | None = None,
        unique_key: str | None = None,
        unique_for: Duration | None = None,
        unique: bool | None = None,
        tracked: bool | None = None,
    ) -> int:
        """Enqueue a job and return its id, or that of the job of the same unique key that is there already.

        ``unique`` makes it unique by kind and arguments, ``unique_key`` by that key; until it is finished, or for
        ``unique_for``. Only a ``tracked`` job can be asked for by ``job``.
        """
        with self.hooks.sending(queue, [Outgoing({} if args is None else codec.encode(args), key, headers)]) as sending:
            [message] = sending.messages
            call = calls.enqueue(
                queue,
                kind,
                message.payload,
                key=key,
                headers=message.headers,
                delay=delay,
                run_at=run_at,
                priority=priority,
                unique_key=unique_key,
                unique_for=unique_for,
                unique=unique,
                tracked=tracked,
            )
            sending.ids = [await self.run(call)]
            return sending.ids[0]

    async def enqueue_batch(
        self,
        queue: str,
        jobs: Sequence[Mapping[str, Any]],
        *,
        delay: Duration | None = None,
        priority: int | None = None,
        unique_for: Duration | None = None,
        unique: bool | None = None,
        tracked: bool | None = None,
    ) -> list[Enqueued]:
        """Enqueue many jobs, all or none: ``{"kind": ..., "args": ..., "key": ..., "unique_key": ...}`` each."""
        encoded = [codec.encode(job) for job in jobs]
        return await self.run(
            calls.enqueue_batch(
                queue,
                encoded,
                delay=delay,
                priority=priority,
                unique_for=unique_for,
                unique=unique,
                tracked=tracked,
            )
        )

    async def job(self, queue: str, id: int) -> JobStatus | None:
        """Return how a tracked job stands; None when it is not tracked or ended longer ago than such are kept."""
        return await self.run(calls.job(queue, id))

    async def cancel(self, queue: str, id: int, *, reason: str | None = None) -> str:
        """Cancel a job: ``cancelled``, or ``running``: its worker is told, or ``ended``: it was too late."""
        return await self.run(calls.cancel(queue, id, reason))

    async def progress(
        self, queue: str, claim_id: int, id: int, progress: Any = None, *, lease: Duration | None = None
    ) -> bool:
        """Tell how far a job is; False when it was cancelled."""
        return await self.run(calls.progress(queue, claim_id, id, codec.encode(progress), lease))

    async def finish(self, queue: str, claim_id: int, id: int, result: Any = None) -> int:
        """Ack a job and keep its result, if it is tracked."""
        return await self.run(calls.finish(queue, claim_id, id, codec.encode(result)))

    async def snooze(self, queue: str, claim_id: int, ids: Sequence[int] | None = None, *, delay: Duration = 60) -> int:
        """Give messages back for later; the attempt is not counted."""
        return await self.run(calls.snooze(queue, claim_id, ids, delay))

    async def schedule(
        self,
        name: str,
        cron: str | None,
        queue: str,
        kind: str,
        args: Any = None,
        *,
        every: Duration | None = None,
        time_zone: str | None = None,
        missed: str | None = None,
        key: str | None = None,
        headers: Mapping[str, Json] | None = None,
        priority: int | None = None,
        unique: bool | None = None,
        tracked: bool | None = None,
    ) -> datetime:
        """Enqueue a job at the times of ``cron``, or with None ``every`` so often; return when it is due next.

        A schedule of that name that is there already is changed. ``missed`` runs are skipped unless it is ``once`` or
        ``all``; ``time_zone`` is UTC unless given.
        """
        call = calls.schedule(
            name,
            cron,
            queue,
            kind,
            {} if args is None else codec.encode(args),
            every=every,
            time_zone=time_zone,
            missed=missed,
            key=key,
            headers=headers,
            priority=priority,
            unique=unique,
            tracked=tracked,
        )
        return await self.run(call)

    async def unschedule(self, name: str) -> bool:
        """Remove a schedule and return whether it was there."""
        return await self.run(calls.unschedule(name))

    # --- dead letters

    async def dead_letters(
        self,
        queue: str,
        *,
        group: str = DEFAULT_GROUP,
        max: int | None = None,
        after: int | None = None,
    ) -> list[DeadLetter]:
        """List a group's dead letters by id; ``after`` the last id of the page before."""
        return await self.run(calls.dead_letters(queue, group=group, max=max, after=after))

    async def redrive(self, queue: str, *, group: str = DEFAULT_GROUP, ids: Sequence[int] | None = None) -> int:
        """Send dead letters back to their group, all of them unless ``ids`` says which."""
        return await self.run(calls.redrive(queue, group=group, ids=ids))

    async def discard(self, queue: str, *, group: str = DEFAULT_GROUP, ids: Sequence[int] | None = None) -> int:
        """Remove dead letters for good."""
        return await self.run(calls.discard(queue, group=group, ids=ids))

    # --- queues and groups

    async def create_queue(
        self, queue: str, *, lanes: int | None = None, message_bytes_max: int | None = None, **settings: Any
    ) -> None:
        """Create a queue and its group ``default``. Further settings are those of the SQL function."""
        settings |= {"lanes": lanes, "message_bytes_max": message_bytes_max}
        await self.run(calls.create_queue(queue, settings))

    async def create_group(
        self,
        queue: str,
        group: str,
        *,
        ordered: bool | None = None,
        start: str | datetime | None = None,
        max_attempts: int | None = None,
        backoff_min: Duration | None = None,
        backoff_max: Duration | None = None,
        patience: Duration | None = None,
        **settings: Any,
    ) -> None:
        """Create a group, which is delivered every message from ``start`` on: 'start', 'end' or a time."""
        settings |= {
            "ordered": ordered,
            "start": start,
            "max_attempts": max_attempts,
            "backoff_min": backoff_min,
            "backoff_max": backoff_max,
            "patience": patience,
        }
        await self.run(calls.create_group(queue, group, settings))

    async def configure_queue(self, queue: str, **settings: Any) -> None:
        """Change settings of a queue in use: those of ``weir.configure_queue``, durations as anywhere here."""
        await self.run(calls.configure_queue(queue, settings))

    async def configure_group(self, queue: str, group: str, **settings: Any) -> None:
        """Change settings of a group in use: those of ``weir.configure_group``."""
        await self.run(calls.configure_group(queue, group, settings))

    async def rename_queue(self, queue: str, new_name: str) -> None:
        """Give a queue another name; what it holds stays."""
        await self.run(calls.rename_queue(queue, new_name))

    async def list_queues(self) -> list[Queue]:
        """List the queues that the caller may see, by name."""
        return await self.run(calls.list_queues())

    async def drop_queue(self, queue: str) -> None:
        """Remove a queue with all its messages."""
        await self.run(calls.drop_queue(queue))

    async def drop_group(self, queue: str, group: str) -> None:
        """Remove a group."""
        await self.run(calls.drop_group(queue, group))

    async def list_groups(self, queue: str) -> list[Group]:
        """List the groups of a queue, by name."""
        return await self.run(calls.list_groups(queue))

    async def seek(self, queue: str, group: str, position: str | datetime) -> None:
        """Move a group to 'start', 'end', a time or the message with an id."""
        text = position if isinstance(position, str) else position.isoformat()
        await self.run(calls.seek(queue, group, text))

    async def pause(self, queue: str, *, group: str | None = None) -> None:
        """Stop delivery to a group, or to all."""
        await self.run(calls.pause(queue, group))

    async def resume(self, queue: str, *, group: str | None = None) -> None:
        """End a pause."""
        await self.run(calls.resume(queue, group))

    async def purge(self, queue: str, *, group: str | None = None) -> int:
        """Drop what a group, or every one, has not finished, and return how many messages that were."""
        return await self.run(calls.purge(queue, group))

    # --- the engine

    async def stats(self, queue: str | None = None) -> list[GroupStats]:
        """Count what every group has before it."""
        return await self.run(calls.stats(queue))

    async def doctor(self) -> list[Finding]:
        """Look for what is wrong or will be, the worst first."""
        return await self.run(calls.doctor())

    async def maintain(self, *, every: Duration | None = None) -> int:
        """Give space back, unless somebody began to within `every`; returns how many steps it took. Workers do it."""
        return await self.run(calls.maintain(every))

    async def version(self) -> str:
        """Return the release of the engine."""
        return await self.run(calls.version())

    # --- of one queue

    def producer(self, queue: str) -> AsyncProducer[Any]:
        """Return a sender to one queue."""
        return AsyncProducer(self, queue)

    def consumer(
        self,
        queue: str,
        payload: type[P] | Any = Any,
        *,
        group: str = DEFAULT_GROUP,
        max: int = 10,
        lease: Duration = 30,
        wait: Duration = 20,
    ) -> AsyncConsumer[P]:
        """Return a receiver from one queue, whose payloads are of the type ``payload``."""
        return AsyncConsumer(self, queue, payload, group=group, max=max, lease=lease, wait=wait)


class AsyncTransaction(AsyncClient):
    """A client within a transaction that it began."""

    @property
    def connection(self) -> psycopg.AsyncConnection[Any]:
        """The connection to write one's own rows with, in the same transaction. PostgreSQL only."""
        if isinstance(self.transport, AsyncJoined) and isinstance(self.transport.tx, psycopg.AsyncConnection):
            return self.transport.tx
        raise TypeError("a transaction over HTTP has no connection")
