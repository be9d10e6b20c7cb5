"""The client: the functions of the engine as methods, over PostgreSQL or over HTTP."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from types import TracebackType
from typing import Any, TypeVar

import psycopg
import psycopg_pool

from weir import calls, codec
from weir.aio.admin import AsyncAdminCalls
from weir.aio.consumer import AsyncConsumer, AsyncReceived
from weir.aio.http import AsyncGathered, AsyncHttp
from weir.aio.job_calls import AsyncJobCalls
from weir.aio.postgres import AsyncJoined, AsyncPostgres, AsyncTransport, committing
from weir.aio.producer import AsyncProducer
from weir.aio.wait import AsyncWaiter
from weir.calls import DEFAULT_GROUP, Call
from weir.coalesce import Aim, AsyncCoalescer
from weir.errors import Error
from weir.errors_generated import MESSAGE_NOT_FOUND, NOT_SUPPORTED
from weir.hooks import NO_HOOKS, Hooks
from weir.refusal import check_target
from weir.runtime import AsyncReturns, AsyncToken, async_sleep, jitter
from weir.types import (
    Binding,
    Claimed,
    DeadLetter,
    Duration,
    Finding,
    GroupStats,
    Json,
    Message,
    Outgoing,
    Published,
    StoredMessage,
    seconds,
)

T = TypeVar("T")
P = TypeVar("P")

_RETRIES = 4
_RETRY_MIN = 0.1


def connect_async(
    target: str, *, pool_max: int = 10, token: AsyncToken | None = None, hooks: Hooks = NO_HOOKS
) -> AsyncClient:
    """Return a client of a database (``postgres://...``, ``host=...``) or of a ``weir serve`` (``http://...``).

    It connects with the first call; ``pool_max`` limits its connections to PostgreSQL; ``token`` is shown to a server,
    or is a function that is asked for one before each request, for tokens that expire; ``hooks`` stand around its sends
    and the handlers of its workers: see ``weir.otel``.
    """
    if target.startswith(("http://", "https://")):
        return AsyncClient(AsyncHttp.at(target, token), hooks=hooks)
    if token is not None:
        raise Error(NOT_SUPPORTED, "a token is for a server", hint="The DSN of a database names a user.")
    check_target(target)
    return AsyncClient(AsyncPostgres.at(target, pool_max=pool_max), hooks=hooks)


class AsyncClient(AsyncAdminCalls, AsyncJobCalls):
    """The engine's functions. Many may use one client at the same time.

    Concurrent calls share statements: of those that ``send`` a message, or a batch, or ``enqueue`` one job, to the same
    queue with the same delay and priority, what comes while a statement is under way goes out together with the next,
    as one batch, at most 1,000 messages or 1 MiB; a batch that is larger goes alone, and none is parted. Nothing waits
    for company: what finds nothing under way goes at once. Each call returns when its own messages are committed, with
    their ids or its own error: when the database refuses a statement, what each call had in it is sent alone. Who stops
    waiting takes the messages along unless their statement had begun. Sends with a ``dedup_key``, unique jobs, those
    with ``run_at``, batches of jobs, and what is part of a transaction or goes over one connection, go alone. Over HTTP
    the server does the same.

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
        shared = isinstance(self.transport, AsyncPostgres)
        self._sends = AsyncCoalescer(self._send_all) if shared else None
        self.enqueues = AsyncCoalescer(self._enqueue_all) if shared else None

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
        return await self.again(lambda: self.transport.run(call), call.repeatable)

    async def again(self, work: Callable[[], AsyncReturns[T]], repeatable: bool) -> T:
        """Do work, and again after an error that passes, where that does no harm."""
        pause = _RETRY_MIN
        for left in range(self._retries, -1, -1):
            try:
                return await work()
            except Error as error:
                if left == 0 or not error.retryable or not (error.reported or repeatable):
                    raise
            await async_sleep(jitter(pause))
            pause *= 2
        raise AssertionError("unreachable")

    # --- calls that share statements

    async def _send_shared(
        self, sends: AsyncCoalescer[calls.Text], to: Aim, messages: Sequence[Outgoing[Any]]
    ) -> list[int]:
        texts = [calls.text_of(message) for message in messages]
        size = sum(text.size for text in texts)
        return await self.again(lambda: sends.send(to, texts, size), False)

    async def _send_all(self, to: Aim, texts: Sequence[calls.Text]) -> list[int]:
        return await self.transport.run(calls.send_texts(to.queue, texts, delay=to.delay, priority=to.priority))

    async def _enqueue_all(self, to: Aim, texts: Sequence[str]) -> list[int]:
        call = calls.enqueue_texts(to.queue, texts, delay=to.delay, priority=to.priority, tracked=to.tracked)
        return await self.transport.run(call)

    # --- transactions

    def in_(self, tx: Any) -> AsyncClient:
        """Return a client whose calls are part of the caller's transaction; it never retries, commits or rolls back.

        ``tx`` is a connection or a cursor of psycopg, or what SQLAlchemy or Django call a session or a connection.
        """
        return AsyncClient(AsyncJoined(tx), retries=0, hooks=self.hooks)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[AsyncTransaction]:
        """Begin a transaction: it commits when the block ends and rolls back when the block fails.

        Over HTTP it can only ``send``, ``send_batch``, ``ack``, ``ack_all`` and ``finish``; they are sent when the
        block ends, and have no results within it.
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
            [message] = sending.passed(1)
            if self._sends is None or message.dedup_key is not None:
                call = calls.send(queue, message, delay=delay, priority=priority)
                sending.ids = [await self.run(call)]
            else:
                sending.ids = await self._send_shared(self._sends, Aim(queue, delay, priority), [message])
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
            passed = sending.passed(len(encoded))
            if self._sends is None or not passed or any(m.dedup_key is not None for m in passed):
                call = calls.send_batch(queue, passed, delay=delay, priority=priority)
                sending.ids = await self.run(call)
            else:
                sending.ids = await self._send_shared(self._sends, Aim(queue, delay, priority), passed)
            return sending.ids

    async def publish(
        self,
        topic: str,
        payload: Any,
        *,
        key: str | None = None,
        headers: Mapping[str, Json] | None = None,
        delay: Duration | None = None,
        dedup_key: str | None = None,
        priority: int | None = None,
    ) -> list[Published]:
        """Send a message to every queue that is bound to the topic, and return where it went."""
        with self.hooks.sending(topic, [Outgoing(codec.encode(payload), key, headers, dedup_key)]) as sending:
            [message] = sending.passed(1)
            call = calls.publish(
                topic,
                message.payload,
                key=message.key,
                headers=message.headers,
                delay=delay,
                dedup_key=message.dedup_key,
                priority=priority,
            )
            return await self.run(call)

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
    ) -> list[AsyncReceived[Any]]:
        """Claim messages: nobody else of the group gets them until the lease ends. ``wait`` for a first one at most."""
        call = calls.receive(queue, group=group, max=max, lease=lease, wait=wait)
        end = time.monotonic() + (0 if wait is None else seconds(wait))
        waiter = AsyncWaiter(self, queue)
        try:
            while True:
                messages = await self.run(call)
                left = end - time.monotonic()
                if messages or left <= 0:
                    return [AsyncReceived.of(message, self) for message in messages]
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

    async def get_many(self, queue: str, ids: Sequence[int]) -> list[StoredMessage]:
        """Show those of several messages, 1 to 1,000, that the queue holds, in the order of the ids.

        The queue is read once for all of them.
        """
        return await self.run(calls.get_many(queue, ids))

    async def ack(self, queue: str, messages: Claimed | Sequence[Claimed]) -> int:
        """Finish a message, or several, and no others of their claim; return how many were not finished before.

        ``messages`` are what ``receive`` gave, or a ``Ref`` of who has kept only the numbers; of one receive or of
        many. What is asked for, here and below, is done to all of them, or to none when it fails.
        """
        return await self._settle("ack", queue, messages)

    async def ack_all(self, queue: str, claim_id: int) -> int:
        """Finish what of a claim is not finished yet; all messages of one receive have the same claim_id."""
        return await self.run(calls.ack_all(queue, claim_id))

    async def nack(
        self,
        queue: str,
        messages: Claimed | Sequence[Claimed],
        *,
        delay: Duration | None = None,
        reason: str | None = None,
    ) -> int:
        """Give messages back, to be delivered again after ``delay`` or the group's backoff."""
        return await self._settle("nack", queue, messages, delay, reason)

    async def reject(self, queue: str, messages: Claimed | Sequence[Claimed], *, reason: str | None = None) -> int:
        """Make messages dead letters at once."""
        return await self._settle("reject", queue, messages, None, reason)

    async def release(self, queue: str, messages: Claimed | Sequence[Claimed]) -> int:
        """Give messages back unused: they are delivered again at once, and the attempt is not counted."""
        return await self._settle("release", queue, messages)

    async def snooze(self, queue: str, messages: Claimed | Sequence[Claimed], *, delay: Duration = 60) -> int:
        """Give messages back for later; the attempt is not counted."""
        return await self._settle("snooze", queue, messages, delay)

    async def _settle(
        self,
        kind: str,
        queue: str,
        messages: Claimed | Sequence[Claimed],
        delay: Duration | None = None,
        reason: str | None = None,
    ) -> int:
        several = calls.listed(messages)
        if not several:
            return 0
        items = calls.settlements(several, delay, reason)
        return await self.run(calls.settle(kind, queue, calls.group_of(several), items))

    async def extend(self, queue: str, messages: Claimed | Sequence[Claimed], lease: Duration) -> datetime:
        """Give the claims of messages more time, from now, and return the earliest deadline."""
        several = calls.listed(messages)
        claims = sorted({message.claim_id for message in several})
        if not claims:
            raise ValueError("extend needs a message, whose claim is to be extended")
        return await self.run(calls.extend(queue, calls.group_of(several), claims, lease))

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

    # --- the engine

    async def stats(self, queue: str | None = None) -> list[GroupStats]:
        """Count what every group has before it."""
        return await self.run(calls.stats(queue))

    async def doctor(self) -> list[Finding]:
        """Look for what is wrong or will be, the worst first."""
        return await self.run(calls.doctor())

    async def maintain(self, *, every: Duration | None = None) -> int:
        """Give space back, unless somebody began to within `every`; returns how much it did. Workers do it.

        It commits after each step, and so is no part of a transaction.
        """
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
