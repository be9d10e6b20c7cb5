"""The consumer: receives from one queue and group."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from weir import codec
from weir.calls import DEFAULT_GROUP
from weir.types import Duration, Message

if TYPE_CHECKING:
    from weir.aio.client import AsyncClient

T = TypeVar("T")


class AsyncReceived(Message[T]):
    """A message that knows how to ack itself. What is done to it is done to no other of its claim, but ``extend``."""

    _client: AsyncClient

    @classmethod
    def of(cls, message: Message[Any], client: AsyncClient, payload: type[T] | Any = Any) -> AsyncReceived[T]:
        """Return a message that is acked by a client, with its payload decoded."""
        received = cls.__new__(cls)
        received.__dict__.update(message.__dict__, _client=client, payload=codec.decode(message.payload, payload))
        return received

    async def ack(self, tx: Any = None) -> int:
        """Finish it; in the caller's transaction when one is given. 0: it was finished before."""
        client = self._client if tx is None else self._client.in_(tx)
        return await client.ack(self.queue, self)

    async def nack(self, delay: Duration | None = None, reason: str | None = None) -> int:
        """Give it back, to be delivered again after ``delay`` or the group's backoff."""
        return await self._client.nack(self.queue, self, delay=delay, reason=reason)

    async def reject(self, reason: str | None = None) -> int:
        """Make it a dead letter."""
        return await self._client.reject(self.queue, self, reason=reason)

    async def release(self) -> int:
        """Give it back unused: it is delivered again at once, and the attempt is not counted."""
        return await self._client.release(self.queue, self)

    async def snooze(self, delay: Duration = 60) -> int:
        """Give it back for later; the attempt is not counted."""
        return await self._client.snooze(self.queue, self, delay=delay)

    async def extend(self, lease: Duration) -> datetime:
        """Give its claim, with all the messages of its receive, more time, from now."""
        return await self._client.extend(self.queue, self, lease)


class AsyncConsumer(Generic[T]):
    """Receives messages one batch at a time, or one by one as an iterator without end."""

    def __init__(
        self,
        client: AsyncClient,
        queue: str,
        payload: type[T] | Any = Any,
        *,
        group: str = DEFAULT_GROUP,
        max: int = 10,
        lease: Duration = 30,
        wait: Duration = 20,
    ) -> None:
        self.queue, self.group = queue, group
        self._client = client
        self._payload = payload
        self._max, self._lease, self._wait = max, lease, wait

    async def receive(self) -> list[AsyncReceived[T]]:
        """Claim messages, waiting for the first. PayloadError when a payload does not fit; its claim then expires."""
        messages = await self._client.receive(
            self.queue, group=self.group, max=self._max, lease=self._lease, wait=self._wait
        )
        return [AsyncReceived.of(message, self._client, self._payload) for message in messages]

    async def __aiter__(self) -> AsyncIterator[AsyncReceived[T]]:
        while True:
            for message in await self.receive():
                yield message
